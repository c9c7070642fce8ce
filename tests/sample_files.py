"""Photos and PDFs drawn for the acceptance tests, good and bad ones; none is a real scan."""

import io
import struct
import zlib
from collections.abc import Sequence
from pathlib import Path

import cv2
import gradio
import numpy as np
import pymupdf
from numpy.typing import NDArray
from PIL import Image, ImageDraw

LION_PHOTO = Path(gradio.__file__).parent / "media_assets" / "images" / "lion.jpg"
PAPER = (236, 222, 186)
PAGE_PX = (840, 1180)
PAGE_PT = (420, 590)
DOCUMENT_TITLE = "The Cattle Keeper's Monthly"
DOCUMENT_AUTHOR = "A. Drover"


def draw_photo(path: Path, *, size: tuple[int, int] = (800, 600), seed: int = 0) -> Path:
    """Write a sharp, bright JPEG of a cow-like blotch on a meadow, and return its path."""
    width, height = size
    picture = Image.new("RGB", size, (120, 168, 84))
    pen = ImageDraw.Draw(picture)
    pen.rectangle((0, 0, width, height // 3), fill=(170, 205, 235))
    pen.ellipse((width // 5, height // 3, width * 4 // 5, height * 4 // 5), fill=(120, 72, 40))
    pen.ellipse((width // 3, height // 2, width // 2, height * 3 // 4), fill=(240, 236, 228))
    for leg in range(4):
        x0 = width // 4 + leg * width // 7
        pen.rectangle((x0, height * 3 // 4, x0 + width // 24, height - 20), fill=(96, 56, 30))
    pixels = np.asarray(picture, dtype=np.int16)
    grain = np.random.default_rng(seed).normal(0, 14, pixels.shape)
    Image.fromarray(np.clip(pixels + grain, 0, 255).astype(np.uint8)).save(path, quality=90)
    return path


def draw_sideways_photo(path: Path) -> Path:
    """Write an 800x600 JPEG whose EXIF orientation makes it 600x800 upright, with a place."""
    picture = Image.open(draw_photo(path))
    exif = picture.getexif()
    exif[0x0112] = 6
    exif.get_ifd(0x8825)[1] = "N"
    picture.save(path, exif=exif, quality=90)
    return path


def draw_page(kind: str, seed: int) -> NDArray[np.uint8]:
    """Return one scanned page as uint8 RGB (H, W, 3).

    Kinds: `engraving` (high contrast), `text` and `blank` (low contrast), `faint` and `firm`
    (grey pages with a standard deviation just below and just above 45).
    """
    width, height = PAGE_PX
    random = np.random.default_rng(seed)
    grey = np.full((height, width), 255, dtype=np.uint8)
    if kind == "engraving":
        _engrave(grey, random)
    elif kind == "text":
        for line in range(100, height - 100, 26):
            cv2.putText(grey, "the herd went down", (70, line), 0, 0.55, 90, 1)
    elif kind in ("faint", "firm"):
        step = {"faint": 44, "firm": 46}[kind]
        grey[: height // 2], grey[height // 2 :] = 128 - step, 128 + step
        return np.repeat(grey[..., None], 3, axis=2)
    page = grey[..., None] / 255 * np.array(PAPER, dtype=np.float64) + random.normal(
        0, 3, (height, width, 1)
    )
    return np.asarray(np.clip(page, 0, 255), dtype=np.uint8)


def _engrave(grey: NDArray[np.uint8], random: np.random.Generator) -> None:
    """Draw large hatched shapes, placed so differently by each seed that no two are alike."""
    height, width = grey.shape
    rows, columns = np.mgrid[0:height, 0:width]
    angle = random.uniform(0, np.pi)
    hatch = np.sin((rows * np.cos(angle) + columns * np.sin(angle)) / random.uniform(2, 3)) > 0
    shapes = np.zeros_like(grey)
    for number in range(9):
        centre = (int(random.integers(150, width - 150)), int(random.integers(180, height - 180)))
        radii = (int(random.integers(60, 150)), int(random.integers(60, 170)))
        cv2.ellipse(shapes, centre, radii, 0, 0, 360, 1 + number % 2, -1)
    grey[(shapes == 1) | ((shapes == 2) & hatch)] = 25


def write_pdf(path: Path, kinds: Sequence[str], *, seed: int = 0) -> Path:
    """Write a PDF with one full-page scan for each kind (see `draw_page`), and return its path."""
    document = pymupdf.open()
    for number, kind in enumerate(kinds):
        page = document.new_page(width=PAGE_PT[0], height=PAGE_PT[1])
        stream = io.BytesIO()
        Image.fromarray(draw_page(kind, seed + number)).save(stream, "JPEG", quality=88)
        page.insert_image(page.rect, stream=stream.getvalue())
    document.set_metadata(
        {"title": DOCUMENT_TITLE, "author": DOCUMENT_AUTHOR, "creationDate": "D:18930401000000Z"}
    )
    document.save(path)
    document.close()
    return path


def write_huge_png(path: Path, side_px: int = 30_000) -> Path:
    """Write a white `side_px` square PNG of one bit a pixel, a row at a time (about 100 kB)."""

    def chunk(name: bytes, body: bytes) -> bytes:
        return (
            struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
        )

    row = b"\0" + b"\xff" * ((side_px + 7) // 8)
    packer = zlib.compressobj(1)
    packed = b"".join(packer.compress(row) for _ in range(side_px)) + packer.flush()
    header = struct.pack(">IIBBBBB", side_px, side_px, 1, 0, 0, 0, 0)
    path.write_bytes(
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", packed) + chunk(b"IEND", b"")
    )
    return path


def write_bad_photo(folder: Path, kind: str) -> Path:
    """Write a photo that cannot be used; `kind` is one of `BAD_PHOTOS`."""
    path = folder / BAD_PHOTOS[kind]
    if kind == "text":
        path.write_text("This is a shopping list, not a photo.\n" * 40, encoding="utf-8")
    elif kind == "truncated":
        whole = draw_photo(folder / "whole_for_cut.jpg").read_bytes()
        path.write_bytes(whole[: len(whole) // 3])
    elif kind == "one_pixel":
        Image.new("RGB", (1, 1), (90, 60, 40)).save(path)
    elif kind == "huge":
        write_huge_png(path)
    elif kind == "empty":
        path.write_bytes(b"")
    return path


def write_bad_pdf(folder: Path, kind: str) -> Path:
    """Write a PDF that cannot be used; `kind` is one of `BAD_PDFS`."""
    path = folder / BAD_PDFS[kind]
    if kind == "not_a_pdf":
        path.write_text("Dear editor, the PDF is in the other envelope.\n" * 40, encoding="utf-8")
    elif kind == "encrypted":
        document = pymupdf.open(write_pdf(folder / "plain_for_lock.pdf", ["engraving"]))
        document.save(
            path, encryption=pymupdf.PDF_ENCRYPT_AES_256, owner_pw="owner", user_pw="sesame"
        )
        document.close()
    elif kind in ("truncated", "halved"):
        whole = write_pdf(folder / "whole_for_cut.pdf", ["engraving"] * 3).read_bytes()
        # 700 bytes hold the page tree but no picture: MuPDF repairs it to three white pages.
        path.write_bytes(whole[: 700 if kind == "truncated" else len(whole) // 2])
    elif kind == "no_pages":
        path.write_bytes(
            write_raw_pdf([b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages/Kids[]/Count 0>>"])
        )
    elif kind == "absurd_mediabox":
        page = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 90000000 90000000]/Contents 4 0 R>>"
        drawing = b"0 0 45000000 90000000 re f"
        content = b"<</Length %d>>stream\n%s\nendstream" % (len(drawing), drawing)
        catalog = b"<</Type/Catalog/Pages 2 0 R>>"
        path.write_bytes(
            write_raw_pdf([catalog, b"<</Type/Pages/Kids[3 0 R]/Count 1>>", page, content])
        )
    elif kind == "empty":
        path.write_bytes(b"")
    return path


def write_raw_pdf(objects: Sequence[bytes]) -> bytes:
    """Return a PDF of these objects, numbered from 1, with a right cross-reference table."""
    body, offsets = b"%PDF-1.4\n", []
    for number, content in enumerate(objects, 1):
        offsets.append(len(body))
        body += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    table = b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    table += b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    trailer = b"trailer\n<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF\n"
    return body + table + trailer % (len(objects) + 1, len(body))


BAD_PHOTOS = {
    "text": "shopping.jpg",
    "truncated": "cut_short.jpg",
    "one_pixel": "speck.png",
    "huge": "giant.png",
    "empty": "nothing.jpg",
}
BAD_PDFS = {
    "not_a_pdf": "letter.pdf",
    "encrypted": "locked.pdf",
    "truncated": "torn.pdf",
    "halved": "halved.pdf",
    "no_pages": "hollow.pdf",
    "absurd_mediabox": "colossal.pdf",
    "empty": "void.pdf",
}
