"""Ways to look at a page, each as cheap as it can be proven to show the same.

A view gives ever finer looks, ending with the page as MuPDF renders it at 144 dpi, and the
picture of the page where it is kept. Margins were measured on 724 real scans and on drawn pages
wrapped at 72 to 600 dpi (`benchmarks/measure_sigma.py`).
"""

from collections.abc import Iterator
from typing import Protocol

import numpy as np
import numpy.typing as npt

from archive_tools import embedded_picture, page_filter
from archive_tools.errors import PageError
from archive_tools.page_filter import Look
from archive_tools.reader import PIXEL_BUDGET, REFERENCE_ZOOM, PdfPage, limit_zoom
from archive_tools.resampling import halve
from archive_tools.scan_finder import JPEG, Scan
from archive_tools.second_renderer import SecondRenderer

Pixels = npt.NDArray[np.uint8]

JPEG_2000 = "JPXDecode"
_BITONAL = ("CCITTFaxDecode", "JBIG2Decode")

# A scan is halved down to 144 dpi; a JPEG, which libjpeg halves better than averaging does, to a
# little less: 270 dpi scans then need half the work.
_LEAST_DENSITY = REFERENCE_ZOOM
_LEAST_JPEG_DENSITY = 1.75
_COARSE_ZOOM = 0.5
# A page on which PDFium shows nothing may be one that it cannot show.
_SUSPICIOUSLY_EMPTY_SIGMA = 0.5


class PageView(Protocol):
    """One way to look at one page."""

    def iter_looks(self) -> Iterator[Look]:
        """Yield looks from the coarsest to the finest, which is exact."""
        ...

    def show(self, zoom: float) -> Pixels:
        """Return the page's picture, uint8 RGB (H, W, 3) or grey (H, W).

        Args:
            zoom: Pixels per point that are needed; more may come.
        """
        ...

    def thumbnail(self) -> Pixels:
        """Return the page in any size of at least 18 dpi, as cheaply as this view can."""
        ...


class RenderedView:
    """The page as MuPDF renders it: the definition of what a page looks like."""

    def __init__(self, page: PdfPage) -> None:
        """Look at a page.

        Args:
            page: The open page.
        """
        self._page = page
        self._zoom = 0.0
        self._pixels: Pixels | None = None

    def iter_looks(self) -> Iterator[Look]:
        """Yield the exact look."""
        yield page_filter.exact_look(page_filter.to_grey(self.show(REFERENCE_ZOOM)))

    def show(self, zoom: float) -> Pixels:
        """Return the page rendered at 144 dpi or, if that is not enough, at `zoom`."""
        zoom = max(zoom, REFERENCE_ZOOM)
        if self._pixels is None or zoom > self._zoom:
            self._pixels, self._zoom = self._page.render(zoom), zoom
        return self._pixels

    def thumbnail(self) -> Pixels:
        """Return a coarse render."""
        return self._page.render(_COARSE_ZOOM)


class ScanView:
    """The one picture that a scanned page consists of, decoded no finer than needed."""

    def __init__(self, page: PdfPage, pixels: Pixels) -> None:
        """Look at a scan.

        Args:
            page: The open page.
            pixels: Its decoded picture, placed as the page shows it.
        """
        self._page = page
        self._pixels = pixels

    def iter_looks(self) -> Iterator[Look]:
        """Yield an estimate from the decoded picture, then the exact look."""
        grey = page_filter.to_grey(self._pixels)
        yield page_filter.estimate_look(grey, self._page.reference_size)
        yield from RenderedView(self._page).iter_looks()

    def show(self, zoom: float) -> Pixels:  # noqa: ARG002 - decoded for this zoom already
        """Return the decoded picture."""
        return self._pixels

    def thumbnail(self) -> Pixels:
        """Return the decoded picture."""
        return self._pixels


class PdfiumView:
    """The page as PDFium renders it: far faster for JPEG 2000, and faster for type."""

    def __init__(self, page: PdfPage, renderer: SecondRenderer) -> None:
        """Look at a page.

        Args:
            page: The page, open in MuPDF as well.
            renderer: The same file, open in PDFium.
        """
        self._page = page
        self._renderer = renderer
        self._fallback = RenderedView(page)
        self._is_trusted = True
        self._pixels: Pixels | None = None

    def iter_looks(self) -> Iterator[Look]:
        """Yield coarse looks where a fine one is dear, then a fine one, then the exact look."""
        try:
            yield from self._iter_pdfium_looks()
        except PageError:
            self._is_trusted = False
        yield from self._fallback.iter_looks()

    def show(self, zoom: float) -> Pixels:
        """Return the page rendered at 144 dpi or, if that is not enough, at `zoom`."""
        if not self._is_trusted:
            return self._fallback.show(zoom)
        if self._pixels is None or zoom > REFERENCE_ZOOM:
            self._pixels = self._render(max(zoom, REFERENCE_ZOOM))
        return self._pixels

    def thumbnail(self) -> Pixels:
        """Return a coarse render."""
        return self._render(_COARSE_ZOOM)

    def _iter_pdfium_looks(self) -> Iterator[Look]:
        codecs = self._page.picture_codecs
        if codecs == (JPEG_2000,):
            coarse = page_filter.to_grey(self._render(_COARSE_ZOOM))
            if page_filter.measure_sigma(coarse) < _SUSPICIOUSLY_EMPTY_SIGMA:
                raise PageError("PDFium shows nothing")
            yield page_filter.coarse_look(coarse)
        self._pixels = self._render(REFERENCE_ZOOM)
        is_bitonal = any(codec in _BITONAL for codec in codecs)
        yield page_filter.rendered_look(page_filter.to_grey(self._pixels), is_bitonal)

    def _render(self, zoom: float) -> Pixels:
        zoom = limit_zoom(zoom, self._page.width_pt, self._page.height_pt)
        return self._renderer.render(self._page.index, zoom)


def open_scan(page: PdfPage, scan: Scan, zoom: float) -> ScanView | None:
    """Decode the picture of a scanned page as far as `zoom` and an honest sigma need it.

    Args:
        page: The open page.
        scan: Its picture.
        zoom: Pixels per point that a kept page needs.

    Returns:
        None where the picture is too large to be decoded whole, or turns out to be damaged.
    """
    least_density = _LEAST_JPEG_DENSITY if scan.codec == JPEG else _LEAST_DENSITY
    halvings = embedded_picture.count_halvings(scan.density, max(zoom, least_density))
    if (scan.width >> halvings) * (scan.height >> halvings) > PIXEL_BUDGET:
        return None
    decode = _decode_jpeg if scan.codec == JPEG else _decode_other
    pixels = decode(page, scan, halvings)
    return None if pixels is None else ScanView(page, scan.placement.apply(pixels))


def _decode_jpeg(page: PdfPage, scan: Scan, halvings: int) -> Pixels | None:
    """Decode straight from the stored bytes, leaving out what the halvings do not need."""
    stored = page.read_stored(scan.xref)
    header = embedded_picture.read_jpeg_header(stored)
    if header is None or not embedded_picture.is_decodable(header):
        return None
    if (header.width, header.height, header.channels) != (scan.width, scan.height, scan.channels):
        return None
    return embedded_picture.decode_jpeg(stored, header.channels, halvings)


def _decode_other(page: PdfPage, scan: Scan, halvings: int) -> Pixels | None:
    """Let MuPDF decode the whole picture and shrink it by averaging."""
    if scan.codec == JPEG_2000 or scan.width * scan.height > PIXEL_BUDGET:
        return None
    pixels = page.decode_picture(scan.xref)
    return None if pixels is None else halve(pixels, halvings)
