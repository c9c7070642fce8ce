"""labels.csv -> rows: what is on each photo, who belongs together, how sure the label is."""

import csv
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from vetscanner.errors import InvalidOptionError
from vetscanner.schema import SignClass

REQUIRED_COLUMNS = ("file", "label")
SIGNS = tuple(SignClass)


@dataclass(frozen=True, slots=True)
class LabelledPhoto:
    """One row of labels.csv.

    Attributes:
        path: The photo.
        sign: Its label.
        subtype: What exactly it shows, where known.
        group: Photos of one animal or scene share it; they never stand on both sides of a split.
        source: Where the photo comes from.
        licence: Its licence in words.
        is_weak: Whether the label was judged unsure.
    """

    path: Path
    sign: SignClass
    subtype: str
    group: str
    source: str
    licence: str
    is_weak: bool


def read_labels(folder: Path) -> tuple[LabelledPhoto, ...]:
    """Read FOLDER/labels.csv with columns file, label and optional group, source, quality, ...

    Args:
        folder: Folder with labels.csv; `file` is relative to it.

    Raises:
        InvalidOptionError: When the table is missing, empty, or a row cannot be used.
    """
    table = folder / "labels.csv"
    if not table.is_file():
        message = f"No {table}: it needs the columns {', '.join(REQUIRED_COLUMNS)}."
        raise InvalidOptionError(message)
    with table.open(encoding="utf-8", newline="") as lines:
        reader = csv.DictReader(lines)
        absent = [name for name in REQUIRED_COLUMNS if name not in (reader.fieldnames or ())]
        if absent:
            message = f"{table} lacks the column {absent[0]!r}."
            raise InvalidOptionError(message)
        rows = tuple(_to_photo(folder, row, reader.line_num) for row in reader)
    if not rows:
        message = f"{table} has no rows."
        raise InvalidOptionError(message)
    return rows


def _to_photo(folder: Path, row: dict[str, str], line_number: int) -> LabelledPhoto:
    """Check one row."""
    where = f"{folder / 'labels.csv'}, line {line_number}"
    path = folder / row["file"]
    if row["label"] not in set(SignClass):
        message = f"{where}: label {row['label']!r} is none of {', '.join(SignClass)}."
        raise InvalidOptionError(message)
    if not path.is_file():
        message = f"{where}: no file {row['file']!r}."
        raise InvalidOptionError(message)
    return LabelledPhoto(
        path=path,
        sign=SignClass(row["label"]),
        subtype=row.get("subtype") or "",
        # A photo without a group stands for itself.
        group=row.get("group") or row["file"],
        source=row.get("source") or "unknown",
        licence=row.get("licence") or "unstated",
        is_weak=row.get("quality") == "weak",
    )


def read_pixels(path: Path) -> NDArray[np.uint8]:
    """Read a photo as uint8 RGB (H, W, 3).

    Raises:
        InvalidOptionError: When the file is not a photo that Pillow reads.
    """
    try:
        with Image.open(path) as image:
            return np.asarray(image.convert("RGB"))
    except OSError as error:
        message = f"Cannot read the photo {path}: {error}"
        raise InvalidOptionError(message) from error


def class_indices(photos: tuple[LabelledPhoto, ...]) -> NDArray[np.int64]:
    """Return the labels as indices into `SIGNS`, (photos,)."""
    return np.array([SIGNS.index(photo.sign) for photo in photos], dtype=np.int64)
