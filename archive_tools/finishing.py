"""The colour of the paper, sizes that keep the shape, and encoded files; pure."""

import io
import math

import cv2
import numpy as np
import numpy.typing as npt

Pixels = npt.NDArray[np.uint8]

_THUMBNAIL_PX = 128
# Paper is what is nearly as light as the lightest part of the page: this keeps the colour of
# aged paper, and ignores text, pictures and the scanner's dark frame.
_LIGHTEST_PERCENTILE = 95
_PAPER_SHARE_OF_LIGHTEST = 0.8


def paper_colour(pixels: Pixels) -> tuple[int, int, int]:
    """Return the colour of the paper, as red, green and blue.

    Args:
        pixels: The page, uint8 RGB (H, W, 3) or grey (H, W).
    """
    step = max(1, max(pixels.shape[:2]) // _THUMBNAIL_PX)
    # Single pixels, not averages: ten times as fast, and a median does not mind the noise.
    small = _to_rgb(np.ascontiguousarray(pixels[::step, ::step])).reshape(-1, 3)
    channels = [np.ascontiguousarray(channel) for channel in small.T]
    luma = channels[0].astype(np.uint16) + channels[1] + channels[2]
    # Levels are counted rather than sorted: a third of the time.
    lightest = _level_at(np.bincount(luma), _LIGHTEST_PERCENTILE / 100 * (luma.size - 1))
    paper = (luma >= lightest * _PAPER_SHARE_OF_LIGHTEST).astype(np.uint8)
    middle = (cv2.countNonZero(paper) - 1) / 2
    counts = [cv2.calcHist([channel], [0], paper, [256], [0, 256]) for channel in channels]
    red, green, blue = (int(_level_at(each.ravel(), middle)) for each in counts)
    return red, green, blue


def _level_at(counts: npt.NDArray[np.generic], place: float) -> float:
    """Return the level at a place in the order of all, between two levels a mixture of both.

    Args:
        counts: How many pixels have each level.
        place: From 0 to one less than there are pixels.
    """
    reached = np.cumsum(counts)
    low, high = np.searchsorted(reached, (math.floor(place), math.ceil(place)), side="right")
    return float(low + (high - low) * (place - math.floor(place)))


def fitted_size(width: int, height: int, side_px: int) -> tuple[int, int]:
    """Return the largest (width, height) of the same shape inside a square; at least 1 x 1."""
    scale = side_px / max(width, height)
    return max(1, round(width * scale)), max(1, round(height * scale))


def encode_jpeg(rgb: Pixels, quality: int) -> bytes:
    """Encode a picture as a JPEG file.

    Args:
        rgb: Pixels, uint8 RGB (H, W, 3).
        quality: 1 to 100.
    """
    bgr = cv2.cvtColor(rgb, cv2.COLOR_RGB2BGR)
    _, encoded = cv2.imencode(".jpg", bgr, [cv2.IMWRITE_JPEG_QUALITY, quality])
    return encoded.tobytes()


def encode_png(rgb: Pixels) -> bytes:
    """Encode a picture as a PNG file.

    Args:
        rgb: Pixels, uint8 RGB (H, W, 3).
    """
    from PIL import Image

    buffer = io.BytesIO()
    Image.fromarray(rgb).save(buffer, "PNG")
    return buffer.getvalue()


def _to_rgb(pixels: Pixels) -> Pixels:
    """Return a picture with three channels."""
    if pixels.ndim == 3:
        return pixels
    return np.asarray(cv2.cvtColor(pixels, cv2.COLOR_GRAY2RGB), dtype=np.uint8)
