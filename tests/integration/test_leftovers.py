"""What killed runs leave goes when it is old, and nothing else does."""

import os
import time
import zipfile
from pathlib import Path

import psutil
import pytest

from archive_tools.journal import open_journal
from archive_tools.leftovers import remove_leftovers
from tests import pdf_fixtures
from tests.commands import REPOSITORY, build_command, run_command
from tests.waiting import wait_until

DAY_S = 86_400


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The files that a killed run has left beside its dataset, by name."""
    folder = tmp_path_factory.mktemp("killed")
    with zipfile.ZipFile(folder / "scans.zip", "w") as archive:
        archive.writestr("a.pdf", pdf_fixtures.colour_jpeg(pages=6))
    out = folder / "out" / "dataset.zip"
    out.parent.mkdir()
    words = ["build", folder / "scans.zip", "--out", out, "--filter", "none"]
    process = psutil.Popen(build_command("archive_tools", *words), cwd=REPOSITORY)
    journal = out.with_name("dataset.zip.journal")
    assert wait_until(lambda: journal.exists() and b"PageDone" in journal.read_bytes(), 60)
    process.kill()
    process.wait()
    return {
        str(path.relative_to(out.parent)): path.read_bytes()
        for path in out.parent.rglob("*")
        if path.is_file()
    }


@pytest.fixture
def folder(killed: dict[str, bytes], tmp_path: Path) -> Path:
    """A folder with those files in it, all of them 40 days old."""
    for name, content in killed.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
    make_old(tmp_path)
    return tmp_path


def make_old(folder: Path, days: float = 40) -> None:
    for path in folder.rglob("*"):
        os.utime(path, (time.time() - days * DAY_S,) * 2)


def list_names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


LEFT = [".dataset.zip.sources", "dataset.zip.journal", "dataset.zip.partial"]


def test_killed_run_leaves_what_is_recognised(folder: Path) -> None:
    assert list_names(folder) == LEFT


def test_old_leftovers_go_and_are_named(folder: Path) -> None:
    (folder / "finished.zip").write_bytes(b"PK")
    make_old(folder)
    [leftover] = remove_leftovers(folder)
    assert leftover.out.name == "dataset.zip"
    assert leftover.size_bytes > 1000
    assert list_names(folder) == ["finished.zip"]


def test_newer_ones_and_that_of_this_run_stay(folder: Path) -> None:
    assert list(remove_leftovers(folder, keep=folder / "dataset.zip")) == []
    assert list(remove_leftovers(folder, older_than_days=50)) == []
    os.utime(folder / "dataset.zip.partial")
    assert list(remove_leftovers(folder)) == []
    assert list_names(folder) == LEFT


def test_running_process_keeps_its_files(folder: Path) -> None:
    with open_journal(folder / "dataset.zip.journal"):
        assert list(remove_leftovers(folder, older_than_days=0)) == []
    assert list_names(folder) == LEFT
    assert len(list(remove_leftovers(folder, older_than_days=0))) == 1


@pytest.mark.parametrize("orphan", LEFT)
def test_without_its_journal_nothing_is_certainly_ours(orphan: str, folder: Path) -> None:
    for name in set(LEFT) - {orphan}:
        path = folder / name
        path.rename(folder.parent / f"{folder.name}-{name}")
    is_journal = orphan == "dataset.zip.journal"
    assert len(list(remove_leftovers(folder))) == is_journal
    assert list_names(folder) == ([] if is_journal else [orphan])


def test_files_of_others_stay(tmp_path: Path) -> None:
    (tmp_path / "film.mkv.partial").write_bytes(b"PK\3\4 a download")
    (tmp_path / "empty.zip.partial").write_bytes(b"")
    (tmp_path / "notes.journal").write_bytes(b"00000000 {}\n" * 1000)
    (tmp_path / "diary.journal").write_bytes(b"")
    (tmp_path / ".project.sources").mkdir()
    (tmp_path / ".project.sources" / "main.c").write_bytes(b"int main;")
    (tmp_path / "x.zip.building").mkdir()
    (tmp_path / ".photos.sources").mkdir()
    (tmp_path / "photos.building").mkdir()
    (tmp_path / "photos.building" / "plan.dwg").write_bytes(b"a plan")
    (tmp_path / ".r.sources").mkdir()
    (tmp_path / ".r.sources" / "123456.jpg").write_bytes(b"a photo")
    (tmp_path / "r.partial").write_bytes(b"mine")
    make_old(tmp_path)
    before = list_names(tmp_path)
    assert list(remove_leftovers(tmp_path)) == []
    assert list_names(tmp_path) == before


def test_run_killed_before_its_first_word_is_recognised(tmp_path: Path) -> None:
    for name in ("dataset.zip.partial", "dataset.zip.journal"):
        (tmp_path / name).write_bytes(b"")
    (tmp_path / "dataset.zip.building").mkdir()
    (tmp_path / ".dataset.zip.sources").mkdir()
    make_old(tmp_path)
    assert len(list(remove_leftovers(tmp_path))) == 1
    assert list_names(tmp_path) == [".dataset.zip.sources", "dataset.zip.building"]


def test_build_cleans_up_beside_its_dataset(folder: Path) -> None:
    (folder / "a.pdf").write_bytes(pdf_fixtures.colour_jpeg())
    built = run_command("archive_tools", "build", folder / "a.pdf", "--out", folder / "new.zip")
    assert built.status == 0, built.stderr
    assert "left of dataset.zip over 30 days ago" in built.stderr
    assert list_names(folder) == ["a.pdf", "new.zip"]


def test_clean_command(folder: Path) -> None:
    kept = run_command("archive_tools", "clean", folder, "--older-than", "50")
    assert (kept.status, kept.stdout) == (0, "There was nothing to remove.\n")
    cleaned = run_command("archive_tools", "clean", folder)
    assert cleaned.status == 0
    assert "dataset.zip: " in cleaned.stdout
    assert list_names(folder) == []
    for wrong in (["clean", folder / "nowhere"], ["clean", folder, "--older-than", "-1"]):
        refused = run_command("archive_tools", *wrong)
        assert refused.status == 2
        assert "Traceback" not in refused.stderr
