"""Opens whatever is a document, by what it holds: a PDF, images, or a book that MuPDF lays out."""

import hashlib
import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Protocol

from archive_tools import page_filter
from archive_tools.config import DatasetConfig
from archive_tools.errors import UnreadablePdfError
from archive_tools.file_kinds import (
    COMIC_SUFFIX,
    HEAD_BYTES,
    PACKED_BOOK_SUFFIXES,
    FileKind,
    recognise,
)
from archive_tools.image_store import FileStore, ImageStore, ZipStore, open_folder
from archive_tools.page_views import PageView, RenderedView
from archive_tools.reader import PdfDocument, PdfPage, open_document, probe
from archive_tools.schema import DocumentDetails
from archive_tools.second_renderer import SecondRenderer
from archive_tools.view_chooser import ViewChooser

_CHUNK_BYTES = 2**20


class OpenPage(Protocol):
    """One page of an open document; valid until the document is closed or moves on."""

    @property
    def width_pt(self) -> float:
        """Width of the upright page in points."""

    @property
    def height_pt(self) -> float:
        """Height of the upright page in points."""

    @property
    def reference_size(self) -> tuple[int, int]:
        """Width and height in pixels that the page has at 144 dpi."""

    def read_text(self, box: tuple[float, float, float, float]) -> str:
        """Return the text of the text layer in a part of the page, in shares of it, 0 to 1."""

    def choose_view(self, zoom: float) -> PageView:
        """Return the way to look at the page that serves so many pixels per point."""


class OpenDocument(Protocol):
    """A document of any kind."""

    @property
    def page_count(self) -> int:
        """Number of pages, at least 1."""

    def open_page(self, page_index: int) -> AbstractContextManager[OpenPage]:
        """Open one page by its 0-based index.

        Raises:
            PageError: It cannot be read.
        """


@dataclass(frozen=True, slots=True)
class _PageOfPdf:
    """A page of a PDF with what chooses its views."""

    _page: PdfPage
    _chooser: ViewChooser | None

    @property
    def width_pt(self) -> float:
        return self._page.width_pt

    @property
    def height_pt(self) -> float:
        return self._page.height_pt

    @property
    def reference_size(self) -> tuple[int, int]:
        return self._page.reference_size

    def read_text(self, box: tuple[float, float, float, float]) -> str:
        return self._page.read_text(box)

    def choose_view(self, zoom: float) -> PageView:
        if self._chooser is None:
            return RenderedView(self._page)
        return self._chooser.choose(self._page, zoom)


class _RenderedDocument:
    """A document that MuPDF renders; a chooser finds cheaper ways where it is a PDF."""

    def __init__(self, document: PdfDocument, chooser: ViewChooser | None) -> None:
        self._document = document
        self._chooser = chooser

    @property
    def page_count(self) -> int:
        return self._document.page_count

    @contextmanager
    def open_page(self, page_index: int) -> Iterator[OpenPage]:
        with self._document.open_page(page_index) as page:
            yield _PageOfPdf(page, self._chooser)


@contextmanager
def open_any_document(
    path: Path, config: DatasetConfig, check_limit_s: float
) -> Iterator[OpenDocument]:
    """Open a document for its pages.

    Args:
        path: A file, or a folder of images.
        config: Password and layers; the threshold up to which pages are dropped at a glance.
        check_limit_s: Seconds for each check of a PDF on pages other than the one at hand.

    Raises:
        SourceError: It cannot be opened.
    """
    store = _open_images(path)
    if store is not None:
        with _open_image_document(store) as images:
            yield images
        return
    with open_document(path, config.password, config.hide_layers) as document:
        if not document.is_pdf:
            yield _RenderedDocument(document, None)
            return
        with closing(SecondRenderer(path, config.password)) as renderer:
            yield _RenderedDocument(
                document, _make_chooser(path, config, document, renderer, check_limit_s)
            )


def probe_document(path: Path, config: DatasetConfig) -> tuple[int, DocumentDetails]:
    """Return number of pages and the document's own metadata, without rendering.

    Args:
        path: A file, or a folder of images.
        config: Password and layers.

    Raises:
        SourceError: It cannot be opened.
        OSError: It cannot be read.
    """
    store = _open_images(path)
    if store is None:
        return probe(path, config.password, config.hide_layers)
    with _open_image_document(store) as images:
        return images.page_count, DocumentDetails()


def hash_document(path: Path) -> str:
    """Return the SHA-256 of a document's bytes in hex.

    Args:
        path: A file, or a folder of images.

    Raises:
        SourceError: The folder holds no image (any more).
        OSError: It cannot be read.
    """
    if path.is_dir():
        return _hash_folder(path, open_folder(path).names)
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def _open_chooser(path: Path, config: DatasetConfig, check_limit_s: float) -> Iterator[ViewChooser]:
    """Open a PDF once more in both renderers."""
    with (
        open_document(path, config.password, config.hide_layers) as document,
        closing(SecondRenderer(path, config.password)) as renderer,
    ):
        yield _make_chooser(path, config, document, renderer, check_limit_s)


def _make_chooser(
    path: Path,
    config: DatasetConfig,
    document: PdfDocument,
    renderer: SecondRenderer,
    check_limit_s: float,
) -> ViewChooser:
    return ViewChooser(
        document,
        renderer,
        page_filter.least_sigma(config.filter, config.min_sigma),
        reopen=partial(_open_chooser, path, config, check_limit_s),
        check_limit_s=check_limit_s,
    )


def _open_images(path: Path) -> ImageStore | None:
    """Return the images that a document consists of; None where it is for MuPDF to open.

    Content counts, not the name: many a scanner's `.pdf` is a JPEG.
    """
    if path.is_dir():
        return open_folder(path)
    kind = recognise(_read_head(path))
    if kind is FileKind.IMAGE:
        return FileStore(path.parent, (path.name,))
    if kind is not FileKind.ZIP or path.suffix.lower() in PACKED_BOOK_SUFFIXES:
        return None
    if path.suffix.lower() == COMIC_SUFFIX:
        return ZipStore(path)
    raise UnreadablePdfError(
        f"{path.name} is a ZIP file, whatever its name says. Let its name end in .zip, or in .cbz "
        "if it is a book of images."
    )


@contextmanager
def _open_image_document(store: ImageStore) -> Iterator[OpenDocument]:
    # Here, since a worker that meets no image starts faster without Pillow.
    from archive_tools.image_document import ImageDocument

    with closing(ImageDocument(store)) as images:
        yield images


def _read_head(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(HEAD_BYTES)
    except OSError:
        return b""  # what opens it next says why


def _hash_folder(folder: Path, names: tuple[str, ...]) -> str:
    """Return one digest of the names, sizes and bytes of all images of a folder."""
    digest = hashlib.sha256()
    for name in names:
        digest.update(f"{name}\0".encode(errors="surrogateescape"))
        # One that cannot be read costs itself: its page fails later.
        with suppress(OSError), (folder / name).open("rb") as file:
            digest.update(f"{os.fstat(file.fileno()).st_size}\0".encode())
            while chunk := file.read(_CHUNK_BYTES):
                digest.update(chunk)
    return digest.hexdigest()
