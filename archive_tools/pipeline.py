"""One run, from files to a finished dataset: `build_dataset` is the story."""

import time
from collections import deque
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from archive_tools.config import DatasetConfig, RunOptions
from archive_tools.errors import InvalidOptionError
from archive_tools.remote_address import RemoteAddress
from archive_tools.run_report import KeptPicture, PageFailure, Progress, RunReport
from archive_tools.schedule import PageDone, Schedule, SourceBegins, Step
from archive_tools.schema import (
    NamedFile,
    PageCounts,
    PageOutcome,
    PageResult,
    Purpose,
    RunStatus,
    Source,
    SourceFailure,
)
from archive_tools.score_record import open_recorded
from archive_tools.selection import Place, Selection, Survey
from archive_tools.source import SourceFeed
from archive_tools.source_plan import Planned, plan_sources
from archive_tools.workers import Executor, open_executor
from archive_tools.writer import DatasetWriter, open_dataset_writer, work_folder

PROGRESS_EVERY_S = 0.25
MAX_LISTED_FAILURES = 100
# Held in memory as they are encoded, a megabyte or less each.
_MOST_NEWEST_KEPT = 4


def build_dataset(
    sources: Sequence[Path | NamedFile | RemoteAddress],
    out: Path,
    config: DatasetConfig,
    run: RunOptions,
) -> Generator[Progress | RunReport, None, None]:
    """Build a dataset; nothing happens before the first `next`.

    Closing the generator at any point ends the workers and removes work files within moments.

    Args:
        sources: Files, folders, globs, ZIP files and, on the command line alone, addresses.
        out: The dataset; it appears under this name only when it is complete.
        config: What the dataset holds.
        run: How the run is carried out.

    Yields:
        `Progress` a few times a second, and at last one `RunReport`.

    Raises:
        InvalidOptionError: No source was given.
        DatasetWriteError: The dataset cannot be written, or cannot be resumed.
        SourceUnreachableError: The server of a remote source does not answer.
        WorkerStartError: No worker process can be started.
    """
    if not sources:
        raise InvalidOptionError("No source was given. Name at least one file or folder.")
    planned = plan_sources(sources, leave_out=out)
    with (
        open_dataset_writer(out, config, run.resume) as writer,
        _discarding_on_failure(writer, keep_partial=run.keep_partial),
        open_executor(config, run) as executor,
        SourceFeed(planned, work_folder(out)) as feed,
        open_recorded(run.scores, config) as known,
    ):
        tally = Tally(len(planned), planned[0].name, writer.resume_point.pages)
        worse = None
        if config.best_copy:
            worse = yield from _survey(planned, executor, out, tally)
        selection = Selection(config, len(planned), worse)
        selection.recall(writer.iter_recorded())
        steps = Schedule(feed, executor, writer.resume_point, known=known)
        yield from write_steps(steps, selection, writer, tally)
        report = complete_dataset(writer, out, tally)
    yield report


def write_steps(
    steps: Iterable[Step | None], selection: Selection, writer: DatasetWriter, tally: "Tally"
) -> Iterator[Progress]:
    """Let every step of a run go through the selection into the dataset.

    Args:
        steps: In order; None while nothing is finished.
        selection: What goes into the dataset.
        writer: Takes it.
        tally: Counts it.

    Yields:
        Where the run stands, a few times a second and at the end.
    """
    for met in steps:
        if met is not None:
            step = _select(selection, met)
            _write(writer, step)
            tally.add(step)
        if tally.is_progress_due():
            yield tally.progress()
    yield tally.progress()


def iter_scores(
    planned: Sequence[Planned], config: DatasetConfig, run: RunOptions, work_folder: Path
) -> Generator[Step | None, None, None]:
    """Judge every page without building anything.

    Args:
        planned: The files, from `plan_sources`.
        config: The filter and its threshold.
        run: Number of workers and limits.
        work_folder: Where members of ZIP files are unpacked, one at a time; it is removed.

    Yields:
        `SourceBegins`, `PageDone` and `SourceFailure` in order; None while nothing is finished.
    """
    with open_executor(config, run) as executor, SourceFeed(planned, work_folder) as feed:
        yield from Schedule(feed, executor, purpose=Purpose.JUDGE)


class Tally:
    """What a run has met so far: numbers, and the first failures."""

    def __init__(self, file_count: int, first_name: str, pages: PageCounts | None = None) -> None:
        """Start the clock.

        Args:
            file_count: Files of this run, those that cannot be used included; at least one.
            first_name: The first of them.
            pages: Pages that a stopped run has finished.
        """
        self.pages = pages or PageCounts()
        self._resumed_count = self.pages.seen
        self._newest_kept: deque[KeptPicture] = deque(maxlen=_MOST_NEWEST_KEPT)
        self.sources_used = 0
        self.sources_failed = 0
        self.source_failures: list[SourceFailure] = []
        self.page_failures: list[PageFailure] = []
        self._file_count = file_count
        # Until the first file is open, it is the one that people wait for.
        self._file_name = first_name
        self._page_number = self._page_count = 0
        self._started_s = time.monotonic()
        self._progress_due_s = self._started_s

    def add(self, step: Step) -> None:
        """Count a step."""
        if isinstance(step, SourceBegins):
            self.sources_used += 1
            self._file_name = step.source.name
            self._page_number, self._page_count = 0, step.source.page_count
        elif isinstance(step, SourceFailure):
            self.sources_failed += 1
            if len(self.source_failures) < MAX_LISTED_FAILURES:
                self.source_failures.append(step)
        else:
            self._add_page(step.source, step.result)

    def is_progress_due(self) -> bool:
        """Whether people should hear of the run again."""
        return time.monotonic() >= self._progress_due_s

    def progress(self) -> Progress:
        """Return where the run stands, and note that people have heard of it."""
        self._progress_due_s = time.monotonic() + PROGRESS_EVERY_S
        return Progress(
            file_name=self._file_name,
            file_number=max(1, self.sources_used + self.sources_failed),
            file_count=self._file_count,
            page_number=self._page_number,
            page_count=self._page_count,
            pages=self.pages,
            elapsed_s=self.elapsed_s,
            resumed_count=self._resumed_count,
            newest_kept=tuple(self._newest_kept),
        )

    @property
    def elapsed_s(self) -> float:
        """Seconds since the run began."""
        return time.monotonic() - self._started_s

    def report(self, out: Path | None, dataset: dict[str, Any]) -> RunReport:
        """Return the report of the run.

        Args:
            out: The dataset, None where nothing was written.
            dataset: What `report.json` in it says.
        """
        is_clean = self.sources_failed == 0 and self.pages.failed == 0
        return RunReport(
            status=RunStatus.SUCCESS if is_clean else RunStatus.PARTIAL,
            out=out,
            pages=self.pages,
            file_count=self.sources_used,
            source_failures=tuple(self.source_failures),
            source_failure_count=self.sources_failed,
            page_failures=tuple(self.page_failures),
            elapsed_s=self.elapsed_s,
            dataset=dataset,
            resumed_count=self._resumed_count,
        )

    def _add_page(self, source: Source, result: PageResult) -> None:
        """Count a page."""
        name = result.outcome.value
        self.pages = replace(self.pages, **{name: getattr(self.pages, name) + 1})
        self._page_number = result.page_number
        self._newest_kept.extend(
            KeptPicture(source.name, result.page_number, record.jpeg) for record in result.records
        )
        is_failed = result.outcome is PageOutcome.FAILED
        if is_failed and len(self.page_failures) < MAX_LISTED_FAILURES:
            failure = PageFailure(source.name, result.page_number, result.reason)
            self.page_failures.append(failure)


@contextmanager
def _discarding_on_failure(writer: DatasetWriter, keep_partial: bool) -> Iterator[None]:
    """Remove the unfinished dataset when the run fails or is stopped, unless it may be resumed."""
    try:
        yield
    except BaseException:
        # All of them: a caller that closes the generator raises GeneratorExit in it.
        if not keep_partial:
            writer.discard()
        raise


def _survey(
    planned: Sequence[Planned], executor: Executor, out: Path, tally: Tally
) -> Generator[Progress, None, dict[Place, str]]:
    """Meet every page once before the run; returns which pictures have a better copy."""
    with SourceFeed(planned, work_folder(out)) as feed:
        steps = Schedule(feed, executor, purpose=Purpose.MEASURE)
        return (yield from survey_steps(steps, tally))


def survey_steps(
    steps: Iterable[Step | None], tally: Tally
) -> Generator[Progress, None, dict[Place, str]]:
    """Meet every page of a run; nothing is counted.

    Args:
        steps: In order; None while nothing is finished.
        tally: Says where the run stands.

    Yields:
        Where the run stands, a few times a second.

    Returns:
        Which pictures have a better copy, and the name of that copy.
    """
    survey = Survey()
    for step in steps:
        if isinstance(step, PageDone):
            survey.add(step.source, step.result)
        elif step is not None:
            survey.begin_source()
        if tally.is_progress_due():
            yield tally.progress()
    return survey.find_worse()


def _select(selection: Selection, step: Step) -> Step:
    """Let only pictures through that the dataset does not have yet."""
    match step:
        case SourceBegins(source):
            selection.begin_source(source)
        case PageDone(source, result):
            return PageDone(source, selection.select(source, result))
        case SourceFailure():
            selection.skip_source()
    return step


def _write(writer: DatasetWriter, step: Step) -> None:
    """Hand a step to the writer."""
    match step:
        case SourceBegins(source):
            writer.begin_source(source)
        case PageDone(source, result):
            writer.add_page(source, result)
        case SourceFailure():
            writer.add_source_failure(step)


def complete_dataset(writer: DatasetWriter, out: Path, tally: Tally) -> RunReport:
    """Complete the dataset, or write nothing where no page was usable.

    Args:
        writer: Has every page.
        out: Where the dataset appears.
        tally: Has counted every page.

    Raises:
        DatasetWriteError: The disk is full, or the check failed.
    """
    if tally.pages.seen == tally.pages.failed:
        writer.discard()
        return tally.report(None, {})
    dataset = writer.finish()
    # The dataset's own list has also what failed before a resumed run was stopped.
    tally.page_failures = [
        PageFailure(failure["file"], failure["page_number"], failure["reason"])
        for failure in dataset["page_failures"]
    ]
    return tally.report(out, dataset)
