"""Near-duplicates on real scans: planted copies that are found, different pages that are not.

    python benchmarks/bench_duplicates.py ../shared/data/scans/labels.csv --step 1

Every page is met as it is; then each of its copies must find it again.
"""

import argparse
import csv
import io
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import cv2
import numpy as np
import numpy.typing as npt
from PIL import Image

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from archive_tools.duplicate_memory import DuplicateMemory
from archive_tools.duplicates import picture_signatures

Pixels = npt.NDArray[np.uint8]

LONG_SIDE_PX = 1400


def rescale(pixels: Pixels) -> Pixels:
    """Shrink to 60 %."""
    return np.asarray(cv2.resize(pixels, None, fx=0.6, fy=0.6, interpolation=cv2.INTER_AREA))


def encode_again(pixels: Pixels) -> Pixels:
    """Encode as JPEG of quality 40."""
    target = io.BytesIO()
    Image.fromarray(pixels).save(target, "JPEG", quality=40)
    return np.asarray(Image.open(target))


def darken(pixels: Pixels) -> Pixels:
    """Take a fifth of the brightness away."""
    return np.asarray(cv2.convertScaleAbs(pixels, alpha=0.8, beta=10))


def rotate(pixels: Pixels, degrees: float = 1.0) -> Pixels:
    """Turn about the middle, on paper."""
    height, width = pixels.shape[:2]
    matrix = cv2.getRotationMatrix2D((width / 2, height / 2), degrees, 1)
    paper = [float(np.percentile(pixels, 90))] * 3
    return np.asarray(cv2.warpAffine(pixels, matrix, (width, height), borderValue=paper))


DISTORTIONS: dict[str, Callable[[Pixels], Pixels]] = {
    "rescaled to 60 %": rescale,
    "JPEG 40": encode_again,
    "darker": darken,
    "turned by 1 degree": rotate,
    "turned by -1 degree": lambda pixels: rotate(pixels, -1.0),
}


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("labels", type=Path)
    parser.add_argument("--step", type=int, default=1, help="take every Nth page")
    options = parser.parse_args()
    cv2.setNumThreads(1)
    memory, copies, wrong = DuplicateMemory(), {}, 0
    for pixels in iter_pages(options.labels, options.step):
        signatures = picture_signatures(pixels)
        if not signatures:
            continue
        wrong += memory.find(signatures) is not None
        number = memory.add(signatures[0])
        copies[number] = {
            name: picture_signatures(make(pixels)) for name, make in DISTORTIONS.items()
        }
    found: Counter[str] = Counter()
    for number, distorted in copies.items():
        found.update(name for name, one in distorted.items() if memory.find(one) == number)
    print(f"{len(memory)} different pages, {wrong} taken for a copy of another")
    for name in DISTORTIONS:
        print(f"  {name:22} {100 * found[name] / len(memory):6.2f} % found")


def iter_pages(labels: Path, step: int) -> Iterator[Pixels]:
    """Yield pages that are not blank as uint8 RGB."""
    with labels.open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["label"] != "blank"]
    for row in rows[::step]:
        with Image.open(labels.parent / row["path"]) as image:
            image.draft("RGB", (LONG_SIDE_PX, LONG_SIDE_PX))
            picture = image.convert("RGB")
        picture.thumbnail((LONG_SIDE_PX, LONG_SIDE_PX))
        yield np.asarray(picture)


if __name__ == "__main__":
    main()
