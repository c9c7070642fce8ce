"""A preview as HTML for the tab; pure. File names and reasons are data: escaped.

Everything that the threshold decides is decided again by `preview_page.js` when the slider moves,
from the scores that stand in the data attributes; a test compares both.
"""

import json
from base64 import b64encode
from collections.abc import Iterable
from html import escape
from pathlib import Path

from archive_tools.config import Content, DatasetConfig, PageFilter
from archive_tools.histogram_html import histogram_html
from archive_tools.preview import FinishedPage, PreviewedPage, PreviewReport
from archive_tools.report_html import failures_html
from archive_tools.schema import PageOutcome
from archive_tools.score_histogram import ScoreHistogram, ScoreScale

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
_STEP_WORDS = {
    "trimmed": "scanner border cut off",
    "descreened": "halftone dots smoothed",
    "paper neutralised": "paper made neutral",
}


def preview_html(report: PreviewReport) -> str:
    """Return the preview: counts, histogram, pages kept and dropped, before and after.

    Args:
        report: What the preview found.
    """
    scale = report.histogram.scale
    is_kept = [page.result.outcome is PageOutcome.KEPT for page in report.shown]
    kept = [page for page, keep in zip(report.shown, is_kept, strict=True) if keep]
    dropped = [page for page, keep in zip(report.shown, is_kept, strict=True) if not keep]
    kept.sort(key=_score)
    dropped.sort(key=lambda page: (bool(page.preview.rejection), -_score(page)))
    names_files = report.run.file_count > 1
    sections = [
        _counts(report),
        _histogram(report),
        '<div class="page-sides">',
        _group("kept", "Kept", (_card(page, scale, names_files) for page in kept)),
        _group("dropped", "Dropped", (_card(page, scale, names_files) for page in dropped)),
        "</div>",
        _pairs(report.finished[:_MOST_PAIRS], report.config),
        failures_html(report.run),
    ]
    return f'<section class="page-preview" {_facts(report)}>{"".join(sections)}</section>'


def shown_threshold(config: DatasetConfig, scale: ScoreScale) -> float:
    """Return the threshold of a run as the slider shows it."""
    is_auto = config.filter is PageFilter.AUTO
    return scale.to_shown(config.min_score) if is_auto else config.min_sigma


def _facts(report: PreviewReport) -> str:
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
    }
    return f'data-facts="{escape(json.dumps(facts, separators=(",", ":")))}"'


def _counts(report: PreviewReport) -> str:
    pages = report.run.pages
    failed = f" {pages.failed} failed." if pages.failed else ""
    return (
        '<p class="preview-counts" role="status"><strong><span class="kept-count">'
        f"{pages.kept}</span> of {pages.kept + pages.dropped} pages are kept</strong>, "
        f'<span class="dropped-count">{pages.dropped}</span> dropped.{failed}</p>'
        f"<p>{_what_is_shown(report)}{_what_comes_later(report.config)}</p>"
    )


def _what_is_shown(report: PreviewReport) -> str:
    shown, total = len(report.shown), report.histogram.total
    if shown == total:
        return "All pages are shown, the doubtful ones first in both lists."
    return (
        f"{shown} of {total} pages are shown, spread over all scores; the doubtful ones come "
        "first in both lists."
    )


def _what_comes_later(config: DatasetConfig) -> str:
    later = ["near-duplicates"] if config.dedupe else []
    if config.content is Content.REGIONS:
        later.append("illustrations of too few pixels")
    if not later:
        return ""
    return f" Of the kept ones the dataset may leave out {' and '.join(later)}."


def _histogram(report: PreviewReport) -> str:
    config, histogram = report.config, report.histogram
    if config.filter is PageFilter.NONE or not histogram.total:
        return ""
    return histogram_html(histogram, shown_threshold(config, histogram.scale), _title(histogram))


def _title(histogram: ScoreHistogram) -> str:
    if histogram.scale.unit:
        return "Number of pages by the share that pictures cover (%)"
    return "Number of pages by how widely their grey values spread (sigma)"


def _group(side: str, heading: str, cards: Iterable[str]) -> str:
    return (
        f'<div class="page-side"><h4 id="{side}-pages">{heading}</h4>'
        # It scrolls, so it must be reached by the keyboard.
        f'<ul class="page-cards" data-side="{side}" tabindex="0" '
        f'aria-labelledby="{side}-pages">{"".join(cards)}</ul>'
        '<p class="none-shown">None of the pages shown.</p></div>'
    )


def _card(page: PreviewedPage, scale: ScoreScale, names_file: bool) -> str:
    place = f"page {page.result.page_number}"
    name = f"{page.file_name}, {place}"
    words = page.preview.rejection or page.preview.found
    file_name = escape(page.file_name)
    file = f'<span class="file-name" title="{file_name}">{file_name}</span>' if names_file else ""
    return (
        f'<li class="page-card" data-score="{_score(page)!r}" '
        f'data-rejected="{int(bool(page.preview.rejection))}">'
        f"{_picture(page, name)}<strong>{place.capitalize()}</strong> "
        f'<span class="page-score">{_shown_score(page, scale)}</span>{file}'
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


def _shown_score(page: PreviewedPage, scale: ScoreScale) -> str:
    return f"{scale.to_shown(_score(page)):.1f}{scale.unit}"


def _pairs(pages: Iterable[FinishedPage], config: DatasetConfig) -> str:
    pairs = "".join(_pair(page, config) for page in pages)
    if not pairs:
        return ""
    return f'<h4>Before and after</h4><ul class="page-pairs">{pairs}</ul>'


def _pair(page: FinishedPage, config: DatasetConfig) -> str:
    name = f"{page.file_name}, page {page.page_number}"
    before = _image(page.before.jpeg, f"{name}, as scanned")
    after = _image(page.after.jpeg, f"{name}, as in the dataset")
    return (
        f"<li><p><strong>Page {page.page_number}</strong>: {escape(_steps(page, config))}</p><div>"
        f"<figure>{before}<figcaption>as scanned</figcaption></figure>"
        f"<figure>{after}<figcaption>in the dataset, {page.after.width} x {page.after.height}"
        "</figcaption></figure></div></li>"
    )


def _steps(page: FinishedPage, config: DatasetConfig) -> str:
    """Return what was done to a picture, in words."""
    if not config.finishing.is_on:
        return "cleaning is switched off"
    done = page.after.finishing or ""
    return "; ".join(map(_step_words, done.split("; "))) if done else "nothing had to be cleaned"


def _step_words(step: str) -> str:
    if step.startswith("deskewed "):
        return f"turned by {step.removeprefix('deskewed ').lstrip('-')} degrees"
    return _STEP_WORDS.get(step, step)
