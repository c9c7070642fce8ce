"""The policy: probabilities of the photos and ticked signs in, level and findings out. Pure.

It only ever raises: one more ticked sign, one more photo or a more urgent finding never lowers the
level and never takes the official-vet path away. Ticked signs count even when no photo does.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from vetscanner.conditions import ALARM_URGENCY, CONDITIONS, TICKED
from vetscanner.model_specs import NO_CATTLE_FROM
from vetscanner.schema import (
    Abstention,
    Finding,
    PhotoQuality,
    Prediction,
    SignClass,
    TickedSign,
    Triage,
    Urgency,
)

_LAME_IS_OFFICIAL_WITH = frozenset(
    {TickedSign.DROOLING, TickedSign.MOUTH_SORES, TickedSign.SEVERAL_ANIMALS}
)


@dataclass(frozen=True, slots=True)
class _Verdict:
    """What one photo says: why it cannot be judged (or None), what is told, and how urgent."""

    reason: str | None
    findings: tuple[Finding, ...]
    urgency: Urgency | None


def triage(
    predictions: Sequence[Prediction],
    qualities: Sequence[PhotoQuality],
    signs: Iterable[TickedSign],
    unclear_below: float,
    alarm_thresholds: Mapping[SignClass, float],
) -> Triage | Abstention:
    """Judge all the photos of one animal and what the farmer ticked.

    Args:
        predictions: Calibrated probabilities of each photo.
        qualities: Quality of each photo, in the same order.
        signs: The ticked signs, in any order.
        unclear_below: A photo whose top probability is lower is "unclear" (0 to 1).
        alarm_thresholds: Probability (0 to 1) of a notifiable sign from which the official-vet
            path is shown, whatever the top class is, unless the photo probably shows no cattle.

    Returns:
        A triage when a photo can be judged, or when there is no photo but a ticked sign;
        else an abstention, which carries the least level of the ticked signs all the same.
    """
    ticked = frozenset(signs)
    verdicts = [
        _judge_photo(
            prediction,
            quality,
            prediction.probabilities[prediction.top] >= unclear_below,
            _find_alarms(prediction, alarm_thresholds),
        )
        for prediction, quality in zip(predictions, qualities, strict=True)
    ]
    findings = _merge_findings(verdicts)
    urgency = _most_urgent([verdict.urgency for verdict in verdicts], ticked)
    official_vet = _ticks_need_official_vet(ticked) or any(
        CONDITIONS[finding.sign].notifiable for finding in findings
    )
    signs_used = tuple(sign for sign in TickedSign if sign in ticked)
    reason = _abstention_reason(verdicts)
    if reason is None:
        reasons = (verdict.reason for verdict in verdicts if verdict.reason is not None)
        unjudged = tuple(dict.fromkeys(reasons))
        return Triage(urgency or Urgency.MONITOR, findings, official_vet, signs_used, unjudged)
    return Abstention(reason, urgency, official_vet, findings, signs_used)


def _judge_photo(
    prediction: Prediction, quality: PhotoQuality, is_clear: bool, alarms: tuple[Finding, ...]
) -> _Verdict:
    top = prediction.top
    if not quality.can_be_judged:
        # A better photo settles a faint alarm within a minute; the likeliest class does not wait.
        strong = tuple(alarm for alarm in alarms if alarm.sign is top)
        return _Verdict(str(quality), strong, None)
    if not is_clear:
        return _Verdict("unclear", alarms, ALARM_URGENCY if alarms else None)
    if top is SignClass.NOT_CATTLE:
        # The path is shown, but a photo without cattle does not send a vet to a farm.
        return _Verdict("not_cattle", alarms, None)
    return _judge_clear(prediction, alarms)


def _judge_clear(prediction: Prediction, alarms: tuple[Finding, ...]) -> _Verdict:
    """A good photo of cattle with a clear top class."""
    top = prediction.top
    urgency = CONDITIONS[top].urgency or Urgency.MONITOR
    if alarms:
        urgency = max(urgency, ALARM_URGENCY)
    if top is SignClass.NO_VISIBLE_SIGN or top in (alarm.sign for alarm in alarms):
        return _Verdict(None, alarms, urgency)
    return _Verdict(None, (*alarms, Finding(top, prediction.probabilities[top])), urgency)


def _find_alarms(
    prediction: Prediction, alarm_thresholds: Mapping[SignClass, float]
) -> tuple[Finding, ...]:
    """Notifiable signs at or above their threshold, whatever sign of cattle is the likeliest."""
    if prediction.probabilities.get(SignClass.NOT_CATTLE, 0.0) >= NO_CATTLE_FROM:
        return ()
    return tuple(
        Finding(sign, prediction.probabilities[sign], is_faint=sign is not prediction.top)
        for sign, threshold in alarm_thresholds.items()
        if prediction.probabilities.get(sign, 0.0) >= threshold
    )


def _merge_findings(verdicts: Iterable[_Verdict]) -> tuple[Finding, ...]:
    """Each sign once, at its highest probability; the most urgent first."""
    merged: dict[SignClass, Finding] = {}
    for finding in (finding for verdict in verdicts for finding in verdict.findings):
        known = merged.get(finding.sign, finding)
        merged[finding.sign] = Finding(
            finding.sign,
            max(known.probability, finding.probability),
            known.is_faint and finding.is_faint,
        )
    return tuple(sorted(merged.values(), key=_rank))


def _rank(finding: Finding) -> tuple[int, bool, float]:
    urgency = CONDITIONS[finding.sign].urgency or 0
    return -urgency, finding.is_faint, -finding.probability


def _most_urgent(
    photo_urgencies: Sequence[Urgency | None], ticked: frozenset[TickedSign]
) -> Urgency | None:
    levels = [*photo_urgencies, *(TICKED[sign].urgency for sign in ticked)]
    urgency = max((level for level in levels if level is not None), default=None)
    if TickedSign.SEVERAL_ANIMALS in ticked:
        raised = (urgency or Urgency.MONITOR) + 1
        return Urgency(min(raised, Urgency.EMERGENCY))
    return urgency


def _ticks_need_official_vet(ticked: frozenset[TickedSign]) -> bool:
    if TickedSign.LAME in ticked and ticked & _LAME_IS_OFFICIAL_WITH:
        return True
    return any(TICKED[sign].official_vet for sign in ticked)


def _abstention_reason(verdicts: Sequence[_Verdict]) -> str | None:
    """Why no photo can be judged; None if one can, or if there is none at all.

    The photo nearest to being useful decides, its advice helps most: "unclear", then "not_cattle",
    then the first poor one.
    """
    reasons = [verdict.reason for verdict in verdicts]
    if not reasons or None in reasons:
        return None
    return next((reason for reason in ("unclear", "not_cattle") if reason in reasons), reasons[0])
