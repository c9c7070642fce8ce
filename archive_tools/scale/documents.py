"""The documents of a large run: where they are, how a worker gets at them, what was found out."""

import json
from array import array
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, BinaryIO

from archive_tools.remote_address import as_source
from archive_tools.scale.tasks import DocumentFound
from archive_tools.schema import DocumentDetails, SourceFailure
from archive_tools.source import SourceFeed
from archive_tools.source_plan import Planned, PlannedFile, plan_sources

FILE_NAME = "\0"
"""Stands for the name of the document in messages of shards; no file name can have it in it."""


def iter_documents(sources: Sequence[str], out: Path) -> Iterator[Planned]:
    """Find the documents behind what was asked for, one source after the other.

    Args:
        sources: Files, folders, globs, ZIP files and addresses.
        out: What this run writes; it is no source.

    Yields:
        The documents in their order; what cannot be used is among them as a failure.

    Raises:
        InvalidOptionError: A source would be overwritten by what this run writes.
    """
    for source in sources:
        # Absolute: a worker may be at home in another folder.
        place = as_source(source)
        place = place.absolute() if isinstance(place, Path) else place
        yield from plan_sources([place], leave_out=out)


@contextmanager
def at_hand(document: PlannedFile, folder: Path) -> Iterator[Path | SourceFailure]:
    """Bring a document to this machine's disk, and delete the copy afterwards.

    Args:
        document: Where it is.
        folder: Where a copy may lie.

    Yields:
        Its path, or why it cannot be used.

    Raises:
        DatasetWriteError: There is no room for the copy.
        SourceUnreachableError: Its server does not answer.
    """
    with SourceFeed([document], folder / "sources") as feed:
        for file in feed:
            if file is not None:
                yield file if isinstance(file, SourceFailure) else file.path
                return


@dataclass(frozen=True, slots=True)
class KnownDocument:
    """A document of a run: its name and what was found out about it."""

    name: str
    found: DocumentFound


class DocumentLedger:
    """What was found out about each document, on disk; eight bytes of memory a document."""

    def __init__(self, file: BinaryIO) -> None:
        """Begin with nothing known.

        Args:
            file: Empty, open for reading and writing.
        """
        self._file = file
        self._offsets = array("q")

    def __len__(self) -> int:
        """Return the number of documents, those in between that are not known yet included."""
        return len(self._offsets)

    def add(self, number: int, name: str, found: DocumentFound) -> None:
        """Record a document.

        Args:
            number: Its place in the run, from 0; they may come in any order.
            name: Its name for people.
            found: What was found out.
        """
        while len(self._offsets) <= number:
            self._offsets.append(-1)
        self._offsets[number] = self._file.seek(0, 2)
        line = json.dumps({"name": name, "found": encode_found(found)})
        self._file.write(line.encode() + b"\n")

    def read(self, number: int) -> KnownDocument:
        """Return what is recorded of a document.

        Args:
            number: Its place in the run.

        Raises:
            KeyError: Nothing is.
        """
        if not 0 <= number < len(self._offsets) or self._offsets[number] < 0:
            raise KeyError(number)
        self._file.seek(self._offsets[number])
        line = json.loads(self._file.readline())
        return KnownDocument(line["name"], decode_found(line["found"]))


def encode_found(found: DocumentFound) -> dict[str, Any]:
    """Return what was found out about a document, to be written as JSON.

    Args:
        found: How its shards came about is left out.
    """
    row = asdict(found)
    for only_progress in ("pages", "shards_made", "shards_found"):
        del row[only_progress]
    return row


def decode_found(row: dict[str, Any]) -> DocumentFound:
    """Return what `encode_found` has written.

    Args:
        row: As it was read.

    Raises:
        TypeError: It is something else.
        KeyError: It is something else.
    """
    details = dict(row["details"])
    layers = tuple(details.pop("layers"))
    details_found = DocumentDetails(**details, layers=layers)
    return DocumentFound(**{**row, "details": details_found})
