"""Everything that happens to one page: look, decide, and if it is kept, fit and encode."""

from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from archive_tools.config import Content, DatasetConfig, WorkerLimits
from archive_tools.open_documents import OpenDocument, OpenPage, open_any_document
from archive_tools.page_judgement import PageJudgement, judge_regions, judge_view
from archive_tools.page_pictures import Made, PageAtHand, make_pictures, zoom_for_page
from archive_tools.page_preview import (
    judge_for_any_threshold,
    preview_page,
    show_before,
    shrink_record,
)
from archive_tools.page_views import PageView
from archive_tools.picture import Rejection, foresee_rejection
from archive_tools.process_settings import settle_page_process
from archive_tools.schema import PageOutcome, PageResult, PageTask, Purpose, Record

# The first page of a document pays for up to three checks; they must leave it its own time.
_CHECK_SHARE_OF_PAGE_TIME = 0.2


class PageExtractor:
    """Works on one page after another and keeps the current document open between them."""

    def __init__(self, config: DatasetConfig, limits: WorkerLimits | None = None) -> None:
        """Set this process up for pages; nothing is opened yet.

        Args:
            config: Options of the run.
            limits: What one page may cost; checks of the document keep well within it.
        """
        settle_page_process()
        self._config = config
        self._limits = limits or WorkerLimits()
        self._open_files = ExitStack()
        self._path: Path | None = None
        self._document: OpenDocument | None = None

    def extract(self, task: PageTask) -> PageResult:
        """Work on one page.

        Args:
            task: The file and the page.

        Returns:
            Kept with its pictures, or dropped with the reason.

        Raises:
            SourceError: The file cannot be opened (any more).
            PageError: The page cannot be rendered.
        """
        with self._document_at(task.path).open_page(task.page_index) as page:
            view = page.choose_view(zoom_for_page(page, self._config))
            if task.purpose in (Purpose.JUDGE, Purpose.PREVIEW):
                return self._judge_only(task, page, view)
            judged = judge_view(view, self._config)
            judged = judge_regions(judged, view, self._config)
            if not judged.decision.keep:
                return _result(task, page.reference_size, judged)
            made = make_pictures(PageAtHand(page, view), judged, self._config, task.purpose)
            result = _result(task, page.reference_size, *_without_rejections(judged, made))
            return _in_small(result, view) if task.purpose is Purpose.SHOW else result

    def close(self) -> None:
        """Close the document that is still open."""
        self._open_files.close()
        self._path = self._document = None

    def _judge_only(self, task: PageTask, page: OpenPage, view: PageView) -> PageResult:
        """Decide about a page without making its pictures."""
        config = self._config
        judged = judge_regions(judge_for_any_threshold(view, config), view, config)
        is_previewed = task.purpose is Purpose.PREVIEW
        rejection = ""
        if config.content is Content.PAGES and (is_previewed or judged.decision.keep):
            foreseen = foresee_rejection(view.show(zoom_for_page(page, config)), config)
            rejection = foreseen.reason if foreseen else ""
        result = _result(task, page.reference_size, _reject(judged, rejection))
        if not is_previewed:
            return result
        preview = preview_page(view, judged, config)
        return replace(result, preview=replace(preview, rejection=rejection or preview.rejection))

    def _document_at(self, path: Path) -> OpenDocument:
        """Return the open document, opening it when it is not the current one."""
        if self._document is None or path != self._path:
            self.close()
            check_limit_s = self._limits.page_time_s * _CHECK_SHARE_OF_PAGE_TIME
            opened = open_any_document(path, self._config, check_limit_s)
            self._document = self._open_files.enter_context(opened)
            self._path = path
        return self._document


def _without_rejections(
    judged: PageJudgement, made: tuple[Made, ...]
) -> tuple[PageJudgement, tuple[Record, ...]]:
    """Part the pictures from those that came to nothing, of which the reason tells."""
    records = tuple(one for one in made if isinstance(one, Record))
    rejections = [one.reason for one in made if isinstance(one, Rejection)]
    if not rejections:
        return judged, records
    reason = rejections[0]
    if len(made) > 1:
        reason = f"{judged.decision.reason}; {len(rejections)} of {len(made)} left out: {reason}"
    decision = replace(judged.decision, keep=bool(records), reason=reason)
    return replace(judged, decision=decision), records


def _reject(judged: PageJudgement, rejection: str) -> PageJudgement:
    """Drop a page that the filter keeps but that gives no picture."""
    if not rejection or not judged.decision.keep:
        return judged
    return replace(judged, decision=replace(judged.decision, keep=False, reason=rejection))


def _in_small(result: PageResult, view: PageView) -> PageResult:
    """Return a page with small pictures, and beside them as it was scanned."""
    records = tuple(map(shrink_record, result.records))
    return replace(result, records=records, preview=show_before(view))


def _result(
    task: PageTask,
    size: tuple[int, int],
    judged: PageJudgement,
    records: tuple[Record, ...] = (),
) -> PageResult:
    """Put the outcome of a page together."""
    decision = judged.decision
    return PageResult(
        page_index=task.page_index,
        outcome=PageOutcome.KEPT if decision.keep else PageOutcome.DROPPED,
        width=size[0],
        height=size[1],
        sigma=judged.sigma,
        score=decision.score,
        reason=decision.reason,
        records=records,
        traits=judged.traits,
    )
