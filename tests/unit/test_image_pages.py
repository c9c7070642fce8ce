"""Order of images, pages of a TIFF, size of a page, orientation: what needs no decoding."""

import io
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from archive_tools.errors import LimitExceededError
from archive_tools.file_kinds import FileKind, natural_key, recognise
from archive_tools.image_document import choose_dpi
from archive_tools.image_file import ImageHeader, turn_upright
from archive_tools.tiff_pages import MOST_PAGES, list_tiff_pages
from tests import image_fixtures, pdf_fixtures


@pytest.mark.parametrize(
    ("names", "ordered"),
    [
        (["p10.jpg", "p9.jpg", "p1.jpg"], ["p1.jpg", "p9.jpg", "p10.jpg"]),
        (["b/1.png", "a/10.png", "a/9.png"], ["a/9.png", "a/10.png", "b/1.png"]),
        (["B.jpg", "a.jpg", "C.jpg"], ["a.jpg", "B.jpg", "C.jpg"]),
        (["1-10.tif", "1-9.tif", "01-1.tif"], ["01-1.tif", "1-9.tif", "1-10.tif"]),
        (["9" * 5000 + ".jpg", "1.jpg"], ["1.jpg", "9" * 5000 + ".jpg"]),
    ],
)
def test_pages_come_in_the_order_of_their_numbers(names: list[str], ordered: list[str]) -> None:
    assert sorted(names, key=natural_key) == ordered


@given(st.lists(st.text(st.characters(codec="utf-8")), unique=True))
def test_any_names_have_one_order(names: list[str]) -> None:
    keys = sorted(map(natural_key, names))
    assert len(set(keys)) == len(names)


@given(st.integers(0, 10**12), st.integers(0, 10**12))
def test_numbers_sort_as_numbers(first: int, second: int) -> None:
    one, other = natural_key(f"page {first}.jpg"), natural_key(f"page {second:04}.jpg")
    if first != second:
        assert (one < other) == (first < second)


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP", "TIFF", "JPEG2000"])
def test_images_are_recognised_by_their_first_bytes(kind: str) -> None:
    content = image_fixtures.encode(np.zeros((8, 8, 3), np.uint8), kind)
    assert recognise(content[:16]) is FileKind.IMAGE


def test_other_files_are_no_images() -> None:
    assert recognise(pdf_fixtures.blank()[:16]) is FileKind.OTHER
    assert recognise(b"") is FileKind.OTHER
    assert recognise(image_fixtures.comic_book({"a": b""})[:16]) is FileKind.ZIP


def list_pages(content: bytes) -> tuple[int, ...]:
    return list_tiff_pages(io.BytesIO(content))


def test_every_page_of_a_tiff_counts_and_its_thumbnails_do_not() -> None:
    assert list_pages(image_fixtures.tiff(3, size=(24, 34))) == (0, 1, 2)
    assert list_pages(image_fixtures.chained_tiff(5, thumbnails=2)) == (0, 1, 2)
    assert list_pages(image_fixtures.chained_tiff(3, loops=True)) == (0, 1, 2)


def test_big_tiff_in_the_other_byte_order_is_read() -> None:
    entry = struct.pack(">HHQQ", 256, 4, 1, 8)
    first = struct.pack(">Q", 1) + entry + struct.pack(">Q", 16 + 36)
    second = struct.pack(">Q", 1) + entry + struct.pack(">Q", 0)
    head = struct.pack(">2sHHHQ", b"MM", 43, 8, 0, 16)
    assert list_pages(head + first + second) == (0, 1)


def test_a_tiff_of_a_hundred_thousand_pages_is_refused() -> None:
    with pytest.raises(LimitExceededError, match="split"):
        list_pages(image_fixtures.chained_tiff(100_000))
    assert len(list_pages(image_fixtures.chained_tiff(MOST_PAGES))) == MOST_PAGES


@given(st.binary(max_size=200))
def test_any_bytes_have_at_least_one_page(content: bytes) -> None:
    for start in (b"II*\0", b"MM\0*", b"II+\0\x08\0\0\0", b""):
        assert list_pages(start + content)[0] >= 0


@pytest.mark.parametrize(
    ("size", "dpi", "expected"),
    [
        ((2480, 3508), 300, 300),  # A4
        ((2480, 3508), 72, 300.1),  # a camera's or a program's 72: taken for a page as tall as A4
        ((2480, 3508), 0, 300.1),
        ((1240, 1754), 96, 150.0),
        ((800, 1000), 0, 144),  # never enlarged
        ((827, 1169), 100, 144),
        ((3600, 2400), 2400, 307.9),  # a slide is judged as a page
        ((30000, 40000), 200, 3421.7),  # five metres: nobody scans that
    ],
)
def test_stated_resolution_counts_where_it_makes_a_page(
    size: tuple[int, int], dpi: float, expected: float
) -> None:
    header = ImageHeader(*size, orientation=1, dpi=(dpi, dpi))
    assert choose_dpi(header, size) == pytest.approx(expected, abs=0.06)


@given(st.integers(1, 60_000), st.integers(1, 60_000), st.floats(0, 1e6))
def test_no_page_is_finer_than_its_image(width: int, height: int, dpi: float) -> None:
    assert choose_dpi(ImageHeader(width, height, 1, (dpi, dpi)), (width, height)) >= 144


@pytest.mark.parametrize("orientation", range(1, 9))
def test_every_orientation_mark_is_undone(orientation: int) -> None:
    upright = np.arange(12, dtype=np.uint8).reshape(3, 4)
    stored = {
        1: upright, 2: upright[:, ::-1], 3: upright[::-1, ::-1], 4: upright[::-1], 5: upright.T,
        6: np.rot90(upright), 7: upright[::-1, ::-1].T, 8: np.rot90(upright, -1),
    }[orientation]  # fmt: skip
    np.testing.assert_array_equal(turn_upright(stored, orientation), upright)
