"""Whether a large run stays small: the scheduler's memory and time, and the reduce's, by pages.

python -m benchmarks.bench_scale_simulation [--pages 1000000 ... ] [--reduced-pages 20000 ...]

The dispatcher is the real one; only the workers are not: each task ends at once, as if its shard
were there. The reduce is real, too, over shards of tiny pictures of which none resembles another:
with the search for near-duplicates, and without.
"""

import argparse
import io
import random
import tempfile
import time
import tracemalloc
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from PIL import Image

from archive_tools.config import DatasetConfig, WorkerLimits
from archive_tools.pipeline import Tally, complete_dataset, write_steps
from archive_tools.scale.dispatch import Dispatcher
from archive_tools.scale.documents import DocumentLedger
from archive_tools.scale.engines import Ended
from archive_tools.scale.reduce import ShardSteps
from archive_tools.scale.shard import write_shard
from archive_tools.scale.tasks import (
    DocumentFound,
    DocumentTask,
    Result,
    ShardDone,
    ShardKey,
    ShardOptions,
    ShardTask,
    Task,
    iter_keys,
)
from archive_tools.schema import PageCounts, PageOutcome, PageResult, Record
from archive_tools.selection import Selection
from archive_tools.shard_store import open_store
from archive_tools.source_plan import PlannedFile
from archive_tools.writer import open_dataset_writer

PAGES_PER_DOCUMENT = 320
PAGES_PER_SHARD = 64
KEPT_SHARE = 0.3
IN_FLIGHT = 128


@dataclass(frozen=True, slots=True)
class Cost:
    """What a simulated run took.

    Attributes:
        pages: Pages of the run.
        peak_mb: Most memory that Python held above the start, in MB of 2**20 bytes.
        elapsed_s: Seconds.
    """

    pages: int
    peak_mb: float
    elapsed_s: float


class InstantEngine:
    """Ends each task at once; the most that were in flight at a time are counted."""

    in_flight_limit = IN_FLIGHT

    def __init__(self) -> None:
        """Begin with nothing in flight."""
        self._waiting: deque[tuple[int, Task]] = deque()
        self.most_in_flight = 0

    def submit(self, number: int, task: Task) -> None:
        """Hand a task in."""
        self._waiting.append((number, task))
        self.most_in_flight = max(self.most_in_flight, len(self._waiting))

    def next_ended(self, timeout_s: float) -> Ended | None:  # noqa: ARG002
        """End the oldest task."""
        number, task = self._waiting.popleft()
        return Ended(number, _result(task))

    def __enter__(self) -> Self:
        """Return the engine."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Forget what is in flight."""
        self._waiting.clear()


class FullStore:
    """A store in which every shard is."""

    place = "memory"

    def exists(self, name: str) -> bool:  # noqa: ARG002
        """Every shard is there."""
        return True


def simulate_dispatch(page_count: int, traced: bool = True) -> Cost:
    """Dispatch a run of so many pages.

    Args:
        page_count: Pages of the run, a multiple of those of a document.
        traced: Measure memory; that makes it several times slower.
    """
    options = make_options("memory")
    engine, documents = InstantEngine(), iter_planned(page_count)
    with tempfile.TemporaryFile() as file, measured(page_count, traced) as cost:
        ledger = DocumentLedger(file)
        for progress in Dispatcher(engine, documents, options, FullStore(), ledger):
            last = progress
    assert last.pages.seen == page_count
    assert engine.most_in_flight <= IN_FLIGHT
    return cost.taken


def simulate_reduce(page_count: int, dedupe: bool, traced: bool = True) -> Cost:
    """Make the dataset of so many pages from their shards.

    Args:
        page_count: Pages of the run, a multiple of those of a document.
        dedupe: Look for near-duplicates.
        traced: Measure memory; that makes it several times slower.
    """
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile() as file:
        options, ledger = make_options(folder, dedupe), DocumentLedger(file)
        write_inputs(page_count, options, ledger)
        out = Path(folder, "dataset.zip")
        with (
            measured(page_count, traced) as cost,
            open_dataset_writer(out, options.config, resume=False) as writer,
        ):
            tally = Tally(len(ledger), "0.pdf")
            steps = ShardSteps(ledger, open_store(folder), options)
            for _ in write_steps(steps, Selection(options.config, len(ledger)), writer, tally):
                pass
            complete_dataset(writer, out, tally)
    return cost.taken


class measured:  # noqa: N801 - reads as a function
    """Measures what a `with` block takes."""

    def __init__(self, pages: int, traced: bool) -> None:
        """Prepare."""
        self._pages, self._traced = pages, traced

    def __enter__(self) -> Self:
        """Start the clock."""
        if self._traced:
            tracemalloc.start()
        self._started_s = time.perf_counter()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Stop it."""
        elapsed_s = time.perf_counter() - self._started_s
        peak_mb = tracemalloc.get_traced_memory()[1] / 2**20 if self._traced else 0.0
        if self._traced:
            tracemalloc.stop()
        self.taken = Cost(self._pages, peak_mb, elapsed_s)


def make_options(store: str, dedupe: bool = True) -> ShardOptions:
    """Return the options of a simulated run."""
    config = DatasetConfig(dedupe=dedupe)
    return ShardOptions(config, WorkerLimits(), store, 64 * "0", PAGES_PER_SHARD)


def iter_planned(page_count: int) -> Iterator[PlannedFile]:
    """Yield the documents of a simulated run, one at a time."""
    for number in range(page_count // PAGES_PER_DOCUMENT):
        yield PlannedFile(Path(f"{number}.pdf"), f"{number}.pdf")


def write_inputs(page_count: int, options: ShardOptions, ledger: DocumentLedger) -> None:
    """Write the shards of a simulated run."""
    chance = random.Random(page_count)
    for number, document in enumerate(iter_planned(page_count)):
        found = _found(document)
        ledger.add(number, document.name, found)
        for key in iter_keys(found.sha256, found.page_count, options):
            write_shard(Path(options.store, key.name), key, _iter_pages(key, chance))


def _iter_pages(key: ShardKey, chance: random.Random) -> Iterator[PageResult]:
    for index in range(key.first_page, key.end_page):
        records = (_record(chance),) if chance.random() < KEPT_SHARE else ()
        outcome = PageOutcome.KEPT if records else PageOutcome.DROPPED
        yield PageResult(index, outcome, 1000, 1400, 50.0, 0.1, "1 illustration", records)


def _record(chance: random.Random) -> Record:
    first = chance.randbytes(128)
    signatures = (first, *(_turn(first, chance) for _ in range(4)))
    return Record(_JPEG, 8, 8, (0, 0, 8, 8), 8, 8, 16 * "0", signatures)


def _turn(signature: bytes, chance: random.Random) -> bytes:
    """Turn one bit in sixteen over, as turning a page a little does."""
    flipped = (1 << 8 * len(signature)) - 1
    for _ in range(4):
        flipped &= chance.getrandbits(8 * len(signature))
    return (int.from_bytes(signature, "big") ^ flipped).to_bytes(len(signature), "big")


def _tiny_jpeg() -> bytes:
    file = io.BytesIO()
    Image.new("RGB", (8, 8)).save(file, "JPEG")
    return file.getvalue()


_JPEG = _tiny_jpeg()


def _result(task: Task) -> Result:
    if isinstance(task, DocumentTask):
        return _found(task.document)
    assert isinstance(task, ShardTask)
    return ShardDone(PageCounts(dropped=task.key.page_count), was_there=True)


def _found(document: PlannedFile) -> DocumentFound:
    return DocumentFound(f"{int(document.path.stem):064x}", PAGES_PER_DOCUMENT)


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, nargs="+", default=[320_000, 1_280_000, 10_240_000])
    parser.add_argument("--reduced-pages", type=int, nargs="+", default=[20_480, 40_960, 81_920])
    options = parser.parse_args()
    print("| scheduler: pages | peak MB | s | us a page |\n|---|---|---|---|")
    for pages in options.pages:
        print(_row(simulate_dispatch(pages), simulate_dispatch(pages, traced=False)), flush=True)
    for dedupe in (False, True):
        what = "with" if dedupe else "without"
        print(
            f"| reduce {what} near-duplicates: pages | peak MB | s | us a page |\n|---|---|---|---|"
        )
        for pages in options.reduced_pages:
            memory = simulate_reduce(pages, dedupe)
            print(_row(memory, simulate_reduce(pages, dedupe, traced=False)), flush=True)


def _row(memory: Cost, speed: Cost) -> str:
    per_page_us = speed.elapsed_s / speed.pages * 1e6
    return f"| {speed.pages:,} | {memory.peak_mb:.1f} | {speed.elapsed_s:.2f} | {per_page_us:.0f} |"


if __name__ == "__main__":
    main()
