import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as numpy_strategies

from archive_tools import page_filter
from archive_tools.config import PageFilter
from archive_tools.page_filter import Look
from tests import pdf_writer
from tests.pdf_fixtures import draw_page


@given(numpy_strategies.arrays(np.uint8, st.tuples(st.integers(1, 40), st.integers(1, 40))))
def test_sigma_is_the_standard_deviation(grey):
    # The square root of what float64 rounds off in a variance of some 10,000.
    assert page_filter.measure_sigma(grey) == pytest.approx(grey.std(), abs=1e-5)


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


def test_looks_are_taken_only_until_one_is_certain():
    taken = []

    def looks():
        for look in (Look(40, 30, 50), Look(44, 43.5, 44.5), Look(44.2, 44.2, 44.2)):
            taken.append(look.sigma)
            yield look

    decision = page_filter.decide(looks(), PageFilter.SIGMA, 45)
    assert (decision.keep, decision.score, taken) == (False, 44, [40, 44])


def test_the_last_look_decides_where_none_is_certain():
    looks = [Look(50, 40, 60), Look(44, 43, 46)]
    assert page_filter.decide(looks, PageFilter.SIGMA, 45).keep is False


def test_a_page_without_any_look_is_an_error():
    with pytest.raises(ValueError, match="look"):
        page_filter.decide([], PageFilter.SIGMA, 45)


pages = numpy_strategies.arrays(np.uint8, st.tuples(st.integers(16, 60), st.integers(16, 60)))


@given(grey=pages, octaves=st.floats(0, 4))
def test_a_coarse_look_never_settles_that_a_page_is_kept(grey, octaves):
    look = page_filter.coarse_look(grey, octaves)
    assert page_filter.measure_sigma(grey) - 1e-6 <= look.sigma <= look.most
    assert look.settles(look.most)
    assert not look.settles(look.most - 1)


@given(grey=pages)
def test_the_exact_look_settles_every_threshold(grey):
    look = page_filter.exact_look(grey)
    for threshold in (look.sigma - 1, look.sigma, look.sigma + 1, 45):
        assert look.settles(threshold)


@given(grey=pages, shrink=st.floats(0.2, 2))
def test_an_estimate_lies_within_its_own_bounds(grey, shrink):
    size = (max(1, round(grey.shape[1] * shrink)), max(1, round(grey.shape[0] * shrink)))
    look = page_filter.estimate_look(grey, size)
    assert look.least < look.sigma < look.most


@pytest.mark.parametrize("dpi", [150, 200, 300])
def test_a_guess_lies_near_the_estimate(dpi):
    grey = pdf_writer.to_grey(draw_page(1240, 1754))
    size = (round(1240 * 144 / dpi), round(1754 * 144 / dpi))
    guess = page_filter.guess_sigma(grey, size)
    assert guess == pytest.approx(page_filter.estimate_look(grey, size).sigma, abs=1)
    assert guess < page_filter.measure_sigma(grey)


@given(grey=numpy_strategies.arrays(np.uint8, st.tuples(st.integers(1, 20), st.integers(1, 20))))
def test_a_guess_is_a_standard_deviation_of_whatever_page(grey):
    assert 0 <= page_filter.guess_sigma(grey, (9, 11)) <= 127.5
