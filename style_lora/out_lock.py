"""One training at a time in a folder of results; the lock goes when its process goes."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from io import FileIO
from pathlib import Path
from typing import Final

from style_lora.errors import SettingsError

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

_LOCK_NAME: Final = ".lock"


@contextmanager
def hold_folder(out: Path) -> Iterator[None]:
    """Keep other trainings out of a folder for the length of a `with` block.

    Args:
        out: Folder of the results; made where it is missing.

    Raises:
        SettingsError: It is a file, or another training is at work in it.
    """
    if out.exists() and not out.is_dir():
        raise SettingsError(f"{out} is a file. Give a folder as --out.")
    out.mkdir(parents=True, exist_ok=True)
    with FileIO(out / _LOCK_NAME, "a") as lock:
        if not _take(lock):
            raise SettingsError(
                f"Another training is at work in {out}. Wait until it has ended, or choose another "
                "--out."
            )
        yield


def _take(lock: FileIO) -> bool:
    try:
        if sys.platform == "win32":
            msvcrt.locking(lock.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    except OSError:
        # Some shares, such as a Drive that is mounted, know no locks: there nobody can be kept out.
        return True
    return True
