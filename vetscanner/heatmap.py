"""A photo with the places marked that speak for a sign, as a small JPEG in a data URI."""

from base64 import b64encode
from io import BytesIO

import numpy as np
from numpy.typing import NDArray
from PIL import Image

MAX_SIDE_PX = 360
_JPEG_QUALITY = 80
# The photo must stay visible under the strongest mark.
_MAX_COVER = 0.6
# From faint to strong, darker and redder, so that it can be told apart without seeing colours.
_FAINT = np.array([255.0, 225.0, 60.0])
_STRONG = np.array([200.0, 0.0, 30.0])


def draw_heatmap(
    pixels: NDArray[np.uint8], evidence: NDArray[np.float32]
) -> tuple[str, str] | None:
    """Draw the photo, and the photo with the map over it.

    Args:
        pixels: The photo, uint8 RGB (H, W, 3).
        evidence: How much each place speaks for the sign, (rows, columns) over the whole photo;
            only what is above 0 is drawn.

    Returns:
        Both as `data:image/jpeg;base64,...`, or None when no place speaks for the sign.
    """
    peak = float(evidence.max())
    if not peak > 0:
        return None
    picture = Image.fromarray(pixels)
    picture.thumbnail((MAX_SIDE_PX, MAX_SIDE_PX), Image.Resampling.LANCZOS)
    grid = Image.fromarray(np.clip(evidence / peak, 0, 1).astype(np.float32))
    strength = np.asarray(grid.resize(picture.size, Image.Resampling.BICUBIC)).clip(0, 1)[..., None]
    colour = _FAINT + (_STRONG - _FAINT) * strength
    cover = _MAX_COVER * strength
    mixed = np.asarray(picture) * (1 - cover) + colour * cover
    return _to_uri(picture), _to_uri(Image.fromarray(mixed.astype(np.uint8)))


def _to_uri(picture: Image.Image) -> str:
    buffer = BytesIO()
    picture.save(buffer, "JPEG", quality=_JPEG_QUALITY)
    return "data:image/jpeg;base64," + b64encode(buffer.getvalue()).decode("ascii")
