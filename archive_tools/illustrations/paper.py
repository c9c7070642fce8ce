"""From a grey page to its ink: contrast and threshold, after frame and light are known."""

from dataclasses import dataclass, replace

import cv2
import numpy as np

from archive_tools.illustrations.lighting import MAP_STEP, estimate_paper, find_frame, map_page
from archive_tools.illustrations.pixels import Grey, Mask, level_below, levels_below, rectangle

# Boxes and decisions come from a page of this many pixels (about 72 dpi for A4): letters are
# still five pixels tall, and a page costs the same whatever its scan resolution.
WORKING_PIXELS = 500_000
# Otsu's threshold is trusted in this range of paper-relative grey only: outside it splits paper
# grain (above) or thick strokes from thin ones (below).
THRESHOLD_RANGE = (110, 190)
# Paper-relative grey of the palest marks that are stretched to black: a few of them, print, and
# print that only shows in hindsight.
FEW_PALE_MARKS = 140.0
PALE_PRINT = 215.0
PALEST_PRINT = 240.0
# Shadows along a whole side reach this share of the page; dark pictures are often larger.
LARGEST_SHADOW_SHARE = 0.2


@dataclass(frozen=True, slots=True)
class InkPage:
    """A page reduced to ink on paper.

    Attributes:
        grey: Working-size page (H, W), dark marks on light paper.
        relative: Its grey relative to the paper's, contrast stretched, frame left out: what the ink
            is cut from; (H, W).
        level: Grey of `relative` from which on nothing is ink.
        ink: 1 where there is ink, else 0; (H, W).
        frame: 1 on the scanner's dark frame, else 0; (H, W). None where there is no frame.
        negative: Whether the page as given was white on black.
        darkest: Paper-relative grey (255 is paper) of its darkest marks.
        shade: Grey of the bare ground near each pixel, shadows and dark pictures included, at
            1/8 size.
    """

    grey: Grey
    flat: Grey
    stretch: Mask
    level: float
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


def separate_ink(grey: Grey, negative: bool = False) -> InkPage:
    """Find the ink of a working-size page.

    Args:
        grey: Working-size page (H, W), uint8.
        negative: Invert the page first.

    Returns:
        The page with its ink and its scanner frame.
    """
    if negative:
        grey = cv2.bitwise_not(grey)
    height, width = grey.shape
    page_map, shade = map_page(grey)
    frame_map = find_frame(page_map)
    whole = (shade.shape[1] * MAP_STEP, shade.shape[0] * MAP_STEP)
    paper = cv2.resize(estimate_paper(shade, frame_map), whole)[:height, :width]
    flat = cv2.divide(grey, paper, scale=255)
    frame = None
    if frame_map.any():
        grown = cv2.dilate(frame_map, rectangle(3, 3))
        frame = cv2.resize(grown, whole, interpolation=cv2.INTER_NEAREST)[:height, :width]
        flat = cv2.max(flat, frame * 255)
    sample = np.ascontiguousarray(flat[::4, ::4])
    darkest, dark = levels_below(sample, 0.005, 0.02)
    limit = PALE_PRINT if dark < PALE_PRINT else FEW_PALE_MARKS
    stretch, level, ink = _cut_stretched(flat, min(darkest, limit))
    return InkPage(grey, flat, stretch, level, ink, frame, negative, darkest, shade)


def bring_up_pale_marks(page: InkPage) -> InkPage:
    """Cut the ink of a page anew with even its palest marks brought up to black.

    Args:
        page: The page, not levelled.
    """
    darkest = min(page.darkest, PALEST_PRINT)
    stretch, level, ink = _cut_stretched(page.flat, darkest)
    return replace(page, stretch=stretch, level=level, ink=ink)


def _cut_stretched(flat: Grey, darkest: float) -> tuple[Mask, float, Mask]:
    stretch = _stretch(darkest)
    level = _find_level(cv2.LUT(np.ascontiguousarray(flat[::2, ::2]), stretch))
    # A cut of the page before it is stretched comes to the same, and spares stretching all of it.
    darker = int(np.count_nonzero(stretch < level))
    return stretch, level, cut_ink(flat, darker)


def _stretch(darkest: float) -> Mask:
    """The table that brings the darkest marks of a low-contrast page down to black.

    Pale marks that are few are left pale: a pencil drawing would come up together with the grain
    of its paper.
    """
    levels = np.arange(256)
    if darkest > 64:
        black = 0.85 * darkest
        levels = np.clip((levels - black) * (255 / (255 - black)), 0, 255)
    return levels.astype(np.uint8)


def _find_level(sample: Grey) -> float:
    otsu, _ = cv2.threshold(sample, 0, 255, cv2.THRESH_BINARY + cv2.THRESH_OTSU)
    return min(max(otsu, THRESHOLD_RANGE[0]), THRESHOLD_RANGE[1])


def cut_ink(grey: Grey, level: float) -> Mask:
    """Say where there is ink.

    Args:
        grey: Grey relative to the paper's; (H, W).
        level: Grey from which on nothing is ink.

    Returns:
        1 where there is ink, else 0.
    """
    _, ink = cv2.threshold(grey, level - 1, 1, cv2.THRESH_BINARY_INV)
    return ink


def is_shadow(page: InkPage, box: tuple[int, int, int, int]) -> bool:
    """Whether a dark part of the page is paper in shadow: hardly any ink is left in better light.

    Args:
        page: The page.
        box: x0, y0, x1, y1 in working pixels.
    """
    x0, y0, x1, y1 = box
    width, height = x1 - x0, y1 - y0
    if width * height > LARGEST_SHADOW_SHARE * page.grey.size:
        return False
    shade = page.shade[y0 // MAP_STEP : -(-y1 // MAP_STEP), x0 // MAP_STEP : -(-x1 // MAP_STEP)]
    level = level_below(shade, 0.5) / max(1.0, level_below(page.shade, 0.85))
    if not 0.3 < level < 0.75:
        return False
    ground = cv2.resize(cv2.GaussianBlur(shade, (0, 0), 1), (width, height))
    relit = cv2.divide(page.grey[y0:y1, x0:x1], np.maximum(ground, 1), scale=255)
    ink = page.ink[y0:y1, x0:x1]
    left = cv2.countNonZero(cv2.bitwise_and(ink, (relit < THRESHOLD_RANGE[1]).astype(np.uint8)))
    # Gutters and curled edges are long; the same light falls on the text in them.
    is_long = max(width, height) >= 2 * min(width, height)
    return left < (0.5 if is_long else 0.2) * cv2.countNonZero(ink)
