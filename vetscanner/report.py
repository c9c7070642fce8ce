"""The report of one scan: the policy's answer put into words, and the JSON for the outside."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from serving.localised_numbers import write_colon
from vetscanner.conditions import (
    CONDITIONS,
    OFFICIAL_VET_STEPS,
    SOURCES,
    STEP_SOURCES,
    TICKED,
)
from vetscanner.device_reasons import tell_device_reason
from vetscanner.explanation import explain, tell_finding
from vetscanner.heatmap import draw_heatmap
from vetscanner.phrases import Phrases, load_phrases
from vetscanner.schema import (
    Abstention,
    Classification,
    Finding,
    Language,
    Photo,
    PhotoQuality,
    Prediction,
    SignClass,
    Triage,
    Urgency,
)

UNVERIFIED_MARK = "\u00a0*"
"""Ends a statement that no source backs; the last of the report's sources explains it."""

_LEAST_MAPPED = 0.05
"""Probability from which a finding's places are drawn on a photo: below, it shows there nowhere."""

_SIGN_ROWS = {sign: row for row, sign in enumerate(SignClass)}


@dataclass(frozen=True, slots=True)
class PhotoError:
    """A photo that could not be used, while the others were."""

    name: str
    message: str


@dataclass(frozen=True, slots=True)
class ScanReport:
    """All that one scan has to say, in one language.

    Attributes:
        level: emergency, same_day, within_days, monitor or retake_photo.
        headline: The report in one line.
        findings: What is told of the photos, the most urgent first.
        first_steps: What to do now, in order.
        call: Whom to call.
        why: What the level rests on, and what each photo looks like most.
        outcome: The policy's answer, with the ticked signs it used.
        photos: The photos that were looked at.
        classification: What the model said of them; None when it did not run.
        sources: Where the statements come from.
        photo_errors: The photos that could not be used.
        language: Language of the texts.
    """

    level: str
    headline: str
    findings: tuple[Finding, ...]
    first_steps: tuple[str, ...]
    call: str
    why: tuple[str, ...]
    outcome: Triage | Abstention
    photos: tuple[Photo, ...]
    classification: Classification | None
    sources: tuple[str, ...]
    photo_errors: tuple[PhotoError, ...]
    language: Language

    @property
    def abstained(self) -> str | None:
        """Why no photo could be judged; None when one could."""
        return self.outcome.reason if isinstance(self.outcome, Abstention) else None

    def to_json(self, *, heatmaps: bool = False) -> dict[str, Any]:
        """Return the report as plain JSON values, with the keys that `docs/design.md` fixes.

        Without a readable photo no model ran: its `id`, `revision` and the `device` are null.

        Args:
            heatmaps: Whether to draw where on each photo the findings show; else `heatmap` is null.
        """
        phrases = load_phrases(self.language)
        return {
            "level": self.level,
            "headline": self.headline,
            "findings": [_finding_json(finding, phrases) for finding in self.findings],
            "first_steps": list(self.first_steps),
            "call": self.call,
            "why": list(self.why),
            "abstained": self.abstained,
            "signs_used": [str(sign) for sign in self.outcome.signs_used],
            "photos": self._photos_json(heatmaps),
            **_model_json(self.classification, phrases),
            "sources": list(self.sources),
            "disclaimer": phrases.disclaimer,
            "photo_errors": [
                {"name": error.name, "message": error.message} for error in self.photo_errors
            ],
        }

    def _photos_json(self, heatmaps: bool) -> list[dict[str, Any]]:
        predictions = self.classification.predictions if self.classification else ()
        return [
            {
                "name": photo.name,
                "width": photo.width,
                "height": photo.height,
                "quality": str(photo.quality),
                "probabilities": {
                    str(sign): round(value, 4) for sign, value in prediction.probabilities.items()
                },
                "heatmap": self._heatmap_json(photo, prediction) if heatmaps else None,
            }
            for photo, prediction in zip(self.photos, predictions, strict=True)
        ]

    def _heatmap_json(self, photo: Photo, prediction: Prediction) -> dict[str, str] | None:
        """Draw the finding that shows most on a photo; None where there is none, or no map."""
        shown = max(
            (finding.sign for finding in self.findings),
            key=lambda sign: prediction.probabilities[sign],
            default=None,
        )
        if shown is None or prediction.evidence is None:
            return None
        if prediction.probabilities[shown] < _LEAST_MAPPED:
            return None
        pictures = draw_heatmap(photo.pixels, prediction.evidence[_SIGN_ROWS[shown]])
        if pictures is None:
            return None
        return {"sign": str(shown), "photo": pictures[0], "image": pictures[1]}


def write_report(
    outcome: Triage | Abstention,
    photos: Sequence[Photo],
    classification: Classification | None,
    photo_errors: Sequence[PhotoError],
    language: Language,
    vet_phone: str | None = None,
) -> ScanReport:
    """Put the policy's answer into words.

    Args:
        outcome: What the policy decided.
        photos: The photos that were looked at.
        classification: What the model said of them; None when there was no photo.
        photo_errors: The photos that could not be used.
        language: Language of the report.
        vet_phone: Number of the state veterinary service, told where it is to be called.
    """
    phrases = load_phrases(language)
    level = _level(outcome)
    steps, sources = _first_steps(outcome, photos, phrases)
    predictions = classification.predictions if classification else ()
    return ScanReport(
        level=level,
        headline=_headline(level, outcome, bool(photos), phrases),
        findings=outcome.findings,
        first_steps=steps,
        call=_whom_to_call(level, outcome, phrases, vet_phone),
        why=explain(outcome, photos, predictions, phrases),
        outcome=outcome,
        photos=tuple(photos),
        classification=classification,
        sources=(*sources, phrases.labels["unverified"]),
        photo_errors=tuple(photo_errors),
        language=language,
    )


def _level(outcome: Triage | Abstention) -> str:
    return "retake_photo" if outcome.urgency is None else outcome.urgency.name.lower()


def _headline(level: str, outcome: Triage | Abstention, has_photos: bool, phrases: Phrases) -> str:
    """Level first, then what it rests on, then the official vet where it must be."""
    parts = [phrases.levels[level]]
    if outcome.signs_used:
        ticked = ", ".join(phrases.ticked[sign].label for sign in outcome.signs_used)
        parts.append(f"{phrases.labels['ticked']}{write_colon(phrases.language)}{ticked}")
    if isinstance(outcome, Abstention):
        parts.append(phrases.abstentions[outcome.reason].text)
    elif not has_photos:
        parts.append(phrases.labels["no_photo"])
    elif all(finding.is_faint for finding in outcome.findings):
        parts.append(phrases.signs[SignClass.NO_VISIBLE_SIGN].name)
    parts += [tell_finding(finding, phrases) for finding in outcome.findings]
    if isinstance(outcome, Triage) and outcome.unjudged:
        parts.append(phrases.labels["not_all_judged"])
    if outcome.official_vet:
        parts.append(phrases.labels["official_headline"])
    return " ".join(f"{part[:1].upper()}{part[1:]}." for part in parts)


def _whom_to_call(
    level: str, outcome: Triage | Abstention, phrases: Phrases, vet_phone: str | None
) -> str:
    if not outcome.official_vet:
        return phrases.call[level]
    parts = [phrases.call["official"]]
    # What kills within hours needs the own vet first, the official vet comes on top.
    if any(TICKED[sign].urgency is Urgency.EMERGENCY for sign in outcome.signs_used):
        parts.insert(0, phrases.call["emergency"])
    if vet_phone:
        label = phrases.labels["official_phone"]
        parts.append(f"{label}{write_colon(phrases.language)}{vet_phone}")
    return " ".join(parts)


def _first_steps(
    outcome: Triage | Abstention, photos: Sequence[Photo], phrases: Phrases
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What to do, the most urgent first, each step once; and the titles of its sources."""
    steps = dict(_iter_steps(outcome, bool(photos), phrases))
    marked = [text if sources else text + UNVERIFIED_MARK for text, sources in steps.items()]
    advice = _retake_advice(outcome, photos, phrases)
    # A photo to be taken again comes first only where nothing else is known.
    knows_more = bool(outcome.findings or outcome.signs_used or outcome.official_vet)
    ordered = [*marked, *advice] if knows_more else [*advice, *marked]
    used = [source for sources in steps.values() for source in sources]
    used += [source for finding in outcome.findings for source in CONDITIONS[finding.sign].sources]
    return tuple(ordered), tuple(SOURCES[source] for source in dict.fromkeys(used))


def _iter_steps(
    outcome: Triage | Abstention, has_photos: bool, phrases: Phrases
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Texts with their sources: what saves a life, the official vet, other ticks, the findings."""
    ticked = outcome.signs_used
    saving = [sign for sign in ticked if TICKED[sign].urgency is Urgency.EMERGENCY]
    for sign in saving:
        yield phrases.ticked[sign].step, TICKED[sign].sources
    for key in OFFICIAL_VET_STEPS if outcome.official_vet else ():
        yield phrases.steps[key], STEP_SOURCES[key]
    for sign in (sign for sign in ticked if sign not in saving):
        yield phrases.ticked[sign].step, TICKED[sign].sources
    for key in _condition_steps(outcome, has_photos):
        yield phrases.steps[key], STEP_SOURCES[key]


def _condition_steps(outcome: Triage | Abstention, has_photos: bool) -> Iterator[str]:
    for finding in outcome.findings:
        yield from CONDITIONS[finding.sign].steps
    if isinstance(outcome, Abstention):
        yield from CONDITIONS[SignClass.NOT_CATTLE].steps
    elif has_photos and not outcome.findings:
        yield from CONDITIONS[SignClass.NO_VISIBLE_SIGN].steps


def _retake_advice(
    outcome: Triage | Abstention, photos: Sequence[Photo], phrases: Phrases
) -> list[str]:
    """How to take the photos again: why the policy abstained, then each poor quality once."""
    reasons = [outcome.reason] if isinstance(outcome, Abstention) else [*outcome.unjudged]
    reasons += [str(photo.quality) for photo in photos if photo.quality is not PhotoQuality.GOOD]
    return [
        text for reason in dict.fromkeys(reasons) for text in phrases.abstentions[reason].advice
    ]


def _finding_json(finding: Finding, phrases: Phrases) -> dict[str, Any]:
    condition = CONDITIONS[finding.sign]
    return {
        "sign": str(finding.sign),
        "name": phrases.signs[finding.sign].name,
        "probability": round(finding.probability, 4),
        "notifiable": condition.notifiable,
        "zoonotic": condition.zoonotic,
        "differentials": list(phrases.signs[finding.sign].differentials),
    }


def _model_json(classification: Classification | None, phrases: Phrases) -> dict[str, Any]:
    if classification is None:
        return {
            "model": {"id": None, "revision": None, "calibrated": False},
            "device": None,
            "device_reason": phrases.labels["no_model_ran"],
            "timings_s": {"load": 0.0, "infer": 0.0, "unload": 0.0},
        }
    return {
        "model": {
            "id": classification.model_id,
            "revision": classification.revision,
            "calibrated": classification.calibrated,
        },
        "device": str(classification.device),
        "device_reason": tell_device_reason(classification.device_reason, phrases.language),
        "timings_s": {
            "load": round(classification.load_s, 3),
            "infer": round(classification.infer_s, 3),
            "unload": round(classification.unload_s, 3),
        },
    }
