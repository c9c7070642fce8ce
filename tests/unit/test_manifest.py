"""The lists inside a dataset: file names are data, reports stay small."""

import csv
import io
import json
import math
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archive_tools import manifest
from archive_tools.journal import (
    JournalLine,
    PageDone,
    RunBegun,
    SourceBegun,
    SourceFailed,
    StoredEntry,
    StoredImage,
)
from archive_tools.schema import DocumentDetails, PageOutcome

ANY_TEXT = st.text(st.characters(), max_size=60)
ENTRY = StoredEntry("train/000001.jpg", 1, 2, 3)
IMAGE = StoredImage(ENTRY, ENTRY, "caption", 64, 64, (1, 2, 3, 4), 5, 6, "00")


def make_page(
    index: int = 0, outcome: PageOutcome = PageOutcome.KEPT, reason: str = ""
) -> PageDone:
    images = (IMAGE,) if outcome is PageOutcome.KEPT else ()
    return PageDone(index, outcome, 10, 20, 61.123456, math.nan, reason, images, 0)


def make_source(name: str = "a.pdf", title: str = "") -> SourceBegun:
    return SourceBegun(name, "0" * 64, 1, DocumentDetails(title=title))


@given(name=ANY_TEXT, reason=ANY_TEXT)
def test_any_name_survives_the_table_and_none_is_a_formula(name: str, reason: str) -> None:
    lines = [make_source(name), make_page(reason=reason)]
    table = b"".join(manifest.iter_page_rows(lines)).decode()
    header, row = csv.reader(io.StringIO(table, newline=""))
    assert tuple(header) == manifest.PAGE_COLUMNS
    cells = dict(zip(header, row, strict=True))
    for cell, text in ((cells["file"], name), (cells["reason"], reason)):
        assert cell.removeprefix("'") == manifest.printable(text).removeprefix("'")
        assert not cell.startswith(("=", "+", "-", "@", "\t", "\r", "\n"))
    assert cells["regions"] == "train/000001.jpg 1 2 3 4 of 5 6"
    assert (cells["sigma"], cells["score"]) == ("61.1235", "")


@given(name=ANY_TEXT, title=ANY_TEXT)
def test_any_name_gives_one_row_of_json(name: str, title: str) -> None:
    (line,) = manifest.iter_metadata_rows([make_source(name, title), make_page()])
    assert line.count(b"\n") == 1
    row = json.loads(line, parse_constant=pytest.fail)
    assert row["source_file"] == manifest.printable(name)
    assert row["document_title"] == manifest.printable(title)


def iter_many_failures() -> Iterator[JournalLine]:
    yield RunBegun({"min_sigma": 45.0}, {})
    for number in range(1_500):
        yield make_source(f"{number}.pdf")
        yield make_page(0, PageOutcome.FAILED, "damaged")
        yield SourceFailed(f"{number}.txt", "no PDF")


def test_report_stays_small_and_counts_on() -> None:
    report = manifest.make_report(iter_many_failures())
    assert report["counts"]["files"] == report["counts"]["files_failed"] == 1_500
    assert report["counts"]["failed"] == report["counts"]["pages"] == 1_500
    for listed, most in (("documents", 1_000), ("file_failures", 100), ("page_failures", 100)):
        assert len(report[listed]) == most
        assert report[f"{listed}_not_listed"] == 1_500 - most
    assert report["page_failures"][1] == {"file": "1.pdf", "page_number": 1, "reason": "damaged"}


@pytest.mark.parametrize(
    ("lines", "status", "reduction"),
    [
        ([], "success", 0.0),
        ([make_source(), make_page()], "success", 0.0),
        ([make_source(), make_page(0, PageOutcome.DROPPED)], "success", 100.0),
        ([make_source(), make_page(), make_page(1, PageOutcome.DROPPED)], "success", 50.0),
        ([make_source(), make_page(0, PageOutcome.FAILED)], "partial", 100.0),
        ([SourceFailed("a.pdf", "no PDF"), make_source(), make_page()], "partial", 0.0),
    ],
)
def test_status(lines: list[JournalLine], status: str, reduction: float) -> None:
    report = manifest.make_report(lines)
    assert (report["status"], report["reduction_percent"]) == (status, reduction)
