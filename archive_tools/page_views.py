"""Ways to look at a page, each as cheap as it can be proven to show the same.

A view gives ever finer looks, ending with the page as MuPDF renders it at 144 dpi, and the
picture of the page where it is kept. Margins were measured on 242 real scans wrapped at 72 to 400
dpi and on drawn pages (`benchmarks/measure_sigma.py`).
"""

import math
from collections.abc import Iterator
from typing import Protocol

import numpy as np
import numpy.typing as npt

from archive_tools import page_filter
from archive_tools.page_filter import Look
from archive_tools.reader import REFERENCE_ZOOM, PdfPage
from archive_tools.scan_decoder import ScanDecoder

Pixels = npt.NDArray[np.uint8]


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

    def iter_looks(self) -> Iterator[Look]:
        """Yield a glance if asked, an estimate from the picture, then the exact look."""
        glance = self.glance() if self._glances else None
        if glance is not None:
            yield glance
        pixels = self._decoder.decode()
        if pixels is not None:
            yield page_filter.estimate_look(page_filter.to_grey(pixels), self._page.reference_size)
        yield from self._fallback.iter_looks()

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
