"""Everything that happens to one page: look, decide, and if it is kept, fit and encode."""

from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

from archive_tools import page_filter
from archive_tools.config import DatasetConfig, Fit, WorkerLimits
from archive_tools.illustrations import find_illustrations
from archive_tools.picture import Box, Pixels, Rejection, make_record
from archive_tools.process_settings import settle_page_process
from archive_tools.reader import PdfPage, open_document
from archive_tools.schema import Decision, PageOutcome, PageResult, PageTask, Purpose, Record
from archive_tools.second_renderer import SecondRenderer
from archive_tools.view_chooser import ViewChooser

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
        self._chooser: ViewChooser | None = None

    def extract(self, task: PageTask) -> PageResult:
        """Work on one page.

        Args:
            task: The file and the page.

        Returns:
            Kept with its record, or dropped with the reason.

        Raises:
            SourceError: The file cannot be opened (any more).
            PageError: The page cannot be rendered.
        """
        chooser = self._chooser_at(task.path)
        with chooser.document.open_page(task.page_index) as page:
            zoom = _zoom_for(page, self._config)
            view = chooser.choose(page, zoom)
            decision = page_filter.decide(
                view.iter_looks(), self._config.filter, self._config.min_sigma
            )
            if not decision.keep or task.purpose is Purpose.JUDGE:
                return _result(task, page.reference_size, decision)
            made = self._make_record(page, view.show(zoom), task.purpose)
            if isinstance(made, Rejection):
                rejected = replace(decision, keep=False, reason=made.reason)
                return _result(task, page.reference_size, rejected)
            return _result(task, page.reference_size, decision, (made,))

    def _make_record(self, page: PdfPage, pixels: Pixels, purpose: Purpose) -> Record | Rejection:
        """Make the picture of a kept page."""
        boxes: list[Box] = []
        if self._config.fit is Fit.CROP:
            found = find_illustrations(page_filter.to_grey(pixels))
            boxes = [illustration.box for illustration in found]
        made = make_record(pixels, self._config, boxes, is_encoded=purpose is Purpose.BUILD)
        if isinstance(made, Rejection) or not self._config.wants_text:
            return made
        x0, y0, x1, y1 = made.bbox
        width, height = made.page_width, made.page_height
        box = (x0 / width, y0 / height, x1 / width, y1 / height)
        return replace(made, text=page.read_text(box))

    def close(self) -> None:
        """Close the document that is still open."""
        self._open_files.close()
        self._path = self._chooser = None

    def _chooser_at(self, path: Path) -> ViewChooser:
        """Return the views of the open document, opening it when it is not the current one."""
        if self._chooser is None or path != self._path:
            self.close()
            self._chooser = self._open_files.enter_context(self._open_views(path))
            self._path = path
        return self._chooser

    @contextmanager
    def _open_views(self, path: Path) -> Iterator[ViewChooser]:
        """Open a document in both renderers."""
        config = self._config
        threshold = page_filter.least_sigma(config.filter, config.min_sigma)
        with (
            open_document(path, config.password, config.hide_layers) as document,
            closing(SecondRenderer(path, config.password)) as renderer,
        ):
            yield ViewChooser(
                document,
                renderer,
                threshold,
                reopen=partial(self._open_views, path),
                check_limit_s=self._limits.page_time_s * _CHECK_SHARE_OF_PAGE_TIME,
            )


def _zoom_for(page: PdfPage, config: DatasetConfig) -> float:
    """Return the pixels per point at which the picture needs no enlargement."""
    sides = (page.width_pt, page.height_pt)
    return config.size_px / (max(sides) if config.fit is Fit.SQUARE else min(sides))


def _result(
    task: PageTask,
    size: tuple[int, int],
    decision: Decision,
    records: tuple[Record, ...] = (),
) -> PageResult:
    """Put the outcome of a page together."""
    return PageResult(
        page_index=task.page_index,
        outcome=PageOutcome.KEPT if decision.keep else PageOutcome.DROPPED,
        width=size[0],
        height=size[1],
        sigma=decision.score,
        score=decision.score,
        reason=decision.reason,
        records=records,
    )
