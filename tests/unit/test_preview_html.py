"""A preview as HTML and JSON: names are data, and the page's script finds what it decides by."""

import json
import re
from dataclasses import replace
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import pytest

from archive_tools.config import NO_FINISHING, Content, DatasetConfig, PageFilter
from archive_tools.histogram_html import histogram_html
from archive_tools.preview import FinishedPage, ListedPage, PreviewedPage, PreviewReport
from archive_tools.preview_html import preview_html
from archive_tools.preview_json import preview_json
from archive_tools.run_report import PageFailure, RunReport
from archive_tools.schema import (
    PageCounts,
    PageOutcome,
    PagePreview,
    PageResult,
    Record,
    RunStatus,
    SourceFailure,
)
from archive_tools.score_histogram import ScoreHistogram, scale_for

HOSTILE = '"><img src=x onerror="alert(1)"> ${1+1} {{1+1}}.pdf'
AUTO = DatasetConfig(filter=PageFilter.AUTO)


class Elements(HTMLParser):
    """Collects elements with their attributes, and the text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data

    def attributes(self, tag: str, name: str) -> list[str]:
        return [attrs[name] or "" for found, attrs in self.found if found == tag and name in attrs]


def previewed(
    number: int, score: float, outcome: PageOutcome, rejection: str = ""
) -> PreviewedPage:
    result = PageResult(number - 1, outcome, 800, 1200, 50.0, score, HOSTILE)
    boxes = ((0.1, 0.2, 0.5, 0.6),) if score else ()
    return PreviewedPage(HOSTILE, result, PagePreview(b"jpeg", 20, 30, HOSTILE, boxes, rejection))


def make_report(config: DatasetConfig = AUTO, pages: int = 3, steps: str = "") -> PreviewReport:
    shown = (
        previewed(1, 0.4, PageOutcome.KEPT),
        previewed(2, 0.0, PageOutcome.DROPPED),
        previewed(3, 0.2, PageOutcome.DROPPED, "too small"),
    )
    histogram = ScoreHistogram(scale_for(config.filter))
    for page in shown:
        histogram.add(page.result.score or 0.0, not page.preview.rejection)
    for _ in range(pages - len(shown)):
        histogram.add(0.0)
    record = Record(b"jpeg", 1024, 1024, (0, 0, 8, 8), 8, 8, "0" * 16, finishing=steps)
    run = RunReport(
        status=RunStatus.PARTIAL,
        out=Path("pages.csv"),
        pages=PageCounts(kept=1, dropped=pages - 1, failed=1),
        file_count=2,
        source_failures=(SourceFailure(HOSTILE, "not a PDF"),),
        source_failure_count=1,
        page_failures=(PageFailure(HOSTILE, 7, "took longer than 60 s"),),
        elapsed_s=2.0,
    )
    finished = (FinishedPage(HOSTILE, 1, PagePreview(b"jpeg", 20, 30), record),)
    listed = tuple(ListedPage(HOSTILE, page.result, page.preview.boxes) for page in shown)
    return PreviewReport(config, run, histogram, shown, finished, listed)


def test_names_and_reasons_are_text() -> None:
    elements = Elements(preview_html(make_report()))
    sources = elements.attributes("img", "src")
    assert len(sources) == 3 + 2
    assert all(source.startswith("data:image/jpeg;base64,") for source in sources)
    assert not any(name.startswith("on") for _, attrs in elements.found for name in attrs)
    # Named where the page is shown and where a failure is told.
    assert elements.text.count(HOSTILE) >= 5


def test_the_script_finds_its_facts() -> None:
    html = preview_html(make_report(pages=50))
    found = re.search(r'data-facts="([^"]+)"', html)
    assert found
    facts = json.loads(unescape(found[1]))
    assert (facts["filter"], facts["total"]) == ("auto", 50)
    assert (facts["keptAt"][0], facts["keptAt"][3], facts["keptAt"][100]) == (49, 1, 0)
    cards = [attrs for tag, attrs in Elements(html).found if tag == "li" and "data-score" in attrs]
    assert [(float(card["data-score"] or ""), card["data-rejected"]) for card in cards] == [
        (0.4, "0"),
        (0.0, "0"),
        (0.2, "1"),
    ]


def test_counts_and_what_is_shown_are_said() -> None:
    text = Elements(preview_html(make_report())).text
    assert "Pages kept: 1 of 3, dropped: 2. Failed: 1." in text
    assert "All pages are shown" in text
    assert "too small" in text
    assert "3 of 50 pages are shown" in Elements(preview_html(make_report(pages=50))).text
    assert "near-duplicates" in text
    regions = replace(AUTO, content=Content.REGIONS, dedupe=False)
    later = Elements(preview_html(make_report(regions))).text
    assert "near-duplicates" not in later
    assert "illustrations of too few pixels" in later


def test_the_histogram_has_a_text_alternative_and_a_table() -> None:
    report = make_report(pages=80)
    elements = Elements(histogram_html(report.histogram, 1.5))
    [label] = [attrs["aria-label"] for _, attrs in elements.found if attrs.get("role") == "img"]
    assert label
    assert "Histogram of 80 pages. less than 1 %: 78 pages" in label
    assert "40 to 45 %: 1 page;" in f"{label[:-1]};"
    assert "78 ↑" in elements.text, "the bar that is cut off tells its figure"
    assert elements.text.count("40 to 45 %") == 3, "both bars and the table"


@pytest.mark.parametrize(
    ("config", "has_histogram"),
    [
        (AUTO, True),
        (DatasetConfig(filter=PageFilter.SIGMA), True),
        (DatasetConfig(filter=PageFilter.NONE), False),
    ],
    ids=["auto", "sigma", "none"],
)
def test_no_threshold_where_every_page_is_kept(config: DatasetConfig, has_histogram: bool) -> None:
    assert ("score-histogram" in preview_html(make_report(config))) is has_histogram


@pytest.mark.parametrize(
    ("steps", "words"),
    [
        ("trimmed; deskewed -0.7", "scanner border cut off; turned by 0.7 degrees"),
        ("paper neutralised; descreened", "paper made neutral; halftone dots smoothed"),
        ("", "nothing had to be cleaned"),
    ],
)
def test_steps_are_told_in_words(steps: str, words: str) -> None:
    assert words in preview_html(make_report(steps=steps))
    off = replace(AUTO, finishing=NO_FINISHING)
    assert "cleaning is switched off" in preview_html(make_report(off, steps=steps))


def test_json_is_plain_and_complete() -> None:
    report = preview_json(make_report(pages=50))
    assert json.loads(json.dumps(report, allow_nan=False)) == report
    assert report["threshold"] == 0.015
    assert report["pages"][0]["file"] == HOSTILE
    assert report["pages"][0]["illustrations"] == [[0.1, 0.2, 0.5, 0.6]]
    assert report["pages_not_listed"] == 51 - 3
    assert len(report["thresholds"]["values"]) == len(report["thresholds"]["pages_kept"])
    assert len(report["histogram"]["edges"]) == len(report["histogram"]["pages"]) + 1
