import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from archive_tools import finishing
from archive_tools.duplicates import perceptual_hash

PAPER = (236, 226, 200)


def a_page(width=300, height=420, ink_box=(60, 200, 240, 380)):
    page = np.full((height, width, 3), PAPER, dtype=np.uint8)
    x0, y0, x1, y1 = ink_box
    page[y0:y1, x0:x1] = (40, 30, 30)
    return page


sizes = st.tuples(st.integers(1, 700), st.integers(1, 700))


@given(size=sizes, side=st.integers(64, 2048))
def test_fitted_size_fills_the_square_and_keeps_the_shape(size, side):
    width, height = size
    fitted = finishing.fitted_size(width, height, side)
    assert max(fitted) == side
    exact = min(width, height) * side / max(width, height)
    assert min(fitted) == pytest.approx(exact, abs=1)


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


@given(
    size=st.tuples(st.integers(1, 12), st.integers(1, 12)),
    levels=st.integers(1, 255),
    seed=st.integers(0, 2**32 - 1),
    is_grey=st.booleans(),
)
def test_paper_colour_is_the_median_of_what_is_nearly_as_light_as_the_lightest(
    size, levels, seed, is_grey
):
    shape = size if is_grey else (*size, 3)
    page = np.random.default_rng(seed).integers(0, levels + 1, shape, dtype=np.uint8)

    pixels = np.repeat(page.reshape(-1, 1), 3, axis=1) if is_grey else page.reshape(-1, 3)
    luma = pixels.sum(axis=1, dtype=np.int64)
    paper = pixels[luma >= 0.8 * np.percentile(luma, 95)]
    assert finishing.paper_colour(page) == tuple(np.median(paper, axis=0).astype(int))
