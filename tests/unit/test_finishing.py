import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from archive_tools import finishing
from archive_tools.config import Fit
from archive_tools.duplicates import perceptual_hash

PAPER = (236, 226, 200)


def a_page(width=300, height=420, ink_box=(60, 200, 240, 380)):
    page = np.full((height, width, 3), PAPER, dtype=np.uint8)
    x0, y0, x1, y1 = ink_box
    page[y0:y1, x0:x1] = (40, 30, 30)
    return page


sizes = st.tuples(st.integers(1, 700), st.integers(1, 700))


@settings(max_examples=30, deadline=None)
@given(
    size=sizes, fit=st.sampled_from([Fit.SQUARE, Fit.CROP, Fit.STRETCH]), side=st.integers(64, 256)
)
def test_every_fit_gives_the_square_and_a_box_inside_the_page(size, fit, side):
    width, height = size
    picture, (x0, y0, x1, y1) = finishing.fit_picture(
        np.full((height, width, 3), 90, dtype=np.uint8), fit, side
    )
    assert picture.shape == (side, side, 3)
    assert 0 <= x0 < x1 <= width
    assert 0 <= y0 < y1 <= height


@given(size=sizes, side=st.integers(64, 2048))
def test_fitted_size_fills_the_square_and_keeps_the_shape(size, side):
    width, height = size
    fitted = finishing.fitted_size(width, height, side)
    assert max(fitted) == side
    exact = min(width, height) * side / max(width, height)
    assert min(fitted) == pytest.approx(exact, abs=1)


def test_square_keeps_a_circle_round_and_pads_with_paper():
    picture, box = finishing.fit_picture(a_page(), Fit.SQUARE, 420)
    assert box == (0, 0, 300, 420)
    # 300 px wide inside 420: 60 px of paper on each side.
    np.testing.assert_array_equal(picture[:, :55], np.broadcast_to(PAPER, (420, 55, 3)))
    ink = np.argwhere(picture[:, :, 0] < 100)
    assert abs((ink[:, 1].max() + 1 - ink[:, 1].min()) - 180) <= 2
    assert abs((ink[:, 0].max() + 1 - ink[:, 0].min()) - 180) <= 2


def test_stretch_distorts_to_the_whole_square():
    picture, _ = finishing.fit_picture(a_page(), Fit.STRETCH, 420)
    ink = np.argwhere(picture[:, :, 0] < 100)
    assert abs((ink[:, 1].max() + 1 - ink[:, 1].min()) - 252) <= 2


@pytest.mark.parametrize(
    ("ink_box", "window"),
    [
        ((60, 0, 240, 100), (0, 0, 300, 300)),
        ((60, 350, 240, 420), (0, 120, 300, 420)),
        ((0, 0, 0, 0), (0, 60, 300, 360)),
    ],
    ids=["ink above", "ink below", "blank: the middle"],
)
def test_crop_takes_the_square_with_the_most_ink(ink_box, window):
    box = finishing.find_inkiest_window(a_page(ink_box=ink_box))
    assert np.abs(np.subtract(box, window)).max() <= 4


def test_crop_of_a_landscape_page_moves_sideways():
    page = a_page(width=500, height=300, ink_box=(420, 20, 490, 280))
    x0, y0, x1, y1 = finishing.find_inkiest_window(page)
    assert (y0, y1) == (0, 300)
    assert x1 - x0 == 300
    assert x1 >= 490


def test_paper_colour_ignores_ink_picture_and_scanner_frame():
    page = a_page(ink_box=(20, 20, 280, 300))
    page[:12] = page[-12:] = 0
    assert np.abs(np.subtract(finishing.paper_colour(page), PAPER)).max() <= 1


def test_jpeg_holds_the_same_colours_and_the_same_bytes_each_time():
    red = np.full((64, 64, 3), (200, 30, 20), dtype=np.uint8)
    jpeg = finishing.encode_jpeg(red, 92)
    decoded = np.asarray(Image.open(io.BytesIO(jpeg)))
    assert np.abs(decoded.astype(int) - red).max() <= 4
    assert finishing.encode_jpeg(red, 92) == jpeg


def test_perceptual_hash_is_stable_under_brightness_and_tells_pages_apart():
    rng = np.random.default_rng(5)
    page = np.kron(rng.integers(60, 200, (16, 16, 1)), np.ones((16, 16, 3))).astype(np.uint8)
    other = np.rot90(page).copy()

    def distance(a, b):
        return (int(perceptual_hash(a), 16) ^ int(perceptual_hash(b), 16)).bit_count()

    assert len(perceptual_hash(page)) == 16
    assert distance(page, page + 20) <= 4
    assert distance(page, other) >= 16
