"""What becomes of tasks that come to grief; memory that does not grow with the pages."""

import pickle
import platform
import sys
import tempfile
import threading
from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from archive_tools.config import DatasetConfig, WorkerLimits
from archive_tools.errors import DatasetWriteError, EngineError, UnfitWorkerError
from archive_tools.scale.dispatch import MAX_REFUSALS, Dispatcher, ShardProgress
from archive_tools.scale.documents import DocumentLedger
from archive_tools.scale.engines import Ended, describe_error
from archive_tools.scale.shard import iter_shard, read_end, write_shard
from archive_tools.scale.shard_worker import close_workshops, iter_failed, run_task
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


class MixedEngine(PoisonedEngine):
    """One of its two workers can do nothing, and is the faster for it: it takes nine in ten."""

    def __init__(self, folder: Path, fit: int = 1) -> None:
        super().__init__(folder, page=-1)
        self.turn, self.fit = 0, fit

    def next_ended(self, timeout_s: float) -> Ended | None:
        self.turn += 1
        if self.turn % 10 >= self.fit:
            number, _ = self._waiting.popleft()
            return Ended(number, error="host-2: no cv2.", is_unfit=True)
        return super().next_ended(timeout_s)


def test_what_one_worker_cannot_do_another_does(tmp_path: Path) -> None:
    engine = MixedEngine(tmp_path)
    engine.turn = 4
    last = dispatch(engine, tmp_path, one_document())
    assert last.pages.seen == 16
    assert last.refusals == 9 * 4 + 5
    assert "41 given back by workers that can do none" in last.describe()


def test_where_no_worker_can_do_anything_the_run_ends(tmp_path: Path) -> None:
    engine = MixedEngine(tmp_path, fit=0)
    with pytest.raises(EngineError, match=r"No worker can do the work\. host-2: no cv2\."):
        dispatch(engine, tmp_path, one_document())
    assert engine.turn == MAX_REFUSALS + 1


def test_who_is_unfit(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A machine that cannot start the process for pages, or that has other versions."""
    config = DatasetConfig()
    task = DocumentTask(PlannedFile(tmp_path / "a.pdf", "a.pdf"))
    (tmp_path / "a.pdf").write_bytes(b"%PDF")
    options = ShardOptions(config, WorkerLimits(), str(tmp_path), hash_options(config), 4)
    with pytest.raises(UnfitWorkerError, match="other versions") as found:
        run_task(replace(options, options_hash="other"), task)
    assert not describe_error(1, found.value, workers_differ=True).is_final
    assert describe_error(1, found.value, workers_differ=False).is_final
    with monkeypatch.context() as patch:
        patch.setattr(sys, "executable", str(tmp_path / "no-python"))
        with pytest.raises(UnfitWorkerError, match=platform.node()) as found:
            run_task(options, task)
    assert pickle.loads(pickle.dumps(found.value)).args == found.value.args
    # The same thread can do the next task, once the machine has been put right.
    assert isinstance(run_task(options, task), DocumentFound)
    close_workshops((threading.get_ident(),))


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
