"""From a grey page to its ink: working size, scanner frame, paper tone, threshold."""

from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt
from cv2.typing import MatLike

# Pixels, uint8: OpenCV's own type for arrays, as its functions take and return it.
Grey = MatLike
Mask = MatLike

# Boxes and decisions come from a page of this many pixels (about 72 dpi for A4): letters are
# still five pixels tall, and a page costs the same whatever its scan resolution.
WORKING_PIXELS = 500_000
# Frame and paper tone vary slowly; they are looked up on a map this much smaller.
MAP_STEP = 8
# Otsu's threshold is trusted in this range of paper-relative grey only: outside it splits paper
# grain (above) or thick strokes from thin ones (below).
THRESHOLD_RANGE = (110, 190)
# Paper-relative grey of the palest marks that are stretched to black: a few of them, print, and
# print that only shows in hindsight.
FEW_PALE_MARKS = 140.0
PALE_PRINT = 215.0
PALEST_PRINT = 240.0


@dataclass(frozen=True, slots=True)
class InkPage:
    """A page reduced to ink on paper.

    Attributes:
        grey: Working-size page (H, W), dark marks on light paper.
        ink: 1 where there is ink, else 0; (H, W).
        frame: 1 on the scanner's dark frame, else 0; (H, W). None where there is no frame.
        negative: Whether the page as given was white on black.
        darkest: Paper-relative grey (255 is paper) of its darkest marks.
        shade: Grey of the bare ground near each pixel, shadows and dark pictures included, at
            1/8 size.
    """

    grey: Grey
    ink: Mask
    frame: Mask | None
    negative: bool
    darkest: float
    shade: Mask

    @property
    def page_pixels(self) -> int:
        """Working pixels of the page itself, without the scanner's frame."""
        frame_pixels = 0 if self.frame is None else cv2.countNonZero(self.frame)
        return int(self.grey.size) - frame_pixels


def rectangle(width: float, height: float) -> Mask:
    """Rectangular structuring element of at least one pixel each way."""
    size = (max(1, int(width)), max(1, int(height)))
    return cv2.getStructuringElement(cv2.MORPH_RECT, size)


def odd(length: float) -> int:
    """The odd whole number at or just above `length`, for centred windows."""
    return int(length) | 1


def shrink(image: Grey, pixels: int) -> tuple[Grey, float]:
    """Shrink an image to at most `pixels`, by area; small images stay as they are.

    Returns:
        The image and its scale.
    """
    scale = min(1.0, (pixels / image.size) ** 0.5)
    if scale == 1.0:
        return image, scale
    size = (max(16, round(image.shape[1] * scale)), max(16, round(image.shape[0] * scale)))
    return cv2.resize(image, size, interpolation=cv2.INTER_AREA), scale


def separate_ink(grey: Grey, negative: bool = False, pale: bool = False) -> InkPage:
    """Find the ink of a working-size page.

    Args:
        grey: Working-size page (H, W), uint8.
        negative: Invert the page first.
        pale: Bring even the palest marks up to black.

    Returns:
        The page with its ink and its scanner frame.
    """
    if negative:
        grey = cv2.bitwise_not(grey)
    height, width = grey.shape
    small = (max(8, width // MAP_STEP), max(8, height // MAP_STEP))
    frame_map = find_frame(cv2.resize(grey, small, interpolation=cv2.INTER_AREA))
    shade = _ground(grey, small)
    paper = cv2.resize(_paper_map(shade, frame_map), (width, height))
    relative = cv2.divide(grey, paper, scale=255)
    frame = None
    if frame_map.any():
        grown = cv2.dilate(frame_map, rectangle(3, 3))
        frame = cv2.resize(grown, (width, height), interpolation=cv2.INTER_NEAREST)
        relative[frame > 0] = 255
    darkest, dark = (float(level) for level in np.percentile(relative[::4, ::4], (0.5, 2)))
    limit = PALE_PRINT if dark < PALE_PRINT else FEW_PALE_MARKS
    ink = _threshold(_stretch(relative, min(darkest, PALEST_PRINT if pale else limit)))
    return InkPage(grey, ink, frame, negative, darkest, shade)


def is_shadow(page: InkPage, box: tuple[int, int, int, int]) -> bool:
    """Whether a long dark part of the page is paper in shadow, as gutters are.

    Hardly any of its ink is left in better light.

    Args:
        page: The page.
        box: x0, y0, x1, y1 in working pixels.
    """
    x0, y0, x1, y1 = box
    width, height = x1 - x0, y1 - y0
    if max(width, height) < 2 * min(width, height) or width * height > 0.15 * page.grey.size:
        return False
    small = page.shade[y0 // MAP_STEP : -(-y1 // MAP_STEP), x0 // MAP_STEP : -(-x1 // MAP_STEP)]
    level = float(np.median(small)) / max(1.0, float(np.percentile(page.shade, 85)))
    if not 0.3 < level < 0.75:
        return False
    ground = cv2.resize(cv2.GaussianBlur(small, (0, 0), 1), (width, height))
    relit = cv2.divide(page.grey[y0:y1, x0:x1], np.maximum(ground, 1), scale=255)
    ink = page.ink[y0:y1, x0:x1]
    left = cv2.countNonZero(cv2.bitwise_and(ink, (relit < THRESHOLD_RANGE[1]).astype(np.uint8)))
    return left < 0.5 * cv2.countNonZero(ink)


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


def _ground(grey: Grey, small: tuple[int, int]) -> Grey:
    """Closing lifts text to its paper and, unlike a plain maximum, keeps the sheet's edge."""
    quarter = cv2.resize(grey, (small[0] * 2, small[1] * 2), interpolation=cv2.INTER_AREA)
    closed = cv2.morphologyEx(
        quarter, cv2.MORPH_CLOSE, rectangle(9, 9), borderType=cv2.BORDER_REPLICATE
    )
    return cv2.resize(closed, small, interpolation=cv2.INTER_AREA)


def _paper_map(shade: Grey, frame: Mask) -> Grey:
    """Estimate the bare paper's grey at 1/8 size, through shadows but not through pictures."""
    paper = shade.copy()
    outside = frame > 0
    typical = float(np.percentile(paper[~outside], 85))
    paper[outside] = round(typical)
    short_side = min(paper.shape)
    local = cv2.medianBlur(paper, min(255, odd(max(3, short_side // 8))))
    wide = cv2.medianBlur(paper, min(255, odd(max(3, int(0.7 * short_side)))))
    # A dark picture must not become its own paper; a page in shadow beside a bright one may.
    floor = np.maximum(0.82 * np.minimum(wide, typical), 0.35 * typical)
    level = cv2.GaussianBlur(np.maximum(local, floor).astype(np.float32), (0, 0), 3)
    return np.maximum(level, 1).round().astype(np.uint8)


def _stretch(relative: Grey, darkest: float) -> Grey:
    """Bring the darkest marks of a low-contrast page down to black.

    Pale marks that are few are left pale: a pencil drawing would come up together with the grain
    of its paper.
    """
    if darkest <= 64:
        return relative
    black = 0.85 * darkest
    levels = np.clip((np.arange(256) - black) * (255 / (255 - black)), 0, 255).astype(np.uint8)
    return cv2.LUT(relative, levels)


def _threshold(relative: Grey) -> Mask:
    otsu, _ = cv2.threshold(
        np.ascontiguousarray(relative[::2, ::2]), 0, 255, cv2.THRESH_BINARY + cv2.THRESH_OTSU
    )
    level = min(max(otsu, THRESHOLD_RANGE[0]), THRESHOLD_RANGE[1])
    _, ink = cv2.threshold(relative, level - 1, 1, cv2.THRESH_BINARY_INV)
    return ink
