"""Pages kept for their illustrations, and the illustrations cut out, on drawn magazine pages."""

import csv
import inspect
import io
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from PIL import Image

from archive_tools.cli import make_parser
from archive_tools.config import Content, DatasetConfig, Finishing, Fit, PageFilter, RunOptions
from archive_tools.extraction import PageExtractor
from archive_tools.illustrations.finder import LEAST_AREA_SHARE
from archive_tools.journal import PageDone
from archive_tools.pipeline import build_dataset
from archive_tools.schema import PageOutcome, PageTask, Purpose
from archive_tools.tab import build_dataset as build_on_page
from examples.magazine_drawing.pages import DrawnPage, PageKind, draw_labelled_page, page_size_px
from examples.magazine_drawing.pdf import PdfStream, ScanKind, encode_scan
from tests.commands import run_command
from tests.datasets import build, read_pages, read_rows

KINDS = (PageKind.COVER, PageKind.TEXT, PageKind.MIXED, PageKind.BLANK, PageKind.HALFTONE)
DPI = 100
AUTO = DatasetConfig(filter=PageFilter.AUTO)
REGIONS = DatasetConfig(filter=PageFilter.AUTO, content=Content.REGIONS, min_size_px=64)

Fractions = tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Magazine:
    """A PDF and the truth about it."""

    path: Path
    pages: tuple[DrawnPage, ...]

    def true_boxes(self, page_index: int) -> list[Fractions]:
        """Boxes of the pictures of a page as fractions of it."""
        page = self.pages[page_index]
        height, width = page.pixels.shape[:2]
        return [as_fractions(box, width, height) for box in page.pictures]


@pytest.fixture(scope="module")
def magazine(tmp_path_factory: pytest.TempPathFactory) -> Magazine:
    """One page of each of `KINDS`, scanned in colour."""
    pages = tuple(draw_labelled_page(kind, 3, page_size_px(kind, DPI)) for kind in KINDS)
    path = tmp_path_factory.mktemp("magazine") / "magazine.pdf"
    with path.open("wb") as stream, PdfStream(stream) as pdf:
        for page in pages:
            pdf.add_page(encode_scan(page.pixels, ScanKind.COLOUR, quality=80), DPI)
    return Magazine(path, pages)


def as_fractions(box: Any, width: int, height: int) -> Fractions:
    x0, y0, x1, y1 = box
    return (x0 / width, y0 / height, x1 / width, y1 / height)


def overlap(first: Fractions, second: Fractions) -> float:
    """Intersection over union."""
    across = min(first[2], second[2]) - max(first[0], second[0])
    down = min(first[3], second[3]) - max(first[1], second[1])
    shared = max(0.0, across) * max(0.0, down)
    areas = sum((x1 - x0) * (y1 - y0) for x0, y0, x1, y1 in (first, second))
    return shared / (areas - shared)


def expected_outcomes() -> list[str]:
    return ["kept" if kind.is_illustrated else "dropped" for kind in KINDS]


def test_auto_keeps_illustrated_pages_and_says_why(magazine: Magazine, tmp_path: Path) -> None:
    pages = read_pages(build(magazine.path, tmp_path / "d.zip", AUTO))
    assert [page["decision"] for page in pages] == expected_outcomes()
    for page, truth in zip(pages, magazine.pages, strict=True):
        # The score is the share of the page that pictures cover, and sigma is told beside it.
        height, width = truth.pixels.shape[:2]
        covered = sum((x1 - x0) * (y1 - y0) for x0, y0, x1, y1 in truth.pictures)
        assert float(page["score"]) == pytest.approx(covered / (width * height), abs=0.15)
        assert float(page["sigma"]) > 10
        assert "illustration" in page["reason"]


def test_regions_are_the_drawn_pictures(magazine: Magazine, tmp_path: Path) -> None:
    dataset = build(magazine.path, tmp_path / "d.zip", REGIONS)
    found: dict[int, list[Fractions]] = {}
    for row in read_rows(dataset):
        box = as_fractions(row["bbox"], row["page_width"], row["page_height"])
        assert 0 <= box[0] < box[2] <= 1
        assert 0 <= box[1] < box[3] <= 1
        found.setdefault(row["page_number"] - 1, []).append(box)
    for page_index, kind in enumerate(KINDS):
        truth = magazine.true_boxes(page_index) if kind.is_illustrated else []
        boxes = found.get(page_index, [])
        assert len(boxes) == len(truth), kind
        assert all(max(overlap(box, true) for box in boxes) >= 0.5 for true in truth), kind
    mixed = read_pages(dataset)[KINDS.index(PageKind.MIXED)]
    assert mixed["regions"].count("train/") == 2


def test_a_region_shows_what_its_box_says(magazine: Magazine, tmp_path: Path) -> None:
    config = DatasetConfig(
        filter=PageFilter.AUTO, content=Content.REGIONS, min_size_px=64, fit=Fit.STRETCH
    )
    dataset = build(magazine.path, tmp_path / "d.zip", config)
    with zipfile.ZipFile(dataset) as archive:
        for row in read_rows(dataset):
            picture = Image.open(io.BytesIO(archive.read(f"train/{row['file_name']}")))
            page = Image.fromarray(magazine.pages[row["page_number"] - 1].pixels)
            box = as_fractions(row["bbox"], row["page_width"], row["page_height"])
            cut = page.crop(
                tuple(
                    round(edge * side)
                    for edge, side in zip(box, [page.width, page.height] * 2, strict=True)
                )
            )
            likeness = np.corrcoef(thumbnail(picture), thumbnail(cut))[0, 1]
            assert likeness > 0.95, row


def thumbnail(picture: Image.Image) -> np.ndarray:
    small = picture.convert("L").resize((48, 48), Image.Resampling.BOX)
    return np.asarray(small, dtype=float).ravel()


@pytest.mark.parametrize("config", [AUTO, REGIONS], ids=["pages", "regions"])
def test_any_number_of_workers_gives_the_same_bytes(
    magazine: Magazine, tmp_path: Path, config: DatasetConfig
) -> None:
    one, two = (
        build(magazine.path, tmp_path / f"{workers}.zip", config, workers).read_bytes()
        for workers in (1, 2)
    )
    assert one == two


def test_a_stopped_run_resumes_to_the_same_bytes(magazine: Magazine, tmp_path: Path) -> None:
    whole = build(magazine.path, tmp_path / "whole.zip", REGIONS)
    out = tmp_path / "cut.zip"
    steps = build_dataset([magazine.path], out, REGIONS, RunOptions(workers=0, keep_partial=True))
    journal = out.with_name("cut.zip.journal")
    while journal.exists() is False or PageDone.__name__ not in journal.read_text():
        next(steps)
    steps.close()
    assert not out.exists()
    *_, _report = build_dataset([magazine.path], out, REGIONS, RunOptions(workers=0, resume=True))
    assert out.read_bytes() == whole.read_bytes()


def extract(magazine: Magazine, kind: PageKind, purpose: Purpose = Purpose.BUILD, **options: Any):
    extractor = PageExtractor(DatasetConfig(**options))
    try:
        return extractor.extract(PageTask(magazine.path, KINDS.index(kind), purpose))
    finally:
        extractor.close()


def test_a_page_without_a_usable_region_is_dropped(magazine: Magazine) -> None:
    options = {"filter": PageFilter.NONE, "content": Content.REGIONS}
    text = extract(magazine, PageKind.TEXT, **options)
    assert (text.outcome, text.records) == (PageOutcome.DROPPED, ())
    assert text.reason == "no illustration of at least 1.2 % of the page"
    small = extract(magazine, PageKind.MIXED, min_size_px=4000, **options)
    assert (small.outcome, small.records) == (PageOutcome.DROPPED, ())
    assert "2 of 2 left out: too small" in small.reason


def test_the_least_area_leaves_the_smaller_picture_out(magazine: Magazine) -> None:
    areas = sorted((x1 - x0) * (y1 - y0) for x0, y0, x1, y1 in magazine.true_boxes(2))
    between = sum(areas) / 2
    options = {"content": Content.REGIONS, "min_size_px": 64, "filter": PageFilter.AUTO}
    assert len(extract(magazine, PageKind.MIXED, **options).records) == 2
    kept = extract(magazine, PageKind.MIXED, min_region_area=between, **options)
    assert len(kept.records) == 1
    assert "1 illustration" in kept.reason


def test_the_filter_is_the_default_everywhere() -> None:
    assert DatasetConfig().filter is PageFilter.AUTO
    options = make_parser().parse_args(["build", "x.pdf", "--out", "x.zip"])
    assert options.filter == PageFilter.AUTO
    assert inspect.signature(build_on_page).parameters["filter"].default == PageFilter.AUTO


def test_the_default_least_area_is_that_of_the_finder() -> None:
    assert DatasetConfig().min_region_area == LEAST_AREA_SHARE


def test_judging_alone_gives_the_same_verdict(magazine: Magazine) -> None:
    judged = extract(magazine, PageKind.MIXED, Purpose.JUDGE, filter=PageFilter.AUTO)
    built = extract(magazine, PageKind.MIXED, filter=PageFilter.AUTO)
    assert (judged.score, judged.sigma, judged.reason) == (built.score, built.sigma, built.reason)
    assert (len(judged.records), len(built.records)) == (0, 1)


def test_a_region_is_cut_from_all_the_pixels_of_the_scan(
    magazine: Magazine, tmp_path: Path
) -> None:
    page = magazine.pages[KINDS.index(PageKind.MIXED)]
    height, width = page.pixels.shape[:2]
    fine = cv2.resize(page.pixels, (width * 4, height * 4), interpolation=cv2.INTER_CUBIC)
    path = tmp_path / "fine.pdf"
    with path.open("wb") as stream, PdfStream(stream) as pdf:
        pdf.add_page(encode_scan(fine, ScanKind.COLOUR), 4 * DPI)
    plain = Finishing(trim=False, deskew=False)
    extractor = PageExtractor(
        DatasetConfig(filter=PageFilter.AUTO, content=Content.REGIONS, finishing=plain)
    )
    records = extractor.extract(PageTask(path, 0)).records
    extractor.close()
    assert {record.page_width for record in records} == {4 * width}


def test_the_command_line_offers_both(magazine: Magazine, tmp_path: Path) -> None:
    out = tmp_path / "d.zip"
    options = ["--filter", "auto", "--content", "regions", "--min-size", "64", "--json"]
    built = run_command("archive_tools", "build", magazine.path, "--out", out, *options)
    assert built.status == 0, built.stderr
    report = built.read_json()["dataset"]
    assert (report["options"]["filter"], report["options"]["content"]) == ("auto", "regions")
    assert report["counts"]["images"] == 4
    scored = run_command("archive_tools", "score", magazine.path, "--filter", "auto")
    assert scored.status == 0, scored.stderr
    decisions = [row["decision"] for row in csv.DictReader(io.StringIO(scored.stdout))]
    assert decisions == expected_outcomes()


def test_a_threshold_read_from_the_score_table_decides_alike(
    magazine: Magazine, tmp_path: Path
) -> None:
    scored = run_command("archive_tools", "score", magazine.path, "--filter", "auto")
    scores = [float(row["score"]) for row in csv.DictReader(io.StringIO(scored.stdout))]
    # The table's own figures: a page that just reaches the threshold is kept.
    for threshold in sorted(set(scores))[-2:]:
        options = ["--filter", "auto", "--min-score", str(threshold)]
        again = run_command("archive_tools", "score", magazine.path, *options)
        expected = ["kept" if score >= threshold else "dropped" for score in scores]
        rows = list(csv.DictReader(io.StringIO(again.stdout)))
        assert [row["decision"] for row in rows] == expected
        out = tmp_path / f"{threshold}.zip"
        run_command("archive_tools", "build", magazine.path, "--out", out, *options)
        with zipfile.ZipFile(out) as archive:
            pages = archive.read("manifest/pages.csv").decode()
        built = [row["decision"] for row in csv.DictReader(io.StringIO(pages))]
        assert built == expected


@pytest.mark.parametrize("option", ["--min-region-area", "--min-score"])
@pytest.mark.parametrize("share", ["-0.1", "1.5"])
def test_an_impossible_share_is_refused(tmp_path: Path, share: str, option: str) -> None:
    ended = run_command(
        "archive_tools", "build", "x.pdf", "--out", tmp_path / "d.zip", option, share
    )
    assert ended.status == 2
    assert "share of the page" in ended.stderr
