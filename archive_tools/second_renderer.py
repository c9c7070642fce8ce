"""Renders pages with PDFium; the only door to pypdfium2.

PDFium sets type faster than MuPDF, and decodes JPEG 2000 at reduced resolution where MuPDF always
decodes everything. MuPDF stays the reference: it knows layers and form fields, repairs more, and
reads files over 4 GiB.
"""

# pypdfium2 ships no type information.
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from archive_tools.errors import PageError

RgbPixels = npt.NDArray[np.uint8]

# With offsets beyond 4 GiB PDFium renders blank pages and says nothing.
MOST_BYTES = 2**32 - 1
# PDFium keeps the stored bytes of every picture that it has shown until the file is closed:
# 900 scans took 500 MB, reopened every 50 pages 190 MB.
_PAGES_PER_OPENING = 50
# Of the annotations only these show nothing of their own.
_UNSEEN_ANNOTATIONS = ("FPDF_ANNOT_LINK", "FPDF_ANNOT_POPUP")


_WHITE = (255, 255, 255)


class SecondRenderer:
    """One PDF, opened when it is first needed and reopened from time to time."""

    def __init__(self, path: Path, password: str | None) -> None:
        """Remember the file; nothing is opened yet.

        Args:
            path: The file.
            password: User or owner password, where it needs one.
        """
        self._path = path
        self._password = password
        self._document: Any = None
        self._pages_left = 0
        self._page_index = -1

    @property
    def can_open(self) -> bool:
        """Whether the file is small enough for PDFium."""
        return self._path.stat().st_size <= MOST_BYTES

    def render(self, page_index: int, zoom: float) -> RgbPixels:
        """Render a page upright, cut to its crop box, on white.

        Args:
            page_index: 0-based.
            zoom: Pixels per point; the caller keeps it within the pixel budget.

        Returns:
            Pixels, uint8 RGB (H, W, 3).

        Raises:
            PageError: PDFium cannot open the file or render the page, or the page shows form fields
                or annotations: PDFium draws them in its own way or not at all.
        """
        import pypdfium2

        try:
            return self._render(page_index, zoom)
        except (pypdfium2.PdfiumError, IndexError, ValueError, OSError) as error:
            self.close()
            raise PageError(f"cannot be rendered by PDFium: {error}") from error

    def close(self) -> None:
        """Close the file."""
        if self._document is not None:
            self._document.close()
            self._document = None

    def _render(self, page_index: int, zoom: float) -> RgbPixels:
        page = self._open_for(page_index)[page_index]
        try:
            if _shows_annotations(page):
                raise PageError("form fields and annotations are MuPDF's to draw")
            return _to_pixels(page, zoom, _WHITE)
        finally:
            page.close()

    def _open_for(self, page_index: int) -> Any:
        """Return the open document, fresh after so many pages."""
        import pypdfium2

        if page_index != self._page_index:
            self._page_index = page_index
            self._pages_left -= 1
        if self._document is None or self._pages_left < 0:
            self.close()
            self._document = pypdfium2.PdfDocument(self._path, password=self._password)
            self._pages_left = _PAGES_PER_OPENING
        return self._document


def render_alone(content: bytes, backdrop: tuple[int, int, int]) -> RgbPixels:
    """Render the first page of a PDF in memory, one pixel to the point.

    Args:
        content: The file's bytes.
        backdrop: Red, green and blue of the paper.

    Returns:
        Pixels, uint8 RGB (H, W, 3).

    Raises:
        PageError: PDFium cannot open or render it.
    """
    import pypdfium2

    try:
        with closing(pypdfium2.PdfDocument(content)) as document, closing(document[0]) as page:
            return _to_pixels(page, 1.0, backdrop)
    except (pypdfium2.PdfiumError, ValueError, OSError) as error:
        raise PageError(f"cannot be rendered by PDFium: {error}") from error


def _to_pixels(page: Any, zoom: float, backdrop: tuple[int, int, int]) -> RgbPixels:
    """Render a page of a document that stays open meanwhile."""
    paper = (*backdrop, 255)
    bitmap = page.render(scale=zoom, rev_byteorder=True, prefer_bgrx=False, fill_color=paper)
    with closing(bitmap):
        # A copy: the bitmap's memory goes with it.
        return np.array(bitmap.to_numpy()[:, :, :3])


def _shows_annotations(page: Any) -> bool:
    """Whether a page shows more than its content: form fields, notes, marks."""
    import pypdfium2.raw as pdfium

    unseen = {getattr(pdfium, name) for name in _UNSEEN_ANNOTATIONS}
    for number in range(pdfium.FPDFPage_GetAnnotCount(page)):
        annotation = pdfium.FPDFPage_GetAnnot(page, number)
        if not annotation:
            continue
        subtype = pdfium.FPDFAnnot_GetSubtype(annotation)
        pdfium.FPDFPage_CloseAnnot(annotation)
        if subtype not in unseen:
            return True
    return False
