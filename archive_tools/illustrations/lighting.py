"""Scanner frame and light: what a page's bare paper looks like from place to place.

Both vary slowly, and are looked up on a map of 1/8 of the page's size.
"""

from functools import lru_cache

import cv2
import numpy as np
import numpy.typing as npt

from archive_tools.illustrations.boxes import PixelBox
from archive_tools.illustrations.pixels import Grey, Mask, level_below, odd, rectangle

# The map is this much smaller than the working-size page.
MAP_STEP = 8
# Grey from which on nothing is a frame.
LIGHTEST_FRAME = 110
# A row or column with so large a share of frame holds nothing of the page.
FRAME_LINE_SHARE = 0.9


def find_frame(page_map: Grey) -> Mask:
    """Find the dark border that a scanner leaves round a page.

    Args:
        page_map: The page at 1/8 size.

    Returns:
        1 on the frame, else 0. A frame is what is dark from a side inwards, along at least a
        quarter of that side and no deeper than a quarter of the page; a dark picture that fills
        the page is none.
    """
    dark = page_map < min(0.5 * level_below(page_map, 0.85), LIGHTEST_FRAME)
    frame = np.zeros(page_map.shape, bool)
    for turns in range(4):
        _mark_frame_on_left(np.rot90(dark, turns), np.rot90(frame, turns))
    if not frame.any():
        return frame.view(np.uint8)
    # A row all dark has no depth of its own: the corners belong to the sides that meet there.
    in_band = (frame.mean(axis=1) > 0.5)[:, None] | (frame.mean(axis=0) > 0.5)[None, :]
    frame |= dark & in_band
    if frame.mean() > 0.5:
        frame[:] = False
    return frame.astype(np.uint8)


def find_sheet(grey: Grey) -> PixelBox:
    """Find the part of a scan inside its frame, where the frame fills whole rows and columns.

    Args:
        grey: Working-size page (H, W), no negative.

    Returns:
        x0, y0, x1, y1 in pixels; the whole scan where there is no such frame.
    """
    height, width = grey.shape
    across, down = grey[:, ::MAP_STEP], grey[::MAP_STEP]
    ends = (across[:MAP_STEP], across[-MAP_STEP:], down[:, :MAP_STEP], down[:, -MAP_STEP:])
    if all(level_below(end, 0.5) >= LIGHTEST_FRAME for end in ends):
        return (0, 0, width, height)
    frame = find_frame(map_page(grey)[0])
    left, right = _bare_ends(frame.mean(axis=0))
    top, bottom = _bare_ends(frame.mean(axis=1))
    return (left, top, min(width, right), min(height, bottom))


def _bare_ends(shares: npt.NDArray[np.float64]) -> tuple[int, int]:
    """Where frame ends and begins again along a side, in pixels, its blurred edge included."""
    free = np.flatnonzero(shares < FRAME_LINE_SHARE)
    first, last = (int(free[0]), int(free[-1])) if len(free) else (0, len(shares) - 1)
    start = first + 1 if first > 0 else 0
    end = last if last < len(shares) - 1 else last + 1
    return start * MAP_STEP, end * MAP_STEP


def _mark_frame_on_left(dark: npt.NDArray[np.bool_], frame: npt.NDArray[np.bool_]) -> None:
    rows, columns = dark.shape
    if np.count_nonzero(dark[:, 0]) < 0.25 * rows:
        return
    depth = np.cumprod(dark, axis=1).sum(axis=1)
    present = depth[depth > 0]
    if np.median(present) > 0.25 * columns:
        return
    depth[depth > 0.3 * columns] = 0
    frame |= np.arange(columns)[None, :] < depth[:, None]


def map_page(grey: Grey) -> tuple[Grey, Grey]:
    """Draw the two maps that frame and light are looked up on.

    Args:
        grey: Working-size page (H, W).

    Returns:
        The page at 1/8 size, and there the grey of the bare ground near each pixel, pictures and
        shadows included. Cells that reach beyond the page show its last row and column.
    """
    height, width = grey.shape
    below, beside = -height % MAP_STEP, -width % MAP_STEP
    # Whole cells: the mean of whole blocks of pixels takes a quarter of the time.
    whole = cv2.copyMakeBorder(grey, 0, below, 0, beside, cv2.BORDER_REPLICATE)
    quarter = _mean_of_four(_mean_of_four(whole))
    # Closing lifts text to its paper and, unlike a plain maximum, keeps the sheet's edge.
    closed = cv2.morphologyEx(
        quarter, cv2.MORPH_CLOSE, rectangle(9, 9), borderType=cv2.BORDER_REPLICATE
    )
    return _mean_of_four(quarter), _mean_of_four(closed)


def _mean_of_four(image: Grey) -> Grey:
    size = (image.shape[1] // 2, image.shape[0] // 2)
    return cv2.resize(image, size, interpolation=cv2.INTER_AREA)


def estimate_paper(shade: Grey, frame: Mask) -> Grey:
    """Estimate the bare paper's grey at 1/8 size: in shadows their own, behind pictures the page's.

    Args:
        shade: The ground at 1/8 size.
        frame: 1 on the scanner's frame, at 1/8 size.

    Returns:
        Grey of the paper at 1/8 size, at least 1.
    """
    paper = shade.copy()
    outside = frame > 0
    typical = level_below(paper[~outside], 0.85)
    paper[outside] = round(typical)
    short_side = min(paper.shape)
    local = cv2.medianBlur(paper, min(255, odd(max(3, short_side // 8))))
    wide = cv2.medianBlur(paper, min(255, odd(max(3, int(0.7 * short_side)))))
    # A dark picture must not become its own paper; a page in shadow beside a bright one may, and
    # so may the dark side of a page that was lit from the other.
    expected = np.minimum(wide, _lighting(paper, typical))
    floor = np.maximum(0.82 * np.minimum(expected, typical), 0.35 * typical)
    level = cv2.GaussianBlur(np.maximum(local, floor).astype(np.float32), (0, 0), 3)
    paper_map: Grey = np.maximum(level, 1).round().astype(np.uint8)
    return paper_map


def _lighting(paper: Grey, typical: float) -> Grey:
    """Fit a tilted plane, slightly twisted, to what looks like paper; pictures are left out."""
    coarse = paper[::3, ::3]
    terms = _twisted_plane(*coarse.shape)
    fit = np.full(coarse.shape, typical)
    for tolerance in (0.6, 0.8, 0.88):
        chosen = (coarse > tolerance * fit) & (coarse < 1.15 * fit)
        if np.count_nonzero(chosen) < 0.1 * coarse.size:
            break
        known = terms[chosen]
        moments = known.T @ known + np.eye(4)  # the weakest of ties to flat, never singular
        weights = np.linalg.solve(moments, known.T @ (coarse[chosen] - typical))
        fit = typical + terms @ weights
    return cv2.resize(fit.astype(np.float32), (paper.shape[1], paper.shape[0]))


@lru_cache(maxsize=8)
def _twisted_plane(rows: int, columns: int) -> npt.NDArray[np.float64]:
    """The terms of a tilted and twisted plane at each place of a map; (rows, columns, 4)."""
    y, x = np.mgrid[-1 : 1 : rows * 1j, -1 : 1 : columns * 1j]
    return np.stack([np.ones_like(x), x, y, x * y], axis=-1)
