"""The histogram of a preview agrees with the filter itself, at every threshold of the slider."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archive_tools.config import PageFilter
from archive_tools.decisions import decide_by_coverage
from archive_tools.page_filter import decide_by_sigma
from archive_tools.score_histogram import (
    COVERAGE_SCALE,
    SIGMA_SCALE,
    ScoreHistogram,
    ScoreScale,
    scale_for,
)

# Scores as they are recorded, thresholds themselves among them.
coverages = st.one_of(
    st.integers(0, 10_000).map(lambda n: n / 10_000), st.sampled_from(COVERAGE_SCALE.thresholds)
)
sigmas = st.one_of(st.floats(0, 127.5), st.integers(0, 127).map(float))


def histogram_of(scale: ScoreScale, scores: list[float]) -> ScoreHistogram:
    histogram = ScoreHistogram(scale)
    for score in scores:
        histogram.add(score)
    return histogram


@given(st.lists(coverages, max_size=30))
def test_coverage_counts_are_those_of_the_filter(scores: list[float]) -> None:
    counted = histogram_of(COVERAGE_SCALE, scores).kept_at
    decided = [
        sum(decide_by_coverage(score, "", threshold).keep for score in scores)
        for threshold in COVERAGE_SCALE.thresholds
    ]
    assert counted == decided
    assert counted[0] == len(scores)


@given(st.lists(sigmas, max_size=30))
def test_sigma_counts_are_those_of_the_filter(scores: list[float]) -> None:
    counted = histogram_of(SIGMA_SCALE, scores).kept_at
    decided = [
        sum(decide_by_sigma(score, threshold).keep for score in scores)
        for threshold in SIGMA_SCALE.thresholds
    ]
    assert counted == decided


@pytest.mark.parametrize("scale", [COVERAGE_SCALE, SIGMA_SCALE], ids=["coverage", "sigma"])
@given(st.data())
def test_every_page_is_in_one_bar_that_holds_its_score(
    scale: ScoreScale, data: st.DataObject
) -> None:
    scores = data.draw(st.lists(coverages if scale is COVERAGE_SCALE else sigmas, max_size=20))
    histogram = histogram_of(scale, scores)
    assert sum(histogram.bars) == histogram.total == len(scores)
    for score in scores:
        bar, shown = scale.bar_of(score), scale.to_shown(score)
        assert scale.edges[bar] <= shown
        assert shown < scale.edges[bar + 1] or shown >= scale.highest


@pytest.mark.parametrize("scale", [COVERAGE_SCALE, SIGMA_SCALE], ids=["coverage", "sigma"])
@given(st.floats(-5, 140), st.floats(-5, 140))
def test_places_rise_from_left_to_right(scale: ScoreScale, one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert 0 <= scale.place(low) <= scale.place(high) <= 1


@pytest.mark.parametrize("scale", [COVERAGE_SCALE, SIGMA_SCALE], ids=["coverage", "sigma"])
def test_edges_and_ticks_of_a_scale(scale: ScoreScale) -> None:
    assert set(scale.ticks) <= set(scale.edges)
    count = len(scale.edges) - 1
    places = [scale.place(edge) for edge in scale.edges]
    assert places == pytest.approx([number / count for number in range(count + 1)])
    # Each edge is a threshold of the slider, so the line can lie between any two bars.
    shown = [scale.to_shown(threshold) for threshold in scale.thresholds]
    assert all(min(abs(edge - one) for one in shown) < 1e-9 for edge in scale.edges)


def test_pages_that_no_threshold_keeps_are_counted_as_dropped() -> None:
    histogram = ScoreHistogram(SIGMA_SCALE)
    histogram.add(60.0)
    histogram.add(80.0, can_be_kept=False)
    assert histogram.total == 2
    assert (histogram.kept_at[45], histogram.kept_at[70]) == (1, 0)


def test_the_scale_of_each_filter() -> None:
    assert scale_for(PageFilter.AUTO) is COVERAGE_SCALE
    assert scale_for(PageFilter.SIGMA) is scale_for(PageFilter.NONE) is SIGMA_SCALE
