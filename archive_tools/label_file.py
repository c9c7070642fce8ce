"""Read a file of labelled page images, one page at a time.

The file is a CSV with the columns path (relative to the file), label, kind, source and regions.
An image stands for a page.
"""

import csv
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image

from archive_tools.errors import LabelsError
from archive_tools.metrics import Box

Grey = npt.NDArray[np.uint8]

ILLUSTRATED_LABELS = frozenset({"illustration", "mixed"})
ORNAMENT_LABEL = "ornament"
LABELS = ILLUSTRATED_LABELS | {"text", "blank", "other", ORNAMENT_LABEL}
COLUMNS = ("path", "label", "kind", "source", "regions")


@dataclass(frozen=True, slots=True)
class LabelledPage:
    """One row of the label file.

    Attributes:
        path: The page image.
        label: One of `LABELS`.
        kind: bitonal, grey or colour.
        source: The book or collection; figures are given for each.
        regions: True illustration boxes as fractions of the page; None where not known.
    """

    path: Path
    label: str
    kind: str
    source: str
    regions: tuple[Box, ...] | None

    @property
    def illustrated(self) -> bool:
        """Whether a dataset of illustrations wants the page."""
        return self.label in ILLUSTRATED_LABELS

    @property
    def scored(self) -> bool:
        """Whether the page counts: pages with ornaments only are reported apart."""
        return self.label != ORNAMENT_LABEL


def iter_labelled_pages(labels: Path) -> Iterator[LabelledPage]:
    """Read the label file row by row.

    Raises:
        LabelsError: It is missing, is no such CSV, has no rows, or a row is wrong.
    """
    try:
        with labels.open(newline="", encoding="utf-8-sig") as stream:
            rows = csv.DictReader(stream)
            missing = [name for name in COLUMNS if name not in (rows.fieldnames or ())]
            if missing:
                raise LabelsError(
                    f"{labels} lacks the columns {', '.join(missing)}. "
                    f"The first line must name {', '.join(COLUMNS)}."
                )
            empty = True
            for row in rows:
                empty = False
                yield _to_page(row, labels, rows.line_num)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise LabelsError(f"{labels} cannot be read as a CSV file: {error}") from error
    if empty:
        raise LabelsError(f"{labels} has no rows below its header.")


def read_grey(path: Path) -> Grey:
    """Read a page image as grey.

    Returns:
        Pixels (H, W), uint8.

    Raises:
        LabelsError: The file is missing or is no image.
    """
    try:
        with Image.open(path) as image:
            if not image.has_transparency_data:
                return np.asarray(image.convert("L"))
            paper = Image.new("RGBA", image.size, "white")
            return np.asarray(Image.alpha_composite(paper, image.convert("RGBA")).convert("L"))
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise LabelsError(f"The page image {path} cannot be read: {error}") from error


def _to_page(row: dict[str, Any], labels: Path, line: int) -> LabelledPage:
    where = f"{labels}, line {line}"
    if any(not isinstance(row.get(name), str) for name in COLUMNS):
        raise LabelsError(f"{where}: expected as many values as there are columns.")
    if not row["path"] or row["label"] not in LABELS:
        raise LabelsError(
            f"{where}: path is {row['path']!r} and label is {row['label']!r}; "
            f"a label must be one of {', '.join(sorted(LABELS))}."
        )
    regions = _to_boxes(row["regions"], where)
    return LabelledPage(
        labels.parent / row["path"], row["label"], row["kind"], row["source"], regions
    )


def _to_boxes(text: str, where: str) -> tuple[Box, ...] | None:
    if not text.strip():
        return None
    try:
        boxes = tuple(
            (float(x0), float(y0), float(x1), float(y1)) for x0, y0, x1, y1 in json.loads(text)
        )
    except (ValueError, TypeError) as error:
        raise LabelsError(f"{where}: regions is not a JSON list of boxes: {error}") from error
    if any(box[0] > box[2] or box[1] > box[3] for box in boxes):
        raise LabelsError(f"{where}: each region must be [x0, y0, x1, y1], fractions of the page.")
    return boxes
