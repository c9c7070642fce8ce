"""The folder of a worker: gone with it, or with the next one where it was killed."""

import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from archive_tools.scale.work_place import open_work_place, remove_abandoned
from tests.commands import REPOSITORY

_KEEP_AND_DIE = """
import os, signal
from archive_tools.scale.work_place import open_work_place
with open_work_place() as folder:
    (folder / "fetched.pdf").write_bytes(b"much")
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_only_what_a_killed_worker_left_is_removed(place: Path) -> None:
    (place / "archive-tools-shards-mine").mkdir()
    with open_work_place() as ours:
        (ours / "unfinished.tar").touch()
        subprocess.run([sys.executable, "-c", _KEEP_AND_DIE], cwd=REPOSITORY, check=False)
        left = list(place.rglob("fetched.pdf"))
        assert len(left) == 1
        with open_work_place() as other:
            assert not left[0].parent.exists()
            assert (ours / "unfinished.tar").exists()
            assert other != ours
        remove_abandoned()
        assert sorted(place.iterdir()) == sorted(
            [ours, ours.with_suffix(".lock"), place / "archive-tools-shards-mine"]
        )
    assert [path.name for path in place.iterdir()] == ["archive-tools-shards-mine"]


def test_a_place_without_room_says_so(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(place / "missing"))
    with pytest.raises(FileNotFoundError), open_work_place():
        pass
