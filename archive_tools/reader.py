"""PDF documents and their pages, EPUB and XPS too; the only door to PyMuPDF.

Pages come out upright (rotation applied), cut to their crop box, on white paper.
"""

# PyMuPDF ships no type information.
# mypy: disable-error-code="no-untyped-call"
import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pymupdf

from archive_tools.epub_dates import read_epub_date
from archive_tools.errors import (
    ANOTHER_PASSWORD,
    WRONG_PASSWORD,
    EncryptedPdfError,
    PageError,
    UnreadablePdfError,
)
from archive_tools.file_kinds import PACKED_BOOK_SUFFIXES
from archive_tools.page_damage import raise_for_damage, raise_for_missing_parts
from archive_tools.scan_finder import Scan, find_scan, shows_device_colours_plainly
from archive_tools.schema import DocumentDetails

RgbPixels = npt.NDArray[np.uint8]
Pixels = npt.NDArray[np.uint8]

REFERENCE_ZOOM = 2.0
"""PDF units are 72 to the inch, so this is 144 dpi, the article's resolution."""

PIXEL_BUDGET = 36_000_000
"""Most pixels in one render: an A0 sheet at 144 dpi fits, and it takes 108 MB as RGB.

Page boxes lie: one page around a 2550 x 3300 scan asks for 36,000 x 72,000 pixels at 144 dpi.
"""

_LONGEST_SIDE_PT = 100_000.0
"""35 metres. Nobody scans that: a page that says so is damaged or hostile."""

_UI_LAYER_OFF = 2

# A caption lies within a line or two of its picture.
_NEAR_SHARE = 0.04
_MOST_TEXT_CHARACTERS = 1_000
# What draws a page of pictures alone.
_PICTURES_ONLY = {"fill-image", "ignore-text"}
_PLAIN_SPACES = ("DeviceGray", "DeviceRGB")

_LIBRARY_ERRORS = (RuntimeError, ValueError, pymupdf.mupdf.FzErrorBase)

pymupdf.TOOLS.mupdf_display_errors(False)
pymupdf.TOOLS.mupdf_display_warnings(False)


@dataclass(frozen=True, slots=True)
class PdfPage:
    """One page of an open document; valid until the document is closed.

    Attributes:
        index: 0-based page index.
        width_pt: Width of the upright page in points.
        height_pt: Height of the upright page in points.
    """

    _page: Any
    index: int
    width_pt: float
    height_pt: float

    @property
    def reference_size(self) -> tuple[int, int]:
        """Width and height in pixels that the page has at 144 dpi, whatever the budget."""
        area = (self._page.rect * pymupdf.Matrix(REFERENCE_ZOOM, REFERENCE_ZOOM)).irect
        return area.width, area.height

    @property
    def picture_codecs(self) -> tuple[str, ...]:
        """Filters of the pictures that the page may draw, such as `JPXDecode`."""
        with _page_errors("cannot be read"):
            return tuple(picture[8] for picture in self._page.get_images(full=True))

    @property
    def finest_zoom(self) -> float:
        """Pixels per point of its finest picture; infinite where it shows more than pictures.

        A finer render of pictures alone only enlarges them. Invisible text (OCR) does not count.
        """
        if not self.picture_codecs:
            return math.inf
        with _page_errors("cannot be read"):
            shown = {kind for kind, *_ in self._page.get_bboxlog()}
            pictures = self._page.get_image_info() if shown <= _PICTURES_ONLY else []
        return max(map(_pixels_per_point, pictures), default=math.inf)

    def read_text(self, box: tuple[float, float, float, float]) -> str:
        """Return the text of the page's text layer in a part of it and close by.

        Args:
            box: The part, x0, y0, x1, y1 as shares of the upright page, 0 to 1.

        Returns:
            The text as it stands there, cut off where it is long; empty where there is none.
        """
        near = _NEAR_SHARE
        clip = pymupdf.Rect(
            (box[0] - near) * self.width_pt,
            (box[1] - near) * self.height_pt,
            (box[2] + near) * self.width_pt,
            (box[3] + near) * self.height_pt,
        )
        # Text lies in the page's own space, before its rotation.
        text = self._page.get_text("text", clip=clip * self._page.derotation_matrix)
        return str(text)[:_MOST_TEXT_CHARACTERS]

    def find_scan(self) -> Scan | None:
        """Return the one picture that the page consists of, where that is proven."""
        with _page_errors("cannot be read"):
            box, matrix = pymupdf.mupdf.FzRect(), pymupdf.mupdf.FzMatrix()
            page = pymupdf.mupdf.pdf_page_from_fz_page(self._page.this)
            pymupdf.mupdf.pdf_page_transform(page, box, matrix)
            page_matrix = (matrix.a, matrix.b, matrix.c, matrix.d, matrix.e, matrix.f)
            return find_scan(self._page.parent, self._page, page_matrix)

    def read_stored(self, xref: int) -> bytes:
        """Return a stream's bytes as they are stored (decrypted, not decoded)."""
        with _page_errors("its picture cannot be read"):
            return bytes(self._page.parent.xref_stream_raw(xref) or b"")

    def decode_picture(self, xref: int) -> Pixels | None:
        """Decode a picture of the page at its full size, in grey or RGB.

        Args:
            xref: Its object number.

        Returns:
            Pixels, uint8 (H, W) or RGB (H, W, 3); None where it has transparency or is damaged.
        """
        pymupdf.TOOLS.reset_mupdf_warnings()
        try:
            pixmap = pymupdf.Pixmap(self._page.parent, xref)
            if pixmap.colorspace is None or pixmap.alpha:
                return None
            if pixmap.n not in (1, 3) or pixmap.colorspace.name not in _PLAIN_SPACES:
                pixmap = pymupdf.Pixmap(pymupdf.csRGB, pixmap)
        except _LIBRARY_ERRORS:
            return None
        if pymupdf.TOOLS.mupdf_warnings():
            return None
        pixels = _to_array(pixmap)
        return pixels[:, :, 0] if pixmap.n == 1 else pixels

    def render(self, zoom: float) -> RgbPixels:
        """Render the page, coarser than asked where it would exceed `PIXEL_BUDGET`.

        Args:
            zoom: Pixels per point.

        Returns:
            Pixels, uint8 RGB (H, W, 3).

        Raises:
            PageError: The page is damaged, or MuPDF cannot render it.
        """
        zoom = limit_zoom(zoom, self.width_pt, self.height_pt)
        pymupdf.TOOLS.reset_mupdf_warnings()
        with _page_errors("cannot be rendered"):
            pixmap = self._page.get_pixmap(matrix=pymupdf.Matrix(zoom, zoom), alpha=False)
        # A copy: `samples_mv` dangles as soon as the pixmap is freed.
        pixels = _to_array(pixmap)
        raise_for_damage(pymupdf.TOOLS.mupdf_warnings(), pixels)
        return pixels


class PdfDocument:
    """An open document that has at least one page."""

    def __init__(self, document: pymupdf.Document) -> None:
        """Take over an open document.

        Args:
            document: A PDF that is not locked any more.
        """
        self._document = document

    @property
    def page_count(self) -> int:
        """Number of pages, at least 1."""
        return int(self._document.page_count)

    @property
    def is_pdf(self) -> bool:
        """Whether it is a PDF; an EPUB or XPS can only be rendered."""
        return bool(self._document.is_pdf)

    @property
    def is_intact(self) -> bool:
        """Whether the file was read as it is, without any repair."""
        return not self._document.is_repaired

    @property
    def has_layers(self) -> bool:
        """Whether parts of the pages can be switched on and off."""
        return bool(self._layers or self._document.get_ocgs())

    @property
    def _layers(self) -> list[dict[str, Any]]:
        return self._document.layer_ui_configs() if self.is_pdf else []

    @cached_property
    def shows_device_colours_plainly(self) -> bool:
        """Whether no output intent recolours grey and RGB pictures."""
        return shows_device_colours_plainly(self._document)

    @property
    def details(self) -> DocumentDetails:
        """The document's own metadata."""
        stated = self._document.metadata or {}
        return DocumentDetails(
            title=stated.get("title") or "",
            author=stated.get("author") or "",
            created=stated.get("creationDate") or self._epub_date,
            producer=stated.get("producer") or "",
            layers=tuple(sorted({layer["text"] for layer in self._layers})),
        )

    @property
    def _epub_date(self) -> str:
        is_epub = (self._document.metadata or {}).get("format") == "EPUB"
        return read_epub_date(Path(self._document.name)) if is_epub else ""

    def hide_layers(self, names: tuple[str, ...]) -> None:
        """Switch layers off; names that this document does not have are ignored."""
        for layer in self._layers:
            if layer["text"] in names:
                self._document.set_layer_ui_config(layer["number"], _UI_LAYER_OFF)

    @contextmanager
    def open_page(self, page_index: int) -> Iterator[PdfPage]:
        """Open one page, and empty MuPDF's store after it.

        Args:
            page_index: 0-based.

        Raises:
            PageError: The page does not exist, is damaged or has no area.
        """
        with _page_errors("cannot be read"):
            page = self._document[page_index]
        try:
            with _page_errors("the file is damaged (truncated?)"):
                if not self.is_intact:
                    raise_for_missing_parts(self._document, page)
                measured = _measure(page)
            yield measured
        finally:
            del page
            # Without this the store keeps decoded pictures of earlier pages, up to 256 MB.
            pymupdf.TOOLS.store_shrink(100)

    def close(self) -> None:
        """Close the file."""
        self._document.close()


@contextmanager
def open_document(
    path: Path, password: str | None = None, hide_layers: tuple[str, ...] = ()
) -> Iterator[PdfDocument]:
    """Open a PDF, or a file named as an EPUB or XPS.

    Args:
        path: The file.
        password: User or owner password, where it needs one.
        hide_layers: Names of optional-content layers that are switched off.

    Raises:
        EncryptedPdfError: It needs a password, or the given one is wrong.
        UnreadablePdfError: It is no PDF, is damaged beyond repair, or has no pages.
    """
    document = _open(path)
    try:
        _unlock(document, path.name, password)
        if _count_pages(document, path.name) == 0:
            raise UnreadablePdfError(
                f"{path.name} has no pages. Open it in a viewer to check; if pages are "
                "visible there, print it to a new PDF."
            )
        opened = PdfDocument(document)
        opened.hide_layers(hide_layers)
        yield opened
    finally:
        document.close()


def probe(
    path: Path, password: str | None = None, hide_layers: tuple[str, ...] = ()
) -> tuple[int, DocumentDetails]:
    """Return the number of pages and the document's own metadata, without rendering.

    Args:
        path: The file.
        password: User or owner password, where it needs one.
        hide_layers: Names of optional-content layers that will be switched off.

    Raises:
        EncryptedPdfError: It needs a password, or the given one is wrong.
        UnreadablePdfError: It is no PDF, is damaged beyond repair, or has no pages.
    """
    with open_document(path, password, hide_layers) as document:
        return document.page_count, document.details


@contextmanager
def _page_errors(failure: str) -> Iterator[None]:
    """Turn what MuPDF raises of a page into an error that says what failed."""
    try:
        yield
    except (IndexError, *_LIBRARY_ERRORS) as error:
        raise PageError(f"{failure}: {error}") from error


def limit_zoom(zoom: float, width_pt: float, height_pt: float) -> float:
    """Lower a zoom until the render fits into `PIXEL_BUDGET`."""
    return min(zoom, math.sqrt(PIXEL_BUDGET / (width_pt * height_pt)))


def _open(path: Path) -> pymupdf.Document:
    """Open a file and make sure that it is a document and not, say, a web page."""
    try:
        document = pymupdf.open(path)
    except pymupdf.EmptyFileError as error:
        raise UnreadablePdfError(
            f"{path.name} is empty (0 bytes). Copy or upload it again."
        ) from error
    except _LIBRARY_ERRORS as error:
        raise UnreadablePdfError(
            f"{path.name} is not a PDF, an image or another book that is read here, or is damaged "
            "beyond repair. Check that it opens in a viewer, and copy or upload it again."
        ) from error
    if document.is_pdf or path.suffix.lower() in PACKED_BOOK_SUFFIXES:
        return document
    document.close()
    raise UnreadablePdfError(
        f"{path.name} is not a PDF, an image or another book that is read here, whatever its name "
        "says. Convert it to PDF first."
    )


def _unlock(document: pymupdf.Document, name: str, password: str | None) -> None:
    """Authenticate where the document asks for it."""
    if not document.needs_pass:
        return
    if password is None:
        raise EncryptedPdfError(
            f"{name} is encrypted. Give its password (on the page under Options, on the command "
            "line with --password)."
        )
    if not document.authenticate(password):
        raise EncryptedPdfError(f"{name} {WRONG_PASSWORD}{ANOTHER_PASSWORD}")


def _count_pages(document: pymupdf.Document, name: str) -> int:
    """Return the number of pages."""
    try:
        return int(document.page_count)
    except _LIBRARY_ERRORS as error:
        raise UnreadablePdfError(
            f"{name} is damaged: its list of pages is broken. If it opens in a PDF viewer, print "
            "it to a new PDF; else copy or upload it again."
        ) from error


def _measure(page: pymupdf.Page) -> PdfPage:
    """Return the page with its size checked."""
    width_pt, height_pt = page.rect.width, page.rect.height
    if not (0 < width_pt < math.inf and 0 < height_pt < math.inf):
        raise PageError(f"the page has no area ({width_pt:g} x {height_pt:g} points)")
    if max(width_pt, height_pt) > _LONGEST_SIDE_PT:
        raise PageError(
            f"the page says that it is {width_pt / 72:,.0f} x {height_pt / 72:,.0f} inches large; "
            "print the file to a new PDF with a sensible page size"
        )
    return PdfPage(page, page.number, width_pt, height_pt)


def _pixels_per_point(picture: dict[str, Any]) -> float:
    """Return how finely a page shows a picture, in the direction where it is finer."""
    a, b, c, d, *_ = picture["transform"]
    across, down = math.hypot(a, b), math.hypot(c, d)
    finest = max(picture["width"] / max(across, 1e-6), picture["height"] / max(down, 1e-6))
    return float(finest)


def _to_array(pixmap: pymupdf.Pixmap) -> RgbPixels:
    """Copy a pixmap's samples into an array of their own."""
    samples = np.frombuffer(pixmap.samples, dtype=np.uint8)
    rows = samples.reshape(pixmap.height, pixmap.stride)[:, : pixmap.width * pixmap.n]
    return rows.reshape(pixmap.height, pixmap.width, pixmap.n)
