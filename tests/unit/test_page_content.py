import pytest
from hypothesis import given
from hypothesis import strategies as st

from archive_tools.page_content import IDENTITY, find_only_picture, map_rectangle, multiply

PLAIN = b"q 595 0 0 842 0 0 cm /Im0 Do Q"


@pytest.mark.parametrize(
    "content",
    [
        PLAIN,
        b"q\n595 0 0 842 0 0 cm\n/Im0 Do\nQ\n",
        b"595 0 0 842 0 0 cm /Im0 Do",
        b"q 0.24 0 0 0.24 0 0 cm q 2479.17 0 0 3508.33 0 0 cm /Im0 Do Q Q",
        b"/Artifact BMC " + PLAIN + b" EMC",
        b"/Span <</Lang (en)>> BDC " + PLAIN + b" EMC",
        PLAIN + b" BT 3 Tr /F1 12 Tf 50 500 Td (recognised \\) words) Tj ET",
        b"3 Tr " + PLAIN + b" BT [(a) -20 <0041>] TJ ET",
        b"q 1 0 0 RG 0 g 1 w [3 2] 0 d " + PLAIN + b" Q",
        PLAIN + b"% a comment\n",
    ],
)
def test_one_picture_is_found(content):
    placed = find_only_picture(content)
    assert placed is not None
    assert placed.name == "Im0"
    assert placed.matrix == pytest.approx((595, 0, 0, 842, 0, 0), rel=1e-4)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        PLAIN + PLAIN,
        PLAIN + b" BT /F1 12 Tf (seen) Tj ET",
        b"q 3 Tr Q " + PLAIN + b" BT (seen) Tj ET",
        PLAIN + b" 10 10 50 50 re f",
        PLAIN + b" 10 10 m 50 50 l S",
        b"/GS0 gs " + PLAIN,
        b"/OC /MC0 BDC " + PLAIN + b" EMC",
        PLAIN + b" BI /W 1 /H 1 ID x EI",
        PLAIN + b" /Sh0 sh",
        b"q 595 0 0 cm /Im0 Do Q",
        PLAIN + b" Q",
        PLAIN + b" BT 3 Tr (unfinished Tj ET",
        PLAIN + b" \x00\x01",
        PLAIN + b" 7 Tr BT (clips what follows) Tj ET",
    ],
)
def test_anything_else_is_left_to_the_renderer(content):
    placed = find_only_picture(content)
    assert placed is None


def test_clips_are_reported_in_page_space():
    placed = find_only_picture(b"2 0 0 2 0 0 cm 10 10 50 50 re W n q 300 0 0 400 0 0 cm /Im0 Do Q")
    assert placed is not None
    assert placed.clips == ((20, 20, 120, 120),)


def test_a_restored_clip_does_not_count():
    placed = find_only_picture(b"q 10 10 50 50 re W n Q " + PLAIN)
    assert placed is not None
    assert placed.clips == ()


@given(content=st.binary(max_size=200))
def test_any_bytes_give_an_answer(content):
    find_only_picture(content)


numbers = st.floats(-100, 100).map(lambda value: round(value, 3))
matrices = st.tuples(*[numbers] * 6)


@given(first=matrices, second=matrices, third=matrices)
def test_matrices_multiply_in_any_grouping(first, second, third):
    left = multiply(multiply(first, second), third)
    right = multiply(first, multiply(second, third))
    assert left == pytest.approx(right, rel=1e-6, abs=1e-3)
    assert multiply(first, IDENTITY) == first == multiply(IDENTITY, first)


@given(matrix=matrices)
def test_a_mapped_rectangle_is_in_order(matrix):
    x0, y0, x1, y1 = map_rectangle((0, 0, 1, 1), matrix)
    assert x0 <= x1
    assert y0 <= y1
