from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from archive_tools.illustrations.boxes import are_near, enlarge, join_boxes, transpose

coordinates = st.integers(0, 60)
boxes = st.lists(
    st.tuples(coordinates, coordinates, st.integers(1, 30), st.integers(1, 30)).map(
        lambda box: (box[0], box[1], box[0] + box[2], box[1] + box[3])
    ),
    max_size=7,
)


@given(boxes, st.floats(0, 20), st.booleans())
def test_joined_boxes_hold_all_boxes_and_never_overlap(given_boxes, gap, may_join):
    joined = join_boxes(given_boxes, gap, lambda _: may_join)
    assert not any(are_near(a, b, gap if may_join else 0) for a, b in combinations(joined, 2))
    for x0, y0, x1, y1 in given_boxes:
        assert any(b[0] <= x0 and b[1] <= y0 and x1 <= b[2] and y1 <= b[3] for b in joined)


@given(boxes, st.floats(0, 20))
def test_joining_commutes_with_transposing(given_boxes, gap):
    turned = join_boxes([transpose(box) for box in given_boxes], gap)
    assert sorted(map(transpose, turned)) == sorted(join_boxes(given_boxes, gap))


def test_only_the_question_keeps_neighbours_apart():
    neighbours = [(0, 0, 10, 10), (12, 0, 20, 10)]
    assert join_boxes(neighbours, 5) == [(0, 0, 20, 10)]
    assert join_boxes(neighbours, 5, lambda _: False) == neighbours


def test_boxes_that_touch_are_not_joined_without_a_gap():
    assert len(join_boxes([(0, 0, 10, 10), (10, 0, 20, 10)], 0)) == 2


@given(
    st.tuples(coordinates, coordinates, coordinates, coordinates),
    st.floats(0.01, 1),
    st.tuples(st.integers(1, 300), st.integers(1, 300)),
)
def test_enlarged_boxes_lie_inside_the_page(box, scale, page_size):
    x0, y0, x1, y1 = enlarge(box, scale, page_size)
    assert 0 <= x0 < x1 <= page_size[0]
    assert 0 <= y0 < y1 <= page_size[1]
