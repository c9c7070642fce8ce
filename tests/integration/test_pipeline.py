"""Whole runs: every page accounted for, nothing left behind, whatever stops them."""

import csv
import io
import json
import os
import sys
import tempfile
import threading
import time
import zipfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import psutil
import pytest

from archive_tools.config import DatasetConfig, PageFilter, RunOptions, WorkerLimits
from archive_tools.errors import DatasetWriteError, InvalidOptionError
from archive_tools.pipeline import build_dataset
from archive_tools.run_report import Progress, RunReport
from archive_tools.schema import NamedFile, PageCounts, RunStatus
from tests import pdf_fixtures
from tests.hostile_pdfs import ENDLESS_MEMORY_MB, endless_page
from tests.worker_processes import list_workers

# The drawn pages are copies of each other in grey, in black and white and in colour.
BY_SIGMA = DatasetConfig(filter=PageFilter.SIGMA, dedupe=False)
KEEP_ALL = DatasetConfig(filter=PageFilter.NONE, dedupe=False)
TWO = RunOptions(workers=2)
# Python, MuPDF and OpenCV come and go a little; a page at 144 dpi that stayed would be 3 MB.
GROWTH_TOLERANCE_MB = 12
MB = 2**20


@pytest.fixture
def inputs(tmp_path: Path) -> Path:
    """A folder with good, bad and packed files."""
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "a.pdf").write_bytes(pdf_fixtures.colour_jpeg(pages=3))
    (folder / "b junk.pdf").write_bytes(pdf_fixtures.html_named_pdf())
    (folder / "c blank.pdf").write_bytes(pdf_fixtures.blank(pages=2))
    (folder / "d broken.pdf").write_bytes(pdf_fixtures.broken_jpeg())
    with zipfile.ZipFile(folder / "e.zip", "w") as archive:
        archive.writestr("x/1.pdf", pdf_fixtures.grey_jpeg())
        archive.writestr("x/2.pdf", pdf_fixtures.encrypted())
        archive.writestr("x/3.pdf", pdf_fixtures.ccitt())
    return folder


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """Where the dataset goes, in a folder of its own."""
    (tmp_path / "out").mkdir()
    return tmp_path / "out" / "dataset.zip"


@pytest.fixture(autouse=True)
def nothing_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Every test ends without a child process and with empty folders for temporary files."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    yield
    assert list_workers() == []
    assert list(temporary.iterdir()) == []


def run(
    *sources: Path | NamedFile,
    out: Path,
    config: DatasetConfig = BY_SIGMA,
    options: RunOptions = TWO,
) -> tuple[list[Progress], RunReport]:
    *progress, report = build_dataset(sources, out, config, options)
    assert isinstance(report, RunReport)
    assert all(isinstance(step, Progress) for step in progress)
    return [step for step in progress if isinstance(step, Progress)], report


def list_names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def read_pages(out: Path) -> list[tuple[str, int, str]]:
    with zipfile.ZipFile(out) as archive:
        text = archive.read("manifest/pages.csv").decode()
    rows = csv.DictReader(io.StringIO(text))
    return [(row["file"], int(row["page_number"]), row["decision"]) for row in rows]


def test_name_that_is_not_utf8_is_no_obstacle(tmp_path: Path, out: Path) -> None:
    odd = tmp_path / os.fsdecode(b"M\xe4rz.pdf")
    odd.write_bytes(pdf_fixtures.colour_jpeg(pages=2))
    *_, report = build_dataset([odd], out, KEEP_ALL, TWO)
    assert isinstance(report, RunReport)
    assert (report.pages.kept, report.source_failures) == (2, ())


def test_every_page_and_file_is_accounted_for(inputs: Path, out: Path) -> None:
    _, report = run(inputs, out=out)
    assert report.pages == PageCounts(kept=5, dropped=2, failed=1)
    assert report.status is RunStatus.PARTIAL
    assert report.file_count == 5
    assert [failure.name for failure in report.source_failures] == ["b junk.pdf", "e.zip/x/2.pdf"]
    assert [failure.file_name for failure in report.page_failures] == ["d broken.pdf"]
    assert read_pages(out) == [
        ("a.pdf", 1, "kept"),
        ("a.pdf", 2, "kept"),
        ("a.pdf", 3, "kept"),
        ("c blank.pdf", 1, "dropped"),
        ("c blank.pdf", 2, "dropped"),
        ("d broken.pdf", 1, "failed"),
        ("e.zip/x/1.pdf", 1, "kept"),
        ("e.zip/x/3.pdf", 1, "kept"),
    ]
    assert list_names(out.parent) == ["dataset.zip"]


def test_messages_name_the_file_and_no_folder_of_this_machine(inputs: Path, out: Path) -> None:
    _, report = run(inputs, out=out)
    for failure in report.source_failures:
        assert failure.name.rpartition("/")[2] in failure.message + failure.name
        assert "000" not in failure.message
    text = json.dumps(report.to_json())
    assert str(inputs.parent) not in text
    assert "elapsed_s" not in json.dumps(report.dataset)


@pytest.mark.parametrize("workers", [0, 1])
def test_bytes_depend_on_input_and_options_alone(workers: int, inputs: Path, out: Path) -> None:
    run(inputs, out=out)
    again = out.with_name("again.zip")
    run(inputs, out=again, options=RunOptions(workers=workers))
    assert again.read_bytes() == out.read_bytes()


def test_progress_counts_up_to_the_report(inputs: Path, out: Path) -> None:
    progress, report = run(inputs, out=out)
    seen = [step.pages.seen for step in progress]
    assert seen == sorted(seen)
    assert progress[-1].pages == report.pages
    assert (progress[-1].file_number, progress[-1].file_count) == (7, 7)
    assert report.pages_per_s == pytest.approx(8 / report.elapsed_s, abs=0.01)


def test_uploads_go_by_their_own_names(inputs: Path, out: Path) -> None:
    _, report = run(
        NamedFile(inputs / "a.pdf", "Horse.pdf"), NamedFile(inputs / "b junk.pdf", "x.pdf"), out=out
    )
    assert {name for name, _, _ in read_pages(out)} == {"Horse.pdf"}
    assert report.source_failures[0].message.startswith("x.pdf")


def test_nothing_usable_writes_nothing(inputs: Path, out: Path) -> None:
    bad = [inputs / "b junk.pdf", inputs / "d broken.pdf", inputs / "missing.pdf"]
    _, report = run(*bad, out=out)
    assert report.out is None
    assert report.status is RunStatus.PARTIAL
    assert report.source_failure_count == 2
    assert list_names(out.parent) == []


def test_nothing_kept_is_a_dataset_all_the_same(inputs: Path, out: Path) -> None:
    _, report = run(inputs / "c blank.pdf", out=out)
    assert report.status is RunStatus.SUCCESS
    assert report.pages.reduction_percent == 100
    assert len(read_pages(out)) == 2


def test_no_source_is_wrong_usage(out: Path) -> None:
    with pytest.raises(InvalidOptionError):
        run(out=out)


def test_missing_folder_is_said_before_any_work(inputs: Path, out: Path) -> None:
    with pytest.raises(DatasetWriteError, match="folder"):
        run(inputs, out=out.parent / "missing" / "d.zip")


def test_existing_dataset_stays_until_the_new_one_is_complete(inputs: Path, out: Path) -> None:
    out.write_bytes(b"the old one")
    steps = build_dataset([inputs], out, BY_SIGMA, TWO)
    next(steps)
    steps.close()
    assert out.read_bytes() == b"the old one"
    run(inputs, out=out)
    assert zipfile.is_zipfile(out)


def test_stopped_run_leaves_nothing(inputs: Path, out: Path) -> None:
    """As the page does when a visitor cancels: closed at a yield, while a ZIP is unpacked too."""
    steps = build_dataset([inputs / "e.zip", inputs], out, BY_SIGMA, TWO)
    next(steps)
    before_s = time.monotonic()
    steps.close()
    assert time.monotonic() - before_s < 30  # not waiting for pages; loose, for loaded machines
    assert list_names(out.parent) == []


def test_threads_may_come_and_go_between_steps(inputs: Path, out: Path) -> None:
    """A web server asks for each step from whichever thread is free, and ends idle threads."""
    steps = build_dataset([inputs], out, BY_SIGMA, TWO)
    asked: list[Progress | RunReport | None] = [None]
    while not isinstance(asked[-1], RunReport):
        thread = threading.Thread(target=lambda: asked.append(next(steps)))
        thread.start()
        thread.join()
    assert asked[-1].pages == PageCounts(kept=5, dropped=2, failed=1)
    assert "died" not in str(asked[-1].page_failures)


def test_hanging_page_does_not_keep_a_run_from_being_stopped(tmp_path: Path, out: Path) -> None:
    endless = tmp_path / "endless.pdf"
    endless.write_bytes(endless_page())
    limits = WorkerLimits(3600, ENDLESS_MEMORY_MB)
    steps = build_dataset([endless], out, KEEP_ALL, RunOptions(workers=1, limits=limits))
    with closing(steps):
        for _ in range(3):
            assert isinstance(next(steps), Progress)
    assert list_names(out.parent) == []


def test_stopped_run_is_resumed_to_the_same_bytes(inputs: Path, out: Path) -> None:
    run(inputs, out=out)
    cut = out.with_name("cut.zip")
    steps = build_dataset([inputs], cut, BY_SIGMA, RunOptions(workers=1, keep_partial=True))
    next(step for step in steps if isinstance(step, Progress) and step.pages.seen >= 1)
    steps.close()
    assert not cut.exists()
    progress, report = run(inputs, out=cut, options=RunOptions(workers=2, resume=True))
    assert progress[0].pages.seen >= 1
    assert cut.read_bytes() == out.read_bytes()
    assert report.pages == PageCounts(kept=5, dropped=2, failed=1)
    assert [failure.file_name for failure in report.page_failures] == ["d broken.pdf"]
    assert list_names(out.parent) == ["cut.zip", "dataset.zip"]


def test_file_changed_before_the_resume_is_noticed(inputs: Path, out: Path) -> None:
    steps = build_dataset([inputs], out, BY_SIGMA, RunOptions(1, keep_partial=True))
    next(step for step in steps if isinstance(step, Progress) and step.pages.seen >= 1)
    steps.close()
    (inputs / "a.pdf").write_bytes(pdf_fixtures.colour_jpeg(pages=4))
    with pytest.raises(DatasetWriteError, match=r"a\.pdf"):
        run(inputs, out=out, options=RunOptions(1, resume=True))


def iter_resident_mb(tmp_path: Path, out: Path, copies: int) -> Iterator[tuple[float, float]]:
    """Yield the resident memory of this process and of its workers, about every quarter second.

    Each copy has two pages that are kept and four that are dropped.
    """
    kept, dropped = tmp_path / "kept.pdf", tmp_path / "dropped.pdf"
    kept.write_bytes(pdf_fixtures.colour_jpeg(pages=2))
    dropped.write_bytes(pdf_fixtures.blank(pages=4))
    sources = [
        NamedFile(path, f"{number} {path.name}")
        for number in range(copies)
        for path in (kept, dropped)
    ]
    process = psutil.Process()
    for _ in build_dataset(sources, out, BY_SIGMA, TWO):
        workers = sum(child.memory_info().rss for child in list_workers())
        yield process.memory_info().rss / MB, workers / MB


@pytest.mark.skipif(sys.platform != "linux", reason="resident memory differs elsewhere")
def test_memory_is_flat_over_hundreds_of_pages(tmp_path: Path, out: Path) -> None:
    samples = list(iter_resident_mb(tmp_path, out, copies=50))
    third = len(samples) // 3
    for middle, last in zip(
        map(max, zip(*samples[third : 2 * third], strict=True)),
        map(max, zip(*samples[2 * third :], strict=True)),
        strict=True,
    ):
        assert last - middle < GROWTH_TOLERANCE_MB
    print(f"main and workers at the end: {samples[-3]} MB")
