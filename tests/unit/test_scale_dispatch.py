"""What becomes of tasks that come to grief; memory that does not grow with the pages."""

import tempfile
from collections import deque
from collections.abc import Iterator
from pathlib import Path

import pytest

from archive_tools.config import DatasetConfig, WorkerLimits
from archive_tools.errors import DatasetWriteError, EngineError
from archive_tools.scale.dispatch import Dispatcher, ShardProgress
from archive_tools.scale.documents import DocumentLedger
from archive_tools.scale.engines import Ended
from archive_tools.scale.shard import iter_shard, read_end, write_shard
from archive_tools.scale.shard_worker import iter_failed
from archive_tools.scale.tasks import (
    DocumentFound,
    DocumentTask,
    ShardDone,
    ShardKey,
    ShardOptions,
    ShardTask,
    Task,
    hash_options,
)
from archive_tools.schema import PageOutcome
from archive_tools.shard_store import open_store
from archive_tools.source_plan import PlannedFile
from benchmarks.bench_scale_simulation import InstantEngine, simulate_dispatch

SHA256 = 64 * "a"
KEY = ShardKey(SHA256, 0, 3, 64 * "b")


class PoisonedEngine(InstantEngine):
    """Loses whatever has a certain page in it, and the neighbours that are in flight with it."""

    in_flight_limit = 4

    def __init__(self, folder: Path, page: int) -> None:
        super().__init__()
        self.folder, self.page = folder, page
        self.given: list[Task] = []
        self._losses: deque[Ended] = deque()

    def submit(self, number: int, task: Task) -> None:
        super().submit(number, task)
        self.given.append(task)

    def next_ended(self, timeout_s: float) -> Ended | None:  # noqa: ARG002
        if self._losses:
            return self._losses.popleft()
        number, task = self._waiting.popleft()
        if isinstance(task, DocumentTask):
            return Ended(number, DocumentFound(SHA256, 16))
        assert isinstance(task, ShardTask)
        if task.key.first_page <= self.page < task.key.end_page:
            self._losses.extend(Ended(other, loss="it died") for other, _ in self._waiting)
            self._waiting.clear()
            return Ended(number, loss="it died")
        return Ended(number, self._make(task.key))

    def _make(self, key: ShardKey) -> ShardDone:
        pages = write_shard(self.folder / key.name, key, iter_failed(key, "as planned"))
        return ShardDone(pages)


def dispatch(
    engine: InstantEngine, folder: Path, documents: Iterator[PlannedFile]
) -> ShardProgress:
    options = ShardOptions(DatasetConfig(), WorkerLimits(), str(folder), 64 * "b", 4)
    with tempfile.TemporaryFile() as file:
        ledger = DocumentLedger(file)
        *_, last = Dispatcher(engine, documents, options, open_store(folder), ledger)
    return last


def one_document() -> Iterator[PlannedFile]:
    yield PlannedFile(Path("a.pdf"), "a.pdf")


@pytest.mark.parametrize("page", [0, 5, 15])
def test_only_the_page_that_does_it_is_given_up(page: int, tmp_path: Path) -> None:
    engine = PoisonedEngine(tmp_path, page)
    last = dispatch(engine, tmp_path, one_document())
    assert last.pages.seen == 16
    lone = ShardKey(SHA256, page, page + 1, 64 * "b")
    with (tmp_path / lone.name).open("rb") as shard:
        (result,) = iter_shard(shard, lone)
    assert (result.outcome, result.reason) == (PageOutcome.FAILED, "it died each time")
    others = [path for path in tmp_path.glob("*.tar") if path.name != lone.name]
    assert len(others) == 5, "three whole shards, and the rest of the fourth in two"
    tried = [task for task in engine.given if isinstance(task, ShardTask)]
    assert len(tried) < 30


class RefusingEngine(InstantEngine):
    """Every task raises."""

    def next_ended(self, timeout_s: float) -> Ended | None:  # noqa: ARG002
        number, _ = self._waiting.popleft()
        return Ended(number, error="the disk is full")


def test_error_is_met_three_times_at_most(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match="the disk is full"):
        dispatch(RefusingEngine(), tmp_path, one_document())


def test_memory_does_not_grow_with_the_pages() -> None:
    small, large = (simulate_dispatch(320 * documents) for documents in (256, 1024))
    assert large.pages == 4 * small.pages
    # Eight bytes for each of the further pages would be 2 MB; other threads take less.
    assert large.peak_mb < small.peak_mb + 1.0


@pytest.mark.parametrize("cut", [1, 600, 5000])
def test_shard_that_is_cut_short_is_none(cut: int, tmp_path: Path) -> None:
    path = tmp_path / "shard.tar"
    write_shard(path, KEY, iter_failed(KEY, "why"))
    with path.open("rb") as shard:
        assert read_end(shard, KEY) is not None
        assert read_end(shard, ShardKey(SHA256, 0, 2, 64 * "b")) is None
    path.write_bytes(path.read_bytes()[:-cut])
    with path.open("rb") as shard:
        assert read_end(shard, KEY) is None


def test_damaged_shard_is_named(tmp_path: Path) -> None:
    path = tmp_path / "shard.tar"
    write_shard(path, KEY, iter_failed(KEY, "why"))
    path.write_bytes(path.read_bytes().replace(b'"page_index":1', b'"page_index":7'))
    with path.open("rb") as shard, pytest.raises(DatasetWriteError, match="Delete it"):
        list(iter_shard(shard, KEY))


def test_hash_follows_from_what_decides_pages() -> None:
    plain = hash_options(DatasetConfig())
    assert hash_options(DatasetConfig(trigger="plate", validation_share=0.1)) == plain
    assert hash_options(DatasetConfig(password="x")) == plain
    assert hash_options(DatasetConfig(size_px=512)) != plain
    assert hash_options(DatasetConfig(caption="{text}")) != plain
    assert hash_options(DatasetConfig(dedupe=False)) != plain
