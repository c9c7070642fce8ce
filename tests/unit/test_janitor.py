"""What the janitor removes from an upload folder, and what it must leave."""

import os
import threading
import time
from pathlib import Path

import pytest

from serving.janitor import FORGOTTEN_S, STALLED_S, Swept, run_janitor, sweep
from tests.waiting import wait_until

NOW_S = 1_800_000_000.0
CONTENT = "ab" * 32


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An upload folder."""
    return tmp_path


def put(path: Path, content: bytes = b"") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def later(path: Path, age_s: float) -> float:
    """Return the time at which a file made just now is so old (its ctime cannot be set)."""
    return path.stat().st_ctime + age_s


def test_upload_that_broke_off_goes_and_one_that_was_written_stays(folder: Path) -> None:
    broken = put(folder / "tmpk2j3", b"half a file")
    assert sweep(folder, later(broken, STALLED_S - 1)) == Swept()
    assert sweep(folder, later(broken, STALLED_S + 1)) == Swept(files=1, bytes=11)
    assert list(folder.iterdir()) == []


def test_upload_that_stalls_is_not_taken_from_under_the_server(folder: Path) -> None:
    stalled = folder / "tmpstalled"
    with stalled.open("wb") as file:
        file.write(b"more to come")
        file.flush()
        assert sweep(folder, later(stalled, 10 * STALLED_S)) == Swept()
    assert sweep(folder, later(stalled, 10 * STALLED_S)).files == 1


def test_upload_lives_for_its_day_and_then_goes_with_its_folder(folder: Path) -> None:
    upload = put(folder / CONTENT / "magazine.pdf", b"%PDF")
    assert sweep(folder, later(upload, FORGOTTEN_S - 1)) == Swept()
    assert sweep(folder, later(upload, FORGOTTEN_S + 1)) == Swept(files=1, folders=1, bytes=4)
    assert list(folder.iterdir()) == []


def test_folder_of_a_deleted_upload_goes_and_one_made_just_now_stays(folder: Path) -> None:
    empty = folder / CONTENT
    empty.mkdir()
    os.utime(empty, (NOW_S, NOW_S))
    assert sweep(folder, NOW_S + STALLED_S - 1) == Swept()
    assert sweep(folder, NOW_S + STALLED_S + 1) == Swept(folders=1)


def test_deep_links_of_another_day_go(folder: Path) -> None:
    state = put(folder / "deep_links" / "h-1" / "state.json", b"{}")
    assert sweep(folder, later(state, FORGOTTEN_S - 1)) == Swept()
    assert sweep(folder, later(state, FORGOTTEN_S + 1)) == Swept(files=1, folders=1, bytes=2)


def test_jobs_links_and_what_is_not_gradios_stay(folder: Path, tmp_path: Path) -> None:
    kept = [
        put(folder / "archive-0123" / "inputs" / "000000.pdf", b"in use"),
        put(folder / "archive-0123" / "dataset.zip", b"result"),
        put(folder / "notes.txt", b"the owner's"),
        put(folder / "photos" / "cow.jpg", b"the owner's"),
        put(tmp_path / "elsewhere" / "tmpfile", b"elsewhere"),
    ]
    (folder / "tmplink").symlink_to(kept[-1])
    (folder / ("cd" * 32)).symlink_to(tmp_path / "elsewhere")
    assert sweep(folder, time.time() + 30 * FORGOTTEN_S) == Swept()
    assert all(path.is_file() for path in kept)


def test_folder_that_does_not_exist_is_no_error(tmp_path: Path) -> None:
    assert sweep(tmp_path / "missing", NOW_S) == Swept()


def test_janitor_goes_round_at_once_and_again_and_ends(folder: Path) -> None:
    leftover = folder / CONTENT
    leftover.mkdir()
    os.utime(leftover, (0, 0))
    rounds: list[int] = []
    with run_janitor(folder, lambda: rounds.append(1), every_s=0.01):
        assert wait_until(lambda: not leftover.exists() and len(rounds) >= 3)
    assert "janitor" not in [thread.name for thread in threading.enumerate()]


def test_a_round_that_fails_is_not_the_last_and_names_no_path(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    rounds: list[int] = []

    def fail() -> None:
        rounds.append(1)
        (folder / "archive-0123").rmdir()

    with run_janitor(folder, fail, every_s=0.01):
        assert wait_until(lambda: len(rounds) >= 2)
    assert "FileNotFoundError" in caplog.text
    assert "0123" not in caplog.text
