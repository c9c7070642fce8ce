"""The finder's fast pixel operations give what the plain ones do."""

import cv2
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from archive_tools.illustrations.marks import find_rules
from archive_tools.illustrations.pixels import (
    find_cornerless_parts,
    find_parts,
    level_below,
    look_up,
    middle_of,
)
from archive_tools.illustrations.strokes import LINE_PX, line_means


def draw_mask(height, width, seed, share):
    return (np.random.default_rng(seed).random((height, width)) < share).astype(np.uint8)


@given(arrays(np.uint8, st.integers(1, 300)), st.sampled_from([0, 0.005, 0.5, 0.85, 1]))
def test_a_level_is_that_of_the_sorted_pixels(grey, share):
    assert level_below(grey, share) == np.percentile(grey, 100 * share, method="lower")


@given(
    arrays(np.float32, st.integers(1, 40), elements=st.floats(-9, 9, width=32)), st.integers(1, 2)
)
def test_the_middle_is_the_median(values, rows):
    values = np.tile(values, (rows, 1))
    assert middle_of(values) == np.median(values)


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 60), st.integers(1, 60), st.integers(0, 99), st.sampled_from([0.1, 0.5, 0.9]))
def test_parts_are_those_of_wide_labels(height, width, seed, share):
    mask = draw_mask(height, width, seed, share)
    parts = find_parts(mask)
    _, labels, stats, _ = cv2.connectedComponentsWithStats(mask, connectivity=8)
    assert parts.labels.dtype == np.uint16
    assert (parts.labels == labels).all()
    assert (parts.stats == stats).all()


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 60), st.integers(1, 60), st.integers(0, 99), st.sampled_from([0.1, 0.5, 1]))
def test_cornerless_parts_are_those_that_opencv_measures(height, width, seed, share):
    mask = draw_mask(height, width, seed, share)
    labels, widths, heights = find_cornerless_parts(mask)
    _, expected, stats, _ = cv2.connectedComponentsWithStats(mask, connectivity=4)
    assert (labels == expected).all()
    assert (widths[1:] == stats[1:, cv2.CC_STAT_WIDTH]).all()
    assert (heights[1:] == stats[1:, cv2.CC_STAT_HEIGHT]).all()


def test_more_parts_than_short_labels_can_number_are_told_apart():
    mask = np.zeros((600, 600), np.uint8)
    mask[::2, ::2] = 1
    parts = find_parts(mask)
    assert len(parts.stats) == 90_001
    numbers = np.arange(90_001) % 251
    looked_up = look_up(numbers.astype(np.uint8), parts.labels)
    assert (looked_up == numbers[parts.labels]).all()


def test_looking_up_short_labels_is_indexing():
    parts = find_parts(draw_mask(50, 70, 1, 0.3))
    table = (np.arange(len(parts.stats)) % 256).astype(np.uint8)
    assert (look_up(table, parts.labels) == table[parts.labels]).all()


def straight_runs(ink, length):
    """Opening with a line each way, as OpenCV does it, without what is thicker than four."""
    ink = np.pad(ink, length)  # OpenCV takes what is outside for ink
    across = cv2.morphologyEx(ink, cv2.MORPH_OPEN, np.ones((1, length), np.uint8))
    down = cv2.morphologyEx(ink, cv2.MORPH_OPEN, np.ones((length, 1), np.uint8))
    thick_across = cv2.morphologyEx(across, cv2.MORPH_OPEN, np.ones((5, 1), np.uint8))
    thick_down = cv2.morphologyEx(down, cv2.MORPH_OPEN, np.ones((1, 5), np.uint8))
    rules = (across - thick_across) | (down - thick_down)
    return rules[length:-length, length:-length]


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6))
def test_rules_are_long_thin_runs_and_what_touches_them(seed):
    random = np.random.default_rng(seed)
    ink = draw_mask(240, 300, seed, 0.05)
    for _ in range(12):  # runs shorter and longer than 25, one to six pixels thick
        x, y = random.integers(6, (230, 170))  # at an edge a line counts as thicker
        length, thick = random.integers((8, 1), (60, 7))
        box = (thick, length) if random.random() < 0.5 else (length, thick)
        ink[y : y + box[0], x : x + box[1]] = 1
    expected = cv2.dilate(straight_runs(ink, 25), np.ones((3, 3), np.uint8)) & ink
    share = cv2.blur(ink * 255.0, (31, 31)) / 255
    same = find_rules(ink) == expected * (share <= 0.45)
    assert same[abs(share - 0.45) > 0.005].all()  # at the limit either may round


def test_the_means_along_lines_are_those_of_shifted_pages():
    image = np.random.default_rng(0).random((60, 80), np.float32)
    wide = np.pad(image, LINE_PX // 2, mode="reflect")
    seen = 0
    for direction, mean in line_means(image):
        total = np.zeros_like(image)
        for row, column in direction.places:
            total += wide[row : row + 60, column : column + 80]
        assert (mean == total / np.float32(len(direction.places))).all()
        seen += 1
    assert seen == 8
