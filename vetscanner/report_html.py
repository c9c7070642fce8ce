"""A report as HTML for the tab; pure. The level leads, in words and colour, never colour alone.

File names and messages are data: everything is escaped.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from serving.localised_numbers import NARROW_SPACE, write_colon, write_number, write_percent
from vetscanner.phrases import load_phrases
from vetscanner.schema import Language, SignClass
from vetscanner.tab_texts import VET_TEXTS

_FOLDER = Path(__file__).parent
REPORT_CSS = (_FOLDER / "report_page.css").read_text(encoding="utf-8")
REPORT_JS = (_FOLDER / "report_page.js").read_text(encoding="utf-8")
"""Runs once on the page: print, copy, the camera and the chosen photos."""

# A shape for each level, as on road signs, for those who do not see its colour.
_SYMBOLS = {
    "emergency": "M8 2h8l6 6v8l-6 6H8l-6-6V8zM12 7v6M12 17v.01",
    "same_day": "M12 3 22 20H2zM12 9v5M12 17v.01",
    "within_days": "M4 5h16v16H4zM4 10h16M8 2v5M16 2v5",
    "monitor": "M2 12q10-14 20 0q-10 14-20 0zM12 9a3 3 0 1 0 .01 0",
    "retake_photo": "M3 7h4l2-3h6l2 3h4v13H3zM12 9a4 4 0 1 0 .01 0",
}

_ACTION_TEXTS = ("copy", "print", "copied", "refused", "message")
_PHONE = re.compile(r"\+?[0-9(][0-9 ()./-]+")


def report_html(report: Mapping[str, Any], language: Language, message: str | None = None) -> str:
    """Return the report as one HTML fragment.

    Args:
        report: The ScanReport as JSON.
        language: Language of the headings; the report's own texts are in it already.
        message: The report as a message to a vet; None leaves out what copies and prints.
    """
    labels = load_phrases(language).labels
    parts = [
        _lead(report, language),
        _section(labels["what_to_do"], _ordered(report["first_steps"])),
        _section(labels["whom_to_call"], f"<p>{_link_phones(report['call'])}</p>"),
        _actions(message, language) if message else "",
        _findings(report["findings"], labels, language),
        _heatmaps(report, labels, language),
        _section(labels["why"], _unordered(report["why"])),
        _photo_errors(report.get("photo_errors", []), labels),
        _small_print(report, labels, language),
    ]
    return f'<div class="triage-report" lang="{language}">{"".join(parts)}</div>'


def _lead(report: Mapping[str, Any], language: Language) -> str:
    """Show the level, and have it read out: what comes new with this role is announced."""
    level, headline = report["level"], report["headline"]
    words = load_phrases(language).levels[level]
    leads = headline.startswith(words)
    shown, rest = (words, headline[len(words) + 1 :].strip()) if leads else (headline, "")
    symbol = f'<svg viewBox="0 0 24 24" aria-hidden="true"><path d="{_SYMBOLS[level]}"/></svg>'
    more = f"<p>{escape(rest)}</p>" if rest else ""
    return (
        '<p class="report-date"></p><div role="alert">'
        f'<div class="triage-level {escape(level)}">{symbol}<span>{escape(shown)}</span></div>'
        f"{more}</div>"
    )


def _actions(message: str, language: Language) -> str:
    """Offer the report to others: as text for a message, and on paper."""
    words = {key: escape(VET_TEXTS.tell(key, language)) for key in _ACTION_TEXTS}
    return (
        '<div class="report-actions">'
        f'<button type="button" data-report-action="copy">{words["copy"]}</button>'
        f'<button type="button" data-report-action="print">{words["print"]}</button>'
        f'<span role="status" data-copied="{words["copied"]}" data-refused="{words["refused"]}">'
        f'</span><textarea readonly hidden rows="8" aria-label="{words["message"]}">'
        f"{escape(message)}</textarea></div>"
    )


def _link_phones(text: str) -> str:
    """Make phone numbers a link that dials: no other text of `call` has digits."""
    # Quotes stay as they are: their entities have digits, too.
    return _PHONE.sub(_dial_link, escape(text, quote=False))


def _dial_link(number: re.Match[str]) -> str:
    # The (0) of +44 (0)20 is dialled only inside the country.
    dialled = number[0].replace("(0)", "") if number[0].startswith("+") else number[0]
    return f'<a href="tel:{re.sub("[^+0-9]", "", dialled)}">{number[0]}</a>'


def _section(heading: str, content: str) -> str:
    return f"<h2>{escape(heading)}</h2>{content}"


def _ordered(lines: Iterable[str]) -> str:
    return f"<ol>{''.join(f'<li>{escape(line)}</li>' for line in lines)}</ol>"


def _unordered(lines: Iterable[str]) -> str:
    return f"<ul>{''.join(f'<li>{escape(line)}</li>' for line in lines)}</ul>"


def _findings(
    findings: Sequence[Mapping[str, Any]], labels: Mapping[str, str], language: Language
) -> str:
    if not findings:
        return ""
    shown = "".join(_finding(entry, labels, language) for entry in findings)
    return _section(labels["findings"], shown)


def _finding(finding: Mapping[str, Any], labels: Mapping[str, str], language: Language) -> str:
    share = finding["probability"]
    badges = "".join(
        f'<span class="badge">{escape(labels[key])}</span>'
        for key in ("notifiable", "zoonotic")
        if finding[key]
    )
    others = ", ".join(finding["differentials"])
    colon = write_colon(language)
    differentials = (
        f'<p class="small">{escape(labels["differentials"] + colon)}{escape(others)}</p>'
        if others
        else ""
    )
    return (
        f"<p>{escape(finding['name'] + colon)}{write_percent(share, language)}{badges}</p>"
        f'<div class="bar" aria-hidden="true"><span style="width:{share:.0%}"></span></div>'
        f"{differentials}"
    )


def _heatmaps(report: Mapping[str, Any], labels: Mapping[str, str], language: Language) -> str:
    """Show where on the photos the findings are; the caption says it in words."""
    signs = load_phrases(language).signs
    figures = "".join(
        _figure(
            photo["heatmap"],
            labels["heatmap"].format(
                photo=photo["name"], sign=signs[SignClass(photo["heatmap"]["sign"])].name
            ),
        )
        for photo in report.get("photos", [])
        if photo["heatmap"]
    )
    if not figures:
        return ""
    note = f'<p class="small">{escape(labels["heatmap_note"])}</p>'
    return _section(labels["where"], figures + note)


def _figure(heatmap: Mapping[str, str], caption: str) -> str:
    """Show the photo and, beside it, the same photo with the places marked."""
    text = escape(caption)
    return (
        f'<figure><div class="pair"><img src="{escape(heatmap["photo"])}" alt="">'
        f'<img src="{escape(heatmap["image"])}" alt="{text}"></div>'
        f"<figcaption>{text}</figcaption></figure>"
    )


def _photo_errors(errors: Sequence[Mapping[str, str]], labels: Mapping[str, str]) -> str:
    if not errors:
        return ""
    return _section(labels["photo_errors"], _unordered(error["message"] for error in errors))


def _small_print(report: Mapping[str, Any], labels: Mapping[str, str], language: Language) -> str:
    machine = f'<p class="small">{_machine(report, language)}</p>' if report["device"] else ""
    # The last one says what the star behind a step means: on paper as well, where the list is not.
    *sources, unverified = report["sources"]
    return (
        f"<p><strong>{escape(report['disclaimer'])}</strong></p>"
        f'<p class="small">{escape(unverified)}</p>'
        f'<details class="small"><summary>{escape(labels["sources"])}</summary>'
        f"{_unordered(sources)}</details>{machine}"
    )


def _machine(report: Mapping[str, Any], language: Language) -> str:
    """Tell which model ran where, why there, and how long its steps took."""
    model = report["model"]
    spent = ", ".join(
        f"{VET_TEXTS.tell(step, language)} {write_number(seconds, language, 2)}{NARROW_SPACE}s"
        for step, seconds in report["timings_s"].items()
    )
    return (
        f'<span class="badge device">{escape(report["device"].upper())}</span> '
        f"{escape(report['device_reason'])} {escape(model['id'])} {escape(model['revision'])}. "
        f"{escape(spent)}"
    )
