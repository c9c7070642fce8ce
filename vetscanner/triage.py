"""The policy: probabilities of the photos and ticked signs in, level and findings out. Pure.

It only ever raises: one more ticked sign, one more photo or a more urgent finding never lowers the
level and never takes the official-vet path away. Ticked signs count even when no photo does.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from vetscanner.conditions import CONDITIONS, TICKED
from vetscanner.config import ScanConfig
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

ALARM_URGENCY = Urgency.SAME_DAY
"""Level of a notifiable sign that reaches its alarm threshold without being the top class."""

_ALARM_SIGNS = tuple(sign for sign, condition in CONDITIONS.items() if condition.notifiable)
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
    poor_qualities: Sequence[PhotoQuality],
    signs: Iterable[TickedSign],
    scan_config: ScanConfig,
) -> Triage | Abstention:
    """Judge all the photos of one animal and what the farmer ticked.

    Args:
        predictions: Calibrated probabilities of each photo that was good enough to be looked at.
        poor_qualities: Quality of each photo that must be taken again (blurred, dark, tiny).
        signs: The ticked signs, in any order.
        scan_config: Thresholds that belong to the model.

    Returns:
        A triage when a photo can be judged, or when there is no photo but a ticked sign;
        else an abstention, which carries the least level of the ticked signs all the same.
    """
    ticked = frozenset(signs)
    verdicts = [_judge_photo(prediction, scan_config) for prediction in predictions]
    findings = _merge_findings(verdicts)
    urgency = _most_urgent([v.urgency for v in verdicts], ticked)
    official_vet = _ticks_need_official_vet(ticked) or any(
        CONDITIONS[finding.sign].notifiable for finding in findings
    )
    signs_used = tuple(sign for sign in TickedSign if sign in ticked)
    reason = _abstention_reason(verdicts, poor_qualities)
    if reason is None:
        return Triage(urgency or Urgency.MONITOR, findings, official_vet, signs_used)
    return Abstention(reason, urgency, official_vet, findings, signs_used)


def _judge_photo(prediction: Prediction, scan_config: ScanConfig) -> _Verdict:
    top = prediction.top
    alarms = [
        Finding(sign, prediction.probabilities.get(sign, 0.0))
        for sign in _ALARM_SIGNS
        if prediction.probabilities.get(sign, 0.0) >= scan_config.alarm_thresholds.get(sign, 1.1)
    ]
    if prediction.probabilities[top] < scan_config.unclear_below:
        return _Verdict("unclear", tuple(alarms), ALARM_URGENCY if alarms else None)
    if top is SignClass.NOT_CATTLE:
        # The path is shown, but a photo without cattle does not send a vet to a farm.
        return _Verdict("not_cattle", tuple(alarms), None)
    urgency = CONDITIONS[top].urgency
    if alarms:
        urgency = max(urgency or ALARM_URGENCY, ALARM_URGENCY)
    if top is not SignClass.NO_VISIBLE_SIGN and top not in (alarm.sign for alarm in alarms):
        alarms.append(Finding(top, prediction.probabilities[top]))
    return _Verdict(None, tuple(alarms), urgency)


def _merge_findings(verdicts: Iterable[_Verdict]) -> tuple[Finding, ...]:
    """Each sign once, at its highest probability; the most urgent first."""
    highest: dict[SignClass, float] = {}
    for finding in (finding for verdict in verdicts for finding in verdict.findings):
        highest[finding.sign] = max(finding.probability, highest.get(finding.sign, 0.0))
    ranked = sorted(
        highest.items(), key=lambda item: (-(CONDITIONS[item[0]].urgency or 0), -item[1])
    )
    return tuple(Finding(sign, probability) for sign, probability in ranked)


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


def _abstention_reason(
    verdicts: Sequence[_Verdict], poor_qualities: Sequence[PhotoQuality]
) -> str | None:
    """Why no photo can be judged, or None if one can: "unclear", "not_cattle", then the quality.

    The order goes from the photo nearest to being useful, whose advice helps most.
    """
    if not verdicts and not poor_qualities:
        return None
    reasons = [verdict.reason for verdict in verdicts]
    if None in reasons:
        return None
    for reason in ("unclear", "not_cattle"):
        if reason in reasons:
            return reason
    return str(poor_qualities[0])
