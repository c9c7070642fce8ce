import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as numpy_strategies

from archive_tools import page_filter
from archive_tools.config import PageFilter
from archive_tools.page_filter import Look


@given(numpy_strategies.arrays(np.uint8, st.tuples(st.integers(1, 40), st.integers(1, 40))))
def test_sigma_is_the_standard_deviation(grey):
    assert page_filter.measure_sigma(grey) == pytest.approx(grey.std(), abs=1e-6)


def test_sigma_of_half_black_half_white_is_the_largest_possible():
    grey = np.zeros((10, 10), dtype=np.uint8)
    grey[:5] = 255
    assert page_filter.measure_sigma(grey) == pytest.approx(127.5)


@pytest.mark.parametrize(
    ("rgb", "luma"), [((255, 0, 0), 76), ((0, 255, 0), 150), ((0, 0, 255), 29), ((9, 9, 9), 9)]
)
def test_grey_is_luma_of_rgb_in_that_order(rgb, luma):
    pixels = np.full((2, 2, 3), rgb, dtype=np.uint8)
    assert abs(int(page_filter.to_grey(pixels)[0, 0]) - luma) <= 1


@pytest.mark.parametrize(("sigma", "keep"), [(44.99, False), (45.0, False), (45.01, True)])
def test_only_above_the_threshold_is_kept(sigma, keep):
    look = Look(sigma, sigma - 1e-9, sigma)
    decision = page_filter.decide([look], PageFilter.SIGMA, 45)
    assert decision.keep is keep
    assert decision.score == sigma
    assert (">" if keep else "<=") in decision.reason


@given(sigma=st.floats(0, 127.5), lower=st.floats(0, 127.5), higher=st.floats(0, 127.5))
def test_a_lower_threshold_never_drops_more(sigma, lower, higher):
    lower, higher = sorted((lower, higher))
    if page_filter.decide_by_sigma(sigma, higher).keep:
        assert page_filter.decide_by_sigma(sigma, lower).keep


@given(sigma=st.floats(0, 127.5))
def test_without_a_filter_every_page_is_kept(sigma):
    look = Look(sigma, sigma - 5, sigma + 5)
    assert page_filter.decide([look], PageFilter.NONE, 45).keep
