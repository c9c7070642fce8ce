"""Both reports as HTML: what leads, and that names are data."""

import re
from dataclasses import replace
from html import unescape

import pytest

from archive_tools.progress_html import progress_html
from archive_tools.report_html import failure_lines, report_html
from archive_tools.run_report import PageFailure, Progress, RunReport
from archive_tools.schema import PageCounts, RunStatus, SourceFailure
from serving.error_html import error_html
from vetscanner import report_html as vet
from vetscanner.guide_html import guide_html
from vetscanner.phrases import load_phrases
from vetscanner.schema import Language

HOSTILE = '<img src=x onerror="alert(1)">.pdf'


def make_run_report(failures: int = 0) -> RunReport:
    return RunReport(
        status=RunStatus.PARTIAL if failures else RunStatus.SUCCESS,
        out=None,
        pages=PageCounts(kept=3, dropped=6, failed=1),
        file_count=1,
        source_failures=tuple(
            SourceFailure(HOSTILE, "not a PDF; save it as PDF") for _ in range(failures)
        ),
        source_failure_count=failures,
        page_failures=(PageFailure(HOSTILE, 7, "took longer than 60 s"),) if failures else (),
        elapsed_s=2.0,
    )


def make_scan_report(**changes: object) -> dict[str, object]:
    report: dict[str, object] = {
        "level": "emergency",
        "headline": "Call now <b>",
        "first_steps": ["Stop all movement", "Wait & see"],
        "call": "Your vet",
        "findings": [
            {
                "sign": "foot_and_mouth",
                "name": "signs like foot-and-mouth disease",
                "probability": 0.876,
                "notifiable": True,
                "zoonotic": False,
                "differentials": ["burn"],
            }
        ],
        "why": [f"{HOSTILE}: 88 % <b>"],
        "photos": [{"name": HOSTILE, "heatmap": None}],
        "photo_errors": [{"name": HOSTILE, "message": f"{HOSTILE}: the file is empty"}],
        "disclaimer": "Not a diagnosis",
        "sources": ["Some <source>"],
        "device": "cpu",
        "device_reason": "This machine has no GPU.",
        "model": {"id": "model", "revision": "abc", "calibrated": True},
        "timings_s": {"load": 0.1, "infer": 0.2, "unload": 0.0},
    }
    return report | changes


def elements(html: str) -> set[str]:
    return set(re.findall(r"<([a-z0-9]+)", html))


def test_a_hostile_file_name_stays_text_in_the_run_report() -> None:
    html = report_html(make_run_report(failures=1))
    assert "img" not in elements(html)
    assert "&lt;img" in html


def test_a_hostile_file_name_stays_text_in_the_progress() -> None:
    html = progress_html(Progress(HOSTILE, 1, 2, 3, 4, PageCounts(kept=1), 2.0))
    assert "img" not in elements(html)
    assert 'value="3"' in html
    assert 'max="4"' in html


def test_the_run_report_tells_every_count() -> None:
    html = report_html(make_run_report())
    for name, number in [("seen", 10), ("Kept", 3), ("Dropped", 6), ("Failed", 1)]:
        assert re.search(rf"{name}</th><td>{number}<", html), name
    assert "70.0%" in html


@pytest.mark.parametrize("failed", [0, 1])
def test_a_run_that_kept_nothing_says_so_first(failed: int) -> None:
    empty = replace(make_run_report(failed), pages=PageCounts(dropped=6, failed=failed))
    html = report_html(empty)
    assert html.startswith("<p><strong>No page was kept")
    assert "ready" not in html
    assert report_html(make_run_report()).startswith("<p><strong>The dataset is ready.")


def test_failures_are_named_with_what_to_do_and_shortened() -> None:
    lines = failure_lines(make_run_report(failures=25))
    assert lines[0].endswith("save it as PDF")
    assert "5 more" in lines[20]
    assert "page 7: took longer" in lines[21]
    assert len(lines) == 22


def test_the_level_leads_in_words_and_nothing_is_markup() -> None:
    html = vet.report_html(make_scan_report(), Language.EN)
    assert html.index("Call now") < html.index("Stop all movement") < html.index("Your vet")
    assert not {"img", "b", "source"} & elements(html)
    assert "88%" in html
    assert "must be reported" in html
    assert "can infect people" not in html


@pytest.mark.parametrize("language", list(Language))
def test_the_level_stands_alone_with_a_symbol_of_its_own(language: Language) -> None:
    symbols = set()
    for level, words in load_phrases(language).levels.items():
        report = make_scan_report(level=level, headline=f"{words}. More, <i>.")
        html = vet.report_html(report, language)
        symbol, shown, more = re.search(  # type: ignore[union-attr]
            r'<div role="alert">.*?<path d="(.*?)"/>.*?<span>(.*?)</span></div><p>(.*?)</p>', html
        ).groups()
        assert (unescape(shown), more) == (words, "More, &lt;i&gt;.")
        symbols.add(symbol)
    assert len(symbols) == 5


def test_a_message_is_offered_only_where_there_is_one() -> None:
    assert "<button" not in vet.report_html(make_scan_report(), Language.EN)
    html = vet.report_html(make_scan_report(), Language.FR, "</textarea><b>\"'")
    assert "Copier comme texte" in html
    assert "&lt;/textarea&gt;&lt;b&gt;&quot;&#x27;</textarea>" in html
    assert "b" not in elements(html)


def test_numbers_and_steps_of_the_small_print_follow_the_language() -> None:
    html = vet.report_html(make_scan_report(), Language.DE)
    assert "88\u202f%" in html
    assert "laden 0,10\u202fs, ansehen 0,20\u202fs, entladen 0,00\u202fs" in html


def test_headings_follow_the_language() -> None:
    report = make_scan_report(findings=[], photo_errors=[])
    german = vet.report_html(report, Language.DE)
    assert 'lang="de"' in german
    assert "What to do now" not in german
    assert "Photos that could not be used" not in vet.report_html(report, Language.EN)


@pytest.mark.parametrize("language", list(Language))
def test_the_photo_guide_shows_six_drawings_with_captions(language: Language) -> None:
    html = guide_html(language)
    assert html.count("data:image/svg+xml;base64,") == 6
    captions = re.findall(r"<figcaption>(.+?)</figcaption>", html)
    assert len(set(captions)) == 6


def test_an_error_stays_on_the_page_as_text() -> None:
    html = error_html(f"{HOSTILE}: the file is empty\nsend it again")
    assert 'role="alert"' in html
    assert "img" not in elements(html)
    assert html.count("<p>") == 2
