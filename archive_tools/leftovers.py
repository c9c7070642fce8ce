"""Removes what killed runs have left beside their datasets, once nobody will resume them.

Only what is certainly ours goes: a journal with our checksum in its first line, and what a run puts
beside it under its name. A journal that was never begun vouches for nothing but an empty partial
ZIP and a work folder with nothing else in it. A run that is at work holds its journal's lock.
"""

import re
import shutil
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from archive_tools.errors import DatasetWriteError
from archive_tools.journal import is_journal, open_journal
from archive_tools.writer import building_path, journal_path, partial_path, work_folder

KEPT_DAYS = 30
"""So long does a killed run wait to be resumed."""

_DAY_S = 86_400
_WORK_NAME = re.compile(r"\d{6}(\.\w{1,8})?")


@dataclass(frozen=True, slots=True)
class Leftover:
    """What one killed run has left.

    Attributes:
        out: The dataset that it was making.
        size_bytes: Room that it took.
    """

    out: Path
    size_bytes: int


def remove_leftovers(
    folder: Path, older_than_days: float = KEPT_DAYS, keep: Path | None = None
) -> Iterator[Leftover]:
    """Remove what killed runs have left in a folder; folders below it are not entered.

    Args:
        folder: Where datasets are made.
        older_than_days: What has changed since stays.
        keep: A dataset whose leftovers stay in any case.

    Yields:
        What has just been removed.

    Raises:
        OSError: The folder cannot be read.
    """
    expired_s = time.time() - older_than_days * _DAY_S
    for out in _find_datasets(folder):
        parts = _parts(out)
        if out == keep or any(_changed_s(part) > expired_s for part in parts):
            continue
        size_bytes = sum(map(_size_bytes, parts))
        if _remove(out, parts):
            yield Leftover(out, size_bytes)


def _find_datasets(folder: Path) -> list[Path]:
    """Return the datasets of which a journal of ours is left, by name."""
    journals = (path for path in folder.iterdir() if path.suffix == ".journal")
    return sorted(
        folder / path.stem
        for path in journals
        if path.is_file() and not path.is_symlink() and _is_our_journal(path)
    )


def _is_our_journal(path: Path) -> bool:
    """Whether a journal is ours; one that was never begun has an empty partial ZIP beside it."""
    with suppress(OSError):
        if path.stat().st_size:
            return is_journal(path)
        partial = partial_path(path.with_name(path.stem))
        return partial.is_file() and partial.stat().st_size == 0
    return False


def _is_our_work(path: Path) -> bool:
    """Whether a work folder holds what we put there, and nothing else."""
    with suppress(OSError):
        names = [inner.name for inner in path.iterdir()]
        return bool(names) and all(map(_WORK_NAME.fullmatch, names))
    return False


def _parts(out: Path) -> list[Path]:
    """Return what a run has put beside its dataset, the journal last."""
    journal, work = journal_path(out), work_folder(out)
    is_begun = journal.stat().st_size > 0
    parts = [partial_path(out)]
    if is_begun:
        parts.append(building_path(out))
    if is_begun or _is_our_work(work):
        parts.append(work)
    return [part for part in (*parts, journal) if part.exists() and not part.is_symlink()]


def _changed_s(path: Path) -> float:
    """Return when a file or anything in a folder last changed; a moment ago where it has gone."""
    try:
        inner = path.iterdir() if path.is_dir() else ()
        changed_s: float = max(each.lstat().st_mtime for each in (path, *inner))
        return changed_s
    except OSError:
        return time.time()


def _size_bytes(path: Path) -> int:
    files = path.rglob("*") if path.is_dir() else (path,)
    with suppress(OSError):
        return sum(file.lstat().st_size for file in files if file.is_file())
    return 0


def _remove(out: Path, parts: list[Path]) -> bool:
    """Remove the parts under the journal's lock; False where a run holds it."""
    try:
        with open_journal(journal_path(out)) as journal:
            for part in parts[:-1]:
                if part.is_dir():
                    shutil.rmtree(part, ignore_errors=True)
                else:
                    part.unlink(missing_ok=True)
            journal.remove()
    except (DatasetWriteError, OSError):
        return False
    return True
