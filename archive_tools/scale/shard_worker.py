"""What an engine's worker does with one task: open a document, or make one shard of it.

Pages are worked on by a worker process of their own, under the limits and with the code of every
other run; so a hostile page costs itself, and not the worker of the cluster. That process and its
open document are kept from one task to the next.
"""

import platform
import threading
from collections.abc import Container, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

from archive_tools.errors import EngineError, UnfitWorkerError, WorkerStartError
from archive_tools.remote_source import RemoteFile
from archive_tools.scale.documents import FILE_NAME, at_hand
from archive_tools.scale.known_documents import KnownDocuments
from archive_tools.scale.shard import read_end, write_shard
from archive_tools.scale.tasks import (
    DocumentFound,
    DocumentTask,
    Result,
    ShardDone,
    ShardKey,
    ShardOptions,
    ShardTask,
    Task,
    hash_options,
    iter_keys,
)
from archive_tools.scale.work_place import open_work_place
from archive_tools.schedule import rename_failure, rename_in, size_in_bytes
from archive_tools.schema import (
    HashResult,
    HashTask,
    PageOutcome,
    PageResult,
    PageTask,
    ProbeResult,
    ProbeTask,
    Reply,
)
from archive_tools.schema import Task as PageLevelTask
from archive_tools.shard_store import open_store
from archive_tools.worker_process import Ticket
from archive_tools.workers import ProcessExecutor, map_pages

_TICK_S = 0.2


class WorkStoppedError(Exception):
    """The run is being ended; what is unfinished will be made again."""


def run_task(options: ShardOptions, task: Task) -> Result:
    """Work on one task, wherever this is called.

    Args:
        options: What all tasks of the run share.
        task: A document or a shard.

    Raises:
        OSError: The shard cannot be written.
        UnfitWorkerError: The tools here have other versions than those of the run, or no worker
            process can be started here.
    """
    try:
        return _Workshop.of_this_thread(options).run(task)
    except WorkerStartError as error:
        # What is left of it starts nothing any more.
        close_workshops((threading.get_ident(),))
        raise UnfitWorkerError(f"{platform.node()}: {error}") from error


def close_workshops(threads: Container[int] | None = None) -> None:
    """End the worker processes that this process keeps for its next tasks; takes moments.

    Args:
        threads: Identifiers of the threads whose are ended; None ends all.
    """
    with _Workshop.lock:
        chosen = [one for one in _Workshop.opened if threads is None or one in threads]
        workshops = [_Workshop.opened.pop(one) for one in chosen]
    for workshop in workshops:
        workshop.stop()


class _StoppableExecutor(ProcessExecutor):
    """One worker process; waiting for it ends when the run is ended."""

    def __init__(self, options: ShardOptions) -> None:
        super().__init__(options.config, options.limits, 1)
        self.is_stopped = False

    def wait_for(self, ticket: Ticket, timeout_s: float) -> bool:
        if self.is_stopped:
            raise WorkStoppedError
        return super().wait_for(ticket, min(timeout_s, _TICK_S))

    def answer(self, task: PageLevelTask) -> Reply:
        """Return the reply to one task."""
        ticket = self.submit(task)
        while not self.wait_for(ticket, _TICK_S):
            pass
        assert ticket.reply is not None
        return ticket.reply


class _Workshop:
    """The worker process, the store and the folder that serve the tasks of one thread."""

    opened: ClassVar[dict[int, "_Workshop"]] = {}
    lock = threading.Lock()

    def __init__(self, options: ShardOptions) -> None:
        if hash_options(options.config) != options.options_hash:
            raise UnfitWorkerError(
                f"{platform.node()}: its tools have other versions than this machine's, and would "
                "make other pictures. Install the same versions on every machine."
            )
        self.options = options
        self._at_work = threading.Lock()
        self._stack = ExitStack()
        self._store = open_store(options.store)
        self._known = KnownDocuments(self._store, options.options_hash)
        self._folder = self._stack.enter_context(open_work_place())
        self._executor = self._stack.enter_context(_StoppableExecutor(options))

    @classmethod
    def of_this_thread(cls, options: ShardOptions) -> "_Workshop":
        """Return the workshop of this thread; one for other options is closed first."""
        number = threading.get_ident()
        with cls.lock:
            found = cls.opened.get(number)
        if found is not None and found.options == options:
            return found
        close_workshops((number,))
        made = cls(options)
        with cls.lock:
            cls.opened[number] = made
        return made

    def run(self, task: Task) -> Result:
        """Work on a task of this thread."""
        with self._at_work:
            if isinstance(task, DocumentTask):
                return self._open_document(task)
            return self._make_shard(task)

    def stop(self) -> None:
        """End the worker process; a task that waits for it ends first, within moments."""
        self._executor.is_stopped = True
        with self._at_work:
            self._stack.close()

    def _open_document(self, task: DocumentTask) -> DocumentFound:
        """Open and hash a document, and make its shards where it had to be fetched."""
        remote = None if task.is_opened_only else task.document.remote
        version = _ask_version(remote) if remote else ""
        if remote and version and (known := self._recall(remote, version)):
            return known
        with at_hand(task.document, self._folder) as path:
            if not isinstance(path, Path):
                return DocumentFound(failure=path.message)
            found = self._probe(path)
            if found.failure is not None or task.is_opened_only:
                return found
            if not task.document.needs_copy:
                return found
            if remote and version and _ask_version(remote) == version:
                self._known.remember(remote, version, found)
            return self._with_shards(found, path) or found

    def _recall(self, remote: RemoteFile, version: str) -> DocumentFound | None:
        """Return what is known of a remote document of which every shard is there."""
        known = self._known.recall(remote, version)
        return self._with_shards(known, None) if known else None

    def _with_shards(self, found: DocumentFound, path: Path | None) -> DocumentFound | None:
        """Count the shards of a document; what is missing is made of its file."""
        for key in iter_keys(found.sha256, found.page_count, self.options):
            for done in self._iter_parts(key, path):
                if done is None:
                    return None
                found = _with_shard(found, done)
        return found

    def _iter_parts(self, key: ShardKey, path: Path | None) -> Iterator[ShardDone | None]:
        """Yield a shard, or the parts that are made in its place; None where one is missing."""
        done = self._find(key) or (self._make(path, key) if path else None)
        if done is None or not done.is_split:
            yield done
            return
        for half in key.halve():
            yield from self._iter_parts(half, path)

    def _make_shard(self, task: ShardTask) -> ShardDone:
        """Make a shard, unless it is there."""
        found = None if task.is_anew else self._find(task.key)
        if found is not None:
            return found
        with at_hand(task.document, self._folder) as path:
            if not isinstance(path, Path):
                raise EngineError(f"{task.document.name} could be read before: {path.message}")
            return self._make(path, task.key)

    def _find(self, key: ShardKey) -> ShardDone | None:
        """Return what an earlier run has left of a shard."""
        if self._store.exists(key.name):
            with self._store.open(key.name) as shard:
                pages = read_end(shard, key)
            return ShardDone(pages, was_there=True) if pages else None
        if self._store.exists(key.split_name):
            return ShardDone(is_split=True)
        return None

    def _make(self, path: Path, key: ShardKey) -> ShardDone:
        tasks = (PageTask(path, index) for index in range(key.first_page, key.end_page))
        # Without the file's name: the same shard serves files of other names.
        results = (
            rename_failure(result, path, FILE_NAME) for result in map_pages(self._executor, tasks)
        )
        unfinished = self._folder / key.name
        pages = write_shard(unfinished, key, results)
        self._store.write_atomic(key.name, unfinished)
        unfinished.unlink(missing_ok=True)
        return ShardDone(pages)

    def _probe(self, path: Path) -> DocumentFound:
        probed = self._executor.answer(ProbeTask(path, size_in_bytes(path)))
        assert isinstance(probed, ProbeResult)
        if probed.failure is not None:
            return DocumentFound(failure=rename_in(probed.failure, path, FILE_NAME))
        hashed = self._executor.answer(HashTask(path, size_in_bytes(path)))
        assert isinstance(hashed, HashResult)
        if hashed.failure is not None:
            return DocumentFound(failure=rename_in(hashed.failure, path, FILE_NAME))
        return DocumentFound(hashed.sha256, probed.page_count, probed.details)


def iter_failed(key: ShardKey, reason: str) -> Iterator[PageResult]:
    """Yield the pages of a range that nobody could work on.

    Args:
        key: The range.
        reason: Why, for the manifest.
    """
    for index in range(key.first_page, key.end_page):
        yield PageResult(index, PageOutcome.FAILED, 0, 0, None, None, reason)


def _ask_version(remote: RemoteFile) -> str:
    # Here and not above: a run over local files needs no HTTP client.
    from archive_tools.remote_version import ask_version

    return ask_version(remote)


def _with_shard(found: DocumentFound, done: ShardDone) -> DocumentFound:
    """Count a shard of a document."""
    return replace(
        found,
        pages=found.pages + done.pages,
        shards_made=found.shards_made + (not done.was_there),
        shards_found=found.shards_found + done.was_there,
    )
