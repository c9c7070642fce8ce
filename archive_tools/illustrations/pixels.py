"""Array types and small pixel operations that the illustration finder shares."""

import cv2
from cv2.typing import MatLike

# Sizes this near to a whole fraction are taken as that fraction.
NEARLY_WHOLE = 0.015

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
    """Shrink an image to about `pixels` at most, by area; small images stay as they are.

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
    return cv2.resize(image, size, interpolation=cv2.INTER_AREA), scale / max(1, block)


def _mean_of_blocks(image: Grey, block: int) -> Grey:
    """Shrink by a whole number; less than a block is cut off at the right and at the bottom."""
    size = (max(1, image.shape[1] // block), max(1, image.shape[0] // block))
    whole = image[: size[1] * block, : size[0] * block]
    return cv2.resize(whole, size, interpolation=cv2.INTER_AREA)
