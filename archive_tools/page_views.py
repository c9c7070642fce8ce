"""Ways to look at a page, each as cheap as it can be proven to show the same.

A view gives ever finer looks, ending with the page as MuPDF renders it at 144 dpi, and the
picture of the page where it is kept. Margins were measured on 724 real scans and on drawn pages
wrapped at 72 to 600 dpi (`benchmarks/measure_sigma.py`).
"""

import math
from collections.abc import Iterator
from functools import cached_property
from typing import Protocol

import numpy as np
import numpy.typing as npt

from archive_tools import page_filter
from archive_tools.errors import PageError
from archive_tools.page_filter import GreyMemory, Look
from archive_tools.reader import REFERENCE_ZOOM, PdfPage, limit_zoom
from archive_tools.scan_decoder import ScanDecoder
from archive_tools.second_renderer import SecondRenderer

Pixels = npt.NDArray[np.uint8]

_BITONAL = ("CCITTFaxDecode", "JBIG2Decode")

_COARSE_ZOOM = 0.5
# PDFium shrinks pictures and type less well than MuPDF: from a little above 144 dpi, LANCZOS makes
# more of its render than of MuPDF's at 144 dpi.
PDFIUM_ZOOM = 2.5
# A page on which PDFium shows nothing may be one that it cannot show.
_SUSPICIOUSLY_EMPTY_SIGMA = 0.5


class PageView(Protocol):
    """One way to look at one page.

    Attributes:
        grey: Makes grey what it shows, once for all who ask.
    """

    grey: GreyMemory

    def iter_looks(self) -> Iterator[Look]:
        """Yield looks from the coarsest to the finest, which is exact."""
        ...

    def guess_sigma(self) -> float:
        """Return sigma at 144 dpi as closely as is cheap: to be recorded, not to decide by."""
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
        self.grey = GreyMemory()

    def iter_looks(self) -> Iterator[Look]:
        """Yield the exact look."""
        yield page_filter.exact_look(self.grey.of(self._render(REFERENCE_ZOOM)))

    def guess_sigma(self) -> float:
        """Return the exact one."""
        return page_filter.measure_sigma(self.grey.of(self._render(REFERENCE_ZOOM)))

    def show(self, zoom: float) -> Pixels:
        """Return the page rendered at 144 dpi or, if that is not enough, at `zoom`.

        A page of pictures alone is rendered no finer than they are: that would enlarge them.
        """
        return self._render(min(max(zoom, REFERENCE_ZOOM), self.finest_zoom))

    @cached_property
    def finest_zoom(self) -> float:
        """Pixels per point above which a render only enlarges."""
        return self._page.finest_zoom

    def _render(self, zoom: float) -> Pixels:
        """Render the page, unless it is at hand just so."""
        if self._pixels is None or zoom != self._zoom:
            self._pixels, self._zoom = self._page.render(zoom), zoom
        return self._pixels

    def thumbnail(self) -> Pixels:
        """Return a coarse render."""
        return self._page.render(_COARSE_ZOOM)


class ScanView:
    """The one picture that a scanned page consists of, decoded no finer than needed."""

    def __init__(self, page: PdfPage, decoder: ScanDecoder, glances: bool) -> None:
        """Look at a scan.

        Args:
            page: The open page.
            decoder: Decodes its picture.
            glances: Take a coarse look first; worth its price where most pages are dropped.
        """
        self._page = page
        self._decoder = decoder
        self._glances = glances
        self._fallback = RenderedView(page)
        self.grey = GreyMemory()

    def iter_looks(self) -> Iterator[Look]:
        """Yield a glance if asked, an estimate from the picture, then the exact look."""
        glance = self.glance() if self._glances else None
        if glance is not None:
            yield glance
        pixels = self._decoder.decode()
        if pixels is not None:
            yield page_filter.estimate_look(self.grey.of(pixels), self._page.reference_size)
        yield from self._fallback.iter_looks()

    def guess_sigma(self) -> float:
        """Return a guess from the decoded picture."""
        pixels = self._decoder.decode()
        if pixels is None:
            return self._fallback.guess_sigma()
        return page_filter.guess_sigma(self.grey.of(pixels), self._page.reference_size)

    def glance(self) -> Look | None:
        """Return a coarse look; None where there is none that is cheaper than a fine look."""
        grey = self._decoder.decode_glance()
        if grey is None:
            return None
        density = min(REFERENCE_ZOOM, self._decoder.density)
        octaves = math.log2(density * self._page.width_pt / grey.shape[1])
        return page_filter.coarse_look(grey, max(0.0, octaves))

    def show(self, zoom: float) -> Pixels:
        """Return the decoded picture, or the rendered page where it cannot be decoded."""
        pixels = self._decoder.decode()
        return self._fallback.show(zoom) if pixels is None else pixels

    def thumbnail(self) -> Pixels:
        """Return the decoded picture."""
        return self.show(_COARSE_ZOOM)


class PdfiumView:
    """The page as PDFium renders it: faster for type and for layered scans."""

    def __init__(self, page: PdfPage, renderer: SecondRenderer) -> None:
        """Look at a page.

        Args:
            page: The page, open in MuPDF as well.
            renderer: The same file, open in PDFium.
        """
        self._page = page
        self._renderer = renderer
        self._fallback = RenderedView(page)
        self._pixels: Pixels | None = None
        self.grey = GreyMemory()

    def iter_looks(self) -> Iterator[Look]:
        """Yield an estimate from PDFium's render, then the exact look."""
        pixels = self._render_once()
        if pixels is not None:
            is_bitonal = any(codec in _BITONAL for codec in self._page.picture_codecs)
            yield page_filter.rendered_look(self.grey.of(pixels), is_bitonal)
        yield from self._fallback.iter_looks()

    def guess_sigma(self) -> float:
        """Return that of PDFium's render."""
        pixels = self._render_once()
        if pixels is None:
            return self._fallback.guess_sigma()
        return page_filter.measure_sigma(self.grey.of(pixels))

    def show(self, zoom: float) -> Pixels:
        """Return the page rendered at 180 dpi or, if that is not enough, at `zoom`."""
        pixels = self._render_once()
        if pixels is None or zoom > PDFIUM_ZOOM or self._fallback.finest_zoom < PDFIUM_ZOOM:
            return self._fallback.show(zoom)
        return pixels

    def thumbnail(self) -> Pixels:
        """Return a coarse render."""
        return self._render(_COARSE_ZOOM)

    def _render_once(self) -> Pixels | None:
        """Return the page, or None where PDFium cannot be trusted with it."""
        if self._pixels is None:
            try:
                pixels = self._render(PDFIUM_ZOOM)
            except PageError:
                return None
            # Every fourth pixel tells whether there is anything.
            is_empty = pixels[::4, ::4].std() <= _SUSPICIOUSLY_EMPTY_SIGMA
            if is_empty and self._page.picture_codecs:
                return None
            self._pixels = pixels
        return self._pixels

    def _render(self, zoom: float) -> Pixels:
        zoom = limit_zoom(zoom, self._page.width_pt, self._page.height_pt)
        return self._renderer.render(self._page.index, zoom)
