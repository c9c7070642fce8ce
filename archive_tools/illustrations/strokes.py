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
from archive_tools.illustrations.pixels import Mask, rectangle, shrink

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
        The drawing, None where there are too few strokes for one.
    """
    grey, scale = shrink(page.grey, STROKE_PIXELS)
    strokes = _stroke_mask(grey)
    _leave_margins_out(strokes, page.frame)
    _, labels, stats, _ = cv2.connectedComponentsWithStats(strokes, connectivity=8)
    chosen = stats[1:][_is_stroke(labels, stats)[1:]]
    length = float(chosen[:, cv2.CC_STAT_AREA].sum()) / sum(grey.shape)
    if length < LEAST_STROKE_LENGTH:
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
    return Drawing(box, length)


def has_strong_or_ghost_marks(page: InkPage) -> bool:
    """Strong marks are no faint drawing; faint marks in lines are text that shines through."""
    ink, level = _faint_ink(page)
    if level > FAINTEST_PRINT:
        return True
    return int(find_marks(ink, keep_rules=True).in_line.sum()) >= 40


def _faint_ink(page: InkPage) -> tuple[Mask, float]:
    """All that stands out against the grain, and how dark it typically is (0 to 1)."""
    smooth = cv2.GaussianBlur(page.grey, (0, 0), 1.0)
    height, width = smooth.shape
    small = cv2.resize(
        smooth, (max(8, width // 8), max(8, height // 8)), interpolation=cv2.INTER_AREA
    )
    paper = cv2.GaussianBlur(cv2.medianBlur(small, 11), (0, 0), 2)
    paper = np.maximum(cv2.resize(paper, (width, height)), 1)
    darkness = 1 - smooth.astype(np.float32) / paper
    sample = darkness[::2, ::2]
    middle = float(np.median(sample))
    grain = 1.4826 * float(np.median(np.abs(sample - middle)))
    ink = (darkness > middle + max(3.5 * grain, 0.02)).astype(np.uint8)
    if page.frame is not None:
        ink[cv2.dilate(page.frame, rectangle(25, 25)) > 0] = 0
    return ink, float(np.median(darkness[ink > 0])) if ink.any() else 0.0


@dataclass(frozen=True, slots=True)
class Direction:
    """One way that a stroke may run.

    Attributes:
        places: Row and column, from the top left, of each pixel of a line in a square of LINE_PX.
        dx: Step to its side, to the right.
        dy: Step to its side, down.
    """

    places: tuple[tuple[int, int], ...]
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
        places = tuple((row, column) for row, column in np.argwhere(square).tolist())
        across, down = round(-np.sin(angle) * SIDE_PX), round(np.cos(angle) * SIDE_PX)
        bank.append(Direction(places, across, down))
    return tuple(bank)


def line_means(image: Floats) -> Iterator[tuple[Direction, Floats]]:
    """Yield for each direction the mean of the line through each pixel.

    Args:
        image: Pixels, float32 (H, W).
    """
    height, width = image.shape
    edge = LINE_PX // 2
    wide = cv2.copyMakeBorder(image, edge, edge, edge, edge, cv2.BORDER_REFLECT_101)
    for direction in _directions():
        # Sums of shifted pages: a filter would multiply by the zeros beside the line as well.
        total = np.zeros_like(image)
        for row, column in direction.places:
            total += wide[row : row + height, column : column + width]
        total /= len(direction.places)
        yield direction, total


def _stroke_mask(grey: MatLike) -> Mask:
    paper = grey.astype(np.float32)
    relative = np.asarray(paper / np.maximum(cv2.blur(paper, (31, 31)), 20), np.float32)
    best = np.full(grey.shape, -1, np.float32)
    grain = []
    for direction, line in line_means(relative):
        dx, dy = direction.dx, direction.dy
        one_side = np.roll(line, (dy, dx), (0, 1)) - line
        other_side = np.roll(line, (-dy, -dx), (0, 1)) - line
        np.maximum(best, np.minimum(one_side, other_side), out=best)
        grain.append(float(np.median(np.abs(one_side[::3, ::3]))))
    sigma = 1.4826 * float(np.median(grain))
    return (best > max(GRAIN_FACTOR * sigma, LEAST_CONTRAST)).astype(np.uint8)


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
