"""Writes the magazine as a PDF the way scanning services do: one image a page, streamed to disk."""

import io
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from examples.magazine_drawing.pages import PageKind, draw_page, page_size_px
from examples.magazine_drawing.wording import ISSUE, PUBLISHER, TITLE

# The order of a short issue; longer ones have more pages like those after the inside cover.
_RUN = (
    PageKind.COVER,
    PageKind.BLANK,
    PageKind.TEXT,
    PageKind.FASHION_PLATE,
    PageKind.MIXED,
    PageKind.SPREAD,
    PageKind.HALFTONE,
    PageKind.BUTTONS,
    PageKind.ADVERTISEMENTS,
)


class ScanKind(StrEnum):
    """How the scanner was set."""

    COLOUR = "colour"
    GREY = "grey"
    BITONAL = "bitonal"


@dataclass(frozen=True, slots=True)
class EncodedImage:
    """An image as it stands in a PDF: its filter, its dictionary entries, its bytes."""

    width: int
    height: int
    entries: str
    content: bytes


def page_kind_at(page_index: int) -> PageKind:
    """What page `page_index` (0-based) of an issue of any length holds."""
    if page_index < len(_RUN):
        return _RUN[page_index]
    inner = _RUN[2:]
    return inner[(page_index - len(_RUN)) % len(inner)]


def write_magazine(
    path: Path, pages: int = 9, dpi: int = 150, kind: ScanKind | str = "colour", seed: int = 0
) -> None:
    """Draw an issue and write it page by page; memory does not grow with its length.

    Args:
        path: The PDF to write; it appears when it is whole.
        pages: Number of pages, at least 1.
        dpi: Resolution of the scans.
        kind: Colour and grey are embedded as JPEG, bitonal as CCITT group 4.
        seed: The same seed gives the same bytes.

    Raises:
        ValueError: `pages` or `dpi` is out of range, or `kind` is unknown.
    """
    if pages < 1 or not 36 <= dpi <= 600:
        raise ValueError(f"pages is {pages} and dpi {dpi}; give at least 1 page and 36 to 600 dpi")
    kind = ScanKind(kind)
    partial = path.with_name(path.name + ".part")
    with partial.open("wb") as stream, PdfStream(stream) as pdf:
        for page_index in range(pages):
            held = page_kind_at(page_index)
            scan = draw_page(held, seed + page_index, page_size_px(held, dpi))
            pdf.add_page(encode_scan(scan, kind), dpi)
    partial.replace(path)


def encode_scan(scan: NDArray[np.uint8], kind: ScanKind, quality: int = 50) -> EncodedImage:
    """Encode a scan, uint8 RGB (H, W, 3), as the scanner's setting asks."""
    height, width = scan.shape[:2]
    if kind is ScanKind.COLOUR:
        content = _to_jpeg(scan[..., ::-1], quality)
        entries = "/ColorSpace /DeviceRGB /BitsPerComponent 8 /Filter /DCTDecode"
        return EncodedImage(width, height, entries, content)
    grey = np.asarray(cv2.cvtColor(scan, cv2.COLOR_RGB2GRAY), np.uint8)
    if kind is ScanKind.GREY:
        entries = "/ColorSpace /DeviceGray /BitsPerComponent 8 /Filter /DCTDecode"
        return EncodedImage(width, height, entries, _to_jpeg(grey, quality))
    entries = (
        "/ColorSpace /DeviceGray /BitsPerComponent 1 /Filter /CCITTFaxDecode "
        f"/DecodeParms << /K -1 /BlackIs1 true /Columns {width} /Rows {height} >>"
    )
    return EncodedImage(width, height, entries, _to_group4(grey))


def _to_jpeg(image: NDArray[np.uint8], quality: int) -> bytes:
    """JPEG bytes of a BGR or grey image."""
    flags = [cv2.IMWRITE_JPEG_QUALITY, quality, cv2.IMWRITE_JPEG_OPTIMIZE, 1]
    return bytes(cv2.imencode(".jpg", image, flags)[1].tobytes())


def _to_group4(grey: NDArray[np.uint8]) -> bytes:
    """Threshold against the local paper and return one CCITT group 4 strip."""
    # The paper is the brightest thing near; 25 pixels reach over any stroke of type.
    paper = cv2.blur(cv2.dilate(grey, np.ones((25, 25), np.uint8)), (51, 51)).astype(np.float32)
    white = cv2.GaussianBlur(grey, (0, 0), 0.7) > np.minimum(paper * 0.72, 170)
    buffer = io.BytesIO()
    rows_per_strip = 278
    Image.fromarray(white).save(
        buffer, "TIFF", compression="group4", tiffinfo={rows_per_strip: grey.shape[0]}
    )
    with Image.open(io.BytesIO(buffer.getvalue())) as tiff:
        offsets, lengths = tiff.tag_v2[273], tiff.tag_v2[279]  # type: ignore[attr-defined]
    start = int(offsets[0])
    return buffer.getvalue()[start : start + int(lengths[0])]


class PdfStream:
    """A PDF being written from front to back; only object offsets stay in memory."""

    _CATALOG, _TREE, _DETAILS = 1, 2, 3

    def __init__(self, stream: BinaryIO) -> None:
        """Begin a PDF on an empty stream; it is whole when the context ends."""
        self._stream = stream
        self._offsets: dict[int, int] = {}
        self._page_objects: list[int] = []
        self._next = 4
        stream.write(b"%PDF-1.5\n%\xe2\xe3\xcf\xd3\n")

    def __enter__(self) -> Self:
        """Enter the context in which pages may be added."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Finish the file, unless an error ended the context."""
        if error is None:
            self._finish()

    def add_page(self, image: EncodedImage, dpi: int) -> None:
        """Write one page that shows one image over its whole area."""
        width_pt, height_pt = image.width * 72 / dpi, image.height * 72 / dpi
        number = self._next
        self._next += 3
        picture = f"/Type /XObject /Subtype /Image /Width {image.width} /Height {image.height} "
        self._write_stream(number, picture + image.entries, image.content)
        placed = f"q {width_pt:.2f} 0 0 {height_pt:.2f} 0 0 cm /Im0 Do Q".encode()
        self._write_stream(number + 1, "", placed)
        self._write_object(
            number + 2,
            f"<< /Type /Page /Parent {self._TREE} 0 R "
            f"/MediaBox [0 0 {width_pt:.2f} {height_pt:.2f}] "
            f"/Resources << /XObject << /Im0 {number} 0 R >> >> /Contents {number + 1} 0 R >>",
        )
        self._page_objects.append(number + 2)

    def _finish(self) -> None:
        """Write the page tree, the document's details and the cross-reference table."""
        kids = " ".join(f"{number} 0 R" for number in self._page_objects)
        count = len(self._page_objects)
        self._write_object(self._TREE, f"<< /Type /Pages /Count {count} /Kids [{kids}] >>")
        self._write_object(self._CATALOG, f"<< /Type /Catalog /Pages {self._TREE} 0 R >>")
        self._write_object(
            self._DETAILS,
            f"<< /Title ({TITLE}, {ISSUE.title()}) /Author ({PUBLISHER}) "
            "/Creator (draw_magazine.py) /CreationDate (D:18951001000000Z) >>",
        )
        start = self._stream.tell()
        rows = "".join(f"{self._offsets[n]:010d} 00000 n \n" for n in range(1, self._next))
        trailer = f"/Size {self._next} /Root {self._CATALOG} 0 R /Info {self._DETAILS} 0 R"
        self._stream.write(
            f"xref\n0 {self._next}\n0000000000 65535 f \n{rows}"
            f"trailer\n<< {trailer} >>\nstartxref\n{start}\n%%EOF\n".encode()
        )

    def _write_stream(self, number: int, entries: str, content: bytes) -> None:
        head = f"<< {entries} /Length {len(content)} >>\nstream\n".encode()
        self._write_object(number, head + content + b"\nendstream")

    def _write_object(self, number: int, body: str | bytes) -> None:
        self._offsets[number] = self._stream.tell()
        raw = body.encode() if isinstance(body, str) else body
        self._stream.write(b"%d 0 obj\n" % number + raw + b"\nendobj\n")
