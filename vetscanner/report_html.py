"""A report as HTML for the tab; pure. The level leads, in words and colour, never colour alone.

File names and messages are data: everything is escaped.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from vetscanner.phrases import load_phrases
from vetscanner.schema import Language, SignClass

REPORT_CSS = """
.triage-report { line-height: 1.5; }
.triage-level { border-radius: 8px; padding: 0.8em 1em; font-size: 1.15em; font-weight: 700;
  color: #fff; background: #44546a; overflow-wrap: anywhere; }
.triage-level.emergency { background: #b00020; }
.triage-level.same_day { background: #a34700; }
.triage-level.within_days { background: #6b5900; }
.triage-level.monitor { background: #1b6b3a; }
.triage-level.retake_photo { background: #44546a; }
.triage-report h3 { margin: 0.9em 0 0.2em; font-size: 1.05em; }
.triage-report .bar { height: 0.6em; border-radius: 4px; background: #8886; overflow: hidden; }
.triage-report .bar > span { display: block; height: 100%; background: #2f6fb0; }
.triage-report figure { display: inline-block; margin: 0 0.8em 0.6em 0; max-width: 360px; }
.triage-report figure img { max-width: 100%; border-radius: 4px; }
.triage-report figcaption { font-size: 0.85em; overflow-wrap: anywhere; }
.triage-report .small { font-size: 0.85em; overflow-wrap: anywhere; }
.triage-report .badge { display: inline-block; border: 1px solid; border-radius: 4px;
  padding: 0 0.4em; margin-left: 0.4em; font-size: 0.85em; }
"""

_PHONE = re.compile(r"\+?[0-9(][0-9 ()./-]+")


def report_html(report: Mapping[str, Any], language: Language) -> str:
    """Return the report as one HTML fragment.

    Args:
        report: The ScanReport as JSON.
        language: Language of the headings; the report's own texts are in it already.
    """
    labels = load_phrases(language).labels
    parts = [
        f'<div class="triage-level {escape(report["level"])}">{escape(report["headline"])}</div>',
        _section(labels["what_to_do"], _ordered(report["first_steps"])),
        _section(labels["whom_to_call"], f"<p>{_link_phones(report['call'])}</p>"),
        _findings(report["findings"], labels),
        _section(labels["why"], _unordered(report["why"])),
        _heatmaps(report, labels, language),
        _photo_errors(report.get("photo_errors", []), labels),
        _small_print(report, labels),
    ]
    return f'<div class="triage-report" lang="{language}">{"".join(parts)}</div>'


def error_html(message: str) -> str:
    """Return why there is no report and what to do, one paragraph a line."""
    lines = "".join(f"<p>{escape(line)}</p>" for line in message.splitlines())
    return f'<div class="user-error" role="alert">{lines}</div>'


def _link_phones(text: str) -> str:
    """Make phone numbers a link that dials: no other text of `call` has digits."""
    # Quotes stay as they are: their entities have digits, too.
    return _PHONE.sub(_dial_link, escape(text, quote=False))


def _dial_link(number: re.Match[str]) -> str:
    # The (0) of +44 (0)20 is dialled only inside the country.
    dialled = number[0].replace("(0)", "") if number[0].startswith("+") else number[0]
    return f'<a href="tel:{re.sub("[^+0-9]", "", dialled)}">{number[0]}</a>'


def _section(heading: str, content: str) -> str:
    return f"<h3>{escape(heading)}</h3>{content}"


def _ordered(lines: Iterable[str]) -> str:
    return f"<ol>{''.join(f'<li>{escape(line)}</li>' for line in lines)}</ol>"


def _unordered(lines: Iterable[str]) -> str:
    return f"<ul>{''.join(f'<li>{escape(line)}</li>' for line in lines)}</ul>"


def _findings(findings: Sequence[Mapping[str, Any]], labels: Mapping[str, str]) -> str:
    if not findings:
        return ""
    return _section(labels["findings"], "".join(_finding(entry, labels) for entry in findings))


def _finding(finding: Mapping[str, Any], labels: Mapping[str, str]) -> str:
    percent = round(100 * finding["probability"])
    badges = "".join(
        f'<span class="badge">{escape(labels[key])}</span>'
        for key in ("notifiable", "zoonotic")
        if finding[key]
    )
    others = ", ".join(finding["differentials"])
    differentials = (
        f'<p class="small">{escape(labels["differentials"])}: {escape(others)}</p>'
        if others
        else ""
    )
    return (
        f"<p>{escape(finding['name'])}: {percent} %{badges}</p>"
        f'<div class="bar" aria-hidden="true"><span style="width:{percent}%"></span></div>'
        f"{differentials}"
    )


def _heatmaps(report: Mapping[str, Any], labels: Mapping[str, str], language: Language) -> str:
    """Show where on the photos the findings are; the caption says it in words."""
    signs = load_phrases(language).signs
    figures = "".join(
        _figure(
            photo["heatmap"]["image"],
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


def _figure(image: str, caption: str) -> str:
    text = escape(caption)
    return (
        f'<figure><img src="{escape(image)}" alt="{text}"><figcaption>{text}</figcaption></figure>'
    )


def _photo_errors(errors: Sequence[Mapping[str, str]], labels: Mapping[str, str]) -> str:
    if not errors:
        return ""
    return _section(labels["photo_errors"], _unordered(error["message"] for error in errors))


def _small_print(report: Mapping[str, Any], labels: Mapping[str, str]) -> str:
    model, timings = report["model"], report["timings_s"]
    spent = ", ".join(f"{step} {seconds:.2f} s" for step, seconds in timings.items())
    machine = (
        f'<span class="badge device">{escape(report["device"].upper())}</span> '
        f"{escape(report['device_reason'])} {escape(model['id'])} {escape(model['revision'])}. "
        f"{spent}"
        if report["device"]
        else ""
    )
    return (
        f"<p><strong>{escape(report['disclaimer'])}</strong></p>"
        f'<details class="small"><summary>{escape(labels["sources"])}</summary>'
        f"{_unordered(report['sources'])}</details>"
        f'<p class="small">{machine}</p>'
    )
