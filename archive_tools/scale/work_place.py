"""Where a worker has its unfinished files: a folder that does not outlive it for long.

A worker that is killed cannot tidy up, and what it had fetched may be large. So each holds the lock
of its folder, and whoever comes next removes the folders whose lock nobody holds.
"""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import FileIO
from pathlib import Path

from archive_tools.file_lock import try_lock

_PREFIX = "archive-tools-shards-"
_LOCK_SUFFIX = ".lock"


@contextmanager
def open_work_place() -> Iterator[Path]:
    """Make a folder for unfinished files, and remove those that killed workers have left.

    Yields:
        The folder, in the system's own for such files; it is removed at the end.

    Raises:
        OSError: There is no room for it.
    """
    remove_abandoned()
    with _lock_new() as lock:
        folder = Path(str(lock.name)).with_suffix("")
        folder.mkdir(mode=0o700)
        try:
            yield folder
        finally:
            _remove(folder)


def remove_abandoned() -> None:
    """Remove the folders of workers on this machine that were killed."""
    with suppress(OSError):
        for lock_path in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*{_LOCK_SUFFIX}"):
            with suppress(OSError), FileIO(lock_path, "r+") as lock:
                if try_lock(lock):
                    _remove(lock_path.with_suffix(""))


def _lock_new() -> FileIO:
    """Make a file with a name of its own, and lock it."""
    while True:
        number, name = tempfile.mkstemp(prefix=_PREFIX, suffix=_LOCK_SUFFIX)
        os.close(number)
        lock = FileIO(name, "r+")
        # Somebody may just have taken it for abandoned.
        if try_lock(lock) and Path(name).exists():
            return lock
        lock.close()


def _remove(folder: Path) -> None:
    """Remove a folder and its lock, which the caller holds."""
    shutil.rmtree(folder, ignore_errors=True)
    with suppress(OSError):
        folder.with_suffix(_LOCK_SUFFIX).unlink()
