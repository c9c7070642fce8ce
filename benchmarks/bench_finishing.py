"""What finishing and near-duplicates cost a page, and what finishing does to real scans.

    python benchmarks/bench_finishing.py ../shared/data/scans/labels.csv --step 6

Processor time of one core, on the page as it comes from the reader (long side 1,600 px).
"""

import argparse
import csv
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt
from PIL import Image

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from archive_tools import borders, deskew, duplicates, finishing, fitting, paper_tone, quality
from archive_tools.config import NO_FINISHING, DatasetConfig
from archive_tools.finish_steps import to_grey
from archive_tools.picture import make_record
from archive_tools.schema import Record

Pixels = npt.NDArray[np.uint8]

LONG_SIDE_PX = 1600
OFF = DatasetConfig(finishing=NO_FINISHING, dedupe=False)
ON = DatasetConfig()


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("labels", type=Path)
    parser.add_argument("--step", type=int, default=6, help="take every Nth page")
    options = parser.parse_args()
    cv2.setNumThreads(1)
    costs_ms: Counter[str] = Counter()
    done: Counter[str] = Counter()
    pages = 0
    for pixels in iter_pages(options.labels, options.step):
        pages += 1
        measure_steps(pixels, costs_ms)
        made = make_record(pixels, ON)
        steps = made.finishing if isinstance(made, Record) else made.reason
        done.update((steps or "nothing to do").replace(" -", " ").split("; "))
    print(f"{pages} pages, ms a page of one core:")
    for name, total in costs_ms.items():
        print(f"  {name:28} {total / pages:6.1f}")
    print("steps:", summarise(done))


def measure_steps(pixels: Pixels, costs_ms: Counter[str]) -> None:
    """Add what each step costs on a page."""
    picture, _ = fitting.fit_picture(pixels, OFF)
    colour = finishing.paper_colour(pixels)
    grey = to_grey(pixels)
    steps: dict[str, Callable[[], Any]] = {
        "all of it, finishing off": lambda: make_record(pixels, OFF),
        "all of it, finishing on": lambda: make_record(pixels, ON),
        "find borders": lambda: borders.find_page_box(grey),
        "find the slant": lambda: deskew.find_slant(grey),
        "turn (slanted pages only)": lambda: deskew.turn(pixels, 1.0, colour),
        "neutralise (aged pages only)": lambda: paper_tone.neutralise(picture, colour),
        "blank": lambda: quality.is_nearly_blank(grey),
        "sharpness": lambda: quality.measure_sharpness(picture),
        "signatures": lambda: duplicates.picture_signatures(pixels),
    }
    for name, step in steps.items():
        started = time.process_time()
        step()
        costs_ms[name] += 1000 * (time.process_time() - started)


def summarise(done: Counter[str]) -> dict[str, int]:
    """Count slanted pages together, whatever their angle."""
    summary: Counter[str] = Counter()
    for step, count in done.items():
        summary[step.split()[0] if step.startswith("deskewed") else step] += count
    return dict(summary.most_common())


def iter_pages(labels: Path, step: int) -> Iterator[Pixels]:
    """Yield pages as uint8 RGB."""
    with labels.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    for row in rows[::step]:
        with Image.open(labels.parent / row["path"]) as image:
            picture = image.convert("RGB")
        picture.thumbnail((LONG_SIDE_PX, LONG_SIDE_PX))
        yield np.asarray(picture)


if __name__ == "__main__":
    main()
