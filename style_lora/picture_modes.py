"""Pictures of every mode as upright RGB of 8 bits a channel; pure."""

from typing import Final

import numpy as np
from PIL import Image, ImageOps

_HIGHEST_16_BIT: Final = 65535
# Values of Exif's orientation that turn a picture on its side.
_ON_ITS_SIDE: Final = frozenset({5, 6, 7, 8})
_ORIENTATION: Final = 0x0112


def to_rgb(picture: Image.Image) -> Image.Image:
    """Return a picture as it is seen: upright, on white paper, 8 bits a channel, RGB.

    Args:
        picture: Of any mode but floating point.

    Raises:
        ValueError: Its pixels are floating-point numbers, or have more than 16 bits.
    """
    upright = ImageOps.exif_transpose(picture)
    if upright.mode == "F":
        raise ValueError("its pixels are floating-point numbers")
    if upright.mode.startswith("I"):
        upright = _from_16_bit(upright)
    if not upright.has_transparency_data:
        return upright.convert("RGB")
    # Below what is transparent lies any colour, mostly black.
    paper = Image.new("RGBA", upright.size, "white")
    paper.alpha_composite(upright.convert("RGBA"))
    return paper.convert("RGB")


def upright_size(picture: Image.Image) -> tuple[int, int]:
    """Return width and height in pixels that `to_rgb` gives, without decoding the picture."""
    if picture.getexif().get(_ORIENTATION) in _ON_ITS_SIDE:
        return picture.height, picture.width
    return picture.size


def _from_16_bit(picture: Image.Image) -> Image.Image:
    """Keep the upper eight bits; Pillow itself would make all above 255 white."""
    values = np.asarray(picture)
    if values.size and (values.min() < 0 or values.max() > _HIGHEST_16_BIT):
        raise ValueError("its pixels have more than 16 bits")
    return Image.fromarray((values >> 8).astype(np.uint8))
