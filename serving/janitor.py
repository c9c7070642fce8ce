"""Removes what Gradio leaves below its upload folder and what earlier servers left there.

Gradio deletes after a day the files that it remembers. It forgets uploads that broke off, an empty
file for each file that a page hands in, the folders of deleted uploads, deep links, and everything
once it has been killed. Running jobs are safe: they read links of their own in `archive-*` folders,
which `archive_tools.job_folder` looks after.
"""

import logging
import re
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from serving.limits import KEPT_S
from serving.open_files import list_open_files

EVERY_S: Final = 600.0
# A running upload writes all the time. Gradio's own file is open meanwhile, so that even an upload
# that has stalled for longer is recognised.
STALLED_S: Final = 600.0
# Gradio's own sweep comes first: what it deletes it also forgets.
FORGOTTEN_S: Final = KEPT_S + 7_200.0

_LOG = logging.getLogger(__name__)
# Named after the SHA-256 of what was uploaded, or of the path of what was cached.
_CONTENT_FOLDER = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Swept:
    """What one round removed.

    Attributes:
        files: Number of files.
        folders: Number of folders.
        bytes: What the files took.
    """

    files: int = 0
    folders: int = 0
    bytes: int = 0

    def __add__(self, other: "Swept") -> "Swept":
        """Return both together."""
        return Swept(
            self.files + other.files, self.folders + other.folders, self.bytes + other.bytes
        )


def sweep(folder: Path, now_s: float) -> Swept:
    """Go through an upload folder once.

    Args:
        folder: Gradio's upload folder; it may not exist.
        now_s: The time, in seconds since 1970.
    """
    open_files = list_open_files()
    swept = Swept()
    for path in _list_entries(folder):
        if path.is_symlink():
            continue
        if path.name.startswith("tmp") and path.is_file():
            swept += _remove_file(path, now_s - STALLED_S, open_files)
        elif path.is_dir() and _CONTENT_FOLDER.fullmatch(path.name):
            swept += _sweep_folder(path, now_s, open_files)
        elif path.is_dir() and path.name == "deep_links":
            for link in _list_entries(path):
                swept += _sweep_folder(link, now_s, open_files)
    return swept


@contextmanager
def run_janitor(
    folder: Path, *others: Callable[[], None], every_s: float = EVERY_S
) -> Iterator[None]:
    """Sweep at once and then every few minutes, in a thread, until the block ends.

    Args:
        folder: Gradio's upload folder.
        others: Called in each round as well.
        every_s: Seconds between two rounds.
    """
    done = threading.Event()

    def go_round() -> None:
        while True:
            try:
                _go_round(folder, others)
            except Exception as error:  # noqa: BLE001 - one bad round must not be the last
                # Its kind alone: the words of an OSError have a path, and paths hold ids of jobs.
                _LOG.error("a round failed: %s", type(error).__name__)
            if done.wait(every_s):
                return

    thread = threading.Thread(target=go_round, name="janitor", daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join(timeout=10.0)


def _go_round(folder: Path, others: Iterable[Callable[[], None]]) -> None:
    swept = sweep(folder, time.time())
    for other in others:
        other()
    if swept != Swept():
        _LOG.info("swept %d files, %d folders, %d bytes", *_counts(swept))


def _counts(swept: Swept) -> tuple[int, int, int]:
    return swept.files, swept.folders, swept.bytes


def _sweep_folder(folder: Path, now_s: float, open_files: set[Path]) -> Swept:
    """Remove forgotten files from a folder, and the folder once it is empty."""
    swept = Swept()
    for path in _list_entries(folder):
        if path.is_file() and not path.is_symlink():
            swept += _remove_file(path, now_s - FORGOTTEN_S, open_files)
    try:
        if folder.stat().st_mtime < now_s - STALLED_S or swept.files:
            folder.rmdir()
            swept += Swept(folders=1)
    except OSError:
        # Something is in it, or it has gone.
        pass
    return swept


def _remove_file(path: Path, before_s: float, open_files: set[Path]) -> Swept:
    """Remove a file that nobody has touched since a time and that this process does not write."""
    try:
        status = path.lstat()
        # Both: moving an upload into place changes the one, writing to it the other.
        if max(status.st_mtime, status.st_ctime) >= before_s or path.resolve() in open_files:
            return Swept()
        path.unlink()
    except OSError:
        return Swept()
    return Swept(files=1, bytes=status.st_size)


def _list_entries(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:
        return []
