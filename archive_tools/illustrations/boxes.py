"""Boxes x0, y0, x1, y1 on the pixel grid, half-open: joining, counting, moving between sizes."""

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

PixelBox = tuple[int, int, int, int]


def area(box: PixelBox) -> int:
    """Area in square pixels."""
    return (box[2] - box[0]) * (box[3] - box[1])


def around(first: PixelBox, second: PixelBox) -> PixelBox:
    """The smallest box that holds both."""
    return (
        min(first[0], second[0]),
        min(first[1], second[1]),
        max(first[2], second[2]),
        max(first[3], second[3]),
    )


def are_near(first: PixelBox, second: PixelBox, gap: float) -> bool:
    """Whether the boxes overlap or are less than `gap` pixels apart along both axes."""
    return (
        first[0] - gap < second[2]
        and second[0] - gap < first[2]
        and first[1] - gap < second[3]
        and second[1] - gap < first[3]
    )


def join_boxes(
    boxes: Sequence[PixelBox],
    gap: float,
    may_join: Callable[[PixelBox], bool] = lambda _: True,
) -> list[PixelBox]:
    """Join boxes nearer than `gap` until none are left that may be joined.

    Args:
        boxes: Boxes in any order.
        gap: Distance in pixels; overlapping boxes are always near.
        may_join: Asked with the box round a pair; overlapping pairs are joined without asking,
            so that the boxes returned never overlap.

    Returns:
        The joined boxes, from top to bottom.
    """
    joined = list(boxes)
    while pair := _first_pair(joined, gap, may_join):
        second = joined.pop(pair[1])
        joined[pair[0]] = around(joined[pair[0]], second)
    return sorted(joined, key=lambda box: (box[1], box[0]))


def _first_pair(
    boxes: list[PixelBox], gap: float, may_join: Callable[[PixelBox], bool]
) -> tuple[int, int] | None:
    for i, first in enumerate(boxes):
        for j in range(i + 1, len(boxes)):
            second = boxes[j]
            if are_near(first, second, 0) or (
                are_near(first, second, gap) and may_join(around(first, second))
            ):
                return i, j
    return None


def holds(
    box: PixelBox, x: npt.NDArray[np.float32], y: npt.NDArray[np.float32]
) -> npt.NDArray[np.bool_]:
    """Which of the points lie inside the box."""
    return (x >= box[0]) & (x < box[2]) & (y >= box[1]) & (y < box[3])


def transpose(box: PixelBox) -> PixelBox:
    """The box on the page with its axes swapped."""
    return (box[1], box[0], box[3], box[2])


def shift(box: PixelBox, by: tuple[int, int]) -> PixelBox:
    """The box moved by so many pixels to the right and down."""
    return (box[0] + by[0], box[1] + by[1], box[2] + by[0], box[3] + by[1])


def enlarge(box: PixelBox, scale: float, page_size: tuple[int, int]) -> PixelBox:
    """Bring a box from working pixels back to the page, rounded outwards and kept inside.

    Args:
        box: Box in working pixels.
        scale: Working pixels for each page pixel, at most 1.
        page_size: Page width and height in pixels.

    Returns:
        A box of at least one pixel each way inside the page.
    """
    width, height = page_size
    x0 = min(width - 1, max(0, int(np.floor(box[0] / scale))))
    y0 = min(height - 1, max(0, int(np.floor(box[1] / scale))))
    x1 = min(width, max(x0 + 1, int(np.ceil(box[2] / scale))))
    y1 = min(height, max(y0 + 1, int(np.ceil(box[3] / scale))))
    return (x0, y0, x1, y1)
