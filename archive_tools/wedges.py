"""Finds thin dark wedges that a scanner's frame leaves along a page that lay askew in it; pure.

`borders` cuts off whole dark lines. A frame that does not run along the edge has none, or leaves a
triangle behind; and once the page is turned, its corners are filled with paper.
"""

import numpy as np
import numpy.typing as npt

from archive_tools.borders import DARK, measure_paper

Pixels = npt.NDArray[np.uint8]
Mask = npt.NDArray[np.bool_]
Shares = tuple[float, float, float, float]

# Bounds on what is a wedge, as shares of the page. A picture at the edge is wider or shorter.
_WIDEST = 0.035
_LEAST_LENGTH = 0.1
# At both ends of an edge lies what the neighbouring edges have.
_ENDS = 0.04
# How far its side may be from straight, in pixels of the thumbnail: a picture's outline is farther.
_STRAIGHT_PX = 1.5
_STRAIGHT_SHARE = 0.95
# What is cut off beside a wedge must be bare: so light, as a share of the paper's grey level.
_BARE = 0.6
_BARE_SHARE = 0.99
# The line between frame and paper is blurred over a few pixels.
_MARGIN_PX = 2


def find_wedges(grey: Pixels, is_page: Mask) -> Shares:
    """Find how much must be cut off each side so that no wedge is left.

    Args:
        grey: Thumbnail of the page from `borders.shrink_to_grey`, perhaps turned; uint8 (H, W).
        is_page: Of the same shape; False where the page was turned away from its corner.

    Returns:
        Shares of the width and the height: left, top, right, bottom; 0 where there is no wedge.
    """
    paper = measure_paper(grey)
    if paper is None:
        return 0.0, 0.0, 0.0, 0.0
    turned, turned_page = grey.T, is_page.T
    return (
        _measure_wedge(turned, turned_page, paper),
        _measure_wedge(grey, is_page, paper),
        _measure_wedge(turned[::-1], turned_page[::-1], paper),
        _measure_wedge(grey[::-1], is_page[::-1], paper),
    )


def _measure_wedge(lines: Pixels, is_page: Mask, paper: float) -> float:
    """Return how much of the height a wedge reaches into, counted from the first line on."""
    count, length = lines.shape
    ends, widest = round(length * _ENDS), round(count * _WIDEST)
    strip, page = (layer[: widest + 1, ends : length - ends] for layer in (lines, is_page))
    is_frame = np.logical_and.accumulate((strip < paper * DARK) | ~page, axis=0)
    depth = is_frame.sum(axis=0)
    is_wedge: Mask = np.any(is_frame & page, axis=0)
    if is_wedge.size == 0 or is_wedge.mean() < _LEAST_LENGTH:
        return 0.0
    deepest = int(depth[is_wedge].max())
    side = _fit_side(depth, is_wedge)
    if deepest > widest or side is None:
        return 0.0
    cut = min(deepest + _MARGIN_PX, len(strip))
    # Beside its fitted side, so that print which touches the wedge counts as print.
    beside = np.arange(cut)[:, None] >= np.where(is_wedge, side, depth) + _MARGIN_PX
    is_bare = strip[:cut][beside & page[:cut]] >= paper * _BARE
    return cut / count if is_bare.size == 0 or is_bare.mean() >= _BARE_SHARE else 0.0


def _fit_side(depth: npt.NDArray[np.int_], is_wedge: Mask) -> npt.NDArray[np.float64] | None:
    """Return how deep the straight side of a wedge lies at each place; None where it is none."""
    places = np.flatnonzero(is_wedge)
    slope, start = np.polyfit(places, depth[places], 1)
    side: npt.NDArray[np.float64] = start + slope * np.arange(len(depth))
    is_near = np.abs(depth - side)[places] <= _STRAIGHT_PX
    return side if is_near.mean() >= _STRAIGHT_SHARE else None
