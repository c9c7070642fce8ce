"""The article's pipeline and pdf2image, written down faithfully: what the engine is measured by.

    python -m benchmarks.reference PDF OUT.zip [--no-gc] [--pages N]

One page at a time: PyMuPDF renders at 2x (144 dpi), numpy takes `gray.std()`, pages above 45 are
brought to 1024 x 1024 by LANCZOS, saved as JPEG 92 and put into a ZIP; `gc.collect()` after each.
"""

import argparse
import gc
import io
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pymupdf
from PIL import Image

MIN_SIGMA = 45
SIDE_PX = 1024
QUALITY = 92


def article(pdf: Path, out: Path, collect_garbage: bool = True, pages: int | None = None) -> int:
    """Run the article's pipeline and return how many pages were kept."""
    kept = 0
    document = pymupdf.open(pdf)
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for page_index in range(pages or document.page_count):
            jpeg = article_page(document, page_index)
            if jpeg is not None:
                kept += 1
                archive.writestr(f"page_{page_index:05d}.jpg", jpeg)
            if collect_garbage:
                gc.collect()
    document.close()
    return kept


def article_page(document: pymupdf.Document, page_index: int) -> bytes | None:
    """Return the JPEG of a page that the rule keeps, None of another."""
    page = document[page_index]
    pixmap = page.get_pixmap(matrix=pymupdf.Matrix(2, 2))
    shape = (pixmap.height, pixmap.width, pixmap.n)
    rgb = np.frombuffer(pixmap.samples, dtype=np.uint8).reshape(shape)
    image = Image.fromarray(rgb)
    gray = np.array(image.convert("L"))
    return _finish(image) if gray.std() > MIN_SIGMA else None


def _finish(image: Image.Image) -> bytes:
    """Return the picture as the article saves it."""
    buffer = io.BytesIO()
    resized = image.resize((SIDE_PX, SIDE_PX), Image.Resampling.LANCZOS)
    resized.save(buffer, format="JPEG", quality=QUALITY)
    return buffer.getvalue()


def pdf2image_pages(pdf: Path, dpi: int, pages: int, whole: bool) -> Iterator[Image.Image]:
    """Yield the pages as pdf2image converts them: all in one list, or one call for each."""
    from pdf2image import convert_from_path

    if whole:
        yield from convert_from_path(pdf, dpi=dpi, first_page=1, last_page=pages)
        return
    for number in range(1, pages + 1):
        yield from convert_from_path(pdf, dpi=dpi, first_page=number, last_page=number)


def pdf2image(pdf: Path, out: Path, dpi: int, pages: int, whole: bool) -> int:
    """Run the same rule and output on pdf2image's pages; return how many were kept."""
    kept = 0
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for page_index, image in enumerate(pdf2image_pages(pdf, dpi, pages, whole)):
            if np.array(image.convert("L")).std() > MIN_SIGMA:
                kept += 1
                archive.writestr(f"page_{page_index:05d}.jpg", _finish(image.convert("RGB")))
    return kept


VARIANTS: dict[str, Callable[[Path, Path, int], Any]] = {
    "article": lambda pdf, out, pages: article(pdf, out, True, pages),
    "article without gc": lambda pdf, out, pages: article(pdf, out, False, pages),
    "pdf2image 144 whole": lambda pdf, out, pages: pdf2image(pdf, out, 144, pages, True),
    "pdf2image 144 by page": lambda pdf, out, pages: pdf2image(pdf, out, 144, pages, False),
    "pdf2image 300 whole": lambda pdf, out, pages: pdf2image(pdf, out, 300, pages, True),
    "pdf2image 300 by page": lambda pdf, out, pages: pdf2image(pdf, out, 300, pages, False),
}


def main() -> None:
    """Run one variant."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pdf", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--variant", choices=VARIANTS, default="article")
    parser.add_argument("--pages", type=int)
    options = parser.parse_args()
    with pymupdf.open(options.pdf) as document:
        pages = options.pages or document.page_count
    print(VARIANTS[options.variant](options.pdf, options.out, pages))


if __name__ == "__main__":
    main()
