import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archive_tools.glance_policy import Glance, choose_sample, find_most_bytes

glances = st.builds(
    Glance,
    bytes_per_pixel=st.floats(0.01, 4, exclude_min=True),
    channels=st.sampled_from([1, 3]),
    is_enough=st.booleans(),
)


def sample(*pages):
    return [Glance(size, 3, is_enough) for size, is_enough in pages]


@given(st.integers(1, 100_000))
def test_sampled_pages_exist(page_count):
    assert all(0 <= page_index < page_count for page_index in choose_sample(page_count))


@pytest.mark.parametrize("period", [2, 5, 10, 16, 20])
def test_a_rhythm_of_pages_does_not_hide_from_the_sample(period):
    assert len({page_index % period for page_index in choose_sample(300)}) > 1


@pytest.mark.parametrize(
    ("pages", "most_bytes"),
    [
        (sample((0.1, True), (0.12, True), (0.2, False)), 0.16),
        (sample((0.1, True), (0.12, True)), math.inf),
        (sample((0.1, False), (0.12, False)), 0.0),
        (sample((0.1, False), (0.2, True)), 0.0),
        (sample((0.1, True), (0.2, False), (0.3, True), (0.4, True), (0.5, True)), math.inf),
        ([], 0.0),
    ],
    ids=["busy pages open", "all dropped", "none dropped", "in vain", "mixed", "no glance"],
)
def test_pages_get_a_glance_up_to_where_it_pays(pages, most_bytes):
    assert find_most_bytes(pages) == pytest.approx(most_bytes)


@given(st.lists(glances, max_size=9))
def test_no_other_limit_gains_more(sampled):
    def gain(limit):
        return sum(glance.gain for glance in sampled if glance.bytes_per_pixel <= limit)

    best = gain(find_most_bytes(sampled))
    assert best >= max(map(gain, [0.0, *(glance.bytes_per_pixel for glance in sampled)])) - 1e-9
