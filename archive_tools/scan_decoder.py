"""Decodes the picture of a scanned page once, at the size that is needed."""

import math

import numpy as np
import numpy.typing as npt

from archive_tools.embedded_jpeg2000 import decode_jpeg2000
from archive_tools.embedded_picture import (
    count_halvings,
    decode_jpeg,
    is_decodable,
    read_jpeg_header,
)
from archive_tools.page_filter import to_grey
from archive_tools.reader import PIXEL_BUDGET, REFERENCE_ZOOM, PdfPage
from archive_tools.resampling import halve
from archive_tools.scan_finder import JPEG, JPEG_2000, Scan

Pixels = npt.NDArray[np.uint8]

# A scan is halved down to 144 dpi; a JPEG, which libjpeg halves better than averaging does, to a
# little less: 270 dpi scans then need half the work.
_LEAST_DENSITY = REFERENCE_ZOOM
_LEAST_JPEG_DENSITY = 1.75
# A glance sees 32 to 65 dpi.
_LEAST_GLANCE_DENSITY = 0.45


class ScanDecoder:
    """One scan of an open page."""

    def __init__(self, page: PdfPage, scan: Scan, zoom: float) -> None:
        """Choose the size; nothing is read or decoded yet.

        Args:
            page: The open page.
            scan: Its picture.
            zoom: Pixels per point that a kept page needs.
        """
        self._page = page
        self._scan = scan
        least_density = _LEAST_JPEG_DENSITY if scan.codec == JPEG else _LEAST_DENSITY
        self._halvings = count_halvings(scan.density, max(zoom, least_density))
        self._jpeg: bytes | None = None
        self._pixels: Pixels | None = None
        self._is_decoded = False

    @property
    def can_decode(self) -> bool:
        """Whether the picture is of a kind and size that is decoded here."""
        scan = self._scan
        if scan.codec not in (JPEG, JPEG_2000):
            return scan.width * scan.height <= PIXEL_BUDGET
        size = (scan.width >> self._halvings) * (scan.height >> self._halvings)
        return size <= PIXEL_BUDGET and (scan.codec == JPEG_2000 or self._read_jpeg() is not None)

    @property
    def density(self) -> float:
        """Stored pixels per point of the page."""
        return self._scan.density

    @property
    def channels(self) -> int:
        """Channels of the stored picture; 0 where only decoding tells."""
        return self._scan.channels

    @property
    def bytes_per_pixel(self) -> float:
        """How much a JPEG takes for each of its pixels; infinite for other codings."""
        stored = self._read_jpeg() if self._scan.codec == JPEG else None
        return len(stored) / (self._scan.width * self._scan.height) if stored else math.inf

    @property
    def is_slow(self) -> bool:
        """Whether a glance costs so much less than decoding that it always pays."""
        return self._scan.codec == JPEG_2000

    def decode(self) -> Pixels | None:
        """Return the picture as the page shows it, RGB (H, W, 3) or grey (H, W).

        None where it turns out to be damaged.
        """
        if not self._is_decoded:
            whole = self._decode_whole()
            self._pixels = None if whole is None else self._scan.placement.apply(whole)
            self._is_decoded = True
        return self._pixels

    def _decode_whole(self) -> Pixels | None:
        """Return the picture as it is stored, halved."""
        if self._scan.codec in (JPEG, JPEG_2000):
            return self._decode_stored(self._scan.channels, self._halvings)
        whole = self._page.decode_picture(self._scan.xref)
        return None if whole is None else halve(whole, self._halvings)

    def decode_glance(self) -> Pixels | None:
        """Return the page in grey and far smaller, or None where that would not be cheaper."""
        halvings = count_halvings(self._scan.density, _LEAST_GLANCE_DENSITY)
        if self._scan.codec not in (JPEG, JPEG_2000) or halvings <= self._halvings:
            return None
        pixels = self._decode_stored(1, halvings)
        return None if pixels is None else self._scan.placement.apply(to_grey(pixels))

    def _decode_stored(self, channels: int, halvings: int) -> Pixels | None:
        """Decode the stored bytes; JPEG 2000 keeps its own channels."""
        scan = self._scan
        if scan.codec == JPEG_2000:
            stored = self._page.read_stored(scan.xref)
            return decode_jpeg2000(stored, (scan.width, scan.height), halvings)
        jpeg = self._read_jpeg()
        return decode_jpeg(jpeg, channels, halvings) if jpeg else None

    def _read_jpeg(self) -> bytes | None:
        """Return the stored bytes of a JPEG that is what the PDF says of it."""
        if self._jpeg is None:
            self._jpeg = self._page.read_stored(self._scan.xref)
        header = read_jpeg_header(self._jpeg)
        if header is None or not is_decodable(header):
            return None
        stated = (self._scan.width, self._scan.height, self._scan.channels)
        return self._jpeg if (header.width, header.height, header.channels) == stated else None
