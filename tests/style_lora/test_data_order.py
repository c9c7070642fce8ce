"""The order of the pictures follows from seed and epoch, so a resumed training repeats it."""

from itertools import islice

from hypothesis import given
from hypothesis import strategies as st

from style_lora.data_order import count_epoch_batches, derive_seed, iter_batches, order_epoch

BUCKETS = st.lists(st.sampled_from([(64, 64), (64, 128), (128, 64)]), min_size=1, max_size=30)


@given(BUCKETS, st.integers(1, 5), st.integers(0, 9), st.integers(0, 9))
def test_an_epoch_has_each_picture_once_and_no_batch_mixes_buckets(
    buckets: list[tuple[int, int]], batch_size: int, seed: int, epoch: int
) -> None:
    batches = order_epoch(buckets, batch_size, seed, epoch)
    assert sorted(index for batch in batches for index in batch) == list(range(len(buckets)))
    assert all(len({buckets[index] for index in batch}) == 1 for batch in batches)
    assert max(map(len, batches)) <= batch_size
    assert len(batches) == count_epoch_batches(buckets, batch_size)


@given(BUCKETS, st.integers(1, 4), st.integers(0, 50))
def test_going_on_at_a_step_gives_what_would_have_come(
    buckets: list[tuple[int, int]], batch_size: int, step: int
) -> None:
    whole = list(islice(iter_batches(buckets, batch_size, 7, 0), step + 10))
    assert list(islice(iter_batches(buckets, batch_size, 7, step), 10)) == whole[step:]


def test_epochs_and_seeds_differ() -> None:
    buckets = [(64, 64)] * 20
    orders = {tuple(order_epoch(buckets, 1, seed, epoch)) for seed in (0, 1) for epoch in (0, 1)}
    assert len(orders) == 4


def test_seeds_are_the_same_in_every_process() -> None:
    assert derive_seed(0, "step", 1) == 2111436579075594638
