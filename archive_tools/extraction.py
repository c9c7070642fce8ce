"""Everything that happens to one page: look, decide, and if it is kept, fit and encode."""

from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from archive_tools import page_filter
from archive_tools.config import DatasetConfig, Fit
from archive_tools.picture import Rejection, make_record
from archive_tools.process_settings import settle_page_process
from archive_tools.reader import PdfPage, open_document
from archive_tools.schema import Decision, PageOutcome, PageResult, PageTask, Purpose, Record
from archive_tools.second_renderer import SecondRenderer
from archive_tools.view_chooser import ViewChooser


class PageExtractor:
    """Works on one page after another and keeps the current document open between them."""

    def __init__(self, config: DatasetConfig) -> None:
        """Set this process up for pages; nothing is opened yet.

        Args:
            config: Options of the run.
        """
        settle_page_process()
        self._config = config
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
            is_encoded = task.purpose is Purpose.BUILD
            made = make_record(view.show(zoom), self._config, is_encoded=is_encoded)
            if isinstance(made, Rejection):
                rejected = replace(decision, keep=False, reason=made.reason)
                return _result(task, page.reference_size, rejected)
            return _result(task, page.reference_size, decision, (made,))

    def close(self) -> None:
        """Close the document that is still open."""
        self._open_files.close()
        self._path = self._chooser = None

    def _chooser_at(self, path: Path) -> ViewChooser:
        """Return the views of the open document, opening it when it is not the current one."""
        if self._chooser is None or path != self._path:
            self.close()
            opening = open_document(path, self._config.password, self._config.hide_layers)
            document = self._open_files.enter_context(opening)
            renderer = SecondRenderer(path, self._config.password)
            self._open_files.callback(renderer.close)
            threshold = page_filter.least_sigma(self._config.filter, self._config.min_sigma)
            self._chooser = ViewChooser(document, renderer, threshold)
            self._path = path
        return self._chooser


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
