"""One large run, from documents to a finished dataset: `scale_dataset` is the story."""

import tempfile
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from archive_tools.config import DatasetConfig, WorkerLimits
from archive_tools.errors import InvalidOptionError
from archive_tools.pipeline import Tally, complete_dataset, survey_steps, write_steps
from archive_tools.run_report import Progress, RunReport
from archive_tools.scale.choose_engine import open_engine
from archive_tools.scale.dispatch import Dispatcher, ShardProgress
from archive_tools.scale.documents import DocumentLedger, iter_documents
from archive_tools.scale.engines import Engine, EngineOptions
from archive_tools.scale.reduce import ShardSteps
from archive_tools.scale.repair import Notice, ShardRepair
from archive_tools.scale.shard_worker import run_task
from archive_tools.scale.tasks import ShardOptions, hash_options
from archive_tools.scale.work_place import remove_abandoned
from archive_tools.selection import Selection
from archive_tools.shard_store import ShardStore, open_store
from archive_tools.writer import check_dataset, open_dataset_writer

DEFAULT_PAGES_PER_SHARD = 64
"""A few seconds of work, so that little is lost with a worker, and a few megabytes."""


@dataclass(frozen=True, slots=True)
class ScaleOptions:
    """How a large run is carried out; nothing here changes what the dataset holds.

    Attributes:
        engine: What spreads the work.
        shards: Folder or address for shards; those that it has are not made again.
        pages_per_shard: Most pages of one shard.
        resume: Continue the stopped run that left its journal beside the dataset.
        limits: What one page may cost.
    """

    engine: EngineOptions
    shards: str
    pages_per_shard: int = DEFAULT_PAGES_PER_SHARD
    resume: bool = False
    limits: WorkerLimits = field(default_factory=WorkerLimits)

    def __post_init__(self) -> None:
        """Check the values.

        Raises:
            InvalidOptionError: A value cannot work.
        """
        if not 1 <= self.pages_per_shard <= 100_000:
            raise InvalidOptionError(
                f"pages_per_shard is {self.pages_per_shard}. Choose 1 to 100000; "
                f"{DEFAULT_PAGES_PER_SHARD} is the default."
            )


def scale_dataset(
    sources: Sequence[str], out: Path, config: DatasetConfig, scale: ScaleOptions
) -> Generator[ShardProgress | Progress | Notice | RunReport, None, None]:
    """Make the shards of all documents anywhere, then one dataset of them here.

    Closing the generator ends the engine; finished shards stay.

    Args:
        sources: Files, folders, globs and ZIP files.
        out: The dataset; it appears under this name only when it is complete.
        config: What the dataset holds.
        scale: How the run is carried out.

    Yields:
        `ShardProgress` while shards are made, `Progress` while they are put together, a `Notice`
        of each damaged shard that was made again and of each worker that could do nothing, and at
        last one `RunReport`.

    Raises:
        InvalidOptionError: No source was given, or shards have no folder.
        EngineError: The engine is missing, cannot be reached, or was lost.
        DatasetWriteError: The dataset cannot be written, or cannot be resumed.
    """
    if not sources:
        raise InvalidOptionError("No source was given. Name at least one file or folder.")
    options = ShardOptions(
        config, scale.limits, _full_address(scale.shards), hash_options(config),
        scale.pages_per_shard,
    )  # fmt: skip
    check_dataset(out, config)
    if Path(options.store).is_file():
        raise InvalidOptionError(f"--shards is a file: {Path(options.store).name}. Name a folder.")
    started_s = time.monotonic()
    store = open_store(options.store)
    # Without a name: nothing of it is left behind, however this ends.
    with tempfile.TemporaryFile(dir=out.parent) as file:
        ledger = DocumentLedger(file)
        with _engine_at_work(scale.engine, options) as engine:
            dispatcher = Dispatcher(engine, iter_documents(sources, out), options, store, ledger)
            yield from dispatcher
        for reason in sorted(dispatcher.unfit_workers):
            yield Notice(f"A worker could do nothing, and others did its part. {reason}")
        repair = ShardRepair(sources, out, options)
        for step in _reduce(out, options, store, ledger, scale.resume, repair):
            if isinstance(step, RunReport):
                yield replace(step, elapsed_s=time.monotonic() - started_s)
            else:
                yield step


@contextmanager
def _engine_at_work(chosen: EngineOptions, options: ShardOptions) -> Iterator[Engine]:
    """Open an engine; at its end remove what its workers, which are not asked, leave behind."""
    try:
        with open_engine(chosen, partial(run_task, options)) as engine:
            yield engine
    finally:
        remove_abandoned()


def _reduce(
    out: Path,
    options: ShardOptions,
    store: ShardStore,
    ledger: DocumentLedger,
    resume: bool,
    repair: ShardRepair,
) -> Generator[Progress | Notice | RunReport, None, None]:
    """Put the shards together."""
    config = options.config
    with open_dataset_writer(out, config, resume) as writer:
        tally = Tally(len(ledger), ledger.read(0).name, writer.resume_point.pages)
        worse = None
        if config.best_copy:
            worse = yield from survey_steps(
                ShardSteps(ledger, store, options, remake=repair), tally
            )
        selection = Selection(config, len(ledger), worse)
        selection.recall(writer.iter_recorded())
        steps = ShardSteps(ledger, store, options, writer.resume_point, repair)
        yield from write_steps(steps, selection, writer, tally)
        report = complete_dataset(writer, out, tally)
    yield from repair.notices
    yield report


def _full_address(shards: str) -> str:
    """Return a path that means the same in whichever folder a worker is at home."""
    return shards if "://" in shards else str(Path(shards).absolute())
