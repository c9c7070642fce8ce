"""A lock on an open file, which ends with its process at the latest."""

import sys
from io import FileIO

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

# Windows locks bytes, and a locked byte cannot be read: lock one that no file of ours reaches.
_LOCKED_BYTE = 1 << 40


def try_lock(file: FileIO) -> bool:
    """Lock a file for as long as it is open.

    Args:
        file: Open for writing; on Windows its position moves.

    Returns:
        False where another process, or this one by another opening, holds the lock.
    """
    try:
        if sys.platform == "win32":
            file.seek(_LOCKED_BYTE)
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    return True
