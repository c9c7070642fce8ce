"""What happens to files and pages, in their order, while workers are busy a few pages ahead."""

import os
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

from archive_tools.schema import (
    HashResult,
    HashTask,
    NamedFile,
    PageOutcome,
    PageResult,
    PageTask,
    ProbeResult,
    ProbeTask,
    Purpose,
    ResumePoint,
    Source,
    SourceFailure,
)
from archive_tools.score_record import KnownPages
from archive_tools.source import SourceFeed
from archive_tools.worker_process import Ticket
from archive_tools.workers import Executor

# So often does a wait come up for air: the run can report, and be stopped, at each tick.
TICK_S = 0.5


@dataclass(frozen=True, slots=True)
class SourceBegins:
    """The pages of this file come next."""

    source: Source


@dataclass(frozen=True, slots=True)
class PageDone:
    """A page has its outcome."""

    source: Source
    result: PageResult


@dataclass(frozen=True, slots=True)
class _PageAhead:
    """A page that a worker has been given."""

    source: Source
    ticket: Ticket


Step = SourceBegins | PageDone | SourceFailure


class Schedule:
    """Feeds files and pages to an executor and gives their outcomes back in order."""

    def __init__(
        self,
        feed: SourceFeed,
        executor: Executor,
        resume_point: ResumePoint | None = None,
        purpose: Purpose = Purpose.BUILD,
        known: KnownPages | None = None,
    ) -> None:
        """Prepare; nothing is started yet.

        Args:
            feed: The files.
            executor: Where files are probed and pages worked on.
            resume_point: How far a stopped run came; those pages are left out.
            purpose: How far pages are worked on.
            known: Pages that need not be looked at.
        """
        self._known = known
        self._feed = feed
        self._executor = executor
        self._resume_point = resume_point or ResumePoint()
        self._purpose = purpose
        self._file_index = -1
        self._ahead: deque[SourceBegins | SourceFailure | _PageAhead] = deque()
        self._pages_ahead = 0

    def __iter__(self) -> Iterator[Step | None]:
        """Iterate over all steps of the run.

        Yields:
            For each file `SourceBegins` and a `PageDone` for each page, or a `SourceFailure`;
            None about twice a second while nothing is finished.
        """
        for step in self._steps_ahead():
            if step is None:
                yield from self._take_finished()
                yield None
                continue
            self._ahead.append(step)
            self._pages_ahead += isinstance(step, _PageAhead)
            while self._pages_ahead >= self._executor.in_flight_limit:
                yield from self._take_first()
            yield from self._take_finished()
        while self._ahead:
            yield from self._take_first()

    def _steps_ahead(self) -> Iterator[SourceBegins | SourceFailure | _PageAhead | None]:
        """Hand files and pages to the executor; how far ahead is the caller's business."""
        for file in self._feed:
            self._file_index += file is not None
            if not isinstance(file, NamedFile):
                yield file
                continue
            probing = self._executor.submit(ProbeTask(file.path, size_in_bytes(file.path)))
            yield from self._wait(probing)
            assert isinstance(probing.reply, ProbeResult)
            yield from self._pages_of(file, probing.reply)

    def _pages_of(
        self, file: NamedFile, probed: ProbeResult
    ) -> Iterator[SourceBegins | SourceFailure | _PageAhead | None]:
        """Hand the pages of one file to the executor, the first ones while the file is hashed."""
        if probed.failure is not None:
            yield self._fail(file, probed.failure)
            return
        hashing = self._executor.submit(HashTask(file.path, size_in_bytes(file.path)))
        page_indices = range(self._first_page(probed.page_count), probed.page_count)
        early = self._submit_early(file.path, page_indices)
        yield from self._wait(hashing)
        assert isinstance(hashing.reply, HashResult)
        if hashing.reply.failure is not None:
            yield self._fail(file, hashing.reply.failure)
            return
        sha256 = hashing.reply.sha256
        source = Source(file.path, file.name, sha256, probed.page_count, probed.details)
        yield SourceBegins(source)
        if not page_indices:
            self._feed.release(file.path)
        for page_index in page_indices:
            ticket = early.popleft() if early else self._submit(source, page_index)
            yield _PageAhead(source, ticket)

    def _submit_early(self, path: Path, page_indices: range) -> deque[Ticket]:
        """Hand the first pages in before the file is hashed, where none needs its hash."""
        if self._known is not None:
            return deque()
        tasks = (PageTask(path, page_index, self._purpose) for page_index in page_indices)
        return deque(map(self._executor.submit, islice(tasks, self._executor.in_flight_limit)))

    def _submit(self, source: Source, page_index: int) -> Ticket:
        """Hand a page in, or take it from those that need not be looked at."""
        task = PageTask(source.path, page_index, self._purpose)
        result = self._known.find(source, page_index) if self._known else None
        return self._executor.submit(task) if result is None else Ticket(task, result)

    def _fail(self, file: NamedFile, failure: str) -> SourceFailure:
        """Give a file up."""
        failure = rename_in(failure, file.path, file.name)
        self._feed.release(file.path)
        return SourceFailure(file.name, failure)

    def _wait(self, ticket: Ticket) -> Iterator[None]:
        """Wait for a reply, and come up for air."""
        while not self._executor.wait_for(ticket, TICK_S):
            yield None

    def _first_page(self, page_count: int) -> int:
        """Return the index of the current file's first page that is still to be done."""
        if self._file_index < self._resume_point.source_count:
            return page_count
        is_begun = self._file_index == self._resume_point.source_count
        return self._resume_point.page_count if is_begun else 0

    def _take_first(self) -> Iterator[Step | None]:
        """Wait for the step that is next in order."""
        step = self._ahead.popleft()
        if not isinstance(step, _PageAhead):
            yield step
            return
        self._pages_ahead -= 1
        yield from self._wait(step.ticket)
        assert isinstance(step.ticket.reply, PageResult)
        source = step.source
        yield PageDone(source, rename_failure(step.ticket.reply, source.path, source.name))
        if step.ticket.reply.page_number == step.source.page_count:
            self._feed.release(step.source.path)

    def _take_finished(self) -> Iterator[Step | None]:
        """Give what is finished at the head, without waiting."""
        while self._ahead and self._is_finished(self._ahead[0]):
            yield from self._take_first()

    def _is_finished(self, step: SourceBegins | SourceFailure | _PageAhead) -> bool:
        """Whether a step needs no waiting; looks for news of the workers."""
        return not isinstance(step, _PageAhead) or self._executor.wait_for(step.ticket, 0)


def rename_failure(result: PageResult, path: Path, name: str) -> PageResult:
    """Let the reason of a failure name the file as people know it.

    Args:
        result: Any outcome; only failures name a file.
        path: Of the document on the disk.
        name: What stands for it instead.
    """
    if result.outcome is not PageOutcome.FAILED:
        return result
    return replace(result, reason=rename_in(result.reason, path, name))


def rename_in(reason: str, path: Path, name: str) -> str:
    """Put the name that people know in place of that on the disk; a folder's is never said.

    Args:
        reason: Why something failed.
        path: Of the document on the disk.
        name: What stands for it instead.
    """
    return reason if path.is_dir() else reason.replace(path.name, name)


def size_in_bytes(path: Path) -> int:
    """Return the size of a file or of a folder's files in bytes.

    Args:
        path: A file, or a folder of images.

    Returns:
        0 where it has vanished; the worker will say so.
    """
    try:
        if path.is_dir():
            return sum(entry.stat().st_size for entry in os.scandir(path))
        return path.stat().st_size
    except OSError:
        return 0
