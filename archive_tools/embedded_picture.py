"""Decodes the picture that a scanned page consists of, at the resolution that is needed; pure."""

import io
import struct
from dataclasses import dataclass
from functools import lru_cache

import cv2
import numpy as np
import numpy.typing as npt
import simplejpeg  # type: ignore[import-untyped]

Pixels = npt.NDArray[np.uint8]

MAX_HALVINGS = 3
"""libjpeg decodes at 1/1, 1/2, 1/4 or 1/8 for less work: it leaves the high frequencies out."""

_START_OF_FRAME = {0xC0: False, 0xC1: False, 0xC2: True}  # marker: progressive?
_WITHOUT_LENGTH = frozenset((0x01, 0xD8, *range(0xD0, 0xD8)))

# A whole progressive JPEG is held as coefficients, six bytes a pixel, however small it is decoded.
_MOST_PROGRESSIVE_PX = 36_000_000

_SPACES = {1: "GRAY", 3: "RGB"}
_GREY_FLAGS = (
    cv2.IMREAD_GRAYSCALE,
    cv2.IMREAD_REDUCED_GRAYSCALE_2,
    cv2.IMREAD_REDUCED_GRAYSCALE_4,
    cv2.IMREAD_REDUCED_GRAYSCALE_8,
)

_PROFILE_MEAN_DIFFERENCE = 2.0
_PROFILE_MOST_DIFFERENCE = 10.0


@dataclass(frozen=True, slots=True)
class JpegHeader:
    """What a JPEG says of itself."""

    width: int
    height: int
    channels: int
    progressive: bool


@dataclass(frozen=True, slots=True)
class Placement:
    """How a picture is turned on its page, and which part of it the page shows.

    Attributes:
        rotation: Clockwise turn in degrees: 0, 90, 180 or 270.
        window: Left, top, right, bottom as fractions of the turned picture.
    """

    rotation: int = 0
    window: tuple[float, float, float, float] = (0.0, 0.0, 1.0, 1.0)

    def apply(self, pixels: Pixels) -> Pixels:
        """Return what the page shows of the picture, upright.

        Args:
            pixels: uint8 (H, W) or (H, W, 3).
        """
        turned = np.rot90(pixels, -self.rotation // 90)
        height, width = turned.shape[:2]
        left, right = _to_span(self.window[0], self.window[2], width)
        top, bottom = _to_span(self.window[1], self.window[3], height)
        return np.ascontiguousarray(turned[top:bottom, left:right])


def _to_span(start: float, end: float, length: int) -> tuple[int, int]:
    """Return fractions of a length as whole pixels, at least one of them."""
    first = min(round(start * length), length - 1)
    return first, max(round(end * length), first + 1)


def read_jpeg_header(stored: bytes) -> JpegHeader | None:
    """Read size and kind from a JPEG's frame header.

    Args:
        stored: The file's bytes.

    Returns:
        None where it is no 8-bit Huffman-coded JPEG (lossless, arithmetic and 12-bit ones are
        left to the renderer).
    """
    position = 2
    if not stored.startswith(b"\xff\xd8"):
        return None
    while position + 9 < len(stored) and stored[position] == 0xFF:
        marker = stored[position + 1]
        if marker in _START_OF_FRAME:
            precision, height, width, channels = struct.unpack_from(">BHHB", stored, position + 4)
            if precision != 8 or not height or not width:
                return None
            return JpegHeader(width, height, channels, _START_OF_FRAME[marker])
        if marker in _WITHOUT_LENGTH or marker == 0xFF:
            position += 1 if marker == 0xFF else 2
        else:
            position += 2 + struct.unpack_from(">H", stored, position + 2)[0]
    return None


def is_decodable(header: JpegHeader) -> bool:
    """Return whether `decode_jpeg` shows the picture as a PDF reader would, within bounds."""
    if header.channels not in (1, 3):
        return False  # CMYK: inverted or not, and through which profile?
    return not header.progressive or header.width * header.height <= _MOST_PROGRESSIVE_PX


def decode_jpeg(stored: bytes, channels: int, halvings: int) -> Pixels | None:
    """Decode a JPEG at a half, a quarter or an eighth of its size.

    Args:
        stored: The file's bytes.
        channels: 1 or 3, as its header says.
        halvings: 0 (whole size) to `MAX_HALVINGS`.

    Returns:
        Pixels, uint8 (H, W) or RGB (H, W, 3); None where it cannot be decoded to its end.
    """
    header = read_jpeg_header(stored)
    if header is None:
        return None
    height, width = -(-header.height >> halvings), -(-header.width >> halvings)
    try:
        pixels = simplejpeg.decode_jpeg(
            stored, _SPACES[channels], min_height=height, min_width=width
        )
    except ValueError:
        return _decode_leniently(stored, channels, halvings)
    return np.asarray(pixels if channels == 3 else pixels[:, :, 0], dtype=np.uint8)


def _decode_leniently(stored: bytes, channels: int, halvings: int) -> Pixels | None:
    """Decode a JPEG that has small faults; None where it ends early.

    To the same pixels as simplejpeg, which takes a quarter less time and refuses any fault.
    """
    flags = _GREY_FLAGS[halvings]
    if channels == 3:
        # The reduced modes are bits on their own; with this one they decode to RGB.
        flags = (flags & ~cv2.IMREAD_COLOR) | cv2.IMREAD_COLOR_RGB
    try:
        # A PDF reader ignores a camera's orientation mark, so it is ignored here.
        pixels = cv2.imdecode(
            np.frombuffer(stored, np.uint8), flags | cv2.IMREAD_IGNORE_ORIENTATION
        )
    except cv2.error:
        return None
    return None if pixels is None else np.asarray(pixels, dtype=np.uint8)


def count_halvings(density: float, least_density: float) -> int:
    """Return how often a picture may be halved and still be as dense as asked.

    Args:
        density: The picture's pixels per point.
        least_density: What must be left.
    """
    halvings = 0
    while halvings < MAX_HALVINGS and density / 2 ** (halvings + 1) >= least_density:
        halvings += 1
    return halvings


@lru_cache(maxsize=32)
def is_plain_profile(profile: bytes, channels: int) -> bool:
    """Return whether colours may be taken for sRGB (or grey for sRGB's grey) as they are.

    Args:
        profile: An ICC profile.
        channels: 1 or 3.
    """
    # Here, since a worker that meets no profile starts faster without Pillow.
    from PIL import Image, ImageCms

    mode = "L" if channels == 1 else "RGB"
    chart = _colour_chart(channels)
    try:
        transform = ImageCms.buildTransform(
            ImageCms.ImageCmsProfile(io.BytesIO(profile)),
            ImageCms.createProfile("sRGB"),
            mode,
            "RGB",
            ImageCms.Intent.RELATIVE_COLORIMETRIC,
        )
        shown = ImageCms.applyTransform(Image.fromarray(chart, mode), transform)
    except (ImageCms.PyCMSError, OSError, ValueError, TypeError):
        return False
    plain = np.asarray(Image.fromarray(chart, mode).convert("RGB")).astype(np.int16)
    difference = np.abs(np.asarray(shown).astype(np.int16) - plain)
    return bool(
        difference.mean() <= _PROFILE_MEAN_DIFFERENCE
        and difference.max() <= _PROFILE_MOST_DIFFERENCE
    )


def _colour_chart(channels: int) -> Pixels:
    """Return an image of every sixteenth grey, or of 9 x 9 x 9 colours."""
    if channels == 1:
        return np.arange(0, 256, 16, dtype=np.uint8).reshape(1, -1)
    steps = np.linspace(0, 255, 9).astype(np.uint8)
    return np.stack(np.meshgrid(steps, steps, steps), axis=-1).reshape(9, 81, 3)
