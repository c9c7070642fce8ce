"""A preview as HTML for the tab; pure. File names and reasons are data: escaped.

Everything that the threshold decides is decided again by `preview_page.js` when the slider moves,
from the scores that stand in the data attributes; a test compares both.
"""

import json
from base64 import b64encode
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path

from archive_tools.config import Content, DatasetConfig, PageFilter
from archive_tools.histogram_html import histogram_html
from archive_tools.message_words import tell_message
from archive_tools.preview import FinishedPage, PreviewedPage, PreviewReport
from archive_tools.report_html import failures_html
from archive_tools.schema import PageOutcome
from archive_tools.score_histogram import ScoreScale
from archive_tools.tab_texts import TAB_TEXTS
from serving.localised_numbers import write_number
from serving.page_texts import DEFAULT_LANGUAGE

PREVIEW_CSS = Path(__file__).with_name("preview_page.css").read_text(encoding="utf-8")
MOVE_THRESHOLD_JS = Path(__file__).with_name("preview_page.js").read_text(encoding="utf-8")
"""A function of both sliders' values."""

SHOW_PREVIEW_JS = f"""(coverage, sigma) => setTimeout(() => {{
  ({MOVE_THRESHOLD_JS.rstrip()})(coverage, sigma);
  const preview = document.querySelector("#page-preview .page-preview");
  if (preview) (document.querySelector("#min-score-input, #min-sigma-input") ?? preview)
    .scrollIntoView();
}}, 0)"""
"""The same, once the page has the preview; it comes into view together with its slider."""


_MOST_PAIRS = 4
_STEPS = frozenset({"trimmed", "descreened", "paper neutralised"})


def preview_html(report: PreviewReport, language: str = DEFAULT_LANGUAGE) -> str:
    """Return the preview: counts, histogram, pages kept and dropped, before and after.

    Args:
        report: What the preview found.
        language: Language of the page.
    """
    is_kept = [page.result.outcome is PageOutcome.KEPT for page in report.shown]
    kept = [page for page, keep in zip(report.shown, is_kept, strict=True) if keep]
    dropped = [page for page, keep in zip(report.shown, is_kept, strict=True) if not keep]
    kept.sort(key=_score)
    dropped.sort(key=lambda page: (bool(page.preview.rejection), -_score(page)))
    sections = [
        _counts(report, language),
        _histogram(report, language),
        f'<div class="page-sides">{_group("kept", kept, report, language)}'
        f"{_group('dropped', dropped, report, language)}</div>",
        _pairs(report.finished[:_MOST_PAIRS], report.config, language),
        failures_html(report.run, language),
    ]
    facts = _facts(report, language)
    return f'<section class="page-preview" {facts}>{"".join(sections)}</section>'


def shown_threshold(config: DatasetConfig, scale: ScoreScale) -> float:
    """Return the threshold of a run as the slider shows it."""
    is_auto = config.filter is PageFilter.AUTO
    return scale.to_shown(config.min_score) if is_auto else config.min_sigma


def _facts(report: PreviewReport, language: str) -> str:
    """Return what the page's script decides by, as attributes."""
    histogram, scale = report.histogram, report.histogram.scale
    facts = {
        "edges": scale.edges,
        "step": scale.step,
        "perScore": scale.shown_per_score,
        "reachingIsEnough": scale.is_reaching_enough,
        "filter": report.config.filter.value,
        "keptAt": histogram.kept_at,
        "total": histogram.total,
        # What stands between the thousands of a number.
        "groups": write_number(1000, language)[1:-3],
    }
    return f'data-facts="{escape(json.dumps(facts, separators=(",", ":")))}"'


def _counts(report: PreviewReport, language: str) -> str:
    pages = report.run.pages
    numbers = [pages.kept, pages.kept + pages.dropped, pages.dropped, pages.failed]
    kept, total, dropped, failed = (write_number(number, language) for number in numbers)
    kept_of = TAB_TEXTS.tell(
        "kept_of", language, kept=f'<span class="kept-count">{kept}</span>', total=total
    )
    dropped_of = TAB_TEXTS.tell(
        "dropped_of", language, dropped=f'<span class="dropped-count">{dropped}</span>'
    )
    failed_of = f" {TAB_TEXTS.tell('failed_of', language, failed=failed)}" if pages.failed else ""
    return (
        f'<p class="preview-counts" role="status"><strong>{kept_of}</strong>, '
        f"{dropped_of}{failed_of}</p>"
        f"<p>{_what_is_shown(report, language)} {_what_comes_later(report.config, language)}</p>"
    )


def _what_is_shown(report: PreviewReport, language: str) -> str:
    shown, total = len(report.shown), report.histogram.total
    if shown == total:
        return TAB_TEXTS.tell("all_shown", language)
    return TAB_TEXTS.tell("some_shown", language, shown=shown, total=write_number(total, language))


def _what_comes_later(config: DatasetConfig, language: str) -> str:
    """Say which of the kept pages the dataset may leave out all the same."""
    is_regions = config.content is Content.REGIONS
    if not (config.dedupe or is_regions):
        return ""
    both = "both" if config.dedupe else "small"
    return TAB_TEXTS.tell(f"later_{both if is_regions else 'copies'}", language)


def _histogram(report: PreviewReport, language: str) -> str:
    config, histogram = report.config, report.histogram
    if config.filter is PageFilter.NONE or not histogram.total:
        return ""
    return histogram_html(histogram, shown_threshold(config, histogram.scale), language)


def _group(side: str, pages: Sequence[PreviewedPage], report: PreviewReport, language: str) -> str:
    scale, names_files = report.histogram.scale, report.run.file_count > 1
    cards = "".join(_card(page, scale, names_files, language) for page in pages)
    return (
        f'<div class="page-side"><h4 id="{side}-pages">{TAB_TEXTS.tell(side, language)}</h4>'
        # It scrolls, so it must be reached by the keyboard.
        f'<ul class="page-cards" data-side="{side}" tabindex="0" '
        f'aria-labelledby="{side}-pages">{cards}</ul>'
        f'<p class="none-shown">{TAB_TEXTS.tell("none_shown", language)}</p></div>'
    )


def _card(page: PreviewedPage, scale: ScoreScale, names_file: bool, language: str) -> str:
    number = write_number(page.result.page_number, language)
    place = TAB_TEXTS.tell("page", language, number=number)
    name = TAB_TEXTS.tell("name_of_page", language, name=page.file_name, number=number)
    words = tell_message(page.preview.rejection or page.preview.found, language)
    score = f"{write_number(scale.to_shown(_score(page)), language, 1)}{scale.unit}"
    file_name = escape(page.file_name)
    file = f'<span class="file-name" title="{file_name}">{file_name}</span>' if names_file else ""
    return (
        f'<li class="page-card" data-score="{_score(page)!r}" '
        f'data-rejected="{int(bool(page.preview.rejection))}">'
        f"{_picture(page, name)}<strong>{place}</strong> "
        f'<span class="page-score">{score}</span>{file}'
        f'<span class="page-reason">{escape(words)}</span></li>'
    )


def _picture(page: PreviewedPage, name: str) -> str:
    preview = page.preview
    boxes = "".join(
        f'<span class="box" style="left:{100 * x0:.2f}%;top:{100 * y0:.2f}%;'
        f'width:{100 * (x1 - x0):.2f}%;height:{100 * (y1 - y0):.2f}%"></span>'
        for x0, y0, x1, y1 in preview.boxes
    )
    picture = _image(preview.jpeg, name, (preview.width, preview.height))
    return f'<span class="page-picture">{picture}{boxes}</span>'


def _image(jpeg: bytes, alt: str, size: tuple[int, int] | None = None) -> str:
    sized = f' width="{size[0]}" height="{size[1]}"' if size else ""
    encoded = b64encode(jpeg).decode()
    return f'<img alt="{escape(alt)}"{sized} src="data:image/jpeg;base64,{encoded}">'


def _score(page: PreviewedPage) -> float:
    return float(page.result.score or 0.0)


def _pairs(pages: Iterable[FinishedPage], config: DatasetConfig, language: str) -> str:
    pairs = "".join(_pair(page, config, language) for page in pages)
    if not pairs:
        return ""
    heading = TAB_TEXTS.tell("before_after", language)
    return f'<h4>{heading}</h4><ul class="page-pairs">{pairs}</ul>'


def _pair(page: FinishedPage, config: DatasetConfig, language: str) -> str:
    number = write_number(page.page_number, language)
    name = TAB_TEXTS.tell("name_of_page", language, name=page.file_name, number=number)
    as_scanned, in_dataset = (TAB_TEXTS.tell(key, language) for key in ("as_scanned", "in_dataset"))
    size = TAB_TEXTS.tell(
        "in_dataset_size", language, width=page.after.width, height=page.after.height
    )
    place = TAB_TEXTS.tell("page", language, number=number)
    before = _image(page.before.jpeg, f"{name}, {as_scanned}")
    after = _image(page.after.jpeg, f"{name}, {in_dataset}")
    return (
        f"<li><p><strong>{place}</strong>: {escape(_steps(page, config, language))}</p><div>"
        f"<figure>{before}<figcaption>{as_scanned}</figcaption></figure>"
        f"<figure>{after}<figcaption>{size}</figcaption></figure></div></li>"
    )


def _steps(page: FinishedPage, config: DatasetConfig, language: str) -> str:
    """Return what was done to a picture, in words."""
    if not config.finishing.is_on:
        return TAB_TEXTS.tell("cleaning_off", language)
    done = page.after.finishing
    if not done:
        return TAB_TEXTS.tell("nothing_cleaned", language)
    return "; ".join(_step_words(step, language) for step in done.split("; "))


def _step_words(step: str, language: str) -> str:
    if step.startswith("deskewed "):
        degrees = step.removeprefix("deskewed ").lstrip("-")
        return TAB_TEXTS.tell("step_turned", language, degrees=_localised(degrees, language))
    if step in _STEPS:
        return TAB_TEXTS.tell(f"step_{step.replace(' ', '_')}", language)
    return tell_message(step, language)


def _localised(number: str, language: str) -> str:
    """Return a number of a record as readers of the language write it."""
    _, _, digits = number.partition(".")
    return write_number(float(number), language, len(digits))
