"""How full the disk may become with what visitors send; the rest is for the jobs that run."""

import shutil
from pathlib import Path
from typing import Final

RESERVED_DISK_BYTES: Final = 2 * 2**30
"""Left free on the disk for the jobs that run; what would use it is refused."""


def has_room(folder: Path, size: int, reserved_bytes: int) -> bool:
    """Say whether so much more may be stored.

    Args:
        folder: Where; it may not exist yet, its parent does.
        size: Bytes to come.
        reserved_bytes: Bytes that must be left free.

    Raises:
        OSError: The disk cannot be asked.
    """
    asked = folder if folder.exists() else folder.parent
    return shutil.disk_usage(asked).free - size >= reserved_bytes
