"""Buckets and SDXL's micro-conditions: arithmetic that no training would notice to be wrong."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from style_lora.framing import frame_picture, list_buckets

SIDES = st.integers(min_value=8, max_value=6000)


def test_a_square_of_the_dataset_stays_as_it_is() -> None:
    framing = frame_picture((1024, 1024), 1024)
    assert framing.resized == framing.bucket == (1024, 1024)
    assert framing.time_ids == (1024, 1024, 0, 0, 1024, 1024)


def test_time_ids_are_original_crop_and_target_with_height_first() -> None:
    framing = frame_picture((2000, 3000), 1024)
    assert framing.bucket == (832, 1216)
    assert framing.resized == (832, 1248)
    assert framing.cut_box == (0, 16, 832, 1232)
    assert framing.time_ids == (3000, 2000, 16, 0, 1216, 832)


def test_a_small_picture_is_not_enlarged() -> None:
    framing = frame_picture((700, 500), 1024)
    assert framing.bucket == (672, 480)
    assert framing.resized[0] <= 700


@given(SIDES, SIDES, st.sampled_from([128, 512, 768, 1024]))
def test_the_cut_lies_inside_the_resized_picture(width: int, height: int, resolution: int) -> None:
    framing = frame_picture((width, height), resolution)
    x0, y0, x1, y1 = framing.cut_box
    assert 0 <= x0 < x1 <= framing.resized[0]
    assert 0 <= y0 < y1 <= framing.resized[1]
    assert (x1 - x0, y1 - y0) == framing.bucket
    assert framing.bucket[0] % 8 == framing.bucket[1] % 8 == 0


@given(st.integers(1100, 5000), st.floats(0.4, 2.5))
def test_a_large_picture_loses_little(width: int, aspect: float) -> None:
    size = (width, round(width * aspect))
    if min(size) < 1100:
        size = (size[0] * 3, size[1] * 3)
    framing = frame_picture(size, 1024)
    kept = framing.bucket[0] * framing.bucket[1] / (framing.resized[0] * framing.resized[1])
    assert kept > 0.9
    # Both sides shrink alike, to a pixel: nothing is distorted.
    assert framing.resized[0] / size[0] == pytest.approx(framing.resized[1] / size[1], rel=2e-3)


def test_buckets_are_those_of_sdxl() -> None:
    buckets = list_buckets(1024)
    assert len(buckets) == 31
    assert {(1024, 1024), (832, 1216), (1216, 832), (704, 1344)} <= set(buckets)
