"""Two-page spreads, sideways and upside-down pages, and what is noticed of a scan: whole runs."""

import io
import json
import zipfile
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from archive_tools.config import Content, DatasetConfig, Finishing, Fit, RunOptions, Spreads
from archive_tools.extraction import PageExtractor
from archive_tools.journal import PageDone
from archive_tools.pipeline import build_dataset
from archive_tools.schema import PageOutcome, PageResult, PageTask
from examples.magazine_drawing.pages import DrawnPage, PageKind, draw_labelled_page, page_size_px
from examples.magazine_drawing.pdf import PdfStream, ScanKind, encode_scan
from tests.commands import run_command
from tests.datasets import build, read_pages, read_rows

DPI = 100
# The drawn spreads are alike.
CONFIG = DatasetConfig(dedupe=False)
PLAIN = Finishing(trim=False, deskew=False)


def draw(kind: PageKind, seed: int = 3) -> DrawnPage:
    return draw_labelled_page(kind, seed, page_size_px(kind, DPI))


SPREAD = draw(PageKind.SPREAD)
"""Text on the left, a portrait in text on the right."""


def both_illustrated() -> np.ndarray:
    """Another spread, with a page with two pictures on its left."""
    pixels = draw(PageKind.SPREAD, 4).pixels.copy()
    middle = pixels.shape[1] // 2
    pixels[:, :middle] = draw(PageKind.MIXED).pixels[:, :middle]
    return pixels


def across_the_gutter() -> np.ndarray:
    """The spread with its portrait moved over the gutter."""
    pixels = SPREAD.pixels.copy()
    x0, y0, x1, y1 = SPREAD.pictures[0]
    left = (pixels.shape[1] - (x1 - x0)) // 2
    pixels[y0:y1, left : left + x1 - x0] = SPREAD.pixels[y0:y1, x0:x1]
    return pixels


@pytest.fixture(scope="module")
def scans(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A text page, a spread, one with pictures on both pages, one across, and one turned."""
    path = tmp_path_factory.mktemp("scans") / "scans.pdf"
    turned = np.rot90(draw(PageKind.MIXED, 4).pixels, 1)
    pages = [draw(PageKind.TEXT).pixels, SPREAD.pixels, both_illustrated(), across_the_gutter()]
    with path.open("wb") as stream, PdfStream(stream) as pdf:
        for pixels in (*pages, turned):
            pdf.add_page(encode_scan(np.ascontiguousarray(pixels), ScanKind.COLOUR, 80), DPI)
    return path


@pytest.fixture(scope="module")
def dataset(scans: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(scans, tmp_path_factory.mktemp("out") / "d.zip", CONFIG)


def extract(scans: Path, page_number: int, **options: Any) -> PageResult:
    with closing(PageExtractor(DatasetConfig(**options))) as extractor:
        return extractor.extract(PageTask(scans, page_number - 1))


def test_each_page_of_a_spread_is_judged_and_saved_by_itself(dataset: Path) -> None:
    pages = read_pages(dataset)
    assert [page["decision"] for page in pages] == ["dropped", *["kept"] * 4]
    parts = [(row["page_number"], row["part"]) for row in read_rows(dataset)]
    assert parts == [(2, "right"), (3, "left"), (3, "right"), (4, ""), (5, "")]
    assert "left page: no illustration found (left out)" in pages[1]["reason"]
    assert "right page: 1 illustration" in pages[1]["reason"]
    assert "left out" not in pages[2]["reason"]


def test_pages_still_add_up_and_the_report_says_what_was_noticed(dataset: Path) -> None:
    with zipfile.ZipFile(dataset) as archive:
        report = json.loads(archive.read("manifest/report.json"))
    counts = report["counts"]
    assert counts["kept"] + counts["dropped"] + counts["failed"] == counts["pages"] == 5
    assert counts["images"] == 5
    assert report["traits"]["two pages"] == 2
    assert report["traits"]["turned 90 degrees"] == 1
    pages = read_pages(dataset)
    assert "two pages" in pages[1]["traits"]
    assert "turned 90 degrees" in pages[4]["traits"]
    assert all("scanner frame" in page["traits"] for page in pages)


def test_the_halves_meet_at_the_gutter(dataset: Path) -> None:
    left, right = (row for row in read_rows(dataset) if row["page_number"] == 3)
    width, height = left["page_width"], left["page_height"]
    # Borders may be trimmed, but neither half reaches over the gutter.
    assert left["bbox"][2] <= width / 2 + 0.02 * width
    assert right["bbox"][0] >= width / 2 - 0.02 * width
    for row in (left, right):
        x0, y0, x1, y1 = row["bbox"]
        assert (x1 - x0) * (y1 - y0) > 0.4 * width * height


def test_spreads_may_be_kept_whole(scans: Path) -> None:
    result = extract(scans, 2, spreads=Spreads.KEEP, finishing=PLAIN)
    (record,) = result.records
    assert (record.part, record.bbox) == ("", (0, 0, record.page_width, record.page_height))
    assert "left out" not in result.reason


@pytest.mark.parametrize("fit", [Fit.CROP, Fit.BUCKET])
def test_a_half_is_shown_as_finely_as_its_fit_asks(scans: Path, fit: Fit) -> None:
    (record,) = extract(scans, 2, fit=fit, size_px=512).records
    assert record.part == "right"
    assert min(record.width, record.height) >= 384


def test_a_half_must_cover_the_least_score_by_itself(scans: Path) -> None:
    result = extract(scans, 2, min_score=0.9)
    assert (result.outcome, result.records) == (PageOutcome.DROPPED, ())
    assert result.reason.endswith("less than 90 %")


def test_regions_of_a_spread_say_on_which_page_they_lie(scans: Path) -> None:
    records = extract(scans, 3, content=Content.REGIONS, min_size_px=64).records
    assert {record.part for record in records} == {"left", "right"}
    for record in records:
        middle = (record.bbox[0] + record.bbox[2]) / 2
        assert (middle < record.page_width / 2) is (record.part == "left")


def test_a_sideways_page_is_turned_upright(scans: Path) -> None:
    (turned,) = extract(scans, 5).records
    assert turned.finishing.startswith("turned upright")
    (lying,) = extract(scans, 5, finishing=PLAIN).records
    upright = as_thumbnail(draw(PageKind.MIXED, 4).pixels)
    likeness = [
        np.corrcoef(as_thumbnail(np.asarray(Image.open(io.BytesIO(one.jpeg)))), upright)[0, 1]
        for one in (turned, lying)
    ]
    assert likeness[0] > 0.8 > likeness[1]


def as_thumbnail(pixels: np.ndarray) -> np.ndarray:
    """The inked part of a picture at 24 x 24, flat."""
    grey = np.asarray(Image.fromarray(pixels).convert("L"), dtype=float)
    across = np.flatnonzero(np.ptp(grey, axis=0) > 60)
    inside = Image.fromarray(grey[:, across[0] : across[-1]].astype(np.uint8))
    return np.asarray(inside.resize((24, 24), Image.Resampling.BOX), dtype=float).ravel()


def test_workers_and_a_stop_change_no_byte(scans: Path, dataset: Path, tmp_path: Path) -> None:
    assert build(scans, tmp_path / "two.zip", CONFIG, 2).read_bytes() == (dataset.read_bytes())
    out = tmp_path / "cut.zip"
    steps = build_dataset([scans], out, CONFIG, RunOptions(workers=0, keep_partial=True))
    journal = out.with_name("cut.zip.journal")
    while not journal.exists() or journal.read_text().count(PageDone.__name__) < 3:
        next(steps)
    steps.close()
    *_, _report = build_dataset([scans], out, CONFIG, RunOptions(workers=0, resume=True))
    assert out.read_bytes() == dataset.read_bytes()


def test_the_command_line_says_what_was_noticed(scans: Path, tmp_path: Path) -> None:
    out = tmp_path / "d.zip"
    options = ["--spreads", "keep", "--no-dedupe"]
    ended = run_command("archive_tools", "build", scans, "--out", out, *options)
    assert ended.status == 0, ended.stderr
    assert "two pages: 2" in ended.stdout
    assert "Noticed: " in ended.stdout
    assert [row["part"] for row in read_rows(out)] == [""] * 4
