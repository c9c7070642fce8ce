"""Measure the page filters on labelled page images: `python -m archive_tools evaluate`.

One page is in memory at a time; of the pages seen only numbers are kept.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import cv2

from archive_tools.config import DEFAULT_MIN_SCORE
from archive_tools.illustrations import PageVerdict, judge_page
from archive_tools.label_file import Grey, LabelledPage, iter_labelled_pages, read_grey
from archive_tools.metrics import (
    Box,
    Judgement,
    RegionCounts,
    best_threshold,
    box_area,
    count_matches,
    page_figures,
)

Result = TypeVar("Result")

# An image file says nothing reliable of the paper's size. The labels were measured as if every
# page were A4 (841.9 pt high): at 144 dpi its long side is 1684 px.
PAGE_LONG_SIDE_PX = 1684
# Smaller true boxes are ornaments; they are neither asked for nor forgiven.
LEAST_TRUE_AREA = 0.01
MIN_OVERLAP = 0.5


@dataclass(slots=True)
class FilterTally:
    """What one filter said of all pages so far: numbers only, never pixels."""

    rows: list[tuple[LabelledPage, Judgement]] = field(default_factory=list)
    seconds: float = 0.0

    def figures(self) -> dict[str, Any]:
        """Figures over all pages, by source and by kind; pages with ornaments only stand apart."""
        scored = [(page, verdict) for page, verdict in self.rows if page.scored]
        ornaments = [verdict for page, verdict in self.rows if not page.scored]
        return {
            **page_figures([verdict for _, verdict in scored]),
            "per_source": _figures_by(scored, "source"),
            "per_kind": _figures_by(scored, "kind"),
            "per_label": _kept_by_label(self.rows),
            "ornaments": {"n": len(ornaments), "kept": sum(verdict.kept for verdict in ornaments)},
            "leave_one_source_out": _leave_one_source_out(scored),
            "ms_per_page": round(1000 * self.seconds / max(1, len(self.rows)), 2),
        }


@dataclass(slots=True)
class RegionTally:
    """How the boxes found agree with the true ones so far, by source."""

    per_source: dict[str, RegionCounts] = field(default_factory=dict)

    def add(self, page: LabelledPage, found: Sequence[Box]) -> None:
        """Compare one page's boxes, fractions of the page; pages without truth are passed over."""
        if page.regions is None or not page.scored:
            return
        truth = [box for box in page.regions if box_area(box) >= LEAST_TRUE_AREA]
        counts = self.per_source.setdefault(page.source, RegionCounts())
        counts.add(len(truth), len(found), count_matches(truth, found, MIN_OVERLAP))

    def figures(self) -> dict[str, Any]:
        """Recall and precision at IoU 0.5 over all sources with truth, and for each of them."""
        total = RegionCounts()
        for counts in self.per_source.values():
            total.add(counts.n_truth, counts.n_found, counts.n_matched)
        per_source = {name: self.per_source[name].figures() for name in sorted(self.per_source)}
        return {**total.figures(), "per_source": per_source}


def evaluate_labels(
    labels: Path, min_sigma: float = 45.0, min_score: float = DEFAULT_MIN_SCORE
) -> dict[str, Any]:
    """Judge every page of a label file with each filter and compare with its label.

    Args:
        labels: CSV with the columns path, label, kind, source, regions.
        min_sigma: Threshold of the sigma rule.
        min_score: Threshold of the illustration filter.

    Returns:
        `auto` and `sigma`: n, precision, recall, f1, auc, kept_share, reduction, per_source,
        per_kind, per_label, ornaments, leave_one_source_out (the same with thresholds fitted on
        the other sources), ms_per_page; `regions`: n_truth, n_found, recall_iou50,
        precision_iou50, per_source, of the pages that `auto` keeps; `ms_per_page`: CPU time of
        `auto`, file reading left out. Ratios over nothing are None.

    Raises:
        LabelsError: The file or one of its rows or images cannot be used.
    """
    sigma, auto, regions = FilterTally(), FilterTally(), RegionTally()
    for page in iter_labelled_pages(labels):
        grey = read_grey(page.path)
        contrast = _timed(sigma, page_sigma, grey)
        sigma.rows.append((page, Judgement(page.illustrated, contrast > min_sigma, contrast)))
        verdict = _timed(auto, judge_page, grey)
        kept = verdict.score >= min_score
        auto.rows.append((page, Judgement(page.illustrated, kept, verdict.score)))
        regions.add(page, _boxes_as_fractions(verdict, grey) if kept else ())
    figures = auto.figures()
    return {
        "auto": figures,
        "sigma": sigma.figures(),
        "regions": regions.figures(),
        "ms_per_page": figures["ms_per_page"],
    }


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


def _timed(tally: FilterTally, judge: Callable[[Grey], Result], grey: Grey) -> Result:
    start = time.process_time()
    result = judge(grey)
    tally.seconds += time.process_time() - start
    return result


def _boxes_as_fractions(verdict: PageVerdict, grey: Grey) -> list[Box]:
    height, width = grey.shape
    boxes = (found.box for found in verdict.illustrations)
    return [(x0 / width, y0 / height, x1 / width, y1 / height) for x0, y0, x1, y1 in boxes]


def _leave_one_source_out(rows: list[tuple[LabelledPage, Judgement]]) -> dict[str, Any]:
    """Judge each source with the threshold that is best for all others."""
    thresholds: dict[str, float] = {}
    judged = []
    for source in sorted({page.source for page, _ in rows}):
        others = [verdict for page, verdict in rows if page.source != source]
        if not others:
            return {}
        thresholds[source] = best_threshold(others)
        judged += [
            Judgement(page.illustrated, verdict.score > thresholds[source], verdict.score)
            for page, verdict in rows
            if page.source == source
        ]
    return {**page_figures(judged), "thresholds": thresholds}


def _figures_by(rows: list[tuple[LabelledPage, Judgement]], name: str) -> dict[str, Any]:
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
