"""A report as plain text, for a terminal and for a message; pure. The level leads."""

from collections.abc import Iterable
from textwrap import fill

from serving.localised_numbers import write_colon, write_percent, write_semicolon
from vetscanner.conditions import CONDITIONS
from vetscanner.phrases import Phrases, load_phrases
from vetscanner.report import ScanReport
from vetscanner.schema import Finding

WIDTH = 88


def report_text(report: ScanReport) -> str:
    """Return the report as lines of at most `WIDTH` columns, in the report's language."""
    phrases = load_phrases(report.language)
    labels = phrases.labels
    steps = (f"{number}. {step}" for number, step in enumerate(report.first_steps, start=1))
    colon = write_colon(report.language)
    photos = (
        f"{photo.name}{colon}{photo.width} x {photo.height}, {labels[photo.quality]}"
        for photo in report.photos
    )
    sections = [
        fill(report.headline, WIDTH),
        _section(labels["what_to_do"], steps),
        _section(labels["whom_to_call"], [report.call]),
        _section(labels["findings"], (_finding_line(f, phrases) for f in report.findings)),
        _section(labels["why"], report.why),
        _section(labels["photos"], photos),
        _section(labels["photo_errors"], (error.message for error in report.photo_errors)),
        _section(labels["sources"], report.sources),
        fill(phrases.disclaimer, WIDTH),
    ]
    return "\n\n".join(section for section in sections if section)


def message_text(report: ScanReport) -> str:
    """Return what a vet needs to know, in lines that a phone may break where it likes."""
    phrases = load_phrases(report.language)
    labels = phrases.labels
    lists: list[tuple[str, Iterable[str]]] = [
        ("findings", (_finding_line(finding, phrases) for finding in report.findings)),
        ("why", report.why),
        ("what_to_do", report.first_steps),
    ]
    told = [(labels[key] + write_colon(report.language).rstrip(), list(ls)) for key, ls in lists]
    sections = ["\n- ".join([heading, *lines]) for heading, lines in told if lines]
    # What the star behind a step means.
    starred = [labels["unverified"]] if any(s.endswith("*") for s in report.first_steps) else []
    return "\n\n".join([report.headline, *sections, *starred, phrases.disclaimer])


def _section(heading: str, lines: Iterable[str]) -> str:
    """A heading with indented lines; nothing where there are no lines."""
    wrapped = [fill(line, WIDTH, initial_indent="  ", subsequent_indent="     ") for line in lines]
    return "\n".join([heading, *wrapped]) if wrapped else ""


def _finding_line(finding: Finding, phrases: Phrases) -> str:
    """For example "signs like ...: 83%, must be reported; may also be: ..."."""
    condition, labels = CONDITIONS[finding.sign], phrases.labels
    colon = write_colon(phrases.language)
    line = phrases.signs[finding.sign].name + colon
    line += write_percent(finding.probability, phrases.language)
    for label, holds in (("notifiable", condition.notifiable), ("zoonotic", condition.zoonotic)):
        line += f", {labels[label]}" if holds else ""
    others = ", ".join(phrases.signs[finding.sign].differentials)
    return f"{line}{write_semicolon(phrases.language)}{labels['differentials']}{colon}{others}"
