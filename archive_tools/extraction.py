"""Everything that happens to one page: look, decide, and if it is kept, fit and encode."""

from contextlib import ExitStack
from pathlib import Path

import numpy as np
import numpy.typing as npt

from archive_tools import duplicates, finishing, page_filter
from archive_tools.config import DatasetConfig, Fit
from archive_tools.reader import REFERENCE_ZOOM, PdfDocument, PdfPage, open_document
from archive_tools.schema import Decision, PageOutcome, PageResult, PageTask, Record


class PageExtractor:
    """Works on one page after another and keeps the current document open between them."""

    def __init__(self, config: DatasetConfig) -> None:
        """Remember the options; nothing is opened yet.

        Args:
            config: Options of the run.
        """
        self._config = config
        self._open_files = ExitStack()
        self._path: Path | None = None
        self._document: PdfDocument | None = None

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
        with self._document_at(task.path).open_page(task.page_index) as page:
            look = page.render(REFERENCE_ZOOM)
            sigma = page_filter.measure_sigma(page_filter.to_grey(look))
            decision = page_filter.decide(sigma, self._config.filter, self._config.min_sigma)
            wants_record = decision.keep and not task.judge_only
            records = (self._record(page, look),) if wants_record else ()
            return _result(task, page.reference_size, sigma, decision, records)

    def close(self) -> None:
        """Close the document that is still open."""
        self._open_files.close()
        self._path = self._document = None

    def _document_at(self, path: Path) -> PdfDocument:
        """Return the open document, opening it when it is not the current one."""
        if self._document is None or path != self._path:
            self.close()
            opening = open_document(path, self._config.password, self._config.hide_layers)
            self._document = self._open_files.enter_context(opening)
            self._path = path
        return self._document

    def _record(self, page: PdfPage, look: npt.NDArray[np.uint8]) -> Record:
        """Return the finished picture of a kept page."""
        zoom = _zoom_for(page, self._config)
        pixels = look if zoom <= REFERENCE_ZOOM else page.render(zoom)
        picture, box = finishing.fit_picture(pixels, self._config.fit, self._config.size_px)
        return Record(
            jpeg=finishing.encode_jpeg(picture, self._config.jpeg_quality),
            width=picture.shape[1],
            height=picture.shape[0],
            bbox=box,
            page_width=pixels.shape[1],
            page_height=pixels.shape[0],
            phash=duplicates.perceptual_hash(picture),
        )


def _zoom_for(page: PdfPage, config: DatasetConfig) -> float:
    """Return the zoom at which the picture needs no enlargement."""
    sides = (page.width_pt, page.height_pt)
    side_pt = max(sides) if config.fit is Fit.SQUARE else min(sides)
    return max(REFERENCE_ZOOM, config.size_px / side_pt)


def _result(
    task: PageTask,
    size: tuple[int, int],
    sigma: float,
    decision: Decision,
    records: tuple[Record, ...],
) -> PageResult:
    """Put the outcome of a page together."""
    return PageResult(
        page_index=task.page_index,
        outcome=PageOutcome.KEPT if decision.keep else PageOutcome.DROPPED,
        width=size[0],
        height=size[1],
        sigma=sigma,
        score=decision.score,
        reason=decision.reason,
        records=records,
    )
