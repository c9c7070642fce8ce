"""Planted near-duplicates are dropped, different pages are not: drawn ones, and real scans."""

import csv
import io
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pymupdf
import pytest
from PIL import Image

from archive_tools.config import DatasetConfig, PageFilter, RunOptions
from archive_tools.duplicate_memory import DuplicateMemory
from archive_tools.picture import make_record
from archive_tools.pipeline import build_dataset
from archive_tools.run_report import RunReport
from archive_tools.schema import Record
from benchmarks.bench_duplicates import darken, encode_again, rescale, rotate
from tests import pdf_writer
from tests.pdf_fixtures import one_picture_page

Pixels = npt.NDArray[np.uint8]

PAGES = 9
DPI = 100
KEEP_ALL = DatasetConfig(filter=PageFilter.NONE)
LEAST_FOUND, MOST_WRONG = 0.95, 0.01


DISTORTIONS: tuple[Callable[[Pixels], Pixels], ...] = (rescale, encode_again, darken, rotate)


def render_pages(path: Path) -> Iterator[Pixels]:
    with pymupdf.open(path) as document:
        for page in document:
            pixmap = page.get_pixmap(dpi=DPI)
            samples = np.frombuffer(pixmap.samples, dtype=np.uint8)
            yield samples.reshape(pixmap.height, pixmap.width, 3)


@pytest.fixture(scope="module")
def sources(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """A magazine, and a PDF for each distortion of all its pages."""
    folder = tmp_path_factory.mktemp("planted")
    magazine = repository / "examples" / "magazine.pdf"
    paths = [magazine]
    for distort in DISTORTIONS:
        pictures = [pdf_writer.jpeg_stream(distort(one)) for one in render_pages(magazine)]
        path = folder / f"{distort.__name__}.pdf"
        path.write_bytes(pdf_writer.write_pdf([one_picture_page(one) for one in pictures]))
        paths.append(path)
    return paths


def build(sources: list[Path], out: Path, config: DatasetConfig, workers: int = 2) -> RunReport:
    *_, report = build_dataset(sources, out, config, RunOptions(workers=workers))
    assert isinstance(report, RunReport)
    return report


def read_decisions(out: Path) -> list[dict[str, str]]:
    with zipfile.ZipFile(out) as dataset:
        text = dataset.read("manifest/pages.csv").decode()
    return list(csv.DictReader(io.StringIO(text)))


def test_copies_are_dropped_and_the_first_ones_kept(sources: list[Path], tmp_path: Path) -> None:
    report = build(sources, tmp_path / "one.zip", KEEP_ALL)
    rows = read_decisions(tmp_path / "one.zip")
    assert len(rows) == report.pages.seen == (1 + len(DISTORTIONS)) * PAGES
    blank = {row["page_number"] for row in rows if row["sigma"] and float(row["sigma"]) < 12}
    originals = [row for row in rows[:PAGES] if row["page_number"] not in blank]
    copies = [row for row in rows[PAGES:] if row["page_number"] not in blank]
    wrong = [row for row in originals if row["decision"] != "kept"]
    assert len(wrong) <= MOST_WRONG * len(originals)
    right = [
        row
        for row in copies
        if row["reason"] == f"near-duplicate of {sources[0].name} page {row['page_number']}"
    ]
    assert len(right) >= LEAST_FOUND * len(copies)


def test_workers_do_not_change_what_is_dropped(sources: list[Path], tmp_path: Path) -> None:
    for workers in (0, 2):
        build(sources[:2], tmp_path / f"{workers}.zip", KEEP_ALL, workers)
    assert (tmp_path / "0.zip").read_bytes() == (tmp_path / "2.zip").read_bytes()


def test_the_best_copy_is_kept_when_asked(sources: list[Path], tmp_path: Path) -> None:
    small_first = [sources[1], sources[0]]
    config = DatasetConfig(filter=PageFilter.NONE, best_copy=True)
    build(small_first, tmp_path / "best.zip", config)
    rows = read_decisions(tmp_path / "best.zip")
    kept = {row["file"] for row in rows if row["decision"] == "kept" and float(row["sigma"]) >= 12}
    assert kept == {sources[0].name}
    reasons = [row["reason"] for row in rows if row["file"] == sources[1].name]
    assert sum(one.startswith(f"near-duplicate of {sources[0].name}") for one in reasons) > 6


def test_nothing_is_dropped_without_the_step(sources: list[Path], tmp_path: Path) -> None:
    config = DatasetConfig(filter=PageFilter.NONE, dedupe=False)
    report = build(sources[:2], tmp_path / "all.zip", config)
    assert report.pages.kept == report.pages.seen


@pytest.mark.shared_data
def test_real_scans(shared_data: Path) -> None:
    """Every ninth labelled page; benchmarks/bench_duplicates.py takes them all."""
    memory, numbers, wrong = DuplicateMemory(), {}, 0
    pages = list(iter_scans(shared_data / "scans", step=9))
    for name, pixels in pages:
        record = measure(pixels)
        if record is None:
            continue
        wrong += memory.find(record.signatures) is not None
        numbers[name] = memory.add(record.signatures[0])
    assert wrong <= MOST_WRONG * len(numbers)
    found = total = 0
    for number, (name, pixels) in enumerate(pages):
        if name not in numbers:
            continue
        copy = measure(DISTORTIONS[number % len(DISTORTIONS)](pixels))
        assert copy is not None
        found += memory.find(copy.signatures) == numbers[name]
        total += 1
    assert total > 60
    assert found >= LEAST_FOUND * total


def measure(pixels: Pixels) -> Record | None:
    """What a worker would report of a page; None for one that is blank."""
    made = make_record(np.ascontiguousarray(pixels), DatasetConfig(), is_encoded=False)
    return made if isinstance(made, Record) and made.signatures else None


def iter_scans(folder: Path, step: int) -> Iterator[tuple[str, Pixels]]:
    with (folder / "labels.csv").open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["label"] != "blank"]
    for row in rows[::step]:
        with Image.open(folder / row["path"]) as image:
            image.draft("RGB", (1200, 1200))
            picture = image.convert("RGB")
        picture.thumbnail((1200, 1200))
        yield row["path"], np.asarray(picture)
