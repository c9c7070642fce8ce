"""Chooses for each page of a document the cheapest view that shows the same as MuPDF."""

from collections.abc import Callable

import cv2
import numpy as np
import numpy.typing as npt

from archive_tools.errors import PageError
from archive_tools.page_views import (
    JPEG_2000,
    PageView,
    PdfiumView,
    RenderedView,
    ScanView,
    open_scan,
)
from archive_tools.reader import PdfDocument, PdfPage
from archive_tools.second_renderer import SecondRenderer

Pixels = npt.NDArray[np.uint8]

_GUARD_ZOOM = 0.25
_GUARD_SIDE_PX = 32
# Mean absolute difference of thumbnails: right ones reach 6 (hairlines), most wrong ones
# (turned, inverted, wrongly coloured) lie far above 20.
_GUARD_DIFFERENCE = 10.0


class ViewChooser:
    """The views of one open document.

    Whether a fast view is trusted is decided once a document, on a page that depends on nothing
    but the document: the same page gives the same picture in whichever worker it lands.
    """

    def __init__(self, document: PdfDocument, renderer: SecondRenderer) -> None:
        """Look at a document.

        Args:
            document: The document, open in MuPDF.
            renderer: The same file for PDFium.
        """
        self.document = document
        self._renderer = renderer
        self._trusts_scans: bool | None = None
        self._trusts_pdfium: bool | None = None

    def choose(self, page: PdfPage, zoom: float) -> PageView:
        """Return the view of a page.

        Args:
            page: One of the document's pages, open.
            zoom: Pixels per point that a kept page needs.
        """
        if self._trusts_scans is None:
            self._trusts_scans = self._passes_guard(self._open_scan)
        view: PageView | None = self._open_scan(page, zoom) if self._trusts_scans else None
        if view is not None:
            return view
        if self._trusts_pdfium is None:
            self._trusts_pdfium = self._passes_guard(self._open_pdfium)
        view = self._open_pdfium(page, zoom) if self._trusts_pdfium else None
        return view or RenderedView(page)

    def _open_scan(self, page: PdfPage, zoom: float) -> ScanView | None:
        """Return the page as its one picture, where it is proven to be no more than that."""
        if self.document.has_layers or not self.document.shows_device_colours_plainly:
            return None
        scan = page.find_scan()
        return open_scan(page, scan, zoom) if scan else None

    def _open_pdfium(self, page: PdfPage, zoom: float) -> PdfiumView | None:  # noqa: ARG002
        """Return the page as PDFium renders it, where that is faster and can be trusted."""
        if not self.document.is_intact or self.document.has_layers or not self._renderer.can_open:
            return None
        codecs = page.picture_codecs
        is_faster = JPEG_2000 in codecs or len(codecs) != 1
        return PdfiumView(page, self._renderer) if is_faster else None

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
