"""Make the benchmark's PDFs: A4 scans at 300 dpi in every usual coding, and real scans wrapped.

    python -m benchmarks.make_inputs FOLDER [--pages 300] [--scans ../shared/data/scans]

Twenty pages are drawn (text set in a real font, halftone plates, engraved hatching, blank leaves,
on yellowed, noisy paper) and repeated as separate objects, so that no renderer can cache them.
"""

import argparse
import csv
import io
from collections.abc import Callable, Iterator
from itertools import cycle, islice
from pathlib import Path

import numpy as np
import pymupdf
from PIL import Image, ImageDraw, ImageFont

from tests import pdf_writer
from tests.pdf_writer import PageSpec, Pixels, Stream

A4_PT = (595.0, 842.0)
A4_PX = (2480, 3508)  # 300 dpi
PAPER = np.array((233.0, 221.0, 193.0))
INK = np.array((58.0, 50.0, 46.0))
DRAWN_PAGES = 20
SCAN_DPI = 200  # what the wrapped scans are taken for: book pages of 5 to 8 inches
SENTENCE = (
    "the garden was laid out in beds of box and lavender while upon the southern wall an old pear "
    "tree had been trained with much patience by the late owner whose journals we quote below"
)


def draw_scan(seed: int) -> Pixels:
    """Draw one page as a scanner would see it.

    Args:
        seed: Decides kind and content; of ten pages six are text, three plates, one is blank.

    Returns:
        Pixels, uint8 RGB (3508, 2480, 3).
    """
    rng = np.random.default_rng(seed)
    kind = seed % 10
    ink = np.zeros(A4_PX[::-1], dtype=np.float32)
    if kind < 6:
        ink = _text(rng, top=300, bottom=3200)
    elif kind < 9:
        ink = np.maximum(_plate(rng, kind), _text(rng, top=2500, bottom=3200))
    return _on_paper(ink, rng)


def _text(rng: np.random.Generator, top: int, bottom: int) -> np.ndarray:
    """Return the ink (0 to 1) of two columns of text."""
    page = Image.new("L", A4_PX, 0)
    draw = ImageDraw.Draw(page)
    font = ImageFont.load_default(46)
    for left in (260, 1290):
        for baseline in range(top, bottom, 64):
            line = " ".join(rng.choice(SENTENCE.split(), 7))
            draw.text((left, baseline), line[:38], fill=255, font=font)
    return np.asarray(page, dtype=np.float32) / 255 * 0.85


def _plate(rng: np.random.Generator, kind: int) -> np.ndarray:
    """Return the ink of a picture: a halftone screen, or engraved lines, over a soft tone."""
    width, height = A4_PX
    ink = np.zeros((height, width), dtype=np.float32)
    rows, columns = np.mgrid[0:2050, 0:1960].astype(np.float32)
    coarse = Image.fromarray((rng.random((9, 9)) * 255).astype(np.uint8))
    tone = np.asarray(coarse.resize((1960, 2050), Image.Resampling.BICUBIC), np.float32) / 255
    if kind == 6:
        screen = (np.sin((rows + columns) / 3.1) + np.sin((rows - columns) / 3.1) + 2) / 4
    else:
        screen = (np.sin(rows / 2.2 + 12 * tone) + 1) / 2
    ink[300:2350, 260:2220] = np.clip((tone * 1.6 - screen) * 3, 0, 1)
    return ink


def _on_paper(ink: np.ndarray, rng: np.random.Generator) -> Pixels:
    """Print ink on yellowed paper: uneven, noisy, slightly blurred by the scanner's own optics."""
    height, width = ink.shape
    stains = Image.fromarray((rng.random((12, 9)) * 255).astype(np.uint8))
    shade = np.asarray(stains.resize((width, height), Image.Resampling.BICUBIC), np.float32)
    paper = PAPER * (0.94 + 0.06 * shade[..., None] / 255)
    page = paper * (1 - ink[..., None]) + INK * ink[..., None]
    page += rng.normal(0, 3.0, (height, width, 1)) + rng.normal(0, 1.2, (height, width, 3))
    return np.clip(page, 0, 255).astype(np.uint8)


def to_ink(rgb: Pixels) -> np.ndarray:
    """Return a page in one bit, True where there is ink."""
    return np.asarray(pdf_writer.to_grey(rgb) < 150)


def _mrc_pictures(rgb: Pixels) -> tuple[Stream, Stream]:
    """Split a page into a coarse colour background and an ink stencil, as DjVu-like coders do."""
    small = Image.fromarray(rgb).resize((rgb.shape[1] // 3, rgb.shape[0] // 3))
    background = pdf_writer.jpx_stream(np.asarray(small), rate=40)
    return background, pdf_writer.jbig2_stream(to_ink(rgb), "/ImageMask true")


CODINGS: dict[str, Callable[[Pixels], Stream]] = {
    "colour": lambda rgb: pdf_writer.jpeg_stream(rgb, quality=75),
    "grey": lambda rgb: pdf_writer.jpeg_stream(pdf_writer.to_grey(rgb), quality=75),
    "bitonal": lambda rgb: pdf_writer.ccitt_stream(to_ink(rgb)),
    "jbig2": lambda rgb: pdf_writer.jbig2_stream(to_ink(rgb)),
    "jpeg2000": lambda rgb: pdf_writer.jpx_stream(rgb, rate=18),
}


def scan_page(coding: str, rgb: Pixels) -> PageSpec:
    """Return an A4 page that shows the picture in a coding."""
    place = f"q {A4_PT[0]:g} 0 0 {A4_PT[1]:g} 0 0 cm"
    if coding == "mrc":
        background, stencil = _mrc_pictures(rgb)
        content = f"{place} /Im0 Do Q q 0.2 0.18 0.17 rg {place[2:]} /Im1 Do Q"
        return PageSpec(*A4_PT, content, {"Im0": background, "Im1": stencil})
    return PageSpec(*A4_PT, f"{place} /Im0 Do Q", {"Im0": CODINGS[coding](rgb)})


def born_digital(pages: int) -> bytes:
    """Return typeset pages with real fonts, every third with vector drawings over half of it."""
    with pymupdf.open() as document:
        for index in range(pages):
            _typeset(document.new_page(width=A4_PT[0], height=A4_PT[1]), index)
        return bytes(document.tobytes(deflate=True))


def _typeset(page: pymupdf.Page, index: int) -> None:
    """Set one page: text in two columns and, on every third page, a drawing."""
    rng = np.random.default_rng(index)
    text = " ".join(rng.choice(SENTENCE.split(), 420))
    page.insert_textbox((50, 60, 290, 780), text, fontsize=10, fontname="tiro")
    if index % 3:
        page.insert_textbox((305, 60, 545, 780), text, fontsize=10, fontname="helv")
        return
    shape = page.new_shape()
    for _ in range(400):
        x, y, radius = rng.uniform(320, 530), rng.uniform(80, 760), rng.uniform(2, 14)
        shape.draw_circle((x, y), radius)
        shape.finish(fill=tuple(rng.uniform(0, 0.6, 3)), color=(0, 0, 0), width=0.4)
    shape.commit()


def wrap_scans(folder: Path, pages: int) -> bytes:
    """Wrap real scans as they are: JPEGs untouched, one-bit PNGs as CCITT group 4.

    Args:
        folder: `shared/data/scans` with its labels.csv.
        pages: At most so many, taken evenly from all sources.
    """
    with (folder / "labels.csv").open(encoding="utf-8", newline="") as file:
        paths = [folder / row["path"] for row in csv.DictReader(file)]
    chosen = islice(paths, 0, None, max(1, len(paths) // pages))
    return pdf_writer.write_pdf([wrap_scan(path, SCAN_DPI) for path in islice(chosen, pages)])


def wrap_scan(path: Path, dpi: float) -> PageSpec:
    """Return a page of the scan's own shape that shows it at a resolution."""
    image = Image.open(path)
    width_pt, height_pt = (side * 72 / dpi for side in image.size)
    if image.mode == "1":
        picture = pdf_writer.ccitt_stream(~np.asarray(image))
    else:
        picture = _stored_jpeg(path, image)
    content = f"q {width_pt:g} 0 0 {height_pt:g} 0 0 cm /Im0 Do Q"
    return PageSpec(width_pt, height_pt, content, {"Im0": picture})


def _stored_jpeg(path: Path, image: Image.Image) -> Stream:
    """Return a JPEG's own bytes as an image object."""
    if image.format != "JPEG":
        buffer = io.BytesIO()
        image.convert("L").save(buffer, "JPEG", quality=90)
        stored, space = buffer.getvalue(), "/DeviceGray"
    else:
        stored = path.read_bytes()
        space = "/DeviceGray" if image.mode == "L" else "/DeviceRGB"
    entries = f"/ColorSpace {space} /BitsPerComponent 8 /Filter /DCTDecode"
    return pdf_writer.image_stream(*image.size, entries, stored)


def scans(kinds: list[str], pages: int) -> Iterator[tuple[str, bytes]]:
    """Yield the kind and the bytes of each PDF of scans; pages are drawn once for all kinds."""
    drawn: dict[str, list[PageSpec]] = {kind: [] for kind in kinds}
    for seed in range(min(pages, DRAWN_PAGES)):
        rgb = draw_scan(seed)
        for kind in kinds:
            drawn[kind].append(scan_page(kind, rgb))
    for kind, specs in drawn.items():
        yield kind, pdf_writer.write_pdf(list(islice(cycle(specs), pages)))


def main() -> None:
    """Write the chosen PDFs into a folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--pages", type=int, default=300)
    parser.add_argument("--scans", type=Path)
    parser.add_argument("--kinds", nargs="+", default=[*CODINGS, "mrc", "born_digital"])
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    if options.scans:
        _write(options.folder, "real", wrap_scans(options.scans, options.pages))
    if "born_digital" in options.kinds:
        _write(options.folder, "born_digital", born_digital(options.pages))
    for kind, content in scans([k for k in options.kinds if k != "born_digital"], options.pages):
        _write(options.folder, kind, content)


def _write(folder: Path, kind: str, content: bytes) -> None:
    """Save one PDF and say how big it is."""
    (folder / f"{kind}.pdf").write_bytes(content)
    print(f"{kind}.pdf: {len(content) / 1e6:.0f} MB", flush=True)


if __name__ == "__main__":
    main()
