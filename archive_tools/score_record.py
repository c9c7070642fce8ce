"""What a preview recorded of every page, so that a run need not look again at what it drops.

One JSON document a line: the options that the scores follow from, then each document followed by
its pages. Reading holds one position for each document, and no pages.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from archive_tools.config import DatasetConfig, PageFilter
from archive_tools.decisions import decide_by_coverage
from archive_tools.errors import DatasetWriteError
from archive_tools.schema import PageOutcome, PageResult, Source

# What the score of a page follows from, beside the page: how finely it is decoded, and how small
# an illustration counts.
_DECIDING_OPTIONS = (
    "filter",
    "content",
    "spreads",
    "min_region_area",
    "fit",
    "size_px",
    "hide_layers",
)


class KnownPages(Protocol):
    """Pages whose outcome is known before they are looked at."""

    def find(self, source: Source, page_index: int) -> PageResult | None:
        """Return the outcome of a page, None where it has to be worked on."""


class ScoreRecorder:
    """Writes the record, page by page."""

    def __init__(self, file: BinaryIO, config: DatasetConfig) -> None:
        """Write which options the scores follow from.

        Args:
            file: Open for writing.
            config: Options of the preview.
        """
        self._file = file
        self._write(_deciding_options(config))

    def begin_source(self, source: Source) -> None:
        """Begin a document."""
        self._write({"sha256": source.sha256})

    def add(self, result: PageResult) -> None:
        """Record the next page of the document."""
        page = asdict(replace(result, records=(), preview=None))
        del page["records"], page["preview"]
        found = result.preview.found if result.preview else None
        self._write({"found": found, "page": page})

    def _write(self, fields: dict[str, Any]) -> None:
        self._file.write(json.dumps(fields, separators=(",", ":")).encode() + b"\n")


@contextmanager
def open_recorder(path: Path, config: DatasetConfig) -> Iterator[ScoreRecorder]:
    """Open the record of a preview.

    Args:
        path: The file, written anew.
        config: Options of the preview.

    Yields:
        What writes it.

    Raises:
        DatasetWriteError: The disk is full or gone.
    """
    try:
        with path.open("wb") as file:
            yield ScoreRecorder(file, config)
    except OSError as error:
        raise DatasetWriteError(
            f"The scores cannot be recorded: {error.strerror or error}. Try again later."
        ) from error


@contextmanager
def open_recorded(path: Path | None, config: DatasetConfig) -> Iterator["RecordedScores | None"]:
    """Open the record of a preview for a run.

    Args:
        path: The record; None, or one that has been removed since, tells of no page.
        config: Options of the run.

    Yields:
        The scores, None where there are none.
    """
    if path is None or not path.is_file():
        yield None
        return
    with path.open("rb") as file:
        yield RecordedScores(file, config)


@dataclass(slots=True)
class _Place:
    """Where reading stands: the next page of a document."""

    sha256: str = ""
    page_index: int = 0


class RecordedScores:
    """Finds the pages that the filter drops by their recorded scores."""

    def __init__(self, file: BinaryIO, config: DatasetConfig) -> None:
        """Look where each document begins.

        Args:
            file: The record, open for reading.
            config: Options of the run. Where other scores follow from them, no page is known.
        """
        self._file = file
        self._min_score = config.min_score
        self._starts: dict[str, int] = {}
        self._place = _Place()
        # Sigma is recorded exactly, and a run records what it needed to see of it.
        if config.filter is PageFilter.AUTO and self._read() == _deciding_options(config):
            self._find_starts()

    def find(self, source: Source, page_index: int) -> PageResult | None:
        """Return a page that is dropped; pages are asked for in order.

        Args:
            source: Its document.
            page_index: 0-based.

        Returns:
            None where the page is kept, has failed or is not recorded: it has to be worked on.
        """
        if source.sha256 not in self._starts:
            return None
        if self._place != _Place(source.sha256, page_index):
            self._file.seek(self._starts[source.sha256])
            self._place = _Place(source.sha256)
        while self._place.page_index < page_index:
            self._next_page()
        return self._dropped(self._next_page())

    def _next_page(self) -> dict[str, Any]:
        self._place.page_index += 1
        return self._read()

    def _dropped(self, fields: dict[str, Any]) -> PageResult | None:
        """Return the page as the filter would have dropped it."""
        found = fields.get("found")
        if found is None:
            return None
        page = PageResult(**{**fields["page"], "traits": tuple(fields["page"]["traits"])})
        if page.score is None:
            return None
        decision = decide_by_coverage(page.score, found, self._min_score)
        if decision.keep:
            return None
        return replace(page, outcome=PageOutcome.DROPPED, reason=decision.reason)

    def _find_starts(self) -> None:
        while line := self._file.readline():
            if line.startswith(b'{"sha256"'):
                self._starts.setdefault(json.loads(line)["sha256"], self._file.tell())

    def _read(self) -> dict[str, Any]:
        line = self._file.readline()
        fields: dict[str, Any] = json.loads(line) if line else {}
        return fields


def _deciding_options(config: DatasetConfig) -> dict[str, Any]:
    # Through JSON, so that it compares equal to what a record gives back.
    options: dict[str, Any] = json.loads(json.dumps(config.to_json()))
    return {name: options[name] for name in _DECIDING_OPTIONS}
