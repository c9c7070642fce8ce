"""What each engine costs beside the process pool: the same pages on the same two workers.

python -m benchmarks.bench_engines [--pages 160] [--rounds 3]

The engines take turns, in one run. The start of a cluster is told by itself: it does not grow with
the pages. Every dataset must have the same bytes.
"""

import argparse
import hashlib
import statistics
import tempfile
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from archive_tools.config import DatasetConfig, PageFilter, WorkerLimits
from archive_tools.scale.choose_engine import open_engine
from archive_tools.scale.dispatch import Dispatcher
from archive_tools.scale.documents import DocumentLedger, iter_documents
from archive_tools.scale.engines import EngineKind, EngineOptions
from archive_tools.scale.run import ScaleOptions, scale_dataset
from archive_tools.scale.shard_worker import run_task
from archive_tools.scale.tasks import ShardOptions, hash_options
from archive_tools.shard_store import open_store
from tests import pdf_fixtures

WORKERS = 2
PAGES_PER_SHARD = 16
CONFIG = DatasetConfig(filter=PageFilter.NONE)


def time_engine(kind: EngineKind, scans: Path, folder: Path) -> tuple[float, float]:
    """Make the shards of a file; return seconds for the start and for the pages.

    Args:
        kind: The engine.
        scans: The file.
        folder: Empty; the shards come there.
    """
    options = ShardOptions(
        CONFIG, WorkerLimits(), str(folder), hash_options(CONFIG), PAGES_PER_SHARD
    )
    started_s = time.perf_counter()
    engine = open_engine(EngineOptions(kind, workers=WORKERS), partial(run_task, options))
    with tempfile.TemporaryFile() as file, engine:
        ready_s = time.perf_counter()
        documents = iter_documents([str(scans)], folder)
        for _ in Dispatcher(engine, documents, options, open_store(folder), DocumentLedger(file)):
            pass
        done_s = time.perf_counter()
    return ready_s - started_s, done_s - ready_s


def hash_dataset(scans: Path, shards: Path, out: Path) -> str:
    """Put shards together and return the SHA-256 of the dataset."""
    engine = EngineOptions(EngineKind.PROCESSES, workers=WORKERS)
    options = ScaleOptions(engine, str(shards), PAGES_PER_SHARD)
    for _ in scale_dataset([str(scans)], out, CONFIG, options):
        pass
    return hashlib.sha256(out.read_bytes()).hexdigest()


def measure(pages: int, rounds: int, folder: Path) -> dict[EngineKind, list[tuple[float, float]]]:
    """Let the engines take turns; return start and page seconds of each round.

    Args:
        pages: Pages of the file.
        rounds: Turns of each engine.
        folder: Empty.
    """
    scans = folder / "scans.pdf"
    scans.write_bytes(pdf_fixtures.colour_jpeg(pages=pages))
    times: dict[EngineKind, list[tuple[float, float]]] = {kind: [] for kind in EngineKind}
    digests = set()
    for number in range(rounds):
        for kind in EngineKind:
            shards = folder / f"{kind.value}-{number}"
            times[kind].append(time_engine(kind, scans, shards))
            if number == 0:
                digests.add(hash_dataset(scans, shards, folder / f"{kind.value}.zip"))
    assert len(digests) == 1, "an engine has made another dataset"
    return times


def print_table(times: dict[EngineKind, list[tuple[float, float]]]) -> None:
    """Print medians, and how they compare to the process pool."""
    base = _median(times[EngineKind.PROCESSES], 1)
    print("| engine | start, s | pages, s (each round) | against processes |\n|---|---|---|---|")
    for kind, rounds in times.items():
        each = ", ".join(f"{pages_s:.1f}" for _, pages_s in rounds)
        ratio = _median(rounds, 1) / base
        print(f"| {kind.value} | {_median(rounds, 0):.1f} | {each} | {ratio:.2f} |")


def _median(rounds: Sequence[tuple[float, float]], column: int) -> float:
    return statistics.median(one[column] for one in rounds)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=160)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        print_table(measure(options.pages, options.rounds, Path(folder)))


if __name__ == "__main__":
    main()
