"""Why the report says what it says, in plain sentences: pure."""

from collections.abc import Iterator, Sequence

from serving.localised_numbers import write_colon, write_percent, write_semicolon
from vetscanner.conditions import ALARM_URGENCY, CONDITIONS, TICKED
from vetscanner.phrases import Phrases
from vetscanner.schema import (
    Abstention,
    Finding,
    Language,
    Photo,
    Prediction,
    SignClass,
    TickedSign,
    Triage,
    Urgency,
)


def explain(
    outcome: Triage | Abstention,
    photos: Sequence[Photo],
    predictions: Sequence[Prediction],
    phrases: Phrases,
) -> tuple[str, ...]:
    """Say what the level rests on, then what each photo looks like most and next to it.

    Args:
        outcome: What the policy decided.
        photos: The photos that were looked at.
        predictions: What the model said of each.
        phrases: Words of the report's language.
    """
    return (
        *_iter_level_reasons(outcome, bool(photos), phrases),
        *(
            _compare_classes(photo, prediction, phrases)
            for photo, prediction in zip(photos, predictions, strict=True)
        ),
    )


def _iter_level_reasons(
    outcome: Triage | Abstention, has_photos: bool, phrases: Phrases
) -> Iterator[str]:
    """What set the level, what raised it, and why the official vet comes in."""
    if outcome.urgency is not None:
        causes = list(_iter_causes(outcome, has_photos, phrases))
        # A finding on a poor photo is told but sets no level: what lies above was not counted.
        counted = [level for _, level in causes if level <= outcome.urgency]
        for cause, level in causes:
            if level == max(counted, default=None):
                yield _because(cause, level, phrases)
        if TickedSign.SEVERAL_ANIMALS in outcome.signs_used:
            yield phrases.labels["several_raise"]
    if isinstance(outcome, Abstention):
        yield phrases.abstentions[outcome.reason].text + "."
    if outcome.official_vet:
        yield phrases.labels["why_official"]


def _iter_causes(
    outcome: Triage | Abstention, has_photos: bool, phrases: Phrases
) -> Iterator[tuple[str, Urgency]]:
    """Everything that has a level of its own, in words, with that level."""
    for sign in outcome.signs_used:
        urgency = TICKED[sign].urgency
        if urgency is not None:
            colon = write_colon(phrases.language)
            yield f"{phrases.labels['ticked']}{colon}{phrases.ticked[sign].label}", urgency
    for finding in outcome.findings:
        yield tell_finding(finding, phrases), _urgency_of(finding)
    if isinstance(outcome, Triage) and has_photos:
        yield phrases.signs[SignClass.NO_VISIBLE_SIGN].name, Urgency.MONITOR


def tell_finding(finding: Finding, phrases: Phrases) -> str:
    """Name a finding, a faint one as what cannot be ruled out."""
    name = phrases.signs[finding.sign].name
    return phrases.labels["not_excluded"].format(name=name) if finding.is_faint else name


def _urgency_of(finding: Finding) -> Urgency:
    if finding.is_faint:
        return ALARM_URGENCY
    return CONDITIONS[finding.sign].urgency or Urgency.MONITOR


def _because(cause: str, level: Urgency, phrases: Phrases) -> str:
    told = phrases.levels[level.name.lower()]
    # In German it may begin with a noun, and a sentence after a colon has a capital anyway.
    if phrases.language is not Language.DE:
        told = told[:1].lower() + told[1:]
    return phrases.labels["because"].format(cause=cause[:1].upper() + cause[1:], level=told)


def _compare_classes(photo: Photo, prediction: Prediction, phrases: Phrases) -> str:
    """Name the two likeliest classes of a photo, for example "a.jpg: 83% ...; next 9% ..."."""
    ranked = sorted(prediction.probabilities.items(), key=lambda entry: -entry[1])
    told = [
        f"{write_percent(probability, phrases.language)} {phrases.signs[sign].name}"
        for sign, probability in ranked[:2]
        if round(100 * probability)
    ]
    between = f"{write_semicolon(phrases.language)}{phrases.labels['next']} "
    return f"{photo.name}{write_colon(phrases.language)}{between.join(told)}."
