"""Lays out one page of each kind and scans it."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from examples.magazine_drawing import layouts
from examples.magazine_drawing.paper import age, draw_ageing, press, scan, skew_matrix
from examples.magazine_drawing.sheet import Box, Sheet

# One page in inches, width and height; a spread is two pages wide.
PAGE_SIZE_IN = (8.0, 11.0)
_SHRINK_ON_GLASS = 0.985


class PageKind(StrEnum):
    """What a page holds."""

    COVER = "cover"
    BLANK = "blank"
    TEXT = "text"
    FASHION_PLATE = "fashion_plate"
    MIXED = "mixed"
    SPREAD = "spread"
    HALFTONE = "halftone"
    BUTTONS = "buttons"
    ADVERTISEMENTS = "advertisements"

    @property
    def is_illustrated(self) -> bool:
        """Whether a person would say that the page shows a picture."""
        return self not in (PageKind.BLANK, PageKind.TEXT)


@dataclass(frozen=True, slots=True)
class DrawnPage:
    """A scan and the truth about it.

    Attributes:
        pixels: uint8 RGB (H, W, 3).
        pictures: Box of each picture in pixels: x0, y0, x1, y1, half-open.
    """

    pixels: NDArray[np.uint8]
    pictures: tuple[Box, ...]


_LAYOUTS: dict[PageKind, Callable[[Sheet], None]] = {
    PageKind.COVER: layouts.lay_out_cover,
    PageKind.BLANK: layouts.lay_out_blank,
    PageKind.TEXT: layouts.lay_out_text,
    PageKind.FASHION_PLATE: layouts.lay_out_fashion_plate,
    PageKind.MIXED: layouts.lay_out_mixed,
    PageKind.SPREAD: layouts.lay_out_spread,
    PageKind.HALFTONE: layouts.lay_out_halftone,
    PageKind.BUTTONS: layouts.lay_out_buttons,
    PageKind.ADVERTISEMENTS: layouts.lay_out_advertisements,
}


def page_size_px(kind: PageKind, dpi: int) -> tuple[int, int]:
    """Width and height in pixels of a page at a resolution."""
    wide = 2 if kind is PageKind.SPREAD else 1
    return round(PAGE_SIZE_IN[0] * dpi) * wide, round(PAGE_SIZE_IN[1] * dpi)


def draw_page(
    kind: PageKind | str, seed: int = 0, size: tuple[int, int] | None = None
) -> NDArray[np.uint8]:
    """Draw the scan of one page.

    Args:
        kind: What it holds.
        seed: The same seed draws the same page.
        size: Width and height in pixels; by default the page at 150 dpi. The width decides the
            resolution, so keep the page's own shape (8 x 11 inches, a spread 16 x 11).

    Returns:
        The scan, uint8 RGB (H, W, 3).
    """
    return draw_labelled_page(kind, seed, size).pixels


def draw_labelled_page(
    kind: PageKind | str, seed: int = 0, size: tuple[int, int] | None = None
) -> DrawnPage:
    """Draw the scan of one page and say where its pictures are; arguments as `draw_page`."""
    kind = PageKind(kind)
    rng = np.random.default_rng([seed, list(PageKind).index(kind)])
    width, height = size or page_size_px(kind, 150)
    sheet = _set_sheet(kind, (width, height), rng)
    back = _set_sheet(PageKind.TEXT, (width, height), rng)
    gutter = 0 if kind is PageKind.SPREAD else int(rng.choice([-1, 1]))
    ageing = draw_ageing(rng, gutter)
    ink = press(np.asarray(sheet.ink), np.asarray(sheet.dots), sheet.dpi, rng)
    ghost = np.asarray(np.asarray(back.ink) / 255, np.float32)
    pixels = scan(age(ink, ghost, ageing, sheet.dpi, rng), ageing, sheet.dpi, rng)
    matrix = skew_matrix((width, height), ageing.skew_deg, _SHRINK_ON_GLASS)
    return DrawnPage(pixels, tuple(_moved(box, matrix) for box in sheet.pictures))


def _set_sheet(kind: PageKind, size: tuple[int, int], rng: np.random.Generator) -> Sheet:
    """Lay out one page of a kind on a clean sheet."""
    width_in = PAGE_SIZE_IN[0] * (2 if kind is PageKind.SPREAD else 1)
    sheet = Sheet(size, size[0] / width_in, rng)
    _LAYOUTS[kind](sheet)
    return sheet


def _moved(box: Box, matrix: NDArray[np.float32]) -> Box:
    """The upright box around a box that was turned with its sheet."""
    x0, y0, x1, y1 = box
    corners = np.array([(x0, y0, 1), (x1, y0, 1), (x1, y1, 1), (x0, y1, 1)], np.float32)
    moved = corners @ matrix.T
    low, high = np.floor(moved.min(0)), np.ceil(moved.max(0))
    return int(low[0]), int(low[1]), int(high[0]), int(high[1])
