import pytest
from hypothesis import given
from hypothesis import strategies as st

from archive_tools.metrics import (
    Judgement,
    best_threshold,
    count_matches,
    overlap,
    page_figures,
    rank_auc,
)

judgements = st.lists(
    st.builds(Judgement, st.booleans(), st.booleans(), st.integers(0, 5).map(float)), max_size=25
)
boxes = st.lists(
    st.tuples(*(st.integers(0, 9),) * 2, *(st.integers(1, 9),) * 2).map(
        lambda box: (box[0], box[1], box[0] + box[2], box[1] + box[3])
    ),
    max_size=5,
)


@given(judgements)
def test_auc_is_the_share_of_pairs_in_the_right_order(pages):
    good = [page.score for page in pages if page.illustrated]
    bad = [page.score for page in pages if not page.illustrated]
    pairs = [(g > b) + (g == b) / 2 for g in good for b in bad]
    assert rank_auc(pages) == (pytest.approx(sum(pairs) / len(pairs)) if pairs else None)


def test_page_figures_of_a_known_confusion():
    pages = [Judgement(True, True, 1)] * 3 + [Judgement(True, False, 0)]
    pages += [Judgement(False, True, 1)] * 2 + [Judgement(False, False, 0)] * 4
    figures = page_figures(pages)
    assert figures["precision"] == 3 / 5
    assert figures["recall"] == 3 / 4
    assert figures["f1"] == pytest.approx(2 / 3)
    assert figures["kept_share"] == 0.5
    assert figures["reduction"] == 0.5


def test_figures_over_nothing_are_none_not_a_crash():
    assert page_figures([])["precision"] is None


@given(boxes, boxes)
def test_matching_is_one_to_one_and_symmetric(truth, found):
    matches = count_matches(truth, found, 0.5)
    assert matches == count_matches(found, truth, 0.5) <= min(len(truth), len(found))
    assert count_matches(truth, truth, 0.5) == len(truth)


def test_one_found_box_cannot_serve_two_true_boxes():
    assert count_matches([(0, 0, 10, 10), (0, 0, 10, 9)], [(0, 0, 10, 10)], 0.5) == 1


def test_overlap_of_boxes_that_only_touch_is_zero():
    assert overlap((0, 0, 5, 5), (5, 0, 9, 5)) == 0
    assert overlap((0, 0, 4, 4), (2, 0, 6, 4)) == pytest.approx(1 / 3)


@given(judgements.filter(bool), st.floats(-1, 6))
def test_no_threshold_beats_the_best_one(pages, other):
    def f1(threshold):
        cut = [Judgement(page.illustrated, page.score > threshold, page.score) for page in pages]
        return page_figures(cut)["f1"] or 0.0

    assert f1(best_threshold(pages)) >= f1(other)
