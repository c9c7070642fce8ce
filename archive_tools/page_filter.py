"""Decides whether a page is kept, from its grey pixels alone; pure."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from archive_tools.config import PageFilter
from archive_tools.resampling import resize_triangle
from archive_tools.schema import Decision

RgbPixels = npt.NDArray[np.uint8]
GreyPixels = npt.NDArray[np.uint8]

# MuPDF shrinks with a smooth filter between a box and a triangle in width. The variance that it
# leaves lies between that of the picture as it is and that after a triangle filter.
_TRIANGLE_SHARE = 0.85
_ESTIMATE_MARGIN = 1.2
# PDFium's filters differ from MuPDF's.
_RENDERER_MARGIN = 2.0
# Of the variance that a halving took, so much more is found at the two finer scales.
_LIKELY_GAIN = 1.5
_MOST_GAIN = 4.0
_NOISE_VARIANCE = 25.0


@dataclass(frozen=True, slots=True)
class Look:
    """What one look at a page says of its sigma at 144 dpi.

    Attributes:
        sigma: The estimate.
        least: The true value is above this.
        most: The true value is at most this.
    """

    sigma: float
    least: float
    most: float

    def settles(self, min_sigma: float) -> bool:
        """Return whether this look is certain on which side of a threshold the page lies."""
        return self.least > min_sigma or self.most <= min_sigma


def exact_look(grey: GreyPixels) -> Look:
    """Return the look that is the definition: the page rendered at 144 dpi.

    Args:
        grey: Pixels, uint8 (H, W).
    """
    sigma = measure_sigma(grey)
    return Look(sigma, sigma - 1e-9, sigma)


def look_long_enough(looks: Iterable[Look], min_sigma: float) -> Look:
    """Take finer and finer looks until one is certain; the last one decides in any case.

    Args:
        looks: From the coarsest to the finest, taken only as far as needed; at least one.
        min_sigma: The threshold; minus infinity where every page is kept.
    """
    last: Look | None = None
    for look in looks:
        last = look
        if look.settles(min_sigma):
            break
    if last is None:
        raise ValueError("a page needs at least one look")
    return last


def to_grey(pixels: RgbPixels) -> GreyPixels:
    """Return the luma of a picture.

    Args:
        pixels: uint8 RGB (H, W, 3), or grey (H, W) already.

    Returns:
        Pixels, uint8 (H, W).
    """
    if pixels.ndim == 2:
        return pixels
    return np.asarray(cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY), dtype=np.uint8)


def measure_sigma(grey: GreyPixels) -> float:
    """Return the standard deviation of the grey values, 0 to 127.5.

    The same number as `grey.std()`, without numpy's float64 copy of the page.
    """
    _, deviation = cv2.meanStdDev(grey)
    return float(deviation[0, 0])


def decide_by_sigma(sigma: float, min_sigma: float) -> Decision:
    """Keep a page when its contrast is above the threshold, as the article does.

    Args:
        sigma: Standard deviation of the grey page at 144 dpi.
        min_sigma: The threshold; a page that only reaches it is dropped.
    """
    keep = sigma > min_sigma
    sign = ">" if keep else "<="
    return Decision(keep=keep, score=sigma, reason=f"sigma {sigma:.1f} {sign} {min_sigma:g}")


def decide(looks: Iterable[Look], page_filter: PageFilter, min_sigma: float) -> Decision:
    """Apply the chosen rule to a page.

    Args:
        looks: From the coarsest to the finest, taken only as far as needed; at least one.
        page_filter: The rule.
        min_sigma: The threshold of the sigma rule.
    """
    if page_filter is PageFilter.NONE:
        sigma = look_long_enough(looks, -math.inf).sigma
        return Decision(keep=True, score=sigma, reason="every page is kept")
    return decide_by_sigma(look_long_enough(looks, min_sigma).sigma, min_sigma)


def estimate_look(grey: GreyPixels, reference_size: tuple[int, int]) -> Look:
    """Estimate a page's sigma at 144 dpi from its picture at about that resolution.

    Args:
        grey: The picture, uint8 (H, W).
        reference_size: Width and height of the page at 144 dpi.
    """
    own = measure_sigma(grey)
    resampled = measure_sigma(resize_triangle(grey, reference_size))
    variance = _TRIANGLE_SHARE * resampled**2 + (1 - _TRIANGLE_SHARE) * own**2
    sigma = math.sqrt(variance)
    return Look(sigma, sigma - _ESTIMATE_MARGIN, sigma + _ESTIMATE_MARGIN)


def rendered_look(grey: GreyPixels) -> Look:
    """Return the look at a page that another renderer than MuPDF rendered at 144 dpi.

    Args:
        grey: Pixels, uint8 (H, W).
    """
    sigma = measure_sigma(grey)
    return Look(sigma, sigma - _RENDERER_MARGIN, sigma + _RENDERER_MARGIN)


def coarse_look(grey: GreyPixels) -> Look:
    """Estimate a page's sigma at 144 dpi from a render at a quarter of that.

    How much the finer scales add is judged by what the last halving took away. This look settles
    only that a page is dropped: one that is kept is rendered finely anyway, and then measured.

    Args:
        grey: The page at 36 dpi, uint8 (H, W).
    """
    sigma = measure_sigma(grey)
    half = cv2.resize(grey, None, fx=0.5, fy=0.5, interpolation=cv2.INTER_AREA)
    lost = max(0.0, sigma**2 - measure_sigma(np.asarray(half, dtype=np.uint8)) ** 2)
    likely = math.sqrt(sigma**2 + _LIKELY_GAIN * lost)
    most = math.sqrt(sigma**2 + _MOST_GAIN * lost + _NOISE_VARIANCE)
    return Look(likely, -math.inf, most)
