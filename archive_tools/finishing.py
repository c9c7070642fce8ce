"""Brings a page's pixels to their final size and encodes them; pure."""

import io

import cv2
import numpy as np
import numpy.typing as npt

from archive_tools.config import Fit
from archive_tools.resampling import resize_lanczos

Pixels = npt.NDArray[np.uint8]
Box = tuple[int, int, int, int]

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
    luma = small.mean(axis=1)
    lightest = float(np.percentile(luma, _LIGHTEST_PERCENTILE))
    paper = small[luma >= lightest * _PAPER_SHARE_OF_LIGHTEST]
    red, green, blue = np.median(paper, axis=0)
    return int(red), int(green), int(blue)


def find_inkiest_window(pixels: Pixels) -> Box:
    """Find the largest square of the page that holds the most ink.

    Args:
        pixels: The page, uint8 RGB (H, W, 3) or grey (H, W).

    Returns:
        Its box in pixels; the one nearest the middle where several hold the same.
    """
    height, width = pixels.shape[:2]
    side = min(width, height)
    small = _to_rgb(_thumbnail(pixels)).astype(np.float64).mean(axis=2)
    ink = (small.max() - small).sum(axis=0 if width > height else 1)
    start = _heaviest_start(ink, side / max(width, height))
    offset = round(start * (max(width, height) - side))
    return (offset, 0, offset + side, side) if width > height else (0, offset, side, offset + side)


def _heaviest_start(ink: npt.NDArray[np.float64], share: float) -> float:
    """Return where the heaviest window starts, 0 (first possible place) to 1 (last)."""
    length = max(1, round(len(ink) * share))
    places = len(ink) - length
    if places == 0:
        return 0.5
    total = np.concatenate(([0.0], np.cumsum(ink)))
    weight = total[length:] - total[:-length]
    heaviest = np.flatnonzero(weight >= weight.max() * (1 - 1e-9))
    return float(heaviest[np.argmin(np.abs(heaviest - places / 2))]) / places


def fit_picture(pixels: Pixels, fit: Fit, side_px: int) -> tuple[Pixels, Box]:
    """Bring a picture to a square of the given side with the LANCZOS filter.

    Args:
        pixels: The page, uint8 RGB (H, W, 3) or grey (H, W).
        fit: Pad (`square`), cut (`crop`) or distort (`stretch`).
        side_px: Side of the square.

    Returns:
        Pixels, uint8 RGB (side, side, 3), and the part of the page that they show.
    """
    height, width = pixels.shape[:2]
    whole = (0, 0, width, height)
    if fit is Fit.STRETCH:
        return _resize_to_rgb(pixels, whole, (side_px, side_px)), whole
    if fit is Fit.CROP:
        window = find_inkiest_window(pixels)
        return _resize_to_rgb(pixels, window, (side_px, side_px)), window
    inner = _resize_to_rgb(pixels, whole, fitted_size(width, height, side_px))
    return _pad_to_square(inner, side_px), whole


def fitted_size(width: int, height: int, side_px: int) -> tuple[int, int]:
    """Return the largest (width, height) of the same shape inside a square; at least 1 x 1."""
    scale = side_px / max(width, height)
    return max(1, round(width * scale)), max(1, round(height * scale))


def _pad_to_square(inner: Pixels, side_px: int) -> Pixels:
    """Pad both sides alike with the paper's colour."""
    height, width = inner.shape[:2]
    if height == width == side_px:
        return inner
    left, top = (side_px - width) // 2, (side_px - height) // 2
    right, bottom = side_px - width - left, side_px - height - top
    padded = cv2.copyMakeBorder(
        inner, top, bottom, left, right, cv2.BORDER_CONSTANT, value=paper_colour(inner)
    )
    return np.asarray(padded, dtype=np.uint8)


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


def _resize_to_rgb(pixels: Pixels, box: Box, size: tuple[int, int]) -> Pixels:
    """Resample the part `box` of a picture to `size` (width, height); the result is RGB."""
    return _to_rgb(resize_lanczos(pixels, box, size))


def _to_rgb(pixels: Pixels) -> Pixels:
    """Return a picture with three channels."""
    if pixels.ndim == 3:
        return pixels
    return np.asarray(cv2.cvtColor(pixels, cv2.COLOR_GRAY2RGB), dtype=np.uint8)


def _thumbnail(pixels: Pixels) -> Pixels:
    """Return an area-averaged copy whose long side is at most `_THUMBNAIL_PX`."""
    height, width = pixels.shape[:2]
    if max(width, height) <= _THUMBNAIL_PX:
        return pixels
    size = fitted_size(width, height, _THUMBNAIL_PX)
    return np.asarray(cv2.resize(pixels, size, interpolation=cv2.INTER_AREA), dtype=np.uint8)
