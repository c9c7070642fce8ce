"""Measure the page filters on labelled page images: `python -m archive_tools evaluate`.

The label file is a CSV with the columns path (relative to the file), label, kind, source and
regions. An image stands for a page. One page is in memory at a time.
"""

import csv
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import numpy.typing as npt
from PIL import Image

from archive_tools.errors import LabelsError
from archive_tools.metrics import Box, Judgement, page_figures

Grey = npt.NDArray[np.uint8]

ILLUSTRATED_LABELS = frozenset({"illustration", "mixed"})
LABELS = ILLUSTRATED_LABELS | {"text", "blank", "other", "ornament"}
COLUMNS = ("path", "label", "kind", "source", "regions")

# An image file says nothing reliable of the paper's size. The labels were measured as if every
# page were A4 (841.9 pt high): at 144 dpi its long side is 1684 px.
PAGE_LONG_SIDE_PX = 1684


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


@dataclass(slots=True)
class FilterTally:
    """What one filter said of all pages so far: numbers only, never pixels."""

    rows: list[tuple[LabelledPage, Judgement]] = field(default_factory=list)
    seconds: float = 0.0

    def add(self, page: LabelledPage, judge: Callable[[], tuple[bool, float]]) -> None:
        """Judge `page`, timed, and remember the verdict."""
        start = time.perf_counter()
        kept, score = judge()
        self.seconds += time.perf_counter() - start
        self.rows.append((page, Judgement(page.illustrated, kept, score)))

    def figures(self) -> dict[str, Any]:
        """Figures over all pages, by source and by kind; pages with ornaments only stand apart."""
        scored = [(page, verdict) for page, verdict in self.rows if page.label != "ornament"]
        ornaments = [verdict for page, verdict in self.rows if page.label == "ornament"]
        kept_ornaments = sum(verdict.kept for verdict in ornaments)
        return {
            **page_figures([verdict for _, verdict in scored]),
            "per_source": _grouped(scored, "source"),
            "per_kind": _grouped(scored, "kind"),
            "per_label": _kept_by_label(self.rows),
            "ornaments": {"n": len(ornaments), "kept": kept_ornaments},
            "ms_per_page": round(1000 * self.seconds / max(1, len(self.rows)), 2),
        }


def evaluate_labels(labels: Path, min_sigma: float = 45.0) -> dict[str, Any]:
    """Judge every page of a label file with each filter and compare with its label.

    Args:
        labels: CSV with the columns path, label, kind, source, regions.
        min_sigma: Threshold of the sigma rule.

    Returns:
        `sigma`: n, precision, recall, f1, auc, kept_share, reduction, per_source, per_kind,
        ornaments; `ms_per_page`: time of the decision without reading the file. Ratios over
        nothing are None.

    Raises:
        LabelsError: The file or one of its rows or images cannot be used.
    """
    sigma = FilterTally()
    for page in iter_labelled_pages(labels):
        grey = read_grey(page.path)
        sigma.add(page, lambda grey=grey: judge_by_sigma(grey, min_sigma))  # type: ignore[misc]
    figures = sigma.figures()
    return {"sigma": figures, "ms_per_page": figures["ms_per_page"]}


def judge_by_sigma(grey: Grey, min_sigma: float) -> tuple[bool, float]:
    """Apply the article's rule to a page image.

    Returns:
        Whether the page is kept, and its sigma at 144 dpi.
    """
    sigma = page_sigma(grey)
    return sigma > min_sigma, sigma


def page_sigma(grey: Grey) -> float:
    """Standard deviation of the grey page at 144 dpi.

    Area resampling gives what a PyMuPDF render at 2x gives (mean difference 0.09 over 60 pages).
    """
    scale = PAGE_LONG_SIDE_PX / max(grey.shape)
    if scale == 1:
        return float(grey.std())
    size = (max(1, round(grey.shape[1] * scale)), max(1, round(grey.shape[0] * scale)))
    how = cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR
    return float(cv2.resize(grey, size, interpolation=how).std())


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


def format_evaluation(report: dict[str, Any]) -> str:
    """Write the report as a table for people: a line for each filter and source."""
    lines = [f"{'filter':<8} {'source':<24} {'n':>5} {'P':>6} {'R':>6} {'F1':>6} {'AUC':>6} kept"]
    for name in ("sigma", "auto"):
        if name in report:
            groups = {"all": report[name], **report[name]["per_source"]}
            lines += [_table_line(name, source, figures) for source, figures in groups.items()]
    lines.append(f"{report['ms_per_page']:.1f} ms a page")
    return "\n".join(lines)


def _table_line(name: str, source: str, figures: dict[str, Any]) -> str:
    cells = (figures[key] for key in ("precision", "recall", "f1", "auc", "kept_share"))
    shown = " ".join("     -" if cell is None else f"{cell:6.3f}" for cell in cells)
    return f"{name:<8} {source:<24} {figures['n']:>5} {shown}"


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


def _grouped(rows: list[tuple[LabelledPage, Judgement]], name: str) -> dict[str, Any]:
    groups: dict[str, list[Judgement]] = {}
    for page, verdict in rows:
        groups.setdefault(getattr(page, name), []).append(verdict)
    return {group: page_figures(groups[group]) for group in sorted(groups)}


def _kept_by_label(rows: list[tuple[LabelledPage, Judgement]]) -> dict[str, dict[str, int]]:
    counts: dict[str, dict[str, int]] = {}
    for page, verdict in rows:
        entry = counts.setdefault(page.label, {"n": 0, "kept": 0})
        entry["n"] += 1
        entry["kept"] += verdict.kept
    return {label: counts[label] for label in sorted(counts)}
