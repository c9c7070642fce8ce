"""A disk that is really full, and a machine without the packages: advice, and no traceback."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from style_lora.atomic_files import require_space, write_atomically, write_text
from style_lora.errors import DiskSpaceError
from tests.commands import REPOSITORY, build_command

_ROOM_BYTES = 1 << 20


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of one megabyte."""
    folder = tmp_path / "small"
    folder.mkdir()
    options = ["-t", "tmpfs", "-o", f"size={_ROOM_BYTES}", "none", str(folder)]
    mounted = subprocess.run(["mount", *options], capture_output=True, check=False)
    if mounted.returncode:
        pytest.skip("mounting a small disk takes the rights of root")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_what_does_not_fit_is_told_and_the_old_file_stays(small_disk: Path) -> None:
    path = small_disk / "last.safetensors"
    save_file({"step": torch.ones(1)}, path)
    before = path.read_bytes()
    large = {"weights": torch.zeros(_ROOM_BYTES)}
    with pytest.raises(DiskSpaceError, match="disk is full"):
        write_atomically(path, lambda partial: save_file(large, partial))
    with pytest.raises(DiskSpaceError, match="disk is full"):
        write_text(path, "x" * 2 * _ROOM_BYTES)
    assert path.read_bytes() == before
    assert [one.name for one in small_disk.iterdir()] == [path.name]


def test_room_is_asked_of_the_disk_that_will_be_written_to(small_disk: Path) -> None:
    wanted = small_disk / "not" / "yet"
    require_space(wanted, _ROOM_BYTES // 2, "a training")
    with pytest.raises(DiskSpaceError, match=r"a training needs 0\.1 GB"):
        require_space(wanted, 100 * _ROOM_BYTES, "a training")


@pytest.mark.parametrize("missing", ["diffusers", "peft"])
def test_without_the_packages_the_command_says_what_to_install(
    tmp_path: Path, missing: str
) -> None:
    # None in the table of modules is Python's own way to say that one cannot be imported.
    hide = f"import sys\nsys.modules[{missing!r}] = None\n"
    (tmp_path / "sitecustomize.py").write_text(hide, encoding="utf-8")
    command = build_command(
        "style_lora", "train", tmp_path / "set.zip", "--out", tmp_path / "out", "--base", tmp_path
    )
    ended = subprocess.run(
        command, cwd=REPOSITORY, env=os.environ | {"PYTHONPATH": str(tmp_path)},
        capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip
    assert ended.returncode == 2, ended.stderr
    assert "requirements-lora.txt" in ended.stderr
    assert missing in ended.stderr
    assert "Traceback" not in ended.stderr
    assert not (tmp_path / "out").exists()
