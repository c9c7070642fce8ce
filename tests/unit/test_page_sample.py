"""A sample of bounded size that shows something of every kind of page."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from archive_tools.page_sample import SpreadSample

strata_met = st.lists(st.integers(0, 6), max_size=120)


def sample_of(strata: list[int], most: int) -> list[tuple[int, int]]:
    sample: SpreadSample[tuple[int, int]] = SpreadSample(most)
    for number, stratum in enumerate(strata):
        sample.add(stratum, f"page {number}", (stratum, number))
        assert len(sample) <= most
    return sample.items()


@given(strata_met, st.integers(7, 40))
def test_as_many_as_fit_and_some_of_every_stratum(strata: list[int], most: int) -> None:
    kept = sample_of(strata, most)
    assert len(kept) == min(most, len(strata))
    assert {stratum for stratum, _ in kept} == set(strata)
    assert [number for _, number in kept] == sorted(number for _, number in kept)


@given(strata_met, st.integers(7, 40))
def test_strata_share_the_room_and_small_ones_are_whole(strata: list[int], most: int) -> None:
    held, met = Counter(stratum for stratum, _ in sample_of(strata, most)), Counter(strata)
    largest = max(held.values(), default=0)
    # A stratum has less than the largest (by more than the one that a tie leaves) only when it
    # has no more to give.
    for stratum, count in met.items():
        assert held[stratum] == count or held[stratum] >= largest - 1


@given(strata_met)
def test_wanted_is_what_is_taken_in(strata: list[int]) -> None:
    sample: SpreadSample[int] = SpreadSample(9)
    for number, stratum in enumerate(strata):
        is_wanted = sample.wants(stratum, str(number))
        sample.add(stratum, str(number), number)
        assert (number in sample.items()) is is_wanted


def test_the_sample_of_a_stratum_comes_from_all_of_it() -> None:
    numbers = [number for _, number in sample_of([0] * 2_000, 40)]
    assert 600 < sum(numbers) / len(numbers) < 1_400
