"""Faint line drawings: pencil and pen strokes that no ink threshold separates from the paper.

Paper grain is as dark as a pencil line, but it is not long. The mean along a short line, over
many directions, makes strokes stand out; to count, a stroke must be darker than the paper on
both of its sides, so that shadows and sheet edges do not.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import cv2
import numpy as np
import numpy.typing as npt
from cv2.typing import MatLike

from archive_tools.illustrations.boxes import PixelBox
from archive_tools.illustrations.marks import find_marks
from archive_tools.illustrations.paper import InkPage
from archive_tools.illustrations.pixels import Mask, middle_of, rectangle, shrink

Floats = npt.NDArray[np.float32]

STROKE_PIXELS = 200_000
LINE_PX = 13
SIDE_PX = 3
DIRECTIONS = 8
# Stroke contrast, relative to the paper: above the grain, and above what JPEG rounding leaves.
GRAIN_FACTOR = 2.5
LEAST_CONTRAST = 0.008
# How dark, from 0 to 1, marks are that are print and no pencil.
FAINTEST_PRINT = 0.2
# A drawing has at least this much stroke: stroke pixels over the page's width plus height.
LEAST_STROKE_LENGTH = 6.0
# So many letters in lines are text.
FEWEST_GHOST_LETTERS = 40


@dataclass(frozen=True, slots=True)
class Drawing:
    """A faint drawing.

    Attributes:
        box: Box round all its strokes in working pixels.
        stroke_length: Stroke pixels over the page's width plus height, at the strokes' own size.
    """

    box: PixelBox
    stroke_length: float


def find_drawing(page: InkPage) -> Drawing | None:
    """Find the strokes of a faint drawing on a page without text.

    Returns:
        The drawing; None where there are too few strokes for one, where marks are too strong for
        a pencil's, and where they are text that shines through.
    """
    # First, since blank pages have none, and strong marks are rarer.
    drawing = _find_strokes(page)
    if drawing is None:
        return None
    ink, level = _faint_ink(page)
    return None if level > FAINTEST_PRINT or _is_text(ink) else drawing


def _find_strokes(page: InkPage) -> Drawing | None:
    grey, scale = shrink(page.grey, STROKE_PIXELS)
    strokes = _stroke_mask(grey)
    _leave_margins_out(strokes, page.frame)
    least_pixels = LEAST_STROKE_LENGTH * sum(grey.shape)
    if cv2.countNonZero(strokes) < least_pixels:
        return None
    _, labels, stats, _ = cv2.connectedComponentsWithStats(strokes, connectivity=8)
    chosen = stats[1:][_is_stroke(labels, stats)[1:]]
    pixels = float(chosen[:, cv2.CC_STAT_AREA].sum())
    if pixels < least_pixels:
        return None
    x0, y0 = chosen[:, :2].min(axis=0)
    x1, y1 = (chosen[:, :2] + chosen[:, 2:4]).max(axis=0)
    height, width = page.grey.shape
    box = (
        int(x0 / scale),
        int(y0 / scale),
        min(width, round(x1 / scale)),
        min(height, round(y1 / scale)),
    )
    return Drawing(box, pixels / sum(grey.shape))


def _is_text(ink: Mask) -> bool:
    """Whether marks stand in lines: faint ones are text that shines through."""
    return int(find_marks(ink, keep_rules=True).in_line.sum()) >= FEWEST_GHOST_LETTERS


def _faint_ink(page: InkPage) -> tuple[Mask, float]:
    """All that stands out against the grain, and how dark it typically is (0 to 1)."""
    smooth = cv2.GaussianBlur(page.grey, (0, 0), 1.0)
    height, width = smooth.shape
    small = cv2.resize(
        smooth, (max(8, width // 8), max(8, height // 8)), interpolation=cv2.INTER_AREA
    )
    paper = cv2.GaussianBlur(cv2.medianBlur(small, 11), (0, 0), 2)
    paper = np.maximum(cv2.resize(paper, (width, height)), 1)
    darkness = np.divide(smooth, paper, dtype=np.float32)
    np.subtract(1, darkness, out=darkness)
    sample = np.ascontiguousarray(darkness[::2, ::2])
    middle = middle_of(sample)
    grain = 1.4826 * middle_of(np.abs(sample - middle))
    is_ink = darkness > middle + max(3.5 * grain, 0.02)
    if page.frame is not None:
        is_ink &= cv2.dilate(page.frame, rectangle(25, 25)) == 0
    level = middle_of(darkness[is_ink]) if is_ink.any() else 0.0
    return is_ink.view(np.uint8), level


@dataclass(frozen=True, slots=True)
class Direction:
    """One way that a stroke may run.

    Attributes:
        places: Row and column, from the top left, of each pixel of a line in a square of LINE_PX;
            (n, 2).
        dx: Step to its side, to the right.
        dy: Step to its side, down.
    """

    places: npt.NDArray[np.intp]
    dx: int
    dy: int


@cache
def _directions() -> tuple[Direction, ...]:
    bank = []
    middle = LINE_PX // 2
    for angle in np.pi * np.arange(DIRECTIONS) / DIRECTIONS:
        square = np.zeros((LINE_PX, LINE_PX), np.uint8)
        dx, dy = round(np.cos(angle) * middle), round(np.sin(angle) * middle)
        cv2.line(square, (middle - dx, middle - dy), (middle + dx, middle + dy), 1, 1)
        across, down = round(-np.sin(angle) * SIDE_PX), round(np.cos(angle) * SIDE_PX)
        bank.append(Direction(np.argwhere(square), across, down))
    return tuple(bank)


def line_means(image: Floats) -> Iterator[tuple[Direction, Floats]]:
    """Yield for each direction the mean of the line through each pixel.

    Args:
        image: Pixels, float32 (H, W).
    """
    middle = LINE_PX // 2
    for direction in _directions():
        # Cut close round the line: OpenCV goes over a small kernel's ones alone, and over a large
        # one's spectrum.
        top, left = direction.places.min(axis=0)
        kernel = np.zeros(direction.places.max(axis=0) + 1 - (top, left), np.float32)
        kernel[tuple((direction.places - (top, left)).T)] = 1
        anchor = (int(middle - left), int(middle - top))
        total = cv2.filter2D(
            image, cv2.CV_32F, kernel, anchor=anchor, borderType=cv2.BORDER_REFLECT_101
        )
        yield direction, np.asarray(total / len(direction.places), np.float32)


def _stroke_mask(grey: MatLike) -> Mask:
    paper = grey.astype(np.float32)
    relative = np.asarray(paper / np.maximum(cv2.blur(paper, (31, 31)), 20), np.float32)
    best = np.full(grey.shape, -1, np.float32)
    grain = []
    for direction, line in line_means(relative):
        one_side, other_side = _both_sides(line, direction)
        cv2.max(best, cv2.subtract(cv2.min(one_side, other_side), line), best)
        grain.append(middle_of(np.abs(one_side[::3, ::3] - line[::3, ::3])))
    sigma = 1.4826 * float(np.median(grain))
    return (best > max(GRAIN_FACTOR * sigma, LEAST_CONTRAST)).view(np.uint8)


def _both_sides(line: MatLike, direction: Direction) -> tuple[MatLike, MatLike]:
    """What lies beside each pixel, one step to either side; beyond an edge the page goes round."""
    height, width = line.shape
    wide = cv2.copyMakeBorder(line, SIDE_PX, SIDE_PX, SIDE_PX, SIDE_PX, cv2.BORDER_WRAP)

    def moved(down: int, across: int) -> MatLike:
        top, left = SIDE_PX - down, SIDE_PX - across
        return wide[top : top + height, left : left + width]

    return moved(direction.dy, direction.dx), moved(-direction.dy, -direction.dx)


def _leave_margins_out(strokes: Mask, frame: Mask | None) -> None:
    height, width = strokes.shape
    margin_y, margin_x = int(0.06 * height), int(0.06 * width)
    strokes[:margin_y] = strokes[height - margin_y :] = 0
    strokes[:, :margin_x] = strokes[:, width - margin_x :] = 0
    if frame is not None:
        grown = cv2.dilate(frame, rectangle(41, 41))
        strokes[cv2.resize(grown, (width, height), interpolation=cv2.INTER_NEAREST) > 0] = 0


def _is_stroke(labels: MatLike, stats: MatLike) -> npt.NDArray[np.bool_]:
    """Long enough for a stroke, and not the sheet's edge: that keeps to the page's outer parts."""
    height, width = labels.shape
    long_side = np.maximum(stats[:, cv2.CC_STAT_WIDTH], stats[:, cv2.CC_STAT_HEIGHT])
    inner = labels[height * 3 // 20 : height * 17 // 20, width * 3 // 20 : width * 17 // 20]
    inside = np.bincount(inner.ravel(), minlength=len(stats))
    mostly_outside = inside < 0.1 * stats[:, cv2.CC_STAT_AREA]
    strokes: npt.NDArray[np.bool_] = (long_side > 0.035 * max(height, width)) & ~mostly_outside
    return strokes
