"""Taking up a stopped run: how far it came, and whether this run is the same one."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import BinaryIO

from archive_tools.errors import DatasetWriteError
from archive_tools.journal import (
    Journal,
    JournalLine,
    PageDone,
    RunBegun,
    SourceBegun,
    SourceFailed,
)
from archive_tools.schema import PageCounts, PageOutcome, ResumePoint
from archive_tools.zip_stream import holds_entry

_START_AFRESH = "or start afresh without --resume"


@dataclass(frozen=True, slots=True)
class Recovery:
    """What a resumed run builds on.

    Attributes:
        resume_point: How far the stopped run came.
        image_counts: Images in the partial ZIP, for each split that has any.
        zip_end: Size in bytes of what is good in the partial ZIP.
        journal_end: Size in bytes of what is good in the journal.
    """

    resume_point: ResumePoint = field(default_factory=ResumePoint)
    image_counts: Counter[str] = field(default_factory=Counter)
    zip_end: int = 0
    journal_end: int = 0


def recover(journal: Journal, partial: BinaryIO, run: RunBegun) -> Recovery:
    """Find how far a stopped run came, and forget what the partial ZIP does not bear out.

    Each recorded entry is read back and checked, since after a power cut the journal may have
    reached the disk and the ZIP not.

    Args:
        journal: The locked journal; cut to what is good.
        partial: The partial ZIP, open for reading.
        run: Options and versions of this run.

    Returns:
        What to build on; all zero when nothing is recorded.

    Raises:
        DatasetWriteError: The stopped run had other options or other versions of the tools.
        OSError: A file cannot be read.
    """
    recorded = _Recorded()
    for line, end in journal.iter_lines_with_end():
        if isinstance(line, RunBegun):
            _check_same("options", line.options, run.options, "Use the same options")
            _check_same("versions", line.versions, run.versions, "Install the same versions")
        elif isinstance(line, PageDone) and not _is_whole(partial, line):
            break
        recorded.add(line, end)
    journal.cut(recorded.journal_end)
    return recorded.to_recovery()


class Replay:
    """The inputs of the stopped run, to be compared with those of this run one at a time."""

    def __init__(self, journal: Journal) -> None:
        """Begin at the journal's first input.

        Args:
            journal: The recovered journal. Nothing may be added before `is_over`.
        """
        self._inputs = _iter_inputs(journal.iter_lines())
        self._next = next(self._inputs, None)
        self._number = 1

    @property
    def is_over(self) -> bool:
        """Whether every recorded input has been met."""
        return self._next is None

    def match(self, given: SourceBegun | SourceFailed) -> int:
        """Compare the next recorded input with the one that this run has.

        Args:
            given: The input of this run.

        Returns:
            How many of its pages are recorded.

        Raises:
            DatasetWriteError: It is another one, or it has changed.
        """
        assert self._next is not None
        recorded, page_count = self._next
        difference = _find_difference(recorded, given)
        if difference:
            raise DatasetWriteError(
                f"The run cannot be resumed: {difference} (file {self._number}). Give the same "
                f"files in the same order, {_START_AFRESH}."
            )
        self._next = next(self._inputs, None)
        self._number += 1
        return page_count

    def check_over(self) -> None:
        """Check that no recorded input is missing in this run.

        Raises:
            DatasetWriteError: One is.
        """
        if self._next is not None:
            raise DatasetWriteError(
                f"The run cannot be resumed: {self._next[0].name!r} (file {self._number}) is no "
                f"longer among the inputs. Give the same files in the same order, {_START_AFRESH}."
            )


class _Recorded:
    """Counts over the good lines of a journal."""

    def __init__(self) -> None:
        self.journal_end = 0
        self._outcomes: Counter[PageOutcome] = Counter()
        self._source_count = self._page_count = self._pages_of_source = 0
        self._image_counts: Counter[str] = Counter()
        self._zip_end = 0

    def add(self, line: JournalLine, end: int) -> None:
        self.journal_end = end
        if isinstance(line, SourceFailed):
            self._source_count += 1
        elif isinstance(line, SourceBegun):
            self._pages_of_source = line.page_count
        elif isinstance(line, PageDone):
            self._add_page(line)

    def _add_page(self, page: PageDone) -> None:
        self._outcomes[page.outcome] += 1
        self._image_counts.update(stored.split for stored in page.images)
        self._zip_end = page.end_offset
        self._page_count = page.page_index + 1
        if self._page_count == self._pages_of_source:
            self._source_count += 1
            self._page_count = 0

    def to_recovery(self) -> Recovery:
        counts = PageCounts(
            kept=self._outcomes[PageOutcome.KEPT],
            dropped=self._outcomes[PageOutcome.DROPPED],
            failed=self._outcomes[PageOutcome.FAILED],
        )
        point = ResumePoint(self._source_count, self._page_count, counts)
        return Recovery(point, self._image_counts, self._zip_end, self.journal_end)


def _is_whole(partial: BinaryIO, page: PageDone) -> bool:
    return all(
        holds_entry(partial, stored.image) and holds_entry(partial, stored.text)
        for stored in page.images
    )


def _iter_inputs(lines: Iterator[JournalLine]) -> Iterator[tuple[SourceBegun | SourceFailed, int]]:
    """Yield each input with the number of its recorded pages."""
    current: SourceBegun | SourceFailed | None = None
    page_count = 0
    for line in lines:
        if isinstance(line, PageDone):
            page_count += 1
        elif not isinstance(line, RunBegun):
            if current is not None:
                yield current, page_count
            current, page_count = line, 0
    if current is not None:
        yield current, page_count


def _find_difference(
    recorded: SourceBegun | SourceFailed, given: SourceBegun | SourceFailed
) -> str | None:
    if recorded.name != given.name:
        return f"it had {recorded.name!r} where there is now {given.name!r}"
    if isinstance(recorded, SourceFailed) and isinstance(given, SourceBegun):
        return f"{given.name!r} could not be used then and can be used now"
    if isinstance(recorded, SourceBegun) and isinstance(given, SourceFailed):
        return f"{given.name!r} could be used then and cannot be used now: {given.message}"
    if isinstance(recorded, SourceBegun) and isinstance(given, SourceBegun):
        then, now = (recorded.sha256, recorded.page_count), (given.sha256, given.page_count)
        return f"{given.name!r} has other content now" if then != now else None
    return None


def _check_same(
    what: str, then: Mapping[str, object], now: Mapping[str, object], advice: str
) -> None:
    changes = [
        f"{name} was {then.get(name)!r} and is {now.get(name)!r}"
        for name in sorted({*then, *now})
        if then.get(name) != now.get(name)
    ]
    if changes:
        raise DatasetWriteError(
            f"The run cannot be resumed with other {what}: {'; '.join(changes)}. {advice}, "
            f"{_START_AFRESH}."
        )
