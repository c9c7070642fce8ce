"""Runs that are killed or run out of disk: no partial dataset, and a resume to the same bytes."""

import os
import resource
import signal
import subprocess
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from tests import image_fixtures, pdf_fixtures
from tests.commands import REPOSITORY, build_command, run_command
from tests.waiting import wait_until

JOURNAL, PARTIAL = "dataset.zip.journal", "dataset.zip.partial"
SMALL_DISK_BYTES = 1_500_000


@pytest.fixture(scope="module")
def scans(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A PDF of six pages, a ZIP (a file that is no PDF, six pages, two images), four images."""
    folder = tmp_path_factory.mktemp("scans")
    scan = pdf_fixtures.colour_jpeg(pages=6)
    (folder / "a.pdf").write_bytes(scan)
    with zipfile.ZipFile(folder / "b.zip", "w") as archive:
        archive.writestr("1.pdf", pdf_fixtures.html_named_pdf())
        archive.writestr("2.pdf", scan)
        for number in range(2):
            archive.writestr(f"plates/{number}.png", image_fixtures.page_image("PNG", seed=number))
    (folder / "c").mkdir()
    (folder / "c" / "1.tif").write_bytes(image_fixtures.tiff(2, size=(600, 800)))
    (folder / "c" / "2.jpg").write_bytes(image_fixtures.turned_photo(6))
    (folder / "c" / "10.jpg").write_bytes(image_fixtures.page_image(seed=7))
    return folder


@pytest.fixture(scope="module")
def whole(scans: Path, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The dataset of a run that nothing disturbed."""
    out = tmp_path_factory.mktemp("whole") / "dataset.zip"
    assert run_command("archive_tools", "build", scans, "--out", out).status == 1
    return out.read_bytes()


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """Where the dataset goes, in a folder of its own."""
    (tmp_path / "out").mkdir()
    return tmp_path / "out" / "dataset.zip"


def list_names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def start_build(
    scans: Path, out: Path, before_start: Callable[[], None] | None = None
) -> psutil.Popen:
    return psutil.Popen(
        build_command("archive_tools", "build", scans, "--out", out, "--workers", "1"),
        cwd=REPOSITORY,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=before_start,
    )


def wait_for_line(process: psutil.Popen, journal: Path, word: bytes, count: int) -> None:
    """Wait until the journal holds so many lines of a kind."""
    give_up_s = time.monotonic() + 60
    while not journal.exists() or journal.read_bytes().count(word) < count:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < give_up_s
        time.sleep(0.002)


def resume(scans: Path, out: Path) -> bytes:
    """Resume, check that all is tidy, and return the dataset."""
    ended = run_command("archive_tools", "build", scans, "--out", out, "--resume")
    assert ended.status == 1, ended.stderr
    assert list_names(out.parent) == ["dataset.zip"]
    return out.read_bytes()


@pytest.mark.parametrize(
    ("word", "count"),
    [(b"SourceBegun", 1), (b"PageDone", 1), (b"PageDone", 7), (b"PageDone", 13)],
)
def test_killed_run_resumes_to_the_same_bytes(
    word: bytes, count: int, scans: Path, out: Path, whole: bytes
) -> None:
    process = start_build(scans, out)
    wait_for_line(process, out.with_name(JOURNAL), word, count)
    workers = process.children()
    process.kill()
    process.communicate()
    assert {JOURNAL, PARTIAL} <= set(list_names(out.parent))
    assert not out.exists()
    assert resume(scans, out) == whole
    assert wait_until(lambda: not any(is_at_work(worker) for worker in workers))


def is_at_work(process: psutil.Process) -> bool:
    """Whether a process still does anything; a dead orphan waits for the system to reap it."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_run_that_is_killed_again_and_again_gets_there(
    scans: Path, out: Path, whole: bytes
) -> None:
    for count in (2, 9, 15):
        process = psutil.Popen(
            build_command("archive_tools", "build", scans, "--out", out, "--resume"),
            cwd=REPOSITORY,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        wait_for_line(process, out.with_name(JOURNAL), b"PageDone", count)
        process.kill()
        process.communicate()
    assert resume(scans, out) == whole


def test_run_without_resume_begins_anew(scans: Path, out: Path, whole: bytes) -> None:
    process = start_build(scans, out)
    wait_for_line(process, out.with_name(JOURNAL), b"PageDone", 2)
    process.kill()
    process.communicate()
    assert run_command("archive_tools", "build", scans, "--out", out).status == 1
    assert out.read_bytes() == whole
    assert list_names(out.parent) == ["dataset.zip"]


def test_killed_worker_changes_nothing(scans: Path, out: Path, whole: bytes) -> None:
    process = start_build(scans, out)
    for count in (2, 8):
        wait_for_line(process, out.with_name(JOURNAL), b"PageDone", count)
        for worker in process.children():
            worker.kill()
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 1, errors
    assert out.read_bytes() == whole


@pytest.fixture
def small_disk(out: Path) -> Iterator[Path]:
    """A disk too small for the dataset; without the right to mount one, a place like others."""
    mount = ["mount", "-t", "tmpfs", "-o", f"size={SMALL_DISK_BYTES}", "tmpfs", str(out.parent)]
    is_mounted = subprocess.run(mount, capture_output=True, check=False).returncode == 0
    yield out
    if is_mounted:
        subprocess.run(["umount", str(out.parent)], check=True)


def limit_file_size() -> None:
    """Stand in for the small disk where none can be mounted: writing fails at the same byte."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (SMALL_DISK_BYTES, SMALL_DISK_BYTES))


def test_full_disk_is_explained_and_the_run_resumed(
    scans: Path, small_disk: Path, whole: bytes
) -> None:
    is_mounted = os.path.ismount(small_disk.parent)
    process = start_build(scans, small_disk, None if is_mounted else limit_file_size)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 2
    assert ("The disk is full" if is_mounted else "larger than") in errors
    assert "Traceback" not in errors
    assert list_names(small_disk.parent) == [JOURNAL, PARTIAL]
    if is_mounted:
        enlarge = ["mount", "-o", "remount,size=512m", str(small_disk.parent)]
        subprocess.run(enlarge, check=True)
    assert resume(scans, small_disk) == whole


def test_no_temporary_file_survives_a_kill(
    scans: Path, out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setattr(tempfile, "tempdir", None)
    process = start_build(scans, out)
    wait_for_line(process, out.with_name(JOURNAL), b"PageDone", 7)
    process.kill()
    process.communicate()
    assert list(temporary.iterdir()) == []
