from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from archive_tools.config import DEFAULT_MIN_SCORE
from archive_tools.illustrations import Illustration, PageVerdict, judge_page
from archive_tools.page_judgement import decide_by_verdict


def verdict_of(score: float) -> PageVerdict:
    found = (Illustration((0, 0, 10, 10), score),) if score else ()
    blank = judge_page(np.full((40, 40), 255, np.uint8))
    return replace(blank, illustrations=found, score=score, reason="what was found")


@given(st.floats(0, 1), st.floats(0, 1))
def test_the_score_is_kept_and_decides_alone(score, min_score):
    decision = decide_by_verdict(verdict_of(score), min_score)
    assert decision.score == score
    assert decision.keep is (score >= min_score)
    assert decision.reason.startswith("what was found")


@pytest.mark.parametrize(
    ("score", "is_told"), [(0.0, False), (DEFAULT_MIN_SCORE / 2, True), (DEFAULT_MIN_SCORE, False)]
)
def test_only_a_picture_that_is_too_small_needs_the_threshold_as_reason(score, is_told):
    decision = decide_by_verdict(verdict_of(score), DEFAULT_MIN_SCORE)
    assert ("less than 1.5 %" in decision.reason) is is_told
