import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from archive_tools.regions import MARGIN_SHARE, place_cuts, turn_box, zoom_for_cuts

sides = st.integers(1, 6000)
sizes = st.tuples(sides, sides)
small_sizes = st.tuples(st.integers(1, 40), st.integers(1, 40))


@st.composite
def looked_at(draw, sizes=sizes):
    """A size, and a box inside it."""
    width, height = draw(sizes)
    x0, y0 = draw(st.integers(0, width - 1)), draw(st.integers(0, height - 1))
    x1, y1 = draw(st.integers(x0 + 1, width)), draw(st.integers(y0 + 1, height))
    return (width, height), (x0, y0, x1, y1)


@given(looked_at(), sizes)
def test_cuts_lie_inside_the_picture_and_hold_their_box(looked, picture_size):
    (width, height), box = looked
    ((x0, y0, x1, y1),) = place_cuts([box], (width, height), picture_size)
    assert 0 <= x0 < x1 <= picture_size[0]
    assert 0 <= y0 < y1 <= picture_size[1]
    across, down = picture_size[0] / width, picture_size[1] / height
    # Rounded outwards: nothing of the illustration is lost.
    assert x0 <= box[0] * across
    assert y0 <= box[1] * down
    assert x1 >= min(picture_size[0], box[2] * across) - 1e-6
    assert y1 >= min(picture_size[1], box[3] * down) - 1e-6


def test_the_margin_follows_the_page():
    ((x0, y0, x1, y1),) = place_cuts([(100, 100, 200, 300)], (1000, 1000), (2000, 2000))
    margin = round(MARGIN_SHARE * 2000)
    assert (x0, y0, x1, y1) == (200 - margin, 200 - margin, 400 + margin, 600 + margin)


def test_a_small_cut_asks_for_a_fine_picture_up_to_400_dpi():
    page_pt = (500.0, 1000.0)
    half = zoom_for_cuts([(0, 0, 100, 500)], (500, 1000), page_pt, 1024)
    assert half == pytest.approx(1024 / 500)
    both = zoom_for_cuts([(0, 0, 100, 500), (0, 0, 250, 100)], (500, 1000), page_pt, 1024)
    assert both == pytest.approx(1024 / 250)
    assert zoom_for_cuts([(0, 0, 10, 10)], (500, 1000), page_pt, 1024) == pytest.approx(400 / 72)


@given(looked_at(small_sizes), st.integers(-4, 4))
def test_a_box_turns_with_its_picture(looked, quarter_turns):
    (width, height), box = looked
    picture = np.zeros((height, width), bool)
    picture[box[1] : box[3], box[0] : box[2]] = True
    x0, y0, x1, y1 = turn_box(box, (width, height), quarter_turns)
    turned = np.rot90(picture, quarter_turns)
    assert turned[y0:y1, x0:x1].all()
    assert turned.sum() == (x1 - x0) * (y1 - y0)
    back = turn_box((x0, y0, x1, y1), turned.shape[::-1], -quarter_turns)
    assert back == box
