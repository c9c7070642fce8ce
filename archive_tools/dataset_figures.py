"""What a finished dataset holds, in figures for the report: read back from its own manifest.

So the report of a fetched or resumed run is that of an undisturbed one. Rows are read one at a
time, and what is counted is bounded.
"""

import csv
import io
import json
import zipfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from archive_tools.buckets import choose_bucket
from archive_tools.config import PageFilter
from archive_tools.schema import PageOutcome
from archive_tools.score_histogram import ScoreHistogram, scale_for

MOST_FILES = 100
"""Files that are counted by name; the others are counted together."""

OTHER_FILES = ""
_SIDE_PX = 1024


@dataclass(slots=True)
class DatasetFigures:
    """Counts over the pages and images of a dataset.

    Attributes:
        histogram: The scores of all pages that have one.
        threshold: What the run kept by, in the unit of the histogram; None where it kept all.
        files: File -> outcome -> pages; `OTHER_FILES` stands for those beyond `MOST_FILES`.
        sizes: Width and height in pixels -> images.
        shapes: SDXL bucket nearest to the shape of what an image shows -> images.
    """

    histogram: ScoreHistogram
    threshold: float | None
    files: dict[str, Counter[PageOutcome]] = field(default_factory=dict)
    sizes: Counter[tuple[int, int]] = field(default_factory=Counter)
    shapes: Counter[tuple[int, int]] = field(default_factory=Counter)


def read_figures(dataset: Path) -> DatasetFigures:
    """Count what a dataset holds.

    Args:
        dataset: A ZIP of ours.

    Raises:
        OSError: It cannot be read.
        zipfile.BadZipFile: It is damaged.
    """
    with zipfile.ZipFile(dataset) as archive:
        options = json.loads(archive.read("manifest/report.json"))["options"]
        figures = _begin(options)
        is_auto = options["filter"] == PageFilter.AUTO
        for row in _iter_pages(archive):
            _count_page(figures, row, row["score"] if is_auto else row["sigma"])
        for line in _iter_metadata(archive):
            _count_image(figures, json.loads(line))
    return figures


def _begin(options: dict[str, object]) -> DatasetFigures:
    page_filter = PageFilter(str(options["filter"]))
    scale = scale_for(page_filter)
    thresholds = {
        PageFilter.AUTO: scale.to_shown(float(str(options["min_score"]))),
        PageFilter.SIGMA: float(str(options["min_sigma"])),
    }
    return DatasetFigures(ScoreHistogram(scale), thresholds.get(page_filter))


def _iter_pages(archive: zipfile.ZipFile) -> Iterator[dict[str, str]]:
    with archive.open("manifest/pages.csv") as file:
        yield from csv.DictReader(io.TextIOWrapper(file, encoding="utf-8", newline=""))


def _iter_metadata(archive: zipfile.ZipFile) -> Iterator[bytes]:
    for name in archive.namelist():
        if name.endswith("/metadata.jsonl"):
            with archive.open(name) as file:
                yield from file


def _count_page(figures: DatasetFigures, row: dict[str, str], score: str) -> None:
    if score:
        figures.histogram.add(float(score))
    name = row["file"]
    if name not in figures.files and len(figures.files) >= MOST_FILES:
        name = OTHER_FILES
    figures.files.setdefault(name, Counter())[PageOutcome(row["decision"])] += 1


def _count_image(figures: DatasetFigures, row: dict[str, object]) -> None:
    width, height = int(str(row["width"])), int(str(row["height"]))
    figures.sizes[width, height] += 1
    box = row["bbox"]
    assert isinstance(box, list)
    x0, y0, x1, y1 = box
    figures.shapes[choose_bucket(x1 - x0, y1 - y0, _SIDE_PX, upscale=True)] += 1
