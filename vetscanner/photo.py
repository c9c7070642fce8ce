"""From an uploaded file to a safe, upright RGB `Photo`, or a refusal that says what to do.

The header is judged before any pixel is decoded: size limits come first, so that a small file
that unfolds into gigabytes costs nothing. Metadata (with the place of the farm) is dropped.
"""

import struct
import warnings
import zlib
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray
from pi_heif import register_heif_opener
from PIL import Image, ImageOps, UnidentifiedImageError

from vetscanner import config
from vetscanner.errors import InvalidPhotoError
from vetscanner.phrases import load_phrases
from vetscanner.schema import Language, Photo, PhotoQuality

FORMATS = ("JPEG", "PNG", "WEBP", "TIFF", "AVIF", "HEIF")
# Photos of iPhones. No thumbnails: they would be decoded, and only the photo is looked at.
register_heif_opener(thumbnails=False, decode_threads=2)
_DECODE_ERRORS = (
    OSError,
    SyntaxError,  # Pillow's PNG plugin on broken chunks
    ValueError,
    TypeError,
    LookupError,
    ArithmeticError,
    EOFError,
    MemoryError,
    RuntimeError,  # the decoders of AVIF and HEIF
    struct.error,
    zlib.error,
    Image.DecompressionBombError,
)
"""Everything that Pillow's decoders were seen to raise on damaged files (fuzzed in the tests)."""

_HEIF_BRANDS = (b"heic", b"heix", b"hevc", b"hevx", b"heim", b"heis", b"mif1", b"msf1")
_QUALITY_TILES = 4


def load_photo(path: Path, name: str) -> Photo:
    """Read one uploaded picture.

    Args:
        path: The file, in whatever format its content says (the ending is not trusted).
        name: The file's name for people.

    Returns:
        The upright RGB photo, at most `config.MAX_WORKING_SIDE_PX` on its long side.

    Raises:
        InvalidPhotoError: The file is no picture, damaged, of an unknown format, or too small
            or too large.
    """
    _check_file(path, name)
    try:
        with _open_picture(path) as picture:
            _check_size(picture, name)
            upright, (width, height) = _decode_upright(picture)
    except _DECODE_ERRORS as error:
        raise _unreadable(path, name, error) from error
    pixels = np.asarray(upright, dtype=np.uint8)
    return Photo(name, pixels, width, height, judge_quality(pixels, min(width, height)))


def judge_quality(pixels: NDArray[np.uint8], short_side_px: int) -> PhotoQuality:
    """Say whether a photo is good enough to be looked at.

    Args:
        pixels: uint8 RGB (H, W, 3).
        short_side_px: Short side of the original in pixels.

    Returns:
        The first that holds of tiny, dark, blurred and small, else good.
    """
    grey = _quality_grey(pixels)
    if short_side_px < config.MIN_GOOD_SIDE_PX:
        return PhotoQuality.TINY
    if np.percentile(grey, 95) < config.MIN_BRIGHT_LUMA:
        return PhotoQuality.DARK
    if _sharpest_tile(grey) < config.MIN_SHARPNESS:
        return PhotoQuality.BLURRED
    if short_side_px < config.MIN_CLOSE_SIDE_PX:
        return PhotoQuality.SMALL
    return PhotoQuality.GOOD


def _check_file(path: Path, name: str) -> None:
    try:
        exists = path.exists()
    except OSError as error:  # a name that the system refuses, such as one of 300 letters
        raise _refuse("unusable_path", name, cause=error.strerror) from error
    if not exists:
        raise _refuse("missing", name)
    if not path.is_file():
        raise _refuse("no_file", name)
    if path.stat().st_size == 0:
        raise _refuse("empty", name)


def _refuse(reason: str, name: str, **details: object) -> InvalidPhotoError:
    """Return the error of a reason, a key of `Phrases.refusals`, with its English text."""
    known = {"name": name, **details}
    return InvalidPhotoError(load_phrases(Language.EN).tell_refusal(reason, known), reason, known)


def _open_picture(path: Path) -> Image.Image:
    """Open a picture by its header only; nothing is decoded yet."""
    with warnings.catch_warnings():
        # Pillow warns from 89 megapixels on; the limits here are our own, see _check_size.
        warnings.simplefilter("ignore", Image.DecompressionBombWarning)
        return Image.open(path, formats=FORMATS)


def _check_size(picture: Image.Image, name: str) -> None:
    width, height = picture.size
    limit = config.MAX_JPEG_PIXELS if _can_decode_small(picture) else config.MAX_PIXELS
    if width * height > limit:
        megapixels = limit // 1_000_000
        raise _refuse("too_many_pixels", name, width=width, height=height, megapixels=megapixels)
    if min(width, height) < config.MIN_SIDE_PX:
        raise _refuse("too_few_pixels", name, width=width, height=height)
    if max(width, height) > config.MAX_ASPECT_RATIO * min(width, height):
        raise _refuse("strip", name, width=width, height=height)


def _can_decode_small(picture: Image.Image) -> bool:
    """Whether the decoder itself can scale down (`Image.draft`), so that memory stays small."""
    return picture.format in ("JPEG", "MPO")


def _decode_upright(picture: Image.Image) -> tuple[Image.Image, tuple[int, int]]:
    """Decode the first frame: upright RGB at working size, and the original's upright size."""
    size = picture.size
    working = (config.MAX_WORKING_SIDE_PX, config.MAX_WORKING_SIDE_PX)
    picture.draft("RGB", working)
    picture.load()
    orientation = picture.getexif().get(0x0112, 1)
    rgb = _to_rgb(picture)
    # reducing_gap: a first cheap pass by whole factors, then a good one; as sharp, much faster.
    rgb.thumbnail(working, Image.Resampling.LANCZOS, reducing_gap=3.0)
    rgb.getexif()[0x0112] = orientation
    upright = ImageOps.exif_transpose(rgb)
    return upright, size[::-1] if orientation in (5, 6, 7, 8) else size


def _to_rgb(picture: Image.Image) -> Image.Image:
    """Bring any mode to 8-bit RGB; what is transparent becomes white."""
    if picture.mode.startswith(("I", "F")):
        return _wide_to_rgb(picture)
    if picture.has_transparency_data:
        rgba = picture.convert("RGBA")
        canvas = Image.new("RGB", rgba.size, "white")
        canvas.paste(rgba, mask=rgba.getchannel("A"))
        return canvas
    return picture.convert("RGB")


def _wide_to_rgb(picture: Image.Image) -> Image.Image:
    """Stretch 16- and 32-bit grey to 8 bits (Pillow's own conversion would clip it to white)."""
    values = np.nan_to_num(np.asarray(picture, dtype=np.float32), posinf=0.0, neginf=0.0)
    low, high = float(values.min()), float(values.max())
    grey = (values - low) * (255.0 / max(high - low, 1e-6))
    return Image.fromarray(grey.astype(np.uint8)).convert("RGB")


def _quality_grey(pixels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    grey = cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY)
    scale = config.QUALITY_SIDE_PX / max(grey.shape)
    if scale < 1:  # a smaller photo is judged as it is: enlarging would only blur it
        grey = cv2.resize(grey, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    return np.asarray(grey, dtype=np.uint8)


def _sharpest_tile(grey: NDArray[np.uint8]) -> float:
    """Largest Laplacian variance of any tile: a sharp animal on a soft background is sharp."""
    edges = cv2.Laplacian(grey, cv2.CV_32F)
    rows = np.array_split(edges, _QUALITY_TILES, axis=0)
    tiles = [tile for row in rows for tile in np.array_split(row, _QUALITY_TILES, axis=1)]
    return max(float(tile.var()) for tile in tiles if tile.size)


def _unreadable(path: Path, name: str, error: Exception) -> InvalidPhotoError:
    """Say in plain words why a file could not be decoded, and what to do."""
    if isinstance(error, Image.DecompressionBombError | MemoryError):
        return _refuse("bomb", name, megapixels=config.MAX_PIXELS // 1_000_000)
    if _is_heif(path):
        return _refuse("odd_heic", name)
    if isinstance(error, UnidentifiedImageError):
        return _refuse("unknown_format", name)
    return _refuse("damaged", name, cause=error)


def _is_heif(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            head = file.read(12)
    except OSError:
        return False
    return head[4:8] == b"ftyp" and head[8:12] in _HEIF_BRANDS
