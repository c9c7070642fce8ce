"""How the scores of a run are spread, and how many pages each threshold would keep; pure.

Memory does not grow with the pages: they are counted by bar and by step of the slider.
"""

from bisect import bisect_left, bisect_right
from collections import Counter
from dataclasses import dataclass
from itertools import accumulate

from archive_tools.config import PageFilter


@dataclass(frozen=True, slots=True)
class ScoreScale:
    """How the scores of a filter are shown to people: in what unit, by which bars and steps.

    Attributes:
        edges: Where the bars of the histogram begin and end, in shown units, rising from 0.
        ticks: Edges that are labelled.
        step: From one threshold of the slider to the next, in shown units.
        unit: What follows a shown figure.
        shown_per_score: Shown units for 1 of the score itself.
        is_reaching_enough: Whether a page is kept that only just reaches the threshold.
    """

    edges: tuple[float, ...]
    ticks: tuple[float, ...]
    step: float
    unit: str
    shown_per_score: int
    is_reaching_enough: bool

    @property
    def highest(self) -> float:
        """The last threshold, in shown units."""
        return self.edges[-1]

    @property
    def thresholds(self) -> list[float]:
        """All thresholds of the slider, as scores."""
        count = round(self.highest / self.step) + 1
        return [self.to_score(number * self.step) for number in range(count)]

    def to_score(self, shown: float) -> float:
        """Return the score of a figure that people see, at the nearest step of the slider."""
        return round(shown / self.step) * self.step / self.shown_per_score

    def to_shown(self, score: float) -> float:
        """Return a score as people see it."""
        return score * self.shown_per_score

    def passes(self, score: float, threshold: float) -> bool:
        """Whether a page of this score is kept."""
        return score >= threshold if self.is_reaching_enough else score > threshold

    def place(self, shown: float) -> float:
        """Return where a figure lies along the bars, 0 (left) to 1 (right).

        Args:
            shown: In shown units; what lies outside comes to the nearer end.
        """
        shown = min(max(shown, 0.0), self.highest)
        bar = min(bisect_right(self.edges, shown), len(self.edges) - 1) - 1
        within = (shown - self.edges[bar]) / (self.edges[bar + 1] - self.edges[bar])
        return (bar + within) / (len(self.edges) - 1)

    def bar_of(self, score: float) -> int:
        """Return the number of the bar that a score is counted in."""
        shown = self.to_shown(score)
        return min(max(bisect_right(self.edges, shown), 1), len(self.edges) - 1) - 1


# Pictures that count cover more than 1 % of a page: below that are the pages without any. Most
# thresholds that are worth choosing lie at the low end, so the bars there are finer.
COVERAGE_SCALE = ScoreScale(
    edges=(0, 1, 1.5, 2, 3, 4, 5, 7.5, 10, *range(15, 101, 5)),
    ticks=(0, 1, 2, 5, 10, 20, 40, 60, 80, 100),
    step=0.5,
    unit=" %",
    shown_per_score=100,
    is_reaching_enough=True,
)
SIGMA_SCALE = ScoreScale(
    edges=tuple(range(0, 129, 4)),
    ticks=tuple(range(0, 129, 16)),
    step=1,
    unit="",
    shown_per_score=1,
    is_reaching_enough=False,
)


def scale_for(page_filter: PageFilter) -> ScoreScale:
    """Return the scale of a filter's scores; where every page is kept, sigma is shown."""
    return COVERAGE_SCALE if page_filter is PageFilter.AUTO else SIGMA_SCALE


class ScoreHistogram:
    """Counts pages by score."""

    def __init__(self, scale: ScoreScale) -> None:
        """Begin with no page.

        Args:
            scale: Of the filter that gave the scores.
        """
        self.scale = scale
        self._thresholds = scale.thresholds
        self._bars: Counter[int] = Counter()
        self._passed: Counter[int] = Counter()

    def add(self, score: float, can_be_kept: bool = True) -> None:
        """Count a page.

        Args:
            score: The filter's score.
            can_be_kept: False for a page that is dropped for another reason at any threshold.
        """
        self._bars[self.scale.bar_of(score)] += 1
        if can_be_kept:
            find = bisect_right if self.scale.is_reaching_enough else bisect_left
            self._passed[find(self._thresholds, score)] += 1

    @property
    def total(self) -> int:
        """Number of pages."""
        return self._bars.total()

    @property
    def bars(self) -> list[int]:
        """Number of pages in each bar."""
        return [self._bars[bar] for bar in range(len(self.scale.edges) - 1)]

    @property
    def kept_at(self) -> list[int]:
        """Number of pages that are kept at each threshold of the slider."""
        passing = [self._passed[number] for number in range(len(self._thresholds), 0, -1)]
        return list(accumulate(passing))[::-1]
