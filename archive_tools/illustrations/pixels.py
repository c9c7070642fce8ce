"""Array types and small pixel operations that the illustration finder shares."""

from collections.abc import Callable
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt
from cv2.typing import MatLike

# Sizes this near to a whole fraction are taken as that fraction.
NEARLY_WHOLE = 0.015
# By so little, two neighbours are mixed rather than areas: an eighth of the time.
LEAST_LINEAR_SCALE = 0.7
# Labels of 16 bits are filled in half the time that labels of 32 bits take.
_MOST_SHORT_LABELS = 65_535

# Pixels, uint8: OpenCV's own type for arrays, as its functions take and return it.
Grey = MatLike
Mask = MatLike
Numbers = npt.NDArray[np.intp]


def rectangle(width: float, height: float) -> Mask:
    """Rectangular structuring element of at least one pixel each way."""
    size = (max(1, int(width)), max(1, int(height)))
    return cv2.getStructuringElement(cv2.MORPH_RECT, size)


def odd(length: float) -> int:
    """The odd whole number at or just above `length`, for centred windows."""
    return int(length) | 1


def level_below(grey: Grey, share: float) -> float:
    """The grey level that so large a share of the pixels lie at or below; 0.5 is the median.

    Args:
        grey: Pixels, uint8, of any shape, at least one.
        share: From 0 to 1.
    """
    return levels_below(grey, share)[0]


def levels_below(grey: Grey, *shares: float) -> list[float]:
    """The grey levels that such shares of the pixels lie at or below.

    Args:
        grey: Pixels, uint8, of any shape, at least one.
        shares: Each from 0 to 1.
    """
    flat = np.ascontiguousarray(grey).reshape(1, -1)
    counts = np.cumsum(cv2.calcHist([flat], [0], None, [256], [0, 256]).ravel())
    places = np.multiply(shares, flat.size - 1)
    levels: list[float] = np.searchsorted(counts, places, side="right").astype(float).tolist()
    return levels


def middle_of(values: npt.NDArray[np.floating]) -> float:
    """The median of numbers: numpy's own takes eight times as long.

    Args:
        values: At least one, none of them NaN; of any shape.
    """
    half = values.size // 2
    parted = np.partition(values, half, axis=None)
    middle = parted[half]
    return float(middle if values.size % 2 else (parted[:half].max() + middle) / 2)


def slide_across(mask: Mask, length: int, combine: Callable[[Mask, Mask], Mask]) -> Mask:
    """Combine the pixels under a horizontal window at each of its places.

    Args:
        mask: Pixels (H, W), uint8, at least as wide as the window.
        length: Of the window.
        combine: `cv2.min` or `cv2.max`: what counts is which pixels there are, not how often.

    Returns:
        What each window comes to, by its left end; (H, W - length + 1).
    """
    reached = 1
    while reached < length:  # by doubling, so that a long window takes little more than a short one
        step = min(reached, length - reached)
        mask = combine(mask[:, :-step], mask[:, step:])
        reached += step
    return mask


@dataclass(frozen=True, slots=True)
class Parts:
    """The connected parts of a mask.

    Attributes:
        labels: Part number at each pixel, 0 is the ground; uint16 or int32.
        stats: Left, top, width, height and area of each part, the ground first; (n, 5).
    """

    labels: MatLike
    stats: MatLike


def find_parts(mask: Mask) -> Parts:
    """Find the connected parts of a mask; corners connect.

    Args:
        mask: 0 on the ground, else 1; (H, W).
    """
    width = cv2.CV_16U if _needs_few_labels(mask) else cv2.CV_32S
    _, labels, stats, _ = cv2.connectedComponentsWithStats(mask, connectivity=8, ltype=width)
    return Parts(labels, stats)


def find_cornerless_parts(mask: Mask) -> tuple[MatLike, Numbers, Numbers]:
    """Find the connected parts of a mask whose corners do not connect, and how large they are.

    From where its runs of pixels start and end: OpenCV measures such parts in twice the time.

    Args:
        mask: 0 on the ground, else 1; (H, W), of fewer than 65,535 parts.

    Returns:
        Part number at each pixel, 0 is the ground, uint16 (H, W); width and height of each part,
        (n,), those of the ground 0.
    """
    count, labels = cv2.connectedComponents(mask, connectivity=4, ltype=cv2.CV_16U)
    wide = cv2.copyMakeBorder(mask, 0, 0, 1, 1, cv2.BORDER_CONSTANT)
    edges = np.flatnonzero(wide[:, 1:] != wide[:, :-1])
    y, start = np.divmod(edges[::2], mask.shape[1] + 1)
    end = edges[1::2] - edges[::2] + start
    part = labels[y, start].astype(np.intp)
    first, last = np.full((2, count), max(mask.shape)), np.zeros((2, count), np.intp)
    for axis, (low, high) in enumerate(((start, end), (y, y + 1))):
        np.minimum.at(first[axis], part, low)
        np.maximum.at(last[axis], part, high)
    width, height = np.maximum(last - first, 0)
    return labels, width, height


def _needs_few_labels(mask: Mask) -> bool:
    """Whether 16 bits number all parts; OpenCV takes a number only where a run of pixels starts."""
    if mask.size < 2 * _MOST_SHORT_LABELS or cv2.countNonZero(mask) < _MOST_SHORT_LABELS:
        return True
    starts = cv2.countNonZero(cv2.subtract(mask[:, 1:], mask[:, :-1]))
    return starts + cv2.countNonZero(mask[:, :1]) < _MOST_SHORT_LABELS


def look_up(table: Mask, labels: MatLike) -> Mask:
    """What a table says of the part at each pixel.

    Args:
        table: A value for each part, uint8; (n,).
        labels: Part numbers, uint16 or int32; (H, W).

    Returns:
        Values, uint8; (H, W).
    """
    if labels.dtype != np.uint16:
        return np.asarray(table[labels])
    whole = np.zeros(_MOST_SHORT_LABELS + 1, np.uint8)
    whole[: len(table)] = table
    return cv2.LUT(labels, whole)


def shrink(image: Grey, pixels: int) -> tuple[Grey, float]:
    """Shrink an image to about `pixels` at most; small images stay as they are.

    Returns:
        The image and its scale.
    """
    scale = min(1.0, (pixels / image.size) ** 0.5)
    if scale == 1.0:
        return image, scale
    # The mean of whole blocks of pixels is many times as fast as that of parts of them.
    block = int(1 / scale + NEARLY_WHOLE)
    if block >= 2:
        image = _mean_of_blocks(image, block)
        scale *= block
    if scale > 1 - NEARLY_WHOLE:
        return image, 1 / block
    size = (max(16, round(image.shape[1] * scale)), max(16, round(image.shape[0] * scale)))
    how = cv2.INTER_LINEAR if scale >= LEAST_LINEAR_SCALE else cv2.INTER_AREA
    return cv2.resize(image, size, interpolation=how), scale / max(1, block)


def _mean_of_blocks(image: Grey, block: int) -> Grey:
    """Shrink by a whole number; less than a block is cut off at the right and at the bottom."""
    size = (max(1, image.shape[1] // block), max(1, image.shape[0] // block))
    whole = image[: size[1] * block, : size[0] * block]
    return cv2.resize(whole, size, interpolation=cv2.INTER_AREA)
