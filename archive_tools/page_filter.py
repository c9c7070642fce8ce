"""Decides whether a page is kept, from its grey pixels alone; pure."""

import cv2
import numpy as np
import numpy.typing as npt

from archive_tools.config import PageFilter
from archive_tools.schema import Decision

RgbPixels = npt.NDArray[np.uint8]
GreyPixels = npt.NDArray[np.uint8]


def to_grey(rgb: RgbPixels) -> GreyPixels:
    """Return the luma of an RGB picture.

    Args:
        rgb: Pixels, uint8 RGB (H, W, 3).

    Returns:
        Pixels, uint8 (H, W).
    """
    return np.asarray(cv2.cvtColor(rgb, cv2.COLOR_RGB2GRAY), dtype=np.uint8)


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


def decide(sigma: float, page_filter: PageFilter, min_sigma: float) -> Decision:
    """Apply the chosen rule to a page.

    Args:
        sigma: Standard deviation of the grey page at 144 dpi.
        page_filter: The rule.
        min_sigma: The threshold of the sigma rule.
    """
    if page_filter is PageFilter.NONE:
        return Decision(keep=True, score=sigma, reason="every page is kept")
    return decide_by_sigma(sigma, min_sigma)
