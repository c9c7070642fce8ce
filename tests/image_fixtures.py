"""Image files of every awkward kind, made in code; each function returns the file's bytes."""

import io
import struct
import zipfile
import zlib

import numpy as np
from PIL import Image

from tests.pdf_fixtures import DPI, draw_page
from tests.pdf_writer import Pixels


def encode(pixels: Pixels, kind: str, **options: object) -> bytes:
    """Encode a picture; DPI is stated unless options say otherwise."""
    file = io.BytesIO()
    if kind not in ("WEBP", "JPEG2000"):
        options = {"dpi": (DPI, DPI)} | options
    Image.fromarray(pixels).save(file, kind, **options)
    return file.getvalue()


def page_image(kind: str = "JPEG", seed: int = 0, **options: object) -> bytes:
    """Return the page of `pdf_fixtures` as an image file."""
    if kind == "JPEG":
        options = {"quality": 90} | options
    return encode(draw_page(seed=seed), kind, **options)


def turned_photo(orientation: int, kind: str = "JPEG") -> bytes:
    """Return the page as a camera held askew stores it, with the mark that says so."""
    page = draw_page()
    stored = {
        1: page,
        2: page[:, ::-1],
        3: page[::-1, ::-1],
        4: page[::-1],
        5: page.swapaxes(0, 1),
        6: np.rot90(page),
        7: page[::-1, ::-1].swapaxes(0, 1),
        8: np.rot90(page, -1),
    }[orientation]
    exif = Image.Exif()
    exif[274] = orientation
    options = {"quality": 95} if kind == "JPEG" else {}
    return encode(np.ascontiguousarray(stored), kind, exif=exif, **options)


def tiff(pages: int, size: tuple[int, int] = (240, 340)) -> bytes:
    """Return a TIFF of so many different pages."""
    images = [Image.fromarray(draw_page(*size, seed=seed)) for seed in range(pages)]
    file = io.BytesIO()
    images[0].save(
        file,
        "TIFF",
        save_all=True,
        append_images=images[1:],
        compression="tiff_lzw",
        dpi=(150, 150),
    )
    return file.getvalue()


def chained_tiff(directories: int, thumbnails: int = 0, loops: bool = False) -> bytes:
    """Return a TIFF of empty directories, the last ones thumbnails, maybe running in a circle."""
    content = bytearray(struct.pack("<2sHI", b"II", 42, 8))
    for number in range(directories):
        is_thumbnail = number >= directories - thumbnails
        is_last = number == directories - 1
        following = (8 if loops else 0) if is_last else len(content) + 18
        content += struct.pack("<HHHIII", 1, 254, 4, 1, int(is_thumbnail), following)
    return bytes(content)


def lying_png(width: int, height: int) -> bytes:
    """Return a PNG whose header claims a size that its few bytes of pixels do not have."""

    def chunk(kind: bytes, body: bytes) -> bytes:
        return (
            struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        )

    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    pixels = zlib.compress(bytes(1_000_000), 9)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")
    )


def swapping_profile() -> bytes:
    """Return an ICC profile under which red is blue and blue is red (ICC.1:2001)."""

    def xyz(*values: float) -> bytes:
        return b"XYZ \0\0\0\0" + struct.pack(">3i", *(round(value * 65536) for value in values))

    gamma = b"curv\0\0\0\0" + struct.pack(">IH", 1, round(2.2 * 256)) + b"\0\0"
    text = b"text\0\0\0\0swapped\0"
    red, green, blue = (0.436, 0.222, 0.014), (0.385, 0.717, 0.097), (0.143, 0.061, 0.714)
    tags = {
        b"desc": b"desc\0\0\0\0" + struct.pack(">I", 8) + b"swapped\0" + bytes(78) + b"\0\0",
        b"cprt": text, b"wtpt": xyz(0.9642, 1.0, 0.8249),
        b"rXYZ": xyz(*blue), b"gXYZ": xyz(*green), b"bXYZ": xyz(*red),
        b"rTRC": gamma, b"gTRC": gamma, b"bTRC": gamma,
    }  # fmt: skip
    table, body, start = struct.pack(">I", len(tags)), b"", 128 + 4 + 12 * len(tags)
    for name, content in tags.items():
        table += name + struct.pack(">II", start + len(body), len(content))
        body += content + bytes(-len(content) % 4)
    size = start + len(body)
    head = struct.pack(">I4xI4s4s4s12x4s", size, 0x02100000, b"mntr", b"RGB ", b"XYZ ", b"acsp")
    white = struct.pack(">3i", 63190, 65536, 54061)
    return head + bytes(68 - len(head)) + white + bytes(48) + table + body


def comic_book(members: dict[str, bytes]) -> bytes:
    """Return a ZIP of files."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return file.getvalue()


def xps() -> bytes:
    """Return a page with a black square on its left half."""
    xmlns = 'xmlns="http://schemas.microsoft.com/xps/2005/06"'
    office = "application/vnd.openxmlformats-package.relationships+xml"
    reader = "application/vnd.ms-package.xps-"
    types = {
        "rels": office, "fdseq": f"{reader}fixeddocumentsequence+xml",
        "fdoc": f"{reader}fixeddocument+xml", "fpage": f"{reader}fixedpage+xml",
    }  # fmt: skip
    defaults = "".join(
        f'<Default Extension="{end}" ContentType="{kind}"/>' for end, kind in types.items()
    )
    return comic_book({
        "[Content_Types].xml": f'<Types xmlns="http://schemas.openxmlformats.org/package/2006/'
        f'content-types">{defaults}</Types>'.encode(),
        "_rels/.rels": b'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/'
        b'relationships"><Relationship Id="R1" Target="/book.fdseq" Type="http://schemas.microsoft'
        b'.com/xps/2005/06/fixedrepresentation"/></Relationships>',
        "book.fdseq": f'<FixedDocumentSequence {xmlns}><DocumentReference Source="/book.fdoc"/>'
        "</FixedDocumentSequence>".encode(),
        "book.fdoc": f'<FixedDocument {xmlns}><PageContent Source="/1.fpage"/></FixedDocument>'
        .encode(),
        "1.fpage": f'<FixedPage {xmlns} Width="400" Height="600"><Path Data="M 0,0 L 200,0 200,600 '
        '0,600 Z" Fill="#000000"/></FixedPage>'.encode(),
    })  # fmt: skip


def epub(dates: str = "") -> bytes:
    """Return a book of one picture and some words; `dates` are elements of its metadata."""
    page = (
        '<html xmlns="http://www.w3.org/1999/xhtml"><body><p>A plate.</p>'
        '<img src="plate.jpg" alt=""/></body></html>'
    )
    package = (
        '<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="id">'
        '<metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>The Garden</dc:title>'
        f'<dc:identifier id="id">1</dc:identifier>{dates}</metadata><manifest>'
        '<item id="page" href="page.xhtml" media-type="application/xhtml+xml"/>'
        '<item id="plate" href="plate.jpg" media-type="image/jpeg"/></manifest>'
        '<spine><itemref idref="page"/></spine></package>'
    )
    container = (
        '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container" version="1.0">'
        '<rootfiles><rootfile full-path="book.opf" '
        'media-type="application/oebps-package+xml"/></rootfiles></container>'
    )
    return comic_book({
        "mimetype": b"application/epub+zip",
        "META-INF/container.xml": container.encode(),
        "book.opf": package.encode(),
        "page.xhtml": page.encode(),
        "plate.jpg": page_image(),
    })  # fmt: skip
