"""A look at a run before its dataset is made: every page scored, a sample of them shown."""

import sys
from collections.abc import Generator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from archive_tools.config import DatasetConfig, RunOptions
from archive_tools.errors import InvalidOptionError
from archive_tools.page_sample import SpreadSample
from archive_tools.pipeline import Tally
from archive_tools.run_report import Progress, RunReport
from archive_tools.schedule import TICK_S, PageDone, Schedule, SourceBegins, Step
from archive_tools.schema import (
    NamedFile,
    PageOutcome,
    PagePreview,
    PageResult,
    PageTask,
    Purpose,
    Record,
)
from archive_tools.score_histogram import ScoreHistogram, scale_for
from archive_tools.score_record import ScoreRecorder, open_recorder
from archive_tools.score_table import ScoreTable, open_score_table
from archive_tools.source import SourceFeed
from archive_tools.source_plan import plan_sources
from archive_tools.workers import Executor, open_executor

SCORES_NAME = "scores.jsonl"
TABLE_NAME = "pages.csv"
"""What a preview leaves in its folder: for a run, and for people."""

MOST_KEPT_SHOWN, MOST_DROPPED_SHOWN = 30, 18
# Finishing is tried on so many kept pages and shown on the first few of those that it changes.
_MOST_FINISHED = 8
MOST_LISTED = 1_000


@dataclass(frozen=True, slots=True)
class PreviewedPage:
    """A page of a preview.

    Attributes:
        file_name: Its file.
        result: What was decided, without pictures.
        preview: The page in small.
    """

    file_name: str
    result: PageResult
    preview: PagePreview


@dataclass(frozen=True, slots=True)
class FinishedPage:
    """A page before and after it was made ready for the dataset.

    Attributes:
        file_name: Its file.
        page_number: 1-based.
        before: As scanned.
        after: As in the dataset, but small.
    """

    file_name: str
    page_number: int
    before: PagePreview
    after: Record


@dataclass(frozen=True, slots=True)
class ListedPage:
    """A page of a preview in figures."""

    file_name: str
    result: PageResult
    boxes: tuple[tuple[float, float, float, float], ...]


@dataclass(frozen=True, slots=True)
class PreviewReport:
    """What a preview found.

    Attributes:
        config: Options that it was made with.
        run: Counts at the threshold of `config`, failures, time; `out` is the table of all pages.
        histogram: The scores of all pages.
        shown: A sample of the pages, all of them where they are few.
        finished: Kept pages before and after, those that finishing changed first.
        listed: The first pages in figures.
    """

    config: DatasetConfig
    run: RunReport
    histogram: ScoreHistogram
    shown: tuple[PreviewedPage, ...]
    finished: tuple[FinishedPage, ...]
    listed: tuple[ListedPage, ...]


def preview_dataset(
    sources: Sequence[NamedFile], folder: Path, config: DatasetConfig, run: RunOptions
) -> Generator[Progress | PreviewReport, None, None]:
    """Score every page and show some; nothing happens before the first `next`.

    Memory does not grow with the pages. Closing the generator ends the workers within moments.

    Args:
        sources: The files.
        folder: Where the scores and the table of all pages are left.
        config: Options of the dataset that might be built.
        run: How the work is carried out.

    Yields:
        `Progress` a few times a second, and at last one `PreviewReport`.

    Raises:
        InvalidOptionError: No source was given.
        DatasetWriteError: The disk is full.
        WorkerStartError: No worker process can be started.
    """
    if not sources:
        raise InvalidOptionError("No file was given. Add at least one PDF or image.")
    planned = plan_sources(sources, leave_out=None)
    with ExitStack() as stack:
        recorder = stack.enter_context(open_recorder(folder / SCORES_NAME, config))
        # Nobody else reads the table before the preview is complete.
        table = stack.enter_context(open_score_table(folder / TABLE_NAME, sys.stdout))
        executor = stack.enter_context(open_executor(config, run))
        feed = stack.enter_context(SourceFeed(planned, folder / "sources"))
        tally, collector = Tally(len(planned), planned[0].name), _Collector(config, recorder, table)
        for step in Schedule(feed, executor, purpose=Purpose.PREVIEW):
            if step is not None:
                tally.add(step)
                yield from _look_closer(collector, executor, step, tally)
            if tally.is_progress_due():
                yield tally.progress()
    yield collector.report(tally.report(folder / TABLE_NAME, {}))


def _look_closer(
    collector: "_Collector", executor: Executor, step: Step, tally: Tally
) -> Generator[Progress, None, None]:
    """Note a step, and make the pictures of a page where they are to be shown."""
    collector.add(step)
    if not isinstance(step, PageDone) or not collector.wants_finished(step):
        return
    task = PageTask(step.source.path, step.result.page_index, Purpose.SHOW)
    ticket = executor.submit(task)
    while not executor.wait_for(ticket, TICK_S):
        yield tally.progress()
    assert isinstance(ticket.reply, PageResult)
    collector.add_finished(step, ticket.reply)


class _Collector:
    """What a preview keeps of the pages: figures, and a bounded number of pictures."""

    def __init__(self, config: DatasetConfig, recorder: ScoreRecorder, table: ScoreTable) -> None:
        self._config = config
        self._recorder = recorder
        self._table = table
        self._histogram = ScoreHistogram(scale_for(config.filter))
        self._kept: SpreadSample[PreviewedPage] = SpreadSample(MOST_KEPT_SHOWN)
        self._dropped: SpreadSample[PreviewedPage] = SpreadSample(MOST_DROPPED_SHOWN)
        self._finished: SpreadSample[FinishedPage | None] = SpreadSample(_MOST_FINISHED)
        self._listed: list[ListedPage] = []

    def add(self, step: Step) -> None:
        if isinstance(step, SourceBegins):
            self._recorder.begin_source(step.source)
        elif isinstance(step, PageDone):
            self._recorder.add(step.result)
            self._table.add(step.source, step.result)
            self._add_page(step.source.name, step.result)

    def _add_page(self, file_name: str, result: PageResult) -> None:
        boxes = result.preview.boxes if result.preview else ()
        if len(self._listed) < MOST_LISTED:
            bare = _without_pictures(result)
            self._listed.append(ListedPage(file_name, bare, boxes))
        if result.preview is None or result.score is None:
            return
        self._histogram.add(result.score, can_be_kept=not result.preview.rejection)
        page = PreviewedPage(file_name, _without_pictures(result), result.preview)
        sample = self._kept if result.outcome is PageOutcome.KEPT else self._dropped
        bar = self._histogram.scale.bar_of(result.score)
        sample.add(bar, _name(file_name, result), page)

    def wants_finished(self, step: PageDone) -> bool:
        is_kept = step.result.outcome is PageOutcome.KEPT
        return is_kept and self._finished.wants(0, _name(step.source.name, step.result))

    def add_finished(self, step: PageDone, shown: PageResult) -> None:
        page = None
        if shown.records and shown.preview:
            name, number = step.source.name, shown.page_number
            page = FinishedPage(name, number, shown.preview, shown.records[0])
        # None has its place as well: a page that gives no picture is not tried again and again.
        self._finished.add(0, _name(step.source.name, step.result), page)

    def report(self, run: RunReport) -> PreviewReport:
        finished = [page for page in self._finished.items() if page is not None]
        return PreviewReport(
            config=self._config,
            run=run,
            histogram=self._histogram,
            shown=(*self._kept.items(), *self._dropped.items()),
            finished=tuple(sorted(finished, key=lambda page: not page.after.finishing)),
            listed=tuple(self._listed),
        )


def _without_pictures(result: PageResult) -> PageResult:
    return replace(result, records=(), preview=None)


def _name(file_name: str, result: PageResult) -> str:
    return f"{file_name}\0{result.page_number}"
