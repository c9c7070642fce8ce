"""Lists the pages of a TIFF by its directories alone; nothing is decoded."""

import struct
from typing import BinaryIO

from archive_tools.errors import LimitExceededError

MOST_PAGES = 10_000
"""A TIFF of more is damaged or hostile, or should have been a PDF."""

_NEW_SUBFILE_TYPE = 254
_IS_THUMBNAIL = 1
_IS_MASK = 4
_MOST_ENTRIES = 4_096
_BIG = 43


def list_tiff_pages(file: BinaryIO) -> tuple[int, ...]:
    """Return the numbers of the directories that are pages.

    Thumbnails and masks, which cameras and scanners add, are left out. A chain of directories that
    is broken or runs in a circle ends there.

    Args:
        file: The TIFF, open for reading; its position changes.

    Returns:
        0-based numbers, at least one.

    Raises:
        LimitExceededError: There are more than `MOST_PAGES`.
    """
    head = file.read(16)
    order = "<" if head.startswith(b"II") else ">"
    is_big = len(head) == 16 and struct.unpack_from(order + "H", head, 2)[0] == _BIG
    offset = _read_first(head, order, is_big)
    pages: list[int] = []
    seen: set[int] = set()
    while offset and offset not in seen:
        if len(seen) >= MOST_PAGES:
            raise LimitExceededError(
                f"it has more than {MOST_PAGES:,} pages; split it into several files"
            )
        kind, following = _read_directory(file, offset, order, is_big)
        if not kind & (_IS_THUMBNAIL | _IS_MASK):
            pages.append(len(seen))
        seen.add(offset)
        offset = following
    return tuple(pages) or (0,)


def _read_first(head: bytes, order: str, is_big: bool) -> int:
    """Return where the first directory is, 0 where the file is too short to say so."""
    if is_big:
        return int(struct.unpack_from(order + "Q", head, 8)[0])
    return int(struct.unpack_from(order + "I", head, 4)[0]) if len(head) >= 8 else 0


def _read_directory(file: BinaryIO, offset: int, order: str, is_big: bool) -> tuple[int, int]:
    """Return a directory's kind of picture and the offset of the next directory, 0 for none."""
    count_kind, entry_size, offset_kind = ("Q", 20, "Q") if is_big else ("H", 12, "I")
    try:
        file.seek(offset)
        (count,) = _unpack(file, order + count_kind)
        if count > _MOST_ENTRIES:
            return 0, 0
        entries = file.read(count * entry_size)
        (following,) = _unpack(file, order + offset_kind)
    except (struct.error, OSError, OverflowError):
        return 0, 0
    return _subfile_type(entries, entry_size, order), following


def _unpack(file: BinaryIO, form: str) -> tuple[int, ...]:
    return struct.unpack(form, file.read(struct.calcsize(form)))


def _subfile_type(entries: bytes, entry_size: int, order: str) -> int:
    """Return the value of NewSubfileType, 0 where it is not stated."""
    for start in range(0, len(entries) - entry_size + 1, entry_size):
        (tag,) = struct.unpack_from(order + "H", entries, start)
        if tag == _NEW_SUBFILE_TYPE:
            # The value lies at the entry's end, in four bytes or eight.
            place = start + entry_size - (8 if entry_size == 20 else 4)
            return int(struct.unpack_from(order + "I", entries, place)[0])
    return 0
