"""Array types and small pixel operations that the illustration finder shares."""

import cv2
from cv2.typing import MatLike

# Pixels, uint8: OpenCV's own type for arrays, as its functions take and return it.
Grey = MatLike
Mask = MatLike


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
