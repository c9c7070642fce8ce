"""A bare PDF writer for fixtures: full control over every object, nothing repaired or improved.

PDF structure follows ISO 32000-1, 7.5; JBIG2 segments follow ITU-T T.88, 7.2 and 7.4.
"""

import io
import struct
from collections.abc import Sequence
from dataclasses import dataclass, field

import cv2
import numpy as np
import numpy.typing as npt
from PIL import Image

Pixels = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class Stream:
    """A stream object: dictionary entries in PDF syntax, and its bytes as stored."""

    entries: str
    stored: bytes

    def to_bytes(self) -> bytes:
        head = f"<< {self.entries} /Length {len(self.stored)} >>\nstream\n".encode("latin-1")
        return head + self.stored + b"\nendstream"


@dataclass(frozen=True)
class PageSpec:
    """One page: sizes in points, content in PDF syntax, pictures by resource name.

    `resources` and `entries` take further PDF syntax for the resource and page dictionaries.
    """

    width_pt: float
    height_pt: float
    content: str
    pictures: dict[str, Stream] = field(default_factory=dict)
    entries: str = ""
    resources: str = ""


class PdfWriter:
    """Numbers objects and writes them with a classic cross-reference table."""

    def __init__(self) -> None:
        self._objects: list[bytes] = []

    def add(self, body: bytes | str | Stream) -> int:
        """Store an object and return its number."""
        self._objects.append(_to_bytes(body))
        return len(self._objects)

    def reserve(self) -> int:
        """Return the number of an object that is set later."""
        return self.add(b"null")

    def set(self, number: int, body: bytes | str | Stream) -> None:
        """Give a reserved object its body."""
        self._objects[number - 1] = _to_bytes(body)

    def to_bytes(self, root: int, trailer: str = "") -> bytes:
        """Return the whole file."""
        out = io.BytesIO()
        out.write(b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n")
        offsets = []
        for number, body in enumerate(self._objects, start=1):
            offsets.append(out.tell())
            out.write(b"%d 0 obj\n%b\nendobj\n" % (number, body))
        start = out.tell()
        out.write(b"xref\n0 %d\n0000000000 65535 f \n" % (len(offsets) + 1))
        out.writelines(b"%010d 00000 n \n" % offset for offset in offsets)
        out.write(
            f"trailer\n<< /Size {len(offsets) + 1} /Root {root} 0 R {trailer} >>\n"
            f"startxref\n{start}\n%%EOF\n".encode("latin-1")
        )
        return out.getvalue()


def _to_bytes(body: bytes | str | Stream) -> bytes:
    if isinstance(body, Stream):
        return body.to_bytes()
    return body.encode("latin-1") if isinstance(body, str) else body


def write_pdf(
    pages: Sequence[PageSpec],
    catalogue: str = "",
    trailer: str = "",
    writer: PdfWriter | None = None,
) -> bytes:
    """Return a PDF with these pages; `writer` may already hold objects that they refer to."""
    writer = writer or PdfWriter()
    # First, as most writers have it: a truncated file then still has its page tree.
    root, tree = writer.reserve(), writer.reserve()
    kids = [_add_page(writer, tree, page) for page in pages]
    references = " ".join(f"{kid} 0 R" for kid in kids)
    writer.set(tree, f"<< /Type /Pages /Kids [{references}] /Count {len(kids)} >>")
    writer.set(root, f"<< /Type /Catalog /Pages {tree} 0 R {catalogue} >>")
    return writer.to_bytes(root, trailer)


def _add_page(writer: PdfWriter, tree: int, page: PageSpec) -> int:
    pictures = " ".join(
        f"/{name} {writer.add(picture)} 0 R" for name, picture in page.pictures.items()
    )
    content = writer.add(Stream("", page.content.encode("latin-1")))
    return writer.add(
        f"<< /Type /Page /Parent {tree} 0 R /MediaBox [0 0 {page.width_pt:g} {page.height_pt:g}] "
        f"/Resources << /XObject << {pictures} >> {page.resources} >> "
        f"/Contents {content} 0 R {page.entries} >>"
    )


def image_stream(width: int, height: int, entries: str, stored: bytes) -> Stream:
    """Return an image XObject."""
    head = f"/Type /XObject /Subtype /Image /Width {width} /Height {height} "
    return Stream(head + entries, stored)


def jpeg_stream(
    rgb: Pixels, quality: int = 85, entries: str = "", progressive: bool = False
) -> Stream:
    """Return an RGB (H, W, 3) or grey (H, W) picture as DCTDecode."""
    grey = rgb.ndim == 2
    buffer = io.BytesIO()
    Image.fromarray(rgb).save(buffer, "JPEG", quality=quality, progressive=progressive)
    space = "/DeviceGray" if grey else "/DeviceRGB"
    entries = f"/ColorSpace {space} /BitsPerComponent 8 /Filter /DCTDecode {entries}"
    return image_stream(rgb.shape[1], rgb.shape[0], entries, buffer.getvalue())


def jpx_stream(rgb: Pixels, rate: float = 20) -> Stream:
    """Return an RGB picture as JPXDecode with five resolution levels below the full one."""
    buffer = io.BytesIO()
    Image.fromarray(rgb).save(
        buffer,
        "JPEG2000",
        quality_mode="rates",
        quality_layers=[rate],
        num_resolutions=6,
        irreversible=True,
    )
    entries = "/ColorSpace /DeviceRGB /BitsPerComponent 8 /Filter /JPXDecode"
    return image_stream(rgb.shape[1], rgb.shape[0], entries, buffer.getvalue())


def encode_g4(black: npt.NDArray[np.bool_]) -> bytes:
    """Return ITU-T T.6 (CCITT group 4) data; True is ink."""
    height = black.shape[0]
    buffer = io.BytesIO()
    Image.fromarray(black).save(buffer, "TIFF", compression="group4", tiffinfo={278: height})
    tiff = Image.open(io.BytesIO(buffer.getvalue()))
    offset, length = tiff.tag_v2[273][0], tiff.tag_v2[279][0]
    return buffer.getvalue()[offset : offset + length]


def ccitt_stream(black: npt.NDArray[np.bool_], entries: str = "/ColorSpace /DeviceGray") -> Stream:
    """Return a bitonal picture as CCITTFaxDecode; True is ink."""
    height, width = black.shape
    parms = f"/DecodeParms << /K -1 /Columns {width} /Rows {height} /BlackIs1 false >>"
    entries = f"{entries} /BitsPerComponent 1 /Filter /CCITTFaxDecode {parms}"
    return image_stream(width, height, entries, encode_g4(black))


def jbig2_stream(black: npt.NDArray[np.bool_], entries: str = "/ColorSpace /DeviceGray") -> Stream:
    """Return a bitonal picture as JBIG2Decode: one generic region, coded as T.6 (MMR)."""
    height, width = black.shape
    page = struct.pack(">IIIIBH", width, height, 0, 0, 0, 0)
    region = struct.pack(">IIIIBB", width, height, 0, 0, 0, 1) + encode_g4(black)
    stored = _jbig2_segment(0, 48, page) + _jbig2_segment(1, 38, region)
    entries = f"{entries} /BitsPerComponent 1 /Filter /JBIG2Decode"
    return image_stream(width, height, entries, stored)


def _jbig2_segment(number: int, kind: int, body: bytes) -> bytes:
    return struct.pack(">IBBBI", number, kind, 0, 1, len(body)) + body


def indexed_stream(rgb: Pixels, colours: int = 16) -> Stream:
    """Return a picture with a palette, one byte a pixel, uncompressed."""
    palette_image = Image.fromarray(rgb).quantize(colours)
    palette = bytes(palette_image.getpalette() or ())[: colours * 3]
    space = f"/ColorSpace [/Indexed /DeviceRGB {len(palette) // 3 - 1} <{palette.hex()}>]"
    return image_stream(
        rgb.shape[1], rgb.shape[0], f"{space} /BitsPerComponent 8", palette_image.tobytes()
    )


def cmyk_jpeg_stream(rgb: Pixels) -> Stream:
    """Return a picture as a four-channel DCTDecode."""
    buffer = io.BytesIO()
    Image.fromarray(rgb).convert("CMYK").save(buffer, "JPEG", quality=85)
    # Pillow writes Adobe's inverted CMYK, which a PDF must undo by /Decode.
    entries = (
        "/ColorSpace /DeviceCMYK /BitsPerComponent 8 /Filter /DCTDecode /Decode [1 0 1 0 1 0 1 0]"
    )
    return image_stream(rgb.shape[1], rgb.shape[0], entries, buffer.getvalue())


def to_grey(rgb: Pixels) -> Pixels:
    """Return the luma of a picture."""
    return np.asarray(cv2.cvtColor(rgb, cv2.COLOR_RGB2GRAY), dtype=np.uint8)
