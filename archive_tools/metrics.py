"""How well decisions and boxes agree with the labels; pure arithmetic over small numbers."""

from collections.abc import Sequence
from dataclasses import dataclass

Box = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class Judgement:
    """One page's verdict beside its label.

    Attributes:
        illustrated: What the label says.
        kept: What the filter said.
        score: The filter's score; higher means more likely to be kept.
    """

    illustrated: bool
    kept: bool
    score: float


@dataclass(slots=True)
class RegionCounts:
    """True boxes, boxes found, and how many of them are matched one to one."""

    n_truth: int = 0
    n_found: int = 0
    n_matched: int = 0

    def add(self, n_truth: int, n_found: int, n_matched: int) -> None:
        """Count one more page."""
        self.n_truth += n_truth
        self.n_found += n_found
        self.n_matched += n_matched

    def figures(self) -> dict[str, float | int | None]:
        """`n_truth`, `n_found`, `recall_iou50`, `precision_iou50`; a ratio over nothing is None."""
        return {
            "n_truth": self.n_truth,
            "n_found": self.n_found,
            "recall_iou50": _ratio(self.n_matched, self.n_truth),
            "precision_iou50": _ratio(self.n_matched, self.n_found),
        }


def best_threshold(judgements: Sequence[Judgement]) -> float:
    """The score above which keeping pages gives the best F1; the lowest of equals.

    Thresholds lie halfway between neighbouring scores, or below all of them.
    """
    ranked = sorted(judgements, key=lambda judgement: judgement.score)
    illustrated = hits = sum(judgement.illustrated for judgement in ranked)
    below = ranked[0].score - 2.0
    best, best_f1 = below, -1.0
    for dropped, judgement in enumerate(ranked):
        f1 = 2 * hits / (len(ranked) - dropped + illustrated)
        if judgement.score > below and f1 > best_f1:
            best, best_f1 = (below + judgement.score) / 2, f1
        below = judgement.score
        hits -= judgement.illustrated
    return best


def rank_auc(judgements: Sequence[Judgement]) -> float | None:
    """Chance that an illustrated page scores above another page; a tie counts half.

    Returns:
        The area under the ROC curve, None unless both classes are present.
    """
    positives = sum(judgement.illustrated for judgement in judgements)
    negatives = len(judgements) - positives
    if not positives or not negatives:
        return None
    by_score: dict[float, list[int]] = {}
    for judgement in judgements:
        by_score.setdefault(judgement.score, [0, 0])[judgement.illustrated] += 1
    wins = 0.0
    negatives_below = 0
    for negatives_here, positives_here in (by_score[score] for score in sorted(by_score)):
        wins += positives_here * (negatives_below + negatives_here / 2)
        negatives_below += negatives_here
    return wins / (positives * negatives)


def page_figures(judgements: Sequence[Judgement]) -> dict[str, float | int | None]:
    """Precision, recall and their company over `judgements`.

    Returns:
        `n`, `illustrated`, `precision`, `recall`, `f1`, `auc`, `kept_share`, `reduction`. A ratio
        over nothing is None.
    """
    n = len(judgements)
    kept = sum(judgement.kept for judgement in judgements)
    illustrated = sum(judgement.illustrated for judgement in judgements)
    hits = sum(judgement.kept and judgement.illustrated for judgement in judgements)
    return {
        "n": n,
        "illustrated": illustrated,
        "precision": _ratio(hits, kept),
        "recall": _ratio(hits, illustrated),
        "f1": _ratio(2 * hits, kept + illustrated),
        "auc": rank_auc(judgements),
        "kept_share": _ratio(kept, n),
        "reduction": _ratio(n - kept, n),
    }


def overlap(first: Box, second: Box) -> float:
    """Intersection over union of two half-open boxes, 0 for boxes that only touch."""
    width = min(first[2], second[2]) - max(first[0], second[0])
    height = min(first[3], second[3]) - max(first[1], second[1])
    if width <= 0 or height <= 0:
        return 0.0
    shared = width * height
    return shared / (box_area(first) + box_area(second) - shared)


def box_area(box: Box) -> float:
    """Area of a half-open box in its own units squared."""
    return (box[2] - box[0]) * (box[3] - box[1])


def count_matches(truth: Sequence[Box], found: Sequence[Box], min_overlap: float) -> int:
    """Pairs of a true and a found box, one to one, the best overlap first."""
    pairs = sorted(
        ((overlap(a, b), i, j) for i, a in enumerate(truth) for j, b in enumerate(found)),
        key=lambda pair: (-pair[0], pair[1], pair[2]),
    )
    free_truth, free_found = set(range(len(truth))), set(range(len(found)))
    matches = 0
    for shared, i, j in pairs:
        if shared >= min_overlap and i in free_truth and j in free_found:
            free_truth.remove(i)
            free_found.remove(j)
            matches += 1
    return matches


def _ratio(part: float, whole: float) -> float | None:
    return part / whole if whole else None
