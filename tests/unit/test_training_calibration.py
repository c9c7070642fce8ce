"""Temperature, thresholds and figures on numbers whose answer is known."""

from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from vetscanner.model_specs import ALARM_SIGNS
from vetscanner.schema import PhotoQuality, Prediction, SignClass
from vetscanner.training.calibration import (
    MAX_FALSE_ALARMS,
    TARGET_COVERAGE,
    calibrate,
    expected_calibration_error,
    false_alarm_rate,
    fit_temperature,
    goes_off,
    nested_answers,
    softmax,
)
from vetscanner.training.confusion_picture import confusion_svg
from vetscanner.training.labels import SIGNS
from vetscanner.training.metrics import measure, measure_nested
from vetscanner.triage import triage

LSD = SIGNS.index(SignClass.LUMPY_SKIN)
FMD = SIGNS.index(SignClass.FOOT_AND_MOUTH)
HEALTHY = SIGNS.index(SignClass.NO_VISIBLE_SIGN)
NO_CATTLE = SIGNS.index(SignClass.NOT_CATTLE)


def draw_logits(seed: int, count: int = 4000) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Labels drawn from the softmax itself: perfectly calibrated at temperature 1."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(0, 2.0, (count, len(SIGNS)))
    probabilities = softmax(logits)
    labels = np.array([rng.choice(len(SIGNS), p=row) for row in probabilities])
    return logits, labels


@pytest.mark.parametrize("factor", [0.5, 1.0, 3.0])
def test_temperature_undoes_a_known_overconfidence(factor: float) -> None:
    logits, labels = draw_logits(seed=1)
    assert fit_temperature(logits * factor, labels) == pytest.approx(factor, rel=0.06)


def test_calibration_error_is_small_when_calibrated_and_large_when_overconfident() -> None:
    logits, labels = draw_logits(seed=2)
    assert expected_calibration_error(softmax(logits), labels) < 0.03
    assert expected_calibration_error(softmax(logits * 5), labels) > 0.15


def test_thresholds_keep_coverage_and_false_alarms_within_bounds() -> None:
    logits, labels = draw_logits(seed=3)
    chosen = calibrate(logits, labels)
    probabilities = softmax(logits, chosen.temperature)
    assert (probabilities.max(axis=1) >= chosen.unclear_below).mean() == pytest.approx(
        TARGET_COVERAGE, abs=0.01
    )
    rate = false_alarm_rate(probabilities, labels, chosen.alarm_thresholds)
    assert rate <= MAX_FALSE_ALARMS
    # Not cautious beyond need: the next step of recall would have broken the bound.
    assert rate > MAX_FALSE_ALARMS / 2


def test_alarms_are_counted_as_the_triage_tells_them() -> None:
    logits, _ = draw_logits(seed=4, count=300)
    probabilities = softmax(logits)
    # Nothing is clear, so that the findings are the alarms alone.
    outcomes = [
        triage(
            [Prediction(dict(zip(SIGNS, map(float, row), strict=True)))],
            [PhotoQuality.GOOD],
            [],
            1.1,
            dict.fromkeys(ALARM_SIGNS, 0.1),
        )
        for row in probabilities
    ]
    for sign in ALARM_SIGNS:
        told = [sign in {finding.sign for finding in outcome.findings} for outcome in outcomes]
        assert any(told)
        assert goes_off(probabilities, sign, 0.1).tolist() == told
    assert (probabilities[:, NO_CATTLE] > 0.5).any()


def test_alarms_reach_their_recall_where_the_classes_are_apart() -> None:
    labels = np.repeat([LSD, FMD, HEALTHY], 100)
    logits = np.eye(len(SIGNS))[labels] * 8.0
    chosen = calibrate(logits, labels)
    figures = measure(
        softmax(logits, chosen.temperature),
        labels,
        ["s"] * len(labels),
        0.5,
        chosen.alarm_thresholds,
    )
    assert figures["alarm_recall"] == {SignClass.FOOT_AND_MOUTH: 1.0, SignClass.LUMPY_SKIN: 1.0}
    assert figures["alarm_false_rate"] == 0.0


def test_figures_of_a_small_table_by_hand() -> None:
    labels = np.array([LSD, LSD, HEALTHY, NO_CATTLE])
    answers = [LSD, HEALTHY, HEALTHY, LSD]
    confidence = np.array([0.9, 0.4, 0.8, 0.7])
    probabilities = np.repeat((1 - confidence)[:, None] / 6, len(SIGNS), axis=1)
    probabilities[np.arange(4), answers] = confidence
    thresholds = {SignClass.LUMPY_SKIN: 0.5, SignClass.FOOT_AND_MOUTH: 0.5}
    figures = measure(probabilities, labels, ["a", "a", "b", "b"], 0.5, thresholds)
    assert figures["n"] == 4
    assert figures["accuracy"] == 0.5
    assert figures["recall"]["lumpy_skin"] == 0.5
    assert figures["precision"]["lumpy_skin"] == 0.5
    assert figures["recall"]["eye"] is None
    # F1: lumpy skin 2*1/(2+2), healthy 2*1/(1+2), not cattle 0; classes without photos stay out.
    assert figures["macro_f1"] == pytest.approx((0.5 + 2 / 3 + 0) / 3, abs=1e-4)
    assert figures["confusion"]["not_cattle"]["lumpy_skin"] == 1
    assert figures["coverage"] == 0.75
    assert figures["selective_accuracy"] == pytest.approx(2 / 3, abs=1e-4)
    assert figures["alarm_recall"] == {"foot_and_mouth": None, "lumpy_skin": 0.5}
    # The false alarm is on the photo without cattle, which does not count as a cattle photo.
    assert figures["alarm_false_rate"] == 0.0
    assert figures["per_source"]["b"] == {"n": 2, "accuracy": 0.5}


def test_the_picture_of_a_confusion_matrix_holds_its_numbers_and_words() -> None:
    confusion = {"a_b": {"a_b": 3, "<c>": 1}, "<c>": {"a_b": 0, "<c>": 0}}
    picture = ElementTree.fromstring(confusion_svg(confusion))
    texts = [node.text for node in picture.iter() if node.tag.endswith("text")]
    assert texts == ["label, answer", "a b", "a b", "<c>", "<c>", "3", "1", "0", "0"]
    fills = [n.get("fill") for n in picture.iter() if n.tag.endswith("rect")][1:]
    # The fuller its row, the darker a cell; a row without photos stays white.
    assert fills[0] != fills[1] != fills[2] == fills[3] == "rgb(255,255,255)"
    (title,) = (n.text for n in picture.iter() if n.tag.endswith("title"))
    assert title == "Confusion matrix: 3 of 4 photos of a b right; 0 of 0 photos of <c> right."


@given(seed=st.integers(0, 2**32 - 1), temperature=st.floats(0.2, 8.0), shift=st.floats(-50, 50))
def test_softmax_sums_to_one_keeps_the_order_and_ignores_a_shift(
    seed: int, temperature: float, shift: float
) -> None:
    logits = np.random.default_rng(seed).normal(0, 10, (5, len(SIGNS)))
    probabilities = softmax(logits, temperature)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)
    np.testing.assert_array_equal(probabilities.argmax(axis=1), logits.argmax(axis=1))
    np.testing.assert_allclose(softmax(logits + shift, temperature), probabilities, atol=1e-9)


def test_nested_thresholds_come_from_the_other_folds() -> None:
    logits, labels = draw_logits(seed=4, count=900)
    folds = np.arange(len(labels)) % 3
    answers = nested_answers(logits, labels, folds)
    expected = calibrate(logits[folds != 1], labels[folds != 1])
    held_out = folds == 1
    np.testing.assert_allclose(answers.unclear_below[held_out], expected.unclear_below)
    np.testing.assert_allclose(
        answers.probabilities[held_out], softmax(logits[held_out], expected.temperature)
    )
    figures = measure_nested(logits, labels, folds)
    assert figures["coverage"] == pytest.approx(TARGET_COVERAGE, abs=0.03)
