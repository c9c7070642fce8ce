"""Decodes JPEG 2000 pictures at a half, a quarter or an eighth of their size.

PDFium does it: its OpenJPEG and Pillow's give the same pixels, and it needs half the time. It
decodes what a page shows, so the picture is handed to it as the only content of a page that has as
many points as the decoded picture has pixels.
"""

import io
import warnings

import cv2
import numpy as np
import numpy.typing as npt

from archive_tools.embedded_picture import is_plain_profile
from archive_tools.errors import PageError
from archive_tools.second_renderer import render_alone

Pixels = npt.NDArray[np.uint8]

_CHANNELS = {"L": 1, "RGB": 3}
# No scan is all of this colour; a page that stays so has not shown its picture.
_BACKDROP = (255, 0, 255)
_BACKDROP_STEP = 8


def decode_jpeg2000(stored: bytes, size: tuple[int, int], halvings: int) -> Pixels | None:
    """Decode a picture without its finest scales.

    Args:
        stored: A JP2 file or a bare codestream.
        size: Width and height that it must have.
        halvings: How often each side is halved, rounded up.

    Returns:
        Pixels, uint8 (H, W) or RGB (H, W, 3); None where it is not plain 8-bit grey or RGB of
        that size, has not that many scales, or is damaged.
    """
    channels = _count_plain_channels(stored, size)
    if channels is None:
        return None
    width, height = (-(-side >> halvings) for side in size)
    try:
        pixels = render_alone(_wrap(stored, channels, (width, height), halvings), _BACKDROP)
    except PageError:
        return None
    if (pixels[::_BACKDROP_STEP, ::_BACKDROP_STEP] == _BACKDROP).all():
        return None
    return _centre(pixels if channels == 3 else pixels[:, :, 0], halvings)


def _count_plain_channels(stored: bytes, size: tuple[int, int]) -> int | None:
    """Return the channels of a picture whose values are 8-bit grey or sRGB, None of another."""
    # Here, since a worker that meets no JPEG 2000 starts faster without Pillow.
    from PIL import Image, Jpeg2KImagePlugin

    try:
        with warnings.catch_warnings():
            # Its size is that of the page's budget, whatever Pillow thinks of it.
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            image = Jpeg2KImagePlugin.Jpeg2KImageFile(io.BytesIO(stored))
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        return None
    channels = _CHANNELS.get(image.mode)
    profile = image.info.get("icc_profile")
    if image.size != size or channels is None:
        return None
    return channels if not profile or is_plain_profile(profile, channels) else None


def _wrap(stored: bytes, channels: int, shown: tuple[int, int], halvings: int) -> bytes:
    """Return a PDF whose only page shows a picture and nothing else, one pixel to the point.

    PDFium halves as often as the stated size holds the shown one. What is stated is therefore a
    multiple: an odd side would be halved once less and resampled.
    """
    width, height = shown
    content = b"%d 0 0 %d 0 0 cm /I Do" % shown
    space = b"DeviceRGB" if channels == 3 else b"DeviceGray"
    objects = (
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 %d %d]/Contents 4 0 R"
        b"/Resources<</XObject<</I 5 0 R>>>>>>" % shown,
        b"<</Length %d>>stream\n%b\nendstream" % (len(content), content),
        b"<</Type/XObject/Subtype/Image/Width %d/Height %d/BitsPerComponent 8/ColorSpace/%b"
        b"/Filter/JPXDecode/Length %d>>stream\n%b\nendstream"
        % (width << halvings, height << halvings, space, len(stored), stored),
    )
    parts, offsets, end = [b"%PDF-1.5\n"], [], 9
    for number, body in enumerate(objects, start=1):
        parts.append(b"%d 0 obj\n%b\nendobj\n" % (number, body))
        offsets.append(b"%010d 00000 n \n" % end)
        end += len(parts[-1])
    table = b"xref\n0 %d\n0000000000 65535 f \n%b" % (len(objects) + 1, b"".join(offsets))
    trailer = b"trailer<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % (len(objects) + 1, end)
    return b"".join((*parts, table, trailer))


def _centre(pixels: Pixels, halvings: int) -> Pixels:
    """Move a halved picture to where averaging would have put it.

    The wavelet's coarse samples sit on the first pixel of each block, not on its middle: half a
    pixel of the full size for one halving. Unmoved, a scan at 150 dpi is 12 dB less faithful.
    """
    if halvings == 0:
        return np.ascontiguousarray(pixels)
    offset = (1 - 0.5**halvings) / 2
    matrix = np.array([[1, 0, -offset], [0, 1, -offset]], dtype=np.float32)
    size = (pixels.shape[1], pixels.shape[0])
    moved = cv2.warpAffine(
        pixels, matrix, size, flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE
    )
    return np.asarray(moved, dtype=np.uint8)
