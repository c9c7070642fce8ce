"""What a file is, by its name and by its first bytes."""

import re
from enum import StrEnum
from itertools import chain, zip_longest
from pathlib import PurePath

ZIP_SUFFIX = ".zip"
COMIC_SUFFIX = ".cbz"
PACKED_BOOK_SUFFIXES = frozenset((".epub", ".xps", ".oxps"))
"""Books that are ZIP files inside, so that only their names tell them from others."""

BOOK_SUFFIXES = frozenset((".pdf", COMIC_SUFFIX)) | PACKED_BOOK_SUFFIXES
"""Files that are a document each."""

TIFF_SUFFIXES = frozenset((".tif", ".tiff"))
_JPEG_2000_SUFFIXES = frozenset((".jp2", ".jpx", ".jpf", ".j2k", ".j2c", ".jpc"))
IMAGE_SUFFIXES = (
    frozenset((".jpg", ".jpeg", ".jpe", ".png", ".webp")) | TIFF_SUFFIXES | _JPEG_2000_SUFFIXES
)
"""Files that are a page each (a TIFF may hold several)."""

OTHER_PICTURE_SUFFIXES = frozenset(
    (".heic", ".heif", ".avif", ".gif", ".bmp", ".jxl", ".djvu", ".psd", ".svg", ".cbr", ".cb7")
)
"""Pictures and picture books that are not read; a folder's report names them."""

SOURCE_SUFFIXES = BOOK_SUFFIXES | IMAGE_SUFFIXES | {ZIP_SUFFIX}

HEAD_BYTES = 16
"""So much of a file's beginning tells its kind."""

_IMAGE_STARTS = (
    b"\xff\xd8\xff",
    b"\x89PNG\r\n\x1a\n",
    b"II*\0",
    b"MM\0*",
    b"II+\0",
    b"MM\0+",
    b"\0\0\0\x0cjP  \r\n\x87\n",
    b"\xff\x4f\xff\x51",
)
_TIFF_STARTS = _IMAGE_STARTS[2:6]
_DIGITS = re.compile("([0-9]+)")


class FileKind(StrEnum):
    """What the first bytes of a file say."""

    IMAGE = "image"
    ZIP = "zip"
    OTHER = "other"  # a PDF may begin with anything


def recognise(head: bytes) -> FileKind:
    """Tell what a file is from its first `HEAD_BYTES` bytes.

    Args:
        head: The bytes; fewer where the file is shorter.
    """
    is_webp = head.startswith(b"RIFF") and head[8:12] == b"WEBP"
    if is_webp or head.startswith(_IMAGE_STARTS):
        return FileKind.IMAGE
    return FileKind.ZIP if head.startswith(b"PK\3\4") else FileKind.OTHER


def is_tiff(head: bytes) -> bool:
    """Return whether a file begins as a TIFF does."""
    return head.startswith(_TIFF_STARTS)


def has_suffix(name: str, suffixes: frozenset[str]) -> bool:
    """Return whether a name ends so, and is not hidden.

    Args:
        name: A file's name, with or without folders.
        suffixes: In lower case, with the dot.
    """
    path = PurePath(name)
    return path.suffix.lower() in suffixes and not path.name.startswith(".")


def clean_name(name: str) -> str:
    """Return a file name that can be printed and written as UTF-8."""
    text = name.encode("utf-8", "replace").decode("utf-8")
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def natural_key(name: str) -> tuple[object, ...]:
    """Return a key that sorts `page 10` after `page 9`.

    Args:
        name: A file's name, with or without folders.
    """
    parts = _DIGITS.split(name.casefold())
    # By length and then digit by digit: a number of any length, and without leading zeros.
    numbers = [(len(digits.lstrip("0")), digits.lstrip("0")) for digits in parts[1::2]]
    pairs = zip_longest(parts[::2], numbers, fillvalue=())
    return (*chain.from_iterable(pairs), name)
