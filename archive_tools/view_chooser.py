"""Chooses for each page of a document the cheapest view that shows the same as MuPDF."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import cached_property

import cv2
import numpy as np
import numpy.typing as npt

from archive_tools.apart import ask_apart
from archive_tools.errors import PageError
from archive_tools.glance_policy import Glance, choose_sample, find_most_bytes
from archive_tools.page_views import PageView, PdfiumView, RenderedView, ScanView
from archive_tools.reader import PdfDocument, PdfPage
from archive_tools.scan_decoder import ScanDecoder
from archive_tools.second_renderer import SecondRenderer

Pixels = npt.NDArray[np.uint8]
Reopen = Callable[[], AbstractContextManager["ViewChooser"]]

_GUARD_ZOOM = 0.25
_GUARD_SIDE_PX = 32
# Mean absolute difference of thumbnails: right ones reach 6 (hairlines), most wrong ones
# (turned, inverted, wrongly coloured) lie far above 20.
_GUARD_DIFFERENCE = 10.0

_GLANCE_LEAST_PAGES = 60


class ViewChooser:
    """The views of one open document.

    Whether a fast view is trusted is decided once a document, on a page that depends on nothing
    but the document: the same page gives the same picture in whichever worker it lands.
    """

    def __init__(
        self,
        document: PdfDocument,
        renderer: SecondRenderer,
        min_sigma: float,
        reopen: Reopen,
        check_limit_s: float,
    ) -> None:
        """Look at a document.

        Args:
            document: The document, open in MuPDF.
            renderer: The same file for PDFium.
            min_sigma: Pages at or below it are dropped; minus infinity where none is.
            reopen: Opens the same document once more.
            check_limit_s: Seconds for each check on pages other than the one at hand.
        """
        self.document = document
        self._renderer = renderer
        self._min_sigma = min_sigma
        self._reopen = reopen
        self._check_limit_s = check_limit_s
        self._trusts_scans: bool | None = None
        self._trusts_pdfium: bool | None = None

    def choose(self, page: PdfPage, zoom: float) -> PageView:
        """Return the view of a page.

        Args:
            page: One of the document's pages, open.
            zoom: Pixels per point that a kept page needs.
        """
        if self._trusts_scans is None:
            self._trusts_scans = bool(self._ask_apart(ViewChooser.trusts_scans))
        if self._trusts_scans:
            decoder = self._find_decoder(page, zoom)
            if decoder is not None:
                return ScanView(page, decoder, self._takes_glances(decoder))
        if self._trusts_pdfium is None:
            self._trusts_pdfium = bool(self._ask_apart(ViewChooser.trusts_pdfium))
        view = self._open_pdfium(page, zoom) if self._trusts_pdfium else None
        return view or RenderedView(page)

    def trusts_scans(self) -> bool:
        """Whether decoding the one picture of a page shows what MuPDF shows."""
        return self._passes_guard(self._open_scan)

    def trusts_pdfium(self) -> bool:
        """Whether PDFium shows what MuPDF shows."""
        return self._passes_guard(self._open_pdfium)

    def find_most_bytes_for_glance(self) -> float:
        """Return the bytes per pixel up to which a JPEG page gets a glance, from a few pages."""
        sample = map(self._glance_at, choose_sample(self.document.page_count))
        return find_most_bytes([glance for glance in sample if glance is not None])

    def _ask_apart(self, check: Callable[["ViewChooser"], float]) -> float:
        """Check the document in a process of its own: it looks at pages that may be hostile.

        A page must cost only itself, and here another page is at hand.
        """

        def question() -> float:
            with self._reopen() as other:
                return check(other)

        return ask_apart(question, self._check_limit_s)

    def _open_scan(self, page: PdfPage, zoom: float) -> ScanView | None:
        """Return the page as its one picture, where it is proven to be no more than that."""
        decoder = self._find_decoder(page, zoom)
        return None if decoder is None else ScanView(page, decoder, glances=False)

    def _find_decoder(self, page: PdfPage, zoom: float) -> ScanDecoder | None:
        """Return what decodes the one picture of a page that is no more than that."""
        if self.document.has_layers or not self.document.shows_device_colours_plainly:
            return None
        scan = page.find_scan()
        decoder = ScanDecoder(page, scan, zoom) if scan else None
        return decoder if decoder is not None and decoder.can_decode else None

    def _open_pdfium(self, page: PdfPage, zoom: float) -> PdfiumView | None:  # noqa: ARG002
        """Return the page as PDFium renders it, where that is faster and can be trusted."""
        # Pages of one picture that is not plain are what MuPDF knows best.
        is_faster = len(page.picture_codecs) != 1
        return PdfiumView(page, self._renderer) if is_faster and self._can_use_pdfium else None

    @cached_property
    def _can_use_pdfium(self) -> bool:
        """Whether PDFium can be expected to read the file as MuPDF does."""
        document = self.document
        return document.is_intact and not document.has_layers and self._renderer.can_open

    def _takes_glances(self, decoder: ScanDecoder) -> bool:
        """Whether a page gets a glance before a look."""
        if self._min_sigma < 0 or decoder.is_slow:
            return self._min_sigma >= 0
        return decoder.bytes_per_pixel <= self._most_bytes_for_glance

    @cached_property
    def _most_bytes_for_glance(self) -> float:
        """Bytes per pixel up to which the JPEG pages of this document get a glance."""
        if self.document.page_count < _GLANCE_LEAST_PAGES:
            return 0.0
        return self._ask_apart(ViewChooser.find_most_bytes_for_glance)

    def _glance_at(self, page_index: int) -> Glance | None:
        """Return what a glance at a page comes to; None where none is possible."""
        try:
            with self.document.open_page(page_index) as page:
                decoder = self._find_decoder(page, _GUARD_ZOOM)
                look = ScanView(page, decoder, glances=True).glance() if decoder else None
                if decoder is None or decoder.is_slow or look is None:
                    return None
                is_enough = look.most <= self._min_sigma
                return Glance(decoder.bytes_per_pixel, decoder.channels, is_enough)
        except PageError:
            return None

    def _passes_guard(self, open_view: Callable[[PdfPage, float], PageView | None]) -> bool:
        """Compare the view of the document's middle page with a low MuPDF render of it."""
        try:
            with self.document.open_page(self.document.page_count // 2) as page:
                view = open_view(page, _GUARD_ZOOM)
                return view is None or _shows_the_same(view.thumbnail(), page.render(_GUARD_ZOOM))
        except PageError:
            # A damaged page says nothing about the others.
            return True


def _shows_the_same(pixels: Pixels, rendered: Pixels) -> bool:
    """Return whether two pictures agree as tiny thumbnails.

    Tiny, because renderers shrink fine print differently: at 18 dpi two right renders of a text
    page differ by up to 9, as 32 x 32 pixels by 2.
    """
    small, expected = _tiny(pixels), _tiny(rendered)
    return bool(np.abs(small - expected).mean() <= _GUARD_DIFFERENCE)


def _tiny(pixels: Pixels) -> npt.NDArray[np.float32]:
    """Return a picture as 32 x 32 colours."""
    size = (_GUARD_SIDE_PX, _GUARD_SIDE_PX)
    small = cv2.resize(pixels, size, interpolation=cv2.INTER_AREA).astype(np.float32)
    return small if small.ndim == 3 else small[:, :, np.newaxis]
