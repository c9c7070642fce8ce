"""Reads image files: what they say of themselves, and their pixels as a person would see them.

Pixels come out upright (a camera's orientation mark applied), on white where they are transparent,
in sRGB, and no larger than is asked for.
"""

import io
import math
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import BinaryIO

import cv2
import numpy as np
import numpy.typing as npt
from PIL import Image, ImageCms, TiffImagePlugin, UnidentifiedImageError

from archive_tools.embedded_jpeg2000 import decode_jpeg2000
from archive_tools.embedded_picture import (
    MAX_HALVINGS,
    decode_jpeg,
    is_decodable,
    is_plain_profile,
    read_jpeg_header,
)
from archive_tools.errors import PageError
from archive_tools.page_damage import has_flat_edge
from archive_tools.resampling import halve

Pixels = npt.NDArray[np.uint8]

MOST_PIXELS = 150_000_000
"""A2 at 600 dpi. As RGB they take Pillow 600 MB; an honest scan that is larger can be cut."""

MOST_FILE_BYTES = 512 * 2**20

_FORMATS = ("JPEG", "PNG", "WEBP", "TIFF", "JPEG2000")
_ORIENTATION_TAG = 274
_COMPRESSION_TAG, _PHOTOMETRIC_TAG, _YCBCR = 259, 262, 6
_CHANNELS = {"L": 1, "RGB": 3}
_END_OF_JPEG = b"\xff\xd9"
# Everything that Pillow's decoders are known to raise of damaged files.
_DECODER_ERRORS = (
    OSError,
    SyntaxError,
    ValueError,
    TypeError,
    KeyError,
    IndexError,
    EOFError,
    OverflowError,
    RuntimeError,
    ZeroDivisionError,
    Image.DecompressionBombError,
)


@dataclass(frozen=True, slots=True)
class ImageHeader:
    """What an image says of itself.

    Attributes:
        width: Stored width in pixels.
        height: Stored height in pixels.
        orientation: The EXIF mark, 1 (as stored) to 8; from 5 on width and height change places.
        dpi: Resolution across and down as stated, 0 where it is not.
    """

    width: int
    height: int
    orientation: int
    dpi: tuple[float, float]


class ImageFile:
    """One picture of an open image file; use `open_image`."""

    def __init__(self, file: BinaryIO, image: Image.Image) -> None:
        """Take over what is open.

        Args:
            file: The file.
            image: The same file in Pillow, at the picture that is wanted.
        """
        self._file = file
        self._image = image
        self._profile = image.info.get("icc_profile") or b""
        self.header = ImageHeader(*image.size, _read_orientation(image), _read_dpi(image))

    def decode(self, halvings: int) -> Pixels:
        """Decode the picture.

        Args:
            halvings: How often each side is halved.

        Returns:
            Pixels, uint8 RGB (H, W, 3) or grey (H, W), upright.

        Raises:
            PageError: It is damaged, cut off, or of a kind that is not read.
        """
        pixels = None
        with _explained_decoder_errors():
            if self._image.format in ("JPEG", "MPO"):
                pixels = self._decode_jpeg(halvings)
            elif self._image.format == "JPEG2000" and halvings <= MAX_HALVINGS:
                pixels = decode_jpeg2000(self._read_whole(), self._image.size, halvings)
            if pixels is None:
                pixels = self._decode_any(halvings)
        return turn_upright(pixels, self.header.orientation)

    def _decode_jpeg(self, halvings: int) -> Pixels | None:
        """Decode plain grey or RGB by libjpeg's own halving; None where it is another kind."""
        channels = _CHANNELS.get(self._image.mode)
        stored = self._read_whole()
        stated = read_jpeg_header(stored)
        if channels is None or stated is None or not is_decodable(stated):
            return None
        if self._profile and not is_plain_profile(self._profile, channels):
            return None
        at_once = min(halvings, MAX_HALVINGS)
        pixels = decode_jpeg(stored, channels, at_once)
        if pixels is None:
            pixels = decode_jpeg(stored + _END_OF_JPEG, channels, at_once)
            if pixels is None or has_flat_edge(pixels):
                raise PageError("it is damaged or cut off")
        return halve(pixels, halvings - at_once)

    def _decode_any(self, halvings: int) -> Pixels:
        """Decode whatever Pillow reads."""
        image = self._image
        if _is_bare_ycbcr(image):
            raise PageError("its colours are YCbCr without compression; save it as RGB")
        is_wide = ";16" in str(getattr(image, "tile", ""))
        image.load()
        if is_wide and image.mode == "RGB":
            _check_wide_colours(image)
        if image.mode.startswith("I"):
            return halve(_from_sixteen_bits(image), halvings)
        if image.mode == "F":
            raise PageError("its pixels are floating-point numbers; save it with 8 bits a channel")
        if image.mode in ("1", "P", "PA"):
            image = image.convert(_mode_of_palette(image))
        if halvings:
            image = image.reduce(1 << halvings)
        return np.asarray(_to_srgb(_on_white(image), self._profile), dtype=np.uint8)

    def _read_whole(self) -> bytes:
        self._file.seek(0)
        stored = self._file.read(MOST_FILE_BYTES + 1)
        if len(stored) > MOST_FILE_BYTES:
            raise PageError(f"it is larger than {MOST_FILE_BYTES >> 20} MB")
        return stored


@contextmanager
def open_image(file: BinaryIO, frame: int = 0) -> Iterator[ImageFile]:
    """Open an image; only its header is read.

    Args:
        file: The file, open for reading.
        frame: 0-based number of the picture in a TIFF.

    Raises:
        PageError: It is no image that is read here, is damaged, or has too many pixels.
    """
    with _explained_decoder_errors():
        image = Image.open(file, formats=_FORMATS)
    with image:
        with _explained_decoder_errors():
            if frame:
                image.seek(frame)
            width, height = image.size
            if width * height > MOST_PIXELS:
                raise PageError(_too_large(f"{width:,} x {height:,} pixels"))
            opened = ImageFile(file, image)
        yield opened


def turn_upright(pixels: Pixels, orientation: int) -> Pixels:
    """Turn and mirror a picture as its EXIF mark asks for.

    Args:
        pixels: uint8 (H, W) or (H, W, 3).
        orientation: 1 to 8; anything else counts as 1.
    """
    if orientation in (5, 6, 7, 8):
        pixels = np.swapaxes(pixels, 0, 1)
    if orientation in (2, 3, 6, 7):
        pixels = pixels[:, ::-1]
    if orientation in (3, 4, 7, 8):
        pixels = pixels[::-1]
    return np.ascontiguousarray(pixels)


@contextmanager
def _explained_decoder_errors() -> Iterator[None]:
    """Turn what Pillow raises of a file into an error that says what is wrong with it."""
    try:
        with warnings.catch_warnings():
            # Of odd metadata and of many pixels, for which there is a limit of our own.
            warnings.simplefilter("ignore")
            yield
    except UnidentifiedImageError as error:
        raise PageError(
            "it is no JPEG, PNG, WebP, TIFF or JPEG 2000 image, or its beginning is damaged"
        ) from error
    except Image.DecompressionBombError as error:
        raise PageError(_too_large("far too many pixels")) from error
    except MemoryError:
        raise
    except _DECODER_ERRORS as error:
        raise PageError("it is damaged or cut off") from error


def _too_large(what: str) -> str:
    return f"it says that it has {what}; at most {MOST_PIXELS // 1_000_000} million are read"


def _read_orientation(image: Image.Image) -> int:
    if image.format == "TIFF":
        return 1  # Pillow turns TIFF files itself, and gives the size that they have then
    if image.format == "PNG" and "exif" not in image.info:
        return 1  # Pillow would decode the whole image to look for the mark behind the pixels
    stated = image.getexif().get(_ORIENTATION_TAG, 1)
    return stated if isinstance(stated, int) and 1 <= stated <= 8 else 1


def _read_dpi(image: Image.Image) -> tuple[float, float]:
    """Return the stated resolution across and down, 0 where it is missing or no number."""
    stated = image.info.get("dpi", (0, 0))
    try:
        across, down = (float(value) for value in stated)
    except (TypeError, ValueError, ZeroDivisionError):
        return 0.0, 0.0
    if not (0 < across < math.inf and 0 < down < math.inf):
        return 0.0, 0.0
    return across, down


def _from_sixteen_bits(image: Image.Image) -> Pixels:
    """Return grey of 16 bits in 8; many a scanner fills only the lowest 10, 12 or 14 of them."""
    values = np.clip(np.asarray(image), 0, 65_535)
    highest = int(values.max())
    bits = next(bits for bits in (8, 10, 12, 14, 16) if highest < 1 << bits)
    return np.asarray(values >> (bits - 8), dtype=np.uint8)


def _check_wide_colours(image: Image.Image) -> None:
    """Refuse colours of which Pillow, which keeps the upper eight bits, leaves black.

    Raises:
        PageError: They fill the lowest twelve bits of sixteen, or fewer.
    """
    if 0 < int(np.asarray(image).max()) < 1 << 4:
        raise PageError(
            "its colours fill only the lowest 12 of 16 bits; save it with 8 bits a channel"
        )


def _is_bare_ycbcr(image: Image.Image) -> bool:
    """Return whether a TIFF has YCbCr without compression, which Pillow takes for another kind."""
    if not isinstance(image, TiffImagePlugin.TiffImageFile):
        return False
    tags = image.tag_v2
    return (tags.get(_PHOTOMETRIC_TAG), tags.get(_COMPRESSION_TAG, 1)) == (_YCBCR, 1)


def _mode_of_palette(image: Image.Image) -> str:
    if image.mode == "1":
        return "L"
    return "RGBA" if image.mode == "PA" or "transparency" in image.info else "RGB"


def _on_white(image: Image.Image) -> Image.Image:
    """Return a picture without transparency."""
    if image.mode not in ("LA", "La", "RGBA", "RGBa"):
        return image
    transparent = image.convert("RGBA")
    paper = Image.new("RGBA", image.size, "white")
    return Image.alpha_composite(paper, transparent).convert("RGB")


def _to_srgb(image: Image.Image, profile: bytes) -> Image.Image:
    """Return a picture in sRGB, or grey of sRGB's own."""
    channels = _CHANNELS.get(image.mode)
    is_plain = channels is not None and (not profile or is_plain_profile(profile, channels))
    if is_plain:
        return image
    if profile:
        try:
            converted = ImageCms.profileToProfile(
                image,
                ImageCms.ImageCmsProfile(io.BytesIO(profile)),
                ImageCms.createProfile("sRGB"),
                outputMode="RGB",
            )
        except (ImageCms.PyCMSError, OSError, ValueError, TypeError):
            converted = None  # a damaged profile, or one of another kind of picture
        if isinstance(converted, Image.Image):
            return converted
    return image if channels else image.convert("RGB")


def stretch(pixels: Pixels, size: tuple[int, int]) -> Pixels:
    """Make the pixels square that a fax machine has made oblong.

    Args:
        pixels: uint8 (H, W) or (H, W, 3).
        size: Width and height of the result.
    """
    if (pixels.shape[1], pixels.shape[0]) == size:
        return pixels
    return np.asarray(cv2.resize(pixels, size, interpolation=cv2.INTER_LINEAR), dtype=np.uint8)
