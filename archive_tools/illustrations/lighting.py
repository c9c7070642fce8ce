"""Scanner frame and light: what a page's bare paper looks like from place to place.

Both vary slowly, and are looked up on a map of 1/8 of the page's size.
"""

import cv2
import numpy as np
import numpy.typing as npt

from archive_tools.illustrations.pixels import Grey, Mask, odd, rectangle

# The map is this much smaller than the working-size page.
MAP_STEP = 8


def find_frame(page_map: Grey) -> Mask:
    """Find the dark border that a scanner leaves round a page.

    Args:
        page_map: The page at 1/8 size.

    Returns:
        1 on the frame, else 0. A frame is what is dark from a side inwards, along at least a
        quarter of that side and no deeper than a quarter of the page; a dark picture that fills
        the page is none.
    """
    dark = page_map < min(0.5 * float(np.percentile(page_map, 85)), 110)
    frame = np.zeros(page_map.shape, bool)
    for turns in range(4):
        _mark_frame_on_left(np.rot90(dark, turns), np.rot90(frame, turns))
    # A row all dark has no depth of its own: the corners belong to the sides that meet there.
    in_band = (frame.mean(axis=1) > 0.5)[:, None] | (frame.mean(axis=0) > 0.5)[None, :]
    frame |= dark & in_band
    if frame.mean() > 0.5:
        frame[:] = False
    return frame.astype(np.uint8)


def _mark_frame_on_left(dark: npt.NDArray[np.bool_], frame: npt.NDArray[np.bool_]) -> None:
    rows, columns = dark.shape
    depth = np.cumprod(dark, axis=1).sum(axis=1)
    present = depth[depth > 0]
    if len(present) < 0.25 * rows or np.median(present) > 0.25 * columns:
        return
    depth[depth > 0.3 * columns] = 0
    frame |= np.arange(columns)[None, :] < depth[:, None]


def find_ground(grey: Grey, small: tuple[int, int]) -> Grey:
    """Find the grey of the bare ground near each pixel, pictures and shadows included.

    Args:
        grey: Working-size page (H, W).
        small: Width and height of the map.

    Returns:
        The ground at 1/8 size.
    """
    # Closing lifts text to its paper and, unlike a plain maximum, keeps the sheet's edge.
    quarter = cv2.resize(grey, (small[0] * 2, small[1] * 2), interpolation=cv2.INTER_AREA)
    closed = cv2.morphologyEx(
        quarter, cv2.MORPH_CLOSE, rectangle(9, 9), borderType=cv2.BORDER_REPLICATE
    )
    return cv2.resize(closed, small, interpolation=cv2.INTER_AREA)


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
    typical = float(np.percentile(paper[~outside], 85))
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
    y, x = np.mgrid[-1 : 1 : coarse.shape[0] * 1j, -1 : 1 : coarse.shape[1] * 1j]
    terms = np.stack([np.ones_like(x), x, y, x * y], axis=-1)
    fit = np.full(coarse.shape, typical)
    for tolerance in (0.6, 0.8, 0.88):
        chosen = (coarse > tolerance * fit) & (coarse < 1.15 * fit)
        if np.count_nonzero(chosen) < 0.1 * coarse.size:
            break
        weights, *_ = np.linalg.lstsq(terms[chosen], coarse[chosen].astype(float), rcond=None)
        fit = terms @ weights
    return cv2.resize(fit.astype(np.float32), (paper.shape[1], paper.shape[0]))
