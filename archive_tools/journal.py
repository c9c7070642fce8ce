"""The journal of one run: what is safely in the partial dataset, line by line on disk.

It serves twice: a killed run continues from it, and the manifest, the metadata and the ZIP's own
directory are written from it, so that nothing that grows with the pages is held in memory. Each
line carries a checksum; reading ends at the first line that is torn or damaged.
"""

import json
import os
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from io import FileIO
from itertools import takewhile
from pathlib import Path
from typing import Any

from archive_tools.errors import DatasetWriteError
from archive_tools.file_lock import try_lock
from archive_tools.schema import DocumentDetails, PageOutcome

# Options and versions take a kilobyte or two.
_LONGEST_FIRST_LINE = 2**20


@dataclass(frozen=True, slots=True)
class StoredEntry:
    """One stored file inside the ZIP.

    Attributes:
        name: Path inside the ZIP.
        crc: CRC-32 of its bytes.
        size: Its size in bytes.
        offset: Where its local header begins in the ZIP, in bytes.
    """

    name: str
    crc: int
    size: int
    offset: int


@dataclass(frozen=True, slots=True)
class StoredImage:
    """One image of the dataset with what its metadata row says.

    Attributes:
        image: The image's entry.
        text: The caption's entry.
        caption: The caption.
        width: Width of the image in pixels.
        height: Height of the image in pixels.
        bbox: The part of the page that it shows, in pixels of the rendered page.
        page_width: Width of the rendered page in pixels.
        page_height: Height of the rendered page in pixels.
        phash: Perceptual hash as 16 hex digits.
        signature: What near-duplicates are recognised by, in hex; may be empty.
        sharpness: How sharp it is, None where it was not measured.
        finishing: Which finishing steps changed it; None with finishing off.
        flags: What is doubtful about it; empty when nothing is.
        is_copy: Whether it is a near-duplicate of an earlier one, and kept all the same.
        part: `left` or `right` where it shows that page of a two-page spread, else empty.
    """

    image: StoredEntry
    text: StoredEntry
    caption: str
    width: int
    height: int
    bbox: tuple[int, int, int, int]
    page_width: int
    page_height: int
    phash: str
    signature: str = ""
    sharpness: float | None = None
    finishing: str | None = None
    flags: str = ""
    is_copy: bool = False
    part: str = ""

    @property
    def split(self) -> str:
        """The folder that it is in: `train` or `validation`."""
        return self.image.name.partition("/")[0]


@dataclass(frozen=True, slots=True)
class RunBegun:
    """First line: what the dataset follows from, beside the inputs."""

    options: dict[str, Any]
    versions: dict[str, str]


@dataclass(frozen=True, slots=True)
class SourceBegun:
    """A document whose pages follow."""

    name: str
    sha256: str
    page_count: int
    details: DocumentDetails


@dataclass(frozen=True, slots=True)
class SourceFailed:
    """A document that could not be used."""

    name: str
    message: str


@dataclass(frozen=True, slots=True)
class PageDone:
    """A page with its outcome; its images are in the ZIP up to `end_offset` (bytes)."""

    page_index: int
    outcome: PageOutcome
    width: int
    height: int
    sigma: float | None
    score: float | None
    reason: str
    images: tuple[StoredImage, ...]
    end_offset: int
    traits: tuple[str, ...] = ()


JournalLine = RunBegun | SourceBegun | SourceFailed | PageDone


class Journal:
    """A journal file that this run holds the lock of."""

    def __init__(self, path: Path, file: FileIO) -> None:
        """Take over an open, locked file; use `open_journal`."""
        self.path = path
        self._file = file

    def append(self, line: JournalLine) -> None:
        """Add a line and hand it to the operating system, which keeps it if this process dies.

        Args:
            line: What has happened.

        Raises:
            OSError: The disk is full or gone.
        """
        left = memoryview(_encode(line))
        while left:  # a full disk takes a part before it refuses
            left = left[self._file.write(left) :]

    def iter_lines(self) -> Iterator[JournalLine]:
        """Yield the lines up to the first that is torn or damaged.

        Yields:
            The lines in the order in which they were written.
        """
        for line, _ in self.iter_lines_with_end():
            yield line

    def iter_lines_with_end(self) -> Iterator[tuple[JournalLine, int]]:
        """Yield the lines up to the first bad one, each with the byte offset of its end.

        Yields:
            A line and where the next one begins.
        """
        end = 0
        with self.path.open("rb") as file:
            for raw in file:
                line = _decode(raw)
                if line is None:
                    return
                end += len(raw)
                yield line, end

    def cut(self, end: int) -> None:
        """Forget everything after a byte offset.

        Args:
            end: Size in bytes that the journal is cut to.
        """
        self._file.truncate(end)
        self._file.seek(end)

    def remove(self) -> None:
        """Delete the file; nothing can be added afterwards."""
        if sys.platform == "win32":
            self._file.close()
        self.path.unlink(missing_ok=True)


@contextmanager
def open_journal(path: Path) -> Iterator[Journal]:
    """Open a journal, made if it is missing, and hold its lock until the context is left.

    Args:
        path: The journal's file.

    Yields:
        The journal, positioned at its end.

    Raises:
        DatasetWriteError: Another run holds the lock.
        OSError: The file cannot be opened.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o666)
    # Unbuffered: nothing may be left to be written when the file is closed after an error.
    with os.fdopen(descriptor, "r+b", buffering=0) as file:
        _lock(file, path)
        file.seek(0, os.SEEK_END)
        yield Journal(path, file)


def is_journal(path: Path) -> bool:
    """Return whether a file begins as a journal of ours does, without reading it whole.

    Args:
        path: Any file.

    Raises:
        OSError: It cannot be read.
    """
    with path.open("rb") as file:
        first = file.readline(_LONGEST_FIRST_LINE)
    return isinstance(_decode(first), RunBegun)


def has_kept_page(path: Path) -> bool:
    """Return whether a journal records a page that is in the dataset; its lock is not needed.

    Args:
        path: The journal's file; it may be missing.
    """
    try:
        with path.open("rb") as file:
            lines = takewhile(lambda line: line is not None, map(_decode, file))
            return any(isinstance(one, PageDone) and bool(one.images) for one in lines)
    except FileNotFoundError:
        return False


def _lock(file: FileIO, path: Path) -> None:
    try:
        # The run that held the lock may have finished, and removed the file, since we opened it.
        is_current = try_lock(file) and os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        is_current = False
    if not is_current:
        raise DatasetWriteError(
            f"Another run is writing {path.stem} at this moment. Wait until it has ended, or "
            "choose another output file."
        )


def _encode(line: JournalLine) -> bytes:
    # Escaped to ASCII, so that file names which are no valid Unicode survive the round trip.
    text = json.dumps({"type": type(line).__name__, **asdict(line)}, separators=(",", ":")).encode()
    return b"%08x %s\n" % (zlib.crc32(text), text)


def _decode(raw: bytes) -> JournalLine | None:
    checksum, _, text = raw.rstrip(b"\n").partition(b" ")
    if not raw.endswith(b"\n") or checksum != b"%08x" % zlib.crc32(text):
        return None
    return _from_json(json.loads(text))


def _from_json(fields: dict[str, Any]) -> JournalLine:
    kind = fields.pop("type")
    if kind == "RunBegun":
        return RunBegun(**fields)
    if kind == "SourceFailed":
        return SourceFailed(**fields)
    if kind == "SourceBegun":
        details = fields.pop("details")
        layers = tuple(details.pop("layers"))
        return SourceBegun(**fields, details=DocumentDetails(**details, layers=layers))
    images = tuple(map(_image_from_json, fields.pop("images")))
    outcome = PageOutcome(fields.pop("outcome"))
    traits = tuple(fields.pop("traits"))
    return PageDone(**fields, outcome=outcome, images=images, traits=traits)


def _image_from_json(fields: dict[str, Any]) -> StoredImage:
    x0, y0, x1, y1 = fields.pop("bbox")
    image, text = StoredEntry(**fields.pop("image")), StoredEntry(**fields.pop("text"))
    return StoredImage(**fields, bbox=(x0, y0, x1, y1), image=image, text=text)
