"""The ordered end of a large run: the shards, one after the other, become one dataset.

They give the same steps as pages that have just been worked on, and go through the same selection
and the same writer; so the bytes are those of a run on one machine.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from archive_tools.errors import EngineError
from archive_tools.scale.documents import FILE_NAME, DocumentLedger
from archive_tools.scale.shard import DamagedShardError, iter_shard
from archive_tools.scale.tasks import ShardKey, ShardOptions, iter_keys
from archive_tools.schedule import PageDone, SourceBegins, Step
from archive_tools.schema import PageOutcome, PageResult, ResumePoint, Source, SourceFailure
from archive_tools.shard_store import ShardStore


class ShardSteps:
    """The steps of a run, read from its shards; they can be iterated over again."""

    def __init__(
        self,
        ledger: DocumentLedger,
        store: ShardStore,
        options: ShardOptions,
        resume_point: ResumePoint | None = None,
        remake: Callable[[int, ShardKey], None] | None = None,
    ) -> None:
        """Prepare; nothing is read yet.

        Args:
            ledger: The documents of the run, all of them known.
            store: Where the shards are.
            options: How documents were cut into shards.
            resume_point: How far a stopped run came; those pages are left out.
            remake: Makes the damaged shard of a document, by its place in the run, again; None
                lets a damaged shard end the run.
        """
        self._ledger = ledger
        self._store = store
        self._options = options
        self._resume_point = resume_point or ResumePoint()
        self._remake = remake

    def __iter__(self) -> Iterator[Step]:
        """Iterate over all steps of the run, one page in memory at a time.

        Yields:
            For each document `SourceBegins` and a `PageDone` for each page, or a `SourceFailure`.

        Raises:
            DamagedShardError: A shard is damaged and cannot be made again.
            EngineError: A shard is missing.
        """
        for number in range(len(self._ledger)):
            known = self._ledger.read(number)
            found = known.found
            if found.failure is not None:
                yield SourceFailure(known.name, found.failure.replace(FILE_NAME, known.name))
                continue
            path = Path(known.name)
            source = Source(path, known.name, found.sha256, found.page_count, found.details)
            yield SourceBegins(source)
            first_page = self._first_page(number, found.page_count)
            for result in self._iter_pages(number, source, first_page):
                yield PageDone(source, result)

    def _first_page(self, number: int, page_count: int) -> int:
        """Return the index of a document's first page that is not in the dataset yet."""
        if number < self._resume_point.source_count:
            return page_count
        return self._resume_point.page_count if number == self._resume_point.source_count else 0

    def _iter_pages(self, number: int, source: Source, first_page: int) -> Iterator[PageResult]:
        for key in iter_keys(source.sha256, source.page_count, self._options):
            if key.end_page > first_page:
                for result in self._iter_range(number, key, first_page):
                    yield _named(result, source.name)

    def _iter_range(self, number: int, key: ShardKey, first_page: int) -> Iterator[PageResult]:
        if self._store.exists(key.name):
            yield from self._iter_shard(number, key, first_page)
        elif key.page_count > 1 and self._store.exists(key.split_name):
            for half in key.halve():
                yield from self._iter_range(number, half, first_page)
        else:
            raise EngineError(f"The shard {key.name} is missing. Run the same command again.")

    def _iter_shard(self, number: int, key: ShardKey, first_page: int) -> Iterator[PageResult]:
        """Read a shard; a damaged one is made again, and gone on with at the page reached."""
        try:
            for result in self._read(key, first_page):
                first_page = result.page_index + 1
                yield result
        except DamagedShardError:
            if self._remake is None:
                raise
        else:
            return
        self._remake(number, key)
        yield from self._read(key, first_page)

    def _read(self, key: ShardKey, first_page: int) -> Iterator[PageResult]:
        with self._store.open(key.name) as shard:
            yield from iter_shard(shard, key, first_page)


def _named(result: PageResult, name: str) -> PageResult:
    """Let the reason of a failure name the document as it is called in this run."""
    if result.outcome is not PageOutcome.FAILED:
        return result
    return replace(result, reason=result.reason.replace(FILE_NAME, name))
