"""Documents whose pages are images: an image file, a folder of them, a comic-book ZIP."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from archive_tools import page_filter
from archive_tools.embedded_picture import count_halvings
from archive_tools.errors import LimitExceededError, PageError
from archive_tools.file_kinds import clean_name, is_tiff
from archive_tools.image_file import ImageFile, ImageHeader, Pixels, open_image, stretch
from archive_tools.image_store import ImageStore
from archive_tools.page_filter import GreyMemory, Look
from archive_tools.reader import PIXEL_BUDGET, REFERENCE_ZOOM
from archive_tools.tiff_pages import list_tiff_pages

POINTS_PER_INCH = 72
REFERENCE_DPI = 144
# Cameras and programs write 72 or 96 dpi where they know nothing.
_MOST_DPI = 4_800
_LEAST_SIDE_INCHES = 3.9
_MOST_SIDE_INCHES = 60.0
_A4_HEIGHT_INCHES = 11.69
_SQUARE_TOLERANCE = 0.02
_MOST_STRETCH = 4.0


@dataclass(frozen=True, slots=True)
class PagePlace:
    """Where a page is.

    Attributes:
        name: The image file.
        frame: 0-based number of the picture in it.
        failure: Why it cannot be a page; empty where nothing is known against it.
    """

    name: str
    frame: int = 0
    failure: str = ""


class ImagePage:
    """One image as a page; valid until its document moves on."""

    def __init__(self, index: int, image: ImageFile) -> None:
        """Take the size of the page from the image's header.

        Args:
            index: 0-based page index.
            image: The open image.
        """
        self.index = index
        self._image = image
        self._size, self._stored_size = _square_size(image.header)
        dpi = choose_dpi(image.header, self._size)
        self.width_pt = self._size[0] / dpi * POINTS_PER_INCH
        self.height_pt = self._size[1] / dpi * POINTS_PER_INCH

    @property
    def reference_size(self) -> tuple[int, int]:
        """Width and height in pixels that the page has at 144 dpi."""
        across = max(1, round(self.width_pt * REFERENCE_ZOOM))
        return across, max(1, round(self.height_pt * REFERENCE_ZOOM))

    @property
    def density(self) -> float:
        """Pixels per point, at least those of 144 dpi."""
        return self._size[0] / self.width_pt

    def read_text(self, box: tuple[float, float, float, float]) -> str:  # noqa: ARG002
        """Return nothing: an image has no text layer."""
        return ""

    def choose_view(self, zoom: float) -> "ImageView":
        """Return the view of the page.

        Args:
            zoom: Pixels per point that are needed.
        """
        return ImageView(self, zoom)

    def decode(self, zoom: float) -> Pixels:
        """Decode the image, halved as long as it stays as fine as asked.

        Args:
            zoom: Pixels per point that are needed.

        Returns:
            Pixels, uint8 RGB (H, W, 3) or grey (H, W), upright, within the pixel budget.
        """
        halvings = count_halvings(self.density, max(zoom, REFERENCE_ZOOM))
        width, height = self._size
        while (width >> halvings) * (height >> halvings) > PIXEL_BUDGET:
            halvings += 1
        pixels = self._image.decode(halvings)
        if self._size == self._stored_size:
            return pixels
        return stretch(pixels, (max(1, width >> halvings), max(1, height >> halvings)))


class ImageView:
    """The image that a page is, decoded once and no finer than needed."""

    def __init__(self, page: ImagePage, zoom: float) -> None:
        """Look at an image.

        Args:
            page: The open page.
            zoom: Pixels per point that are needed.
        """
        self._page = page
        self._zoom = zoom
        self._pixels: Pixels | None = None
        self.grey = GreyMemory()

    def iter_looks(self) -> Iterator[Look]:
        """Yield the one look: by definition what the same image in a PDF is estimated at."""
        grey = self._reference_grey()
        sigma = page_filter.estimate_look(grey, self._page.reference_size).sigma
        yield Look(sigma, sigma - 1e-9, sigma)

    def guess_sigma(self) -> float:
        """Return what the same image in a PDF is guessed at."""
        return page_filter.guess_sigma(self._reference_grey(), self._page.reference_size)

    def show(self, zoom: float) -> Pixels:
        """Return the image, as fine as asked where it has so many pixels."""
        if self._pixels is None or zoom > self._zoom:
            self._zoom = max(zoom, self._zoom)
            self._pixels = self._page.decode(self._zoom)
        return self._pixels

    def thumbnail(self) -> Pixels:
        """Return the decoded image."""
        return self.show(REFERENCE_ZOOM)

    def _reference_grey(self) -> Pixels:
        return self.grey.of(self.show(REFERENCE_ZOOM))


class ImageDocument:
    """Images as the pages of one document."""

    def __init__(self, store: ImageStore) -> None:
        """List the pages; of TIFF files alone more than the first bytes are read.

        Args:
            store: The images.
        """
        self._store = store
        self._places = tuple(_iter_places(store))

    @property
    def page_count(self) -> int:
        """Number of pages, at least 1."""
        return len(self._places)

    @contextmanager
    def open_page(self, page_index: int) -> Iterator[ImagePage]:
        """Open one page.

        Args:
            page_index: 0-based.

        Raises:
            PageError: The image is gone, damaged, too large, or no image at all.
        """
        if page_index >= len(self._places):
            raise PageError("its image has gone since the run began")
        place = self._places[page_index]
        if place.failure:
            raise PageError(f"{clean_name(place.name)}: {place.failure}")
        try:
            with self._store.open(place.name) as file, open_image(file, place.frame) as image:
                yield ImagePage(page_index, image)
        except PageError as error:
            raise PageError(f"{clean_name(place.name)}: {error}") from error

    def close(self) -> None:
        """Close the images."""
        self._store.close()


def choose_dpi(header: ImageHeader, size: tuple[int, int]) -> float:
    """Return the resolution that an image is taken to have, at least 144 dpi.

    What it states counts where that makes a page of 10 cm to 1.5 m. Otherwise it is taken for a
    page as tall as A4. Never less than 144 dpi: no image is judged enlarged.

    Args:
        header: What the image says.
        size: Its upright size with square pixels.
    """
    stated = max(header.dpi)
    longest = max(size)
    is_plausible = (
        REFERENCE_DPI <= stated <= _MOST_DPI
        and _LEAST_SIDE_INCHES <= longest / stated <= _MOST_SIDE_INCHES
    )
    return stated if is_plausible else max(REFERENCE_DPI, longest / _A4_HEIGHT_INCHES)


def _square_size(header: ImageHeader) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return an image's upright size as it should be seen, and as it is stored.

    Fax machines scan 204 dots an inch across and 98 or 196 down; others state the same both ways.
    """
    width, height = header.width, header.height
    across, down = header.dpi
    ratio = across / down if across and down else 1.0
    wide, tall = width, height
    if 1 + _SQUARE_TOLERANCE < ratio <= _MOST_STRETCH:
        tall = round(height * ratio)
    elif 1 / _MOST_STRETCH <= ratio < 1 - _SQUARE_TOLERANCE:
        wide = round(width / ratio)
    if header.orientation >= 5:
        return (tall, wide), (height, width)
    return (wide, tall), (width, height)


def _iter_places(store: ImageStore) -> Iterator[PagePlace]:
    """Find the pages; a file that cannot be listed is one page, which fails."""
    for name in store.names:
        try:
            frames = _list_frames(store, name)
        except (PageError, LimitExceededError) as error:
            yield PagePlace(name, failure=str(error))
            continue
        yield from (PagePlace(name, frame) for frame in frames)


def _list_frames(store: ImageStore, name: str) -> tuple[int, ...]:
    """Return the numbers of the pictures in a file; only TIFF files have several."""
    if not is_tiff(store.read_head(name)):
        return (0,)
    with store.open(name) as file:
        return list_tiff_pages(file)
