"""Files that appear whole or not at all, and the room for them."""

import errno
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Final

from style_lora.errors import DiskSpaceError

_NO_ROOM: Final = (errno.ENOSPC, errno.EDQUOT)


def write_atomically(path: Path, write: Callable[[Path], None]) -> None:
    """Write a file beside its place, then move it there: a kill leaves the old one or the new.

    Args:
        path: Where it appears.
        write: Writes it to the path given.

    Raises:
        DiskSpaceError: The disk is full.
    """
    from safetensors import SafetensorError

    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f"{path.name}.partial")
    try:
        write(partial)
        with partial.open("rb+") as written:
            os.fsync(written.fileno())
        partial.replace(path)
    except (OSError, SafetensorError) as error:
        partial.unlink(missing_ok=True)
        if is_about_room(error):
            raise DiskSpaceError(f"The disk is full: {path} cannot be written.") from error
        raise


def write_text(path: Path, text: str) -> None:
    """Write a text file atomically.

    Args:
        path: Where it appears.
        text: What it says.

    Raises:
        DiskSpaceError: The disk is full.
    """
    write_atomically(path, lambda partial: _write_utf8(partial, text))


def require_space(folder: Path, needed_bytes: int, purpose: str) -> None:
    """Check that there is room before anything slow begins.

    Args:
        folder: Where it will be written; it need not exist yet.
        needed_bytes: How much will be.
        purpose: What for, in a few words.

    Raises:
        DiskSpaceError: There is less.
    """
    free_bytes = shutil.disk_usage(_find_existing(folder)).free
    if free_bytes < needed_bytes:
        raise DiskSpaceError(
            f"{folder}: {purpose} needs {needed_bytes / 1e9:.1f} GB and the disk has "
            f"{free_bytes / 1e9:.1f} GB left. Make room or choose another disk."
        )


def share_disk(first: Path, second: Path) -> bool:
    """Tell whether two folders, which need not exist yet, take their room from the same disk."""
    return _find_existing(first).stat().st_dev == _find_existing(second).stat().st_dev


def _find_existing(folder: Path) -> Path:
    existing = folder.absolute()
    while not existing.exists():
        existing = existing.parent
    return existing


def is_about_room(error: Exception) -> bool:
    """Tell whether a disk or a quota is full; safetensors has the number only in its words.

    Args:
        error: What has gone wrong.
    """
    if isinstance(error, OSError):
        return error.errno in _NO_ROOM
    return any(f"(os error {number})" in str(error) for number in _NO_ROOM)


def _write_utf8(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n")
