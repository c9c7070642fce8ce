"""How far a page lies askew, from the rows that its text lines, staves and rules make."""

from dataclasses import replace

import cv2
import numpy as np
import numpy.typing as npt
from cv2.typing import MatLike

from archive_tools.illustrations.boxes import PixelBox
from archive_tools.illustrations.paper import InkPage, cut_ink
from archive_tools.illustrations.pixels import Mask

MOST_DEGREES = 7.0
# Text lines and ruled lines are still told from pictures at this angle.
LEAST_DEGREES = 1.5
# A skewed page must line up this much better at its angle than at none.
LEAST_GAIN = 1.4
# Rows this much clearer than at most angles are text lines, and settle which way they run.
CLEAR_ROWS = 4.0
# Ink is counted on a map this much smaller: fine across the rows, since the lines of a spread lie
# seven pixels apart and must not fall together, and coarse along them.
ROW_STEP = 2
COLUMN_STEP = 16
# Places of that map with ink; a few specks make rows at any angle.
FEWEST_CELLS = 40


def estimate_skew(ink: Mask) -> float:
    """Estimate how far a page is turned from level.

    Args:
        ink: 1 on ink, else 0; (H, W).

    Returns:
        Degrees, positive against the clock; 0 for a page that is level or has no rows.
    """
    if cv2.countNonZero(ink) < FEWEST_CELLS:
        return 0.0
    angle, gain, clarity = _best_angle(_density(ink))
    if clarity < CLEAR_ROWS:
        angle_down, gain_down, clarity_down = _best_angle(_density(cv2.transpose(ink)))
        if clarity_down > clarity:  # lines run down the page, where the same turn looks reversed
            angle, gain = -angle_down, gain_down
    return angle if abs(angle) >= LEAST_DEGREES and gain >= LEAST_GAIN else 0.0


def _density(ink: Mask) -> MatLike:
    height, width = ink.shape
    columns, rows = width // COLUMN_STEP, height // ROW_STEP
    whole = ink[: rows * ROW_STEP, : columns * COLUMN_STEP] * 255
    return cv2.resize(whole, (columns, rows), interpolation=cv2.INTER_AREA)


def _best_angle(density: MatLike) -> tuple[float, float, float]:
    """The angle at which rows differ most from their neighbours.

    Returns:
        The angle in degrees; how much more they differ than on the level; and than at most angles.
    """
    y, x = np.nonzero(density)
    if len(y) < FEWEST_CELLS:
        return 0.0, 0.0, 0.0
    weights = density[y, x].astype(np.float64)
    along = np.arange(density.shape[1]) * (COLUMN_STEP / ROW_STEP)
    offset = density.shape[1] * COLUMN_STEP // ROW_STEP

    def contrast(angle: float) -> float:
        shift = np.rint(along * np.tan(np.radians(angle)) + offset).astype(np.intp)
        steps = np.diff(np.bincount(y + shift[x], weights))
        return float(steps @ steps)

    coarse = np.arange(-MOST_DEGREES, MOST_DEGREES + 0.1, 1.0)
    contrasts = [contrast(angle) for angle in coarse]
    best, level = max(contrasts), contrasts[len(coarse) // 2]
    usual = float(np.median(contrasts))
    if best == level and best >= CLEAR_ROWS * usual:
        return 0.0, 1.0, best / usual
    peak = float(coarse[int(np.argmax(contrasts))])
    for step in (0.5, 0.25, 0.125):  # a ruled line of a tenth of the page must keep its row
        best, peak = max((best, peak), *((contrast(a), a) for a in (peak - step, peak + step)))
    return peak, best / level, best / usual


def level_page(page: InkPage, degrees: float) -> tuple[InkPage, npt.NDArray[np.float64]]:
    """Turn a page level about its centre.

    Its light is not found anew: what was frame and paper stays so, and what comes in at the
    corners is paper. The ink is cut after turning, or thin lines would fall to dashes.

    Args:
        page: The page.
        degrees: How far it is turned against the clock.

    Returns:
        The page, of the same size, and the 2 x 3 matrix that brings its points back.
    """
    there = _turn(page.grey, degrees)
    stretched = cv2.LUT(page.flat, page.stretch)
    frame = None if page.frame is None else _warp(page.frame, there, cv2.BORDER_CONSTANT)
    levelled = replace(
        page,
        grey=_warp(page.grey, there, cv2.BORDER_REPLICATE),
        ink=cut_ink(_warp(stretched, there, cv2.BORDER_CONSTANT, value=255), page.level),
        frame=frame,
        shade=_warp(page.shade, _turn(page.shade, degrees), cv2.BORDER_REPLICATE),
    )
    return levelled, np.asarray(cv2.invertAffineTransform(there), dtype=np.float64)


def _turn(image: MatLike, degrees: float) -> MatLike:
    height, width = image.shape
    return cv2.getRotationMatrix2D((width / 2, height / 2), -degrees, 1.0)


def _warp(image: MatLike, there: MatLike, border: int, value: float = 0) -> MatLike:
    height, width = image.shape
    size = (width, height)
    return cv2.warpAffine(image, there, size, borderMode=border, borderValue=(value,))


def bring_back(
    box: PixelBox, back: npt.NDArray[np.float64], page_size: tuple[int, int]
) -> PixelBox:
    """The upright box round a box that was found on the levelled page, kept inside the page."""
    x0, y0, x1, y1 = box
    corners = np.array([(x0, y0, 1), (x1, y0, 1), (x0, y1, 1), (x1, y1, 1)]) @ back.T
    limits = np.array(page_size)
    low = np.clip(np.floor(corners.min(axis=0) + 1e-6), 0, limits - 1).astype(int)
    high = np.clip(np.ceil(corners.max(axis=0) - 1e-6), low + 1, limits).astype(int)
    return (int(low[0]), int(low[1]), int(high[0]), int(high[1]))
