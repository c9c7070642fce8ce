"""Tasks to an engine, a bounded number at a time, and what becomes of those that come to grief.

Whatever takes its worker with it is tried again; then by itself, with nothing else under way, so
that it cannot be blamed for a neighbour; then in halves, down to the one page that does it, which
is recorded as failed. So every run ends.
"""

import tempfile
import time
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from archive_tools.errors import EngineError
from archive_tools.scale.documents import DocumentLedger
from archive_tools.scale.engines import Ended, Engine
from archive_tools.scale.shard import write_shard
from archive_tools.scale.shard_worker import iter_failed
from archive_tools.scale.tasks import (
    DocumentFound,
    DocumentTask,
    ShardDone,
    ShardOptions,
    ShardTask,
    Task,
    iter_keys,
)
from archive_tools.schema import PageCounts, SourceFailure
from archive_tools.shard_store import ShardStore
from archive_tools.source_plan import Planned, PlannedFile

TICK_S = 0.25
# With its neighbours; a machine that goes away takes several tasks with it.
MAX_SHARED_LOSSES = 2
MAX_LONE_LOSSES = 2
MAX_ERRORS = 3
# Refusals in a row by workers that can do no task at all, or as many as are in flight if that is
# more; where one has done some, there is somebody to wait for.
MAX_REFUSALS = 8
_WAIT_FOR_FIT = 10


@dataclass(frozen=True, slots=True)
class ShardProgress:
    """Where the making of shards stands.

    Attributes:
        documents: Documents met so far.
        shards_made: Shards that this run has made.
        shards_found: Shards that were there.
        tasks_in_flight: Tasks that workers have.
        losses: How often a worker was lost with its task.
        refusals: How often a worker that can do no task at all gave one back.
        pages: Outcomes of the pages of all shards that are there.
        elapsed_s: Seconds since the run began.
    """

    documents: int
    shards_made: int
    shards_found: int
    tasks_in_flight: int
    losses: int
    refusals: int
    pages: PageCounts
    elapsed_s: float

    def describe(self) -> str:
        """Return one line for people."""
        lost = f", {self.losses} lost with their workers" if self.losses else ""
        lost += f", {self.refusals} given back by workers that can do none" if self.refusals else ""
        return (
            f"documents: {self.documents}, shards made: {self.shards_made}, "
            f"found: {self.shards_found}, tasks under way: {self.tasks_in_flight}{lost} | "
            f"{self.pages.describe(self.elapsed_s)}"
        )


@dataclass(slots=True)
class _Attempt:
    """A task with what has befallen it.

    Attributes:
        task: What is to be done.
        document: Number of the document in the run.
        losses: How often it was lost with its worker.
        lone_losses: How often of these nothing else was under way.
        errors: How often it raised.
    """

    task: Task
    document: int
    losses: int = 0
    lone_losses: int = 0
    errors: int = 0


class Dispatcher:
    """Carries a run's documents and shards to an engine; iterate over it to make it work."""

    def __init__(
        self,
        engine: Engine,
        documents: Iterable[Planned],
        options: ShardOptions,
        store: ShardStore,
        ledger: DocumentLedger,
    ) -> None:
        """Prepare; nothing is submitted yet.

        Args:
            engine: Where the work is done.
            documents: The documents; taken one by one, only a few ahead.
            options: What all tasks share.
            store: Where the shards go.
            ledger: Takes what is found out about each document.
        """
        self._engine = engine
        self._documents = enumerate(documents)
        self._options = options
        self._store = store
        self._ledger = ledger
        self._in_flight: dict[int, _Attempt] = {}
        self._again: deque[_Attempt] = deque()
        self._suspects: deque[_Attempt] = deque()
        self._opened: deque[Iterator[_Attempt]] = deque()
        self._task_number = self._document_count = self._made = self._found = self._losses = 0
        self._documents_in_flight = self._refusals = self._refusals_in_a_row = 0
        self._has_results = False
        self.unfit_workers: set[str] = set()
        """What workers that can do no task at all have said of themselves."""
        self._pages = PageCounts()
        self._started_s = time.monotonic()

    def __iter__(self) -> Iterator[ShardProgress]:
        """Work until every document is known and every shard is there.

        Yields:
            Where the run stands, a few times a second and at the end.

        Raises:
            EngineError: A task cannot be done, or the engine was lost.
        """
        yield self.progress()
        due_s = 0.0
        while self._submit_next() or self._in_flight:
            ended = self._engine.next_ended(TICK_S)
            if ended is not None:
                self._settle(ended)
            if time.monotonic() >= due_s:
                due_s = time.monotonic() + TICK_S
                yield self.progress()
        yield self.progress()

    def progress(self) -> ShardProgress:
        """Return where the run stands."""
        return ShardProgress(
            documents=self._document_count,
            shards_made=self._made,
            shards_found=self._found,
            tasks_in_flight=len(self._in_flight),
            losses=self._losses,
            refusals=self._refusals,
            pages=self._pages,
            elapsed_s=time.monotonic() - self._started_s,
        )

    def _submit_next(self) -> bool:
        """Hand in as many tasks as keep the engine busy; a suspect waits until it is alone."""
        if self._suspects:
            if not self._in_flight:
                self._submit(self._suspects.popleft())
            return True
        limit = self._engine.in_flight_limit
        while len(self._in_flight) < limit and (attempt := self._next_attempt(limit)):
            self._submit(attempt)
        return bool(self._in_flight)

    def _next_attempt(self, limit: int) -> _Attempt | None:
        if self._again:
            return self._again.popleft()
        while self._opened:
            attempt = next(self._opened[0], None)
            if attempt is not None:
                return attempt
            self._opened.popleft()
        # Documents are opened a few ahead, since their number of pages is known only then.
        return self._next_document() if self._documents_in_flight < limit else None

    def _next_document(self) -> _Attempt | None:
        for number, document in self._documents:
            self._document_count += 1
            if isinstance(document, PlannedFile):
                self._documents_in_flight += 1
                return _Attempt(DocumentTask(document), number)
            self._add_failure(number, document)
        return None

    def _submit(self, attempt: _Attempt) -> None:
        self._task_number += 1
        self._in_flight[self._task_number] = attempt
        self._engine.submit(self._task_number, attempt.task)

    def _settle(self, ended: Ended) -> None:
        """Decide what becomes of a task."""
        attempt = self._in_flight.pop(ended.number)
        if ended.loss:
            self._lose(attempt, ended.loss)
            return
        if ended.is_unfit:
            self._refuse(attempt, ended.error)
            return
        if ended.error:
            self._try_again(attempt, ended)
            return
        self._has_results, self._refusals_in_a_row = True, 0
        if isinstance(ended.result, DocumentFound):
            assert isinstance(attempt.task, DocumentTask)
            self._documents_in_flight -= 1
            self._open(attempt.document, attempt.task, ended.result)
        elif isinstance(ended.result, ShardDone):
            self._finish(attempt, ended.result)

    def _open(self, number: int, task: DocumentTask, found: DocumentFound) -> None:
        """Record a document, and let its pages be worked on."""
        self._ledger.add(number, task.document.name, found)
        if found.failure is not None:
            return
        if task.document.needs_copy and not task.is_opened_only:
            self._pages += found.pages
            self._made += found.shards_made
            self._found += found.shards_found
            return
        keys = iter_keys(found.sha256, found.page_count, self._options)
        self._opened.append(_Attempt(ShardTask(task.document, key), number) for key in keys)

    def _finish(self, attempt: _Attempt, done: ShardDone) -> None:
        assert isinstance(attempt.task, ShardTask)
        if done.is_split:
            self._again.extend(_halve(attempt))
            return
        if not self._store.exists(attempt.task.key.name):
            raise EngineError(
                "A worker has written its shard where this machine cannot see it. Give --shards a "
                "folder that all machines share, or an address that all of them reach."
            )
        self._made += not done.was_there
        self._found += done.was_there
        self._pages += done.pages

    def _try_again(self, attempt: _Attempt, ended: Ended) -> None:
        attempt.errors += 1
        if ended.is_final or attempt.errors >= MAX_ERRORS:
            raise EngineError(f"{ended.error.rstrip('.')}. Finished shards are kept.")
        self._again.append(attempt)

    def _refuse(self, attempt: _Attempt, reason: str) -> None:
        """Leave a task to another worker; it is not to blame."""
        self._refusals += 1
        self._refusals_in_a_row += 1
        self.unfit_workers.add(reason)
        limit = max(MAX_REFUSALS, self._engine.in_flight_limit)
        if self._refusals_in_a_row > limit * (_WAIT_FOR_FIT if self._has_results else 1):
            raise EngineError(f"No worker can do the work. {reason} Finished shards are kept.")
        self._again.append(attempt)

    def _lose(self, attempt: _Attempt, loss: str) -> None:
        """Try a task again that was lost with its worker, or find the page that does it."""
        self._losses += 1
        attempt.losses += 1
        if attempt.losses < MAX_SHARED_LOSSES:
            self._again.append(attempt)
            return
        # From its second loss on it has been alone, but for the first of these.
        if attempt.losses > MAX_SHARED_LOSSES:
            attempt.lone_losses += 1
        if attempt.lone_losses == 0:
            self._suspects.append(attempt)
        elif isinstance(attempt.task, DocumentTask):
            self._narrow_document(attempt, attempt.task, loss)
        else:
            self._narrow_shard(attempt, attempt.task, loss)

    def _narrow_document(self, attempt: _Attempt, task: DocumentTask, loss: str) -> None:
        """Leave the pages of a document to other tasks, or give the document up."""
        if attempt.lone_losses < MAX_LONE_LOSSES:
            attempt.task = replace(task, is_opened_only=True)
            self._suspects.append(attempt)
            return
        self._documents_in_flight -= 1
        reason = f"It could not be opened: {loss}, {attempt.losses} times."
        self._add_failure(attempt.document, SourceFailure(task.document.name, reason))

    def _narrow_shard(self, attempt: _Attempt, task: ShardTask, loss: str) -> None:
        """Look for the page in the halves of its shard, or give the one page up."""
        if task.key.page_count > 1:
            self._write(task.key.split_name, b"")
            self._suspects.extend(_halve(attempt))
        elif attempt.lone_losses < MAX_LONE_LOSSES:
            self._suspects.append(attempt)
        else:
            self._write_failed(task, f"{loss} each time")

    def _write_failed(self, task: ShardTask, reason: str) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, task.key.name)
            pages = write_shard(path, task.key, iter_failed(task.key, reason))
            self._store.write_atomic(task.key.name, path)
        self._made += 1
        self._pages += pages

    def _write(self, name: str, content: bytes) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, name)
            path.write_bytes(content)
            self._store.write_atomic(name, path)

    def _add_failure(self, number: int, failure: SourceFailure) -> None:
        self._ledger.add(number, failure.name, DocumentFound(failure=failure.message))


def _halve(attempt: _Attempt) -> Iterator[_Attempt]:
    """Return the halves of a shard; they keep its losses, so that each is tried by itself."""
    assert isinstance(attempt.task, ShardTask)
    for key in attempt.task.key.halve():
        yield replace(attempt, task=replace(attempt.task, key=key), lone_losses=0)
