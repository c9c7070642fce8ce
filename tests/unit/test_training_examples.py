"""What a fine-tuning learns from: how often each picture is drawn, and what is done to it."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vetscanner.schema import SignClass
from vetscanner.training.augment import Pixels
from vetscanner.training.disguise import coarsen, cover, disguised_view, mark
from vetscanner.training.examples import Examples, deal, gather_examples
from vetscanner.training.labels import SIGNS, LabelledPhoto

HEALTHY = SIGNS.index(SignClass.NO_VISIBLE_SIGN)
NO_CATTLE = SIGNS.index(SignClass.NOT_CATTLE)


def make_photo(sign: SignClass, *, subtype: str = "", is_weak: bool = False) -> LabelledPhoto:
    return LabelledPhoto(Path("a.png"), sign, subtype, "g", "s", "CC0", is_weak)


def make_pixels(seed: int, height: int = 90, width: int = 120) -> Pixels:
    return np.random.default_rng(seed).integers(0, 256, (height, width, 3), dtype=np.uint8)


@given(st.lists(st.floats(0.01, 1.0), min_size=1, max_size=40), st.integers(1, 200))
def test_every_picture_is_dealt_as_often_as_its_weight_says(
    weights: list[float], count: int
) -> None:
    shares = np.array(weights) / sum(weights)
    pictures = [np.zeros((1, 1, 3), np.uint8)] * len(weights)
    examples = Examples(pictures, np.zeros(len(weights), dtype=np.int64), shares)
    chosen = deal(examples, count, np.random.default_rng(len(weights)))
    assert len(chosen) == count
    assert np.abs(np.bincount(chosen, minlength=len(weights)) - shares * count).max() < 1 + 1e-6


def test_rare_classes_weigh_more_and_unsure_labels_less() -> None:
    photos = (
        *[make_photo(SignClass.NO_VISIBLE_SIGN)] * 9,
        make_photo(SignClass.EYE),
        make_photo(SignClass.LUMPY_SKIN),
        make_photo(SignClass.LUMPY_SKIN, is_weak=True),
    )
    examples = gather_examples(photos, [make_pixels(i) for i in range(len(photos))], seed=0)
    assert examples.weights.sum() == pytest.approx(1.0)
    # The power of one half: nine times as many are drawn three times as often.
    assert examples.weights[:9].sum() == pytest.approx(3 * examples.weights[9])
    assert examples.weights[11] == pytest.approx(0.6 * examples.weights[10])


def test_faces_give_healthy_eyes_and_drawings_show_no_cattle() -> None:
    photos = (
        *[make_photo(SignClass.NO_VISIBLE_SIGN, subtype="healthy_face")] * 20,
        *[make_photo(SignClass.EYE)] * 20,
    )
    examples = gather_examples(photos, [make_pixels(i) for i in range(40)], seed=0)
    extra = examples.labels[40:]
    assert (extra == HEALTHY).sum() == 2 * 20
    assert (extra == NO_CATTLE).sum() == 40 // 20
    assert len(examples.pictures) == len(examples.labels) == len(examples.weights)


@pytest.mark.parametrize("change", [coarsen, mark, cover])
def test_each_disguise_changes_the_photo_and_follows_its_seed(
    change: Callable[[Pixels, np.random.Generator], Pixels],
) -> None:
    pixels = make_pixels(1, 240, 240)
    first, second = (change(pixels, np.random.default_rng(3)) for _ in range(2))
    np.testing.assert_array_equal(first, second)
    assert first.shape != pixels.shape or (first != pixels).any()
    np.testing.assert_array_equal(pixels, make_pixels(1, 240, 240))  # the original is left alone


@given(seed=st.integers(0, 2**32 - 1), height=st.integers(1, 90), width=st.integers(1, 90))
def test_a_disguised_view_is_always_a_square(seed: int, height: int, width: int) -> None:
    view = disguised_view(make_pixels(0, height, width), np.random.default_rng(seed), 32)
    assert view.shape == (32, 32, 3)
    assert view.dtype == np.uint8
