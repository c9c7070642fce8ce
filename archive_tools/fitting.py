"""Brings a picture to its final size: padded, cut, stretched, or in an aspect bucket; pure."""

from collections.abc import Sequence

import cv2
import numpy as np
import numpy.typing as npt

from archive_tools.buckets import choose_bucket
from archive_tools.config import DatasetConfig, Fit
from archive_tools.finishing import fitted_size, paper_colour
from archive_tools.resampling import resize_lanczos

Pixels = npt.NDArray[np.uint8]
Box = tuple[int, int, int, int]
Size = tuple[int, int]

_THUMBNAIL_PX = 128


def fit_picture(
    pixels: Pixels, config: DatasetConfig, illustrations: Sequence[Box] = ()
) -> tuple[Pixels, Box]:
    """Bring a picture to its final size with the LANCZOS filter.

    Nothing is enlarged unless `config.upscale` asks for it; `stretch` alone enlarges and distorts,
    since it is there for comparison.

    Args:
        pixels: uint8 RGB (H, W, 3) or grey (H, W).
        config: Fit, size and upscaling.
        illustrations: Boxes that a cut should keep; all ink counts where there are none.

    Returns:
        Pixels, uint8 RGB, and the part of the picture that they show.
    """
    height, width = pixels.shape[:2]
    side_px, whole = config.size_px, (0, 0, width, height)
    match config.fit:
        case Fit.STRETCH:
            return _resize_to_rgb(pixels, whole, (side_px, side_px)), whole
        case Fit.SQUARE:
            size = fitted_size(width, height, _fitting_side(max(width, height), config))
            return _pad(_resize_to_rgb(pixels, whole, size), side_px), whole
        case Fit.CROP:
            scale = _fitting_side(min(width, height), config) / min(width, height)
            size = (min(side_px, round(width * scale)), min(side_px, round(height * scale)))
        case Fit.BUCKET:
            size = choose_bucket(width, height, side_px, config.upscale)
    window = find_window(pixels, size, illustrations)
    cut = _resize_to_rgb(pixels, window, size)
    return (_pad(cut, side_px) if config.fit is Fit.CROP else cut), window


def find_window(pixels: Pixels, size: Size, illustrations: Sequence[Box] = ()) -> Box:
    """Find the largest window of a shape that shows the most of the illustrations.

    Args:
        pixels: uint8 RGB (H, W, 3) or grey (H, W).
        size: Width and height that give the shape.
        illustrations: Boxes in pixels; all ink counts where there are none.

    Returns:
        Its box in pixels; the one nearest the middle where several show the same.
    """
    height, width = pixels.shape[:2]
    scale = min(width / size[0], height / size[1])
    across, down = min(width, round(size[0] * scale)), min(height, round(size[1] * scale))
    ink = _weigh_ink(pixels, illustrations)
    left = round(_heaviest_start(ink.sum(axis=0), across / width) * (width - across))
    top = round(_heaviest_start(ink.sum(axis=1), down / height) * (height - down))
    return left, top, left + across, top + down


def _fitting_side(native_px: int, config: DatasetConfig) -> int:
    """Return how long a side of the picture becomes in the square."""
    return config.size_px if config.upscale else min(config.size_px, native_px)


def _weigh_ink(pixels: Pixels, illustrations: Sequence[Box]) -> npt.NDArray[np.float64]:
    """Return how much each place of a thumbnail of the page counts."""
    height, width = pixels.shape[:2]
    size = fitted_size(width, height, min(_THUMBNAIL_PX, max(width, height)))
    small = cv2.resize(pixels, size, interpolation=cv2.INTER_AREA).astype(np.float64)
    grey = small.mean(axis=2) if small.ndim == 3 else small
    ink: npt.NDArray[np.float64] = grey.max() - grey
    weight = np.full_like(ink, 0.0 if illustrations else 1.0)
    for x0, y0, x1, y1 in illustrations:
        across, down = size[0] / width, size[1] / height
        rows = slice(max(0, int(y0 * down)), max(0, round(y1 * down)))
        weight[rows, max(0, int(x0 * across)) : max(0, round(x1 * across))] = 1.0
    return ink * weight


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


def _pad(inner: Pixels, side_px: int) -> Pixels:
    """Pad a picture to a square, both sides alike, with the paper's colour."""
    height, width = inner.shape[:2]
    if height == width == side_px:
        return inner
    left, top = (side_px - width) // 2, (side_px - height) // 2
    right, bottom = side_px - width - left, side_px - height - top
    padded = cv2.copyMakeBorder(
        inner, top, bottom, left, right, cv2.BORDER_CONSTANT, value=paper_colour(inner)
    )
    return np.asarray(padded, dtype=np.uint8)


def _resize_to_rgb(pixels: Pixels, box: Box, size: Size) -> Pixels:
    """Resample the part `box` of a picture to `size`; the result is RGB."""
    x0, y0, x1, y1 = box
    is_same = (x1 - x0, y1 - y0) == size
    resized = pixels[y0:y1, x0:x1] if is_same else resize_lanczos(pixels, box, size)
    if resized.ndim == 3:
        return resized
    return np.asarray(cv2.cvtColor(resized, cv2.COLOR_GRAY2RGB), dtype=np.uint8)
