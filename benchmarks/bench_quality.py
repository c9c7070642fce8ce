"""How faithful the pictures are: PSNR and SSIM against full-resolution LANCZOS.

    python -m benchmarks.bench_quality INPUTS_FOLDER [--kinds colour grey ...] [--pages 12]

The truth is the scan decoded whole (or the page rendered at 600 dpi where there is no scan) and
brought to 1024 x 1024 by Pillow's LANCZOS in one step. Compared before JPEG coding: the engine's
picture and the article's, both stretched to the same square.
"""

import argparse
import io
import statistics
from contextlib import closing
from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt
import pymupdf
from PIL import Image

from archive_tools.config import NO_FINISHING, DatasetConfig, Fit, ImageFormat, PageFilter
from archive_tools.extraction import PageExtractor
from archive_tools.schema import PageTask

Pixels = npt.NDArray[np.uint8]
SIDE_PX = 1024
TRUTH_DPI = 600
OPTIONS = DatasetConfig(
    filter=PageFilter.NONE,
    fit=Fit.STRETCH,
    image_format=ImageFormat.PNG,
    finishing=NO_FINISHING,
    dedupe=False,
    min_size_px=1,
)


def truth(document: pymupdf.Document, page_index: int) -> Pixels:
    """Return the page at the best resolution there is, brought to the square by LANCZOS."""
    page = document[page_index]
    pictures = page.get_images(full=True)
    if len(pictures) == 1:
        pixmap = pymupdf.Pixmap(pymupdf.csRGB, pymupdf.Pixmap(document, pictures[0][0]))
    else:
        pixmap = page.get_pixmap(dpi=TRUTH_DPI)
    return _square(_to_array(pixmap))


def article_picture(document: pymupdf.Document, page_index: int) -> Pixels:
    """Return the article's picture."""
    return _square(_to_array(document[page_index].get_pixmap(matrix=pymupdf.Matrix(2, 2))))


def engine_picture(extractor: PageExtractor, pdf: Path, page_index: int) -> Pixels:
    """Return the engine's picture."""
    (record,) = extractor.extract(PageTask(pdf, page_index)).records
    return np.asarray(Image.open(io.BytesIO(record.jpeg)).convert("RGB"), dtype=np.uint8)


def _square(pixels: Pixels) -> Pixels:
    image = Image.fromarray(pixels)
    return np.asarray(image.resize((SIDE_PX, SIDE_PX), Image.Resampling.LANCZOS), dtype=np.uint8)


def _to_array(pixmap: pymupdf.Pixmap) -> Pixels:
    shape = (pixmap.height, pixmap.width, 3)
    return np.frombuffer(pixmap.samples, dtype=np.uint8).reshape(shape)


def psnr(picture: Pixels, expected: Pixels) -> float:
    """Return the peak signal-to-noise ratio in dB."""
    return float(cv2.PSNR(picture, expected))


def ssim(picture: Pixels, expected: Pixels) -> float:
    """Return the mean structural similarity of the luma (Wang et al. 2004, Gaussian 11 x 11)."""
    x, y = (
        cv2.cvtColor(each, cv2.COLOR_RGB2GRAY).astype(np.float64) for each in (picture, expected)
    )

    def blur(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        return np.asarray(cv2.GaussianBlur(values, (11, 11), 1.5))

    mean_x, mean_y = blur(x), blur(y)
    variance_x = blur(x * x) - mean_x**2
    variance_y = blur(y * y) - mean_y**2
    covariance = blur(x * y) - mean_x * mean_y
    c1, c2 = (0.01 * 255) ** 2, (0.03 * 255) ** 2
    likeness = ((2 * mean_x * mean_y + c1) * (2 * covariance + c2)) / (
        (mean_x**2 + mean_y**2 + c1) * (variance_x + variance_y + c2)
    )
    return float(likeness.mean())


def compare(pdf: Path, pages: int) -> str:
    """Return one table row for a PDF."""
    figures: dict[str, list[float]] = {"ours": [], "article": []}
    likeness: dict[str, list[float]] = {"ours": [], "article": []}
    with pymupdf.open(pdf) as document, closing(PageExtractor(OPTIONS)) as extractor:
        step = max(1, document.page_count // pages)
        for page_index in list(range(0, document.page_count, step))[:pages]:
            expected = truth(document, page_index)
            for name, picture in (
                ("ours", engine_picture(extractor, pdf, page_index)),
                ("article", article_picture(document, page_index)),
            ):
                figures[name].append(psnr(picture, expected))
                likeness[name].append(ssim(picture, expected))
    cells = [
        f"{statistics.median(figures[n]):.1f} ({min(figures[n]):.1f}) / "
        f"{statistics.median(likeness[n]):.3f} ({min(likeness[n]):.3f})"
        for n in ("ours", "article")
    ]
    worse = sum(o < a for o, a in zip(figures["ours"], figures["article"], strict=True))
    return f"| {pdf.stem} | {cells[0]} | {cells[1]} | {worse} of {len(figures['ours'])} |"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--kinds", nargs="+", default=["colour", "grey", "bitonal", "jpeg2000"])
    parser.add_argument("--pages", type=int, default=12)
    options = parser.parse_args()
    print("| kind | ours: PSNR median (worst) / SSIM | the article's | pages where ours is worse |")
    print("|---|---|---|---|")
    for kind in options.kinds:
        print(compare(options.folder / f"{kind}.pdf", options.pages), flush=True)


if __name__ == "__main__":
    main()
