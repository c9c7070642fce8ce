"""How sharp and how full a picture is; pure."""

import cv2
import numpy as np
import numpy.typing as npt

Pixels = npt.NDArray[np.uint8]

BLURRED = "blurred"

_SAMPLE_PX = 512
_BLURRED_BELOW = 2.5
# Of the inner part of a page; stains and a page number alone are less.
_BLANK_BELOW = 0.002
_INK_CONTRAST = 40
_EDGE_SHARE = 0.06


def measure_sharpness(rgb: Pixels) -> float:
    """Measure how steep the edges of a picture are, whatever their number.

    Args:
        rgb: uint8 RGB (H, W, 3).

    Returns:
        Mean strength of the second derivative where it is strongest, in grey levels.
    """
    grey = _shrink_to_grey(rgb)
    strength = np.abs(cv2.Laplacian(grey, cv2.CV_16S))
    strongest = np.percentile(strength, 99)
    return round(float(strength[strength >= strongest].mean()) / 10, 3)


def flag(sharpness: float | None) -> str:
    """Return what is doubtful about a picture of a sharpness; empty when nothing is."""
    return BLURRED if sharpness is not None and sharpness < _BLURRED_BELOW else ""


def is_nearly_blank(pixels: Pixels) -> bool:
    """Say whether hardly anything is on a page.

    Args:
        pixels: uint8 RGB (H, W, 3) or grey (H, W).
    """
    grey = _shrink_to_grey(pixels)
    edge_y, edge_x = (round(side * _EDGE_SHARE) for side in grey.shape)
    inner = grey[edge_y : grey.shape[0] - edge_y, edge_x : grey.shape[1] - edge_x]
    # Against the tone of the place and not of the page: a shadow is no ink.
    local = cv2.subtract(cv2.blur(inner, (31, 31)), inner)
    return bool((local > _INK_CONTRAST).mean() < _BLANK_BELOW and inner.std() < _INK_CONTRAST / 2)


def _shrink_to_grey(pixels: Pixels) -> Pixels:
    height, width = pixels.shape[:2]
    scale = min(1.0, _SAMPLE_PX / max(width, height))
    size = (max(1, round(width * scale)), max(1, round(height * scale)))
    small = cv2.resize(pixels, size, interpolation=cv2.INTER_AREA)
    grey = cv2.cvtColor(small, cv2.COLOR_RGB2GRAY) if small.ndim == 3 else small
    return np.asarray(grey, dtype=np.uint8)
