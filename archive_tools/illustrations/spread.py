"""Two-page spreads: where the gutter is, and which part belongs to which page."""

from itertools import pairwise

import numpy as np

from archive_tools.illustrations.boxes import PixelBox, holds
from archive_tools.illustrations.lighting import MAP_STEP
from archive_tools.illustrations.marks import Flags, Marks
from archive_tools.illustrations.paper import InkPage

# Width over height of an open book.
SPREAD_SHAPES = (1.15, 2.2)
# The gutter lies in this part of the width; scans are off centre by up to a fifth.
GUTTER_ZONE = (0.3, 0.7)
# Free of print, in letters: the gap between two columns stays below the lower width, and below
# the upper one where no fold shows.
FOLDED_CORRIDOR_LETTERS = 6.5
PLAIN_CORRIDOR_LETTERS = 9.0
FOLD_DEPTH = 0.012
# Each page of a spread has at least this many letters, or a picture.
FEWEST_PAGE_LETTERS = 40
# Share of the page's letters that a free column may touch: stains and page numbers.
STRAY_SHARE = 0.003


def find_gutter(page: InkPage, marks: Marks, pictures: list[PixelBox]) -> int | None:
    """Find the gutter of a two-page spread.

    Args:
        page: The levelled page.
        marks: Its marks.
        pictures: Boxes of its pictures in working pixels.

    Returns:
        The gutter's x in working pixels; None for a single page, and where a picture crosses.
    """
    height, width = page.grey.shape
    if marks.turned or not SPREAD_SHAPES[0] <= width / height <= SPREAD_SHAPES[1]:
        return None
    corridor = _widest_corridor(_printed_columns(marks, pictures, width))
    if corridor is None:
        return None
    x, fold_depth = _fold(page, corridor)
    is_folded = fold_depth >= FOLD_DEPTH
    letters = FOLDED_CORRIDOR_LETTERS if is_folded else PLAIN_CORRIDOR_LETTERS
    is_wide = corridor[1] - corridor[0] >= letters * marks.letter_px
    return x if is_wide and _prints_on_both_sides(marks, pictures, x, width) else None


def _printed_columns(marks: Marks, pictures: list[PixelBox], width: int) -> Flags:
    """Which pixel columns hold print, of text lines or of pictures; (W,) of bool."""
    boxes = marks.boxes[marks.in_line].astype(int)
    steps = np.zeros(width + 1, np.int64)
    np.add.at(steps, np.clip(boxes[:, 0], 0, width), 1)
    np.add.at(steps, np.clip(boxes[:, 0] + boxes[:, 2], 0, width), -1)
    printed = np.cumsum(steps)[:width] > STRAY_SHARE * len(boxes)
    for x0, _, x1, _ in pictures:
        printed[x0:x1] = True
    return printed


def _widest_corridor(printed: Flags) -> tuple[int, int] | None:
    """The widest run of free columns in the gutter's zone that has print on both sides."""
    edges = np.flatnonzero(np.diff(printed.astype(np.int8))) + 1
    runs = [(start, end) for start, end in pairwise(edges.tolist()) if not printed[start]]
    low, high = (share * len(printed) for share in GUTTER_ZONE)
    inside = [run for run in runs if run[1] > low and run[0] < high]
    return max(inside, key=lambda run: run[1] - run[0], default=None)


def _fold(page: InkPage, corridor: tuple[int, int]) -> tuple[int, float]:
    """The darkest place in the middle of the corridor, and how much darker than beside it.

    Returns:
        x in working pixels, the corridor's middle where no fold shows; depth, 0 to 1.
    """
    start, end = corridor
    middle = (start + end) // 2
    columns = np.median(page.shade, axis=0)
    reach = max(1, round(0.2 * (end - start) / MAP_STEP))
    first = max(0, middle // MAP_STEP - reach)
    inner = columns[first : middle // MAP_STEP + reach + 1]
    beside = columns[max(0, start // MAP_STEP - 4) : end // MAP_STEP + 5]
    depth = 1.0 - float(inner.min()) / max(1.0, float(np.percentile(beside, 75)))
    if depth < FOLD_DEPTH:
        return middle, depth
    return (first + int(np.argmin(inner))) * MAP_STEP + MAP_STEP // 2, depth


def _prints_on_both_sides(marks: Marks, pictures: list[PixelBox], x: int, width: int) -> bool:
    height = marks.size[1]
    centre_x, centre_y = marks.centres()

    def is_printed(side: PixelBox) -> bool:
        letters = int((marks.in_line & holds(side, centre_x, centre_y)).sum())
        has_picture = any(side[0] <= box[0] and box[2] <= side[2] for box in pictures)
        return has_picture or letters >= FEWEST_PAGE_LETTERS

    return is_printed((0, 0, x, height)) and is_printed((x, 0, width, height))
