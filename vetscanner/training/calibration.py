"""Temperature and thresholds from held-out logits; pure numpy."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vetscanner.model_specs import ALARM_SIGNS, DEFAULT_ALARM_THRESHOLD, NO_CATTLE_FROM
from vetscanner.schema import SignClass
from vetscanner.training.labels import SIGNS

# Issue of the project: 90 % of the photos get an answer; the others are asked for again.
TARGET_COVERAGE = 0.90
TARGET_ALARM_RECALL = 0.97
MAX_FALSE_ALARMS = 0.10
ECE_BINS = 15
# One for all photos, or one for each photo.
Threshold = float | NDArray[np.float64]
# Temperatures are searched on this grid; outside it the model would be useless anyway.
_TEMPERATURES = np.geomspace(0.2, 8.0, 400)


@dataclass(frozen=True, slots=True)
class Calibration:
    """What turns logits into answers.

    Attributes:
        temperature: The logits are divided by it.
        unclear_below: Abstain when the largest probability is below it.
        alarm_thresholds: Probability from which an alarm sign is told anyway.
    """

    temperature: float
    unclear_below: float
    alarm_thresholds: dict[SignClass, float]


@dataclass(frozen=True, slots=True)
class NestedAnswers:
    """Calibrated probabilities with the thresholds that belong to each photo's fold.

    Attributes:
        probabilities: (photos, signs).
        unclear_below: (photos,).
        alarm_thresholds: For each alarm sign (photos,).
    """

    probabilities: NDArray[np.float64]
    unclear_below: NDArray[np.float64]
    alarm_thresholds: dict[SignClass, NDArray[np.float64]]


def softmax(logits: NDArray[np.float64], temperature: float = 1.0) -> NDArray[np.float64]:
    """Return probabilities of logits (photos, signs) after division by the temperature."""
    scaled = logits / temperature
    exponentials = np.exp(scaled - scaled.max(axis=1, keepdims=True))
    return np.asarray(exponentials / exponentials.sum(axis=1, keepdims=True))


def negative_log_likelihood(probabilities: NDArray[np.float64], labels: NDArray[np.int64]) -> float:
    """Return the mean negative log of the probability that the true label got."""
    chosen = probabilities[np.arange(len(labels)), labels]
    return float(-np.log(np.maximum(chosen, 1e-12)).mean())


def fit_temperature(logits: NDArray[np.float64], labels: NDArray[np.int64]) -> float:
    """Find the temperature under which held-out labels are most likely.

    Args:
        logits: Held-out logits (photos, signs).
        labels: Indices into `SIGNS` (photos,).
    """
    losses = [
        negative_log_likelihood(softmax(logits, temperature), labels)
        for temperature in _TEMPERATURES
    ]
    return float(_TEMPERATURES[int(np.argmin(losses))])


def expected_calibration_error(
    probabilities: NDArray[np.float64], labels: NDArray[np.int64]
) -> float:
    """Return the mean gap between confidence and accuracy over equal-width bins of confidence."""
    confidence = probabilities.max(axis=1)
    correct = probabilities.argmax(axis=1) == labels
    bins = np.minimum((confidence * ECE_BINS).astype(int), ECE_BINS - 1)
    gaps = [
        (bins == index).mean()
        * abs(confidence[bins == index].mean() - correct[bins == index].mean())
        for index in np.unique(bins)
    ]
    return float(sum(gaps))


def choose_unclear_below(probabilities: NDArray[np.float64]) -> float:
    """Return the threshold that gives an answer to `TARGET_COVERAGE` of the photos."""
    return float(np.quantile(probabilities.max(axis=1), 1.0 - TARGET_COVERAGE))


def choose_alarm_thresholds(
    probabilities: NDArray[np.float64], labels: NDArray[np.int64]
) -> dict[SignClass, float]:
    """Return the thresholds for the highest recall that false alarms allow.

    Both alarms get the same recall, `TARGET_ALARM_RECALL` where `MAX_FALSE_ALARMS` allows it and
    otherwise the highest that it does: an alarm on every other healthy cow would be switched off.

    Args:
        probabilities: Calibrated probabilities (photos, signs).
        labels: Indices into `SIGNS` (photos,).
    """
    for recall in np.arange(TARGET_ALARM_RECALL, 0.0, -0.005):
        thresholds = {sign: _threshold(probabilities, labels, sign, recall) for sign in ALARM_SIGNS}
        if false_alarm_rate(probabilities, labels, thresholds) <= MAX_FALSE_ALARMS:
            break
    return thresholds


def false_alarm_rate(
    probabilities: NDArray[np.float64],
    labels: NDArray[np.int64],
    thresholds: Mapping[SignClass, Threshold],
) -> float:
    """Return the share of cattle photos without an alarm sign on which either alarm goes off."""
    others = ~np.isin(labels, [SIGNS.index(s) for s in (*ALARM_SIGNS, SignClass.NOT_CATTLE)])
    raised = [goes_off(probabilities, s, thresholds[s]) for s in ALARM_SIGNS]
    return float(np.logical_or.reduce(raised)[others].mean()) if others.any() else 0.0


def goes_off(
    probabilities: NDArray[np.float64], sign: SignClass, threshold: Threshold
) -> NDArray[np.bool_]:
    """Return for each photo whether the triage tells this alarm sign (photos,)."""
    may_be_cattle = probabilities[:, SIGNS.index(SignClass.NOT_CATTLE)] < NO_CATTLE_FROM
    return np.asarray(may_be_cattle & (probabilities[:, SIGNS.index(sign)] >= threshold))


def _threshold(
    probabilities: NDArray[np.float64], labels: NDArray[np.int64], sign: SignClass, recall: float
) -> float:
    """Return the largest threshold that catches the given share of the photos of a sign."""
    column = SIGNS.index(sign)
    shown = probabilities[labels == column]
    # What can set off nothing counts as lost from the start.
    caught = np.sort(np.where(goes_off(shown, sign, 0.0), shown[:, column], 0.0))
    if not len(caught):
        return DEFAULT_ALARM_THRESHOLD
    allowed_misses = int(np.floor((1.0 - recall) * len(caught) + 1e-9))
    # Just under the value of the last photo to be caught, so that rounding cannot lose it.
    return float(caught[allowed_misses] * (1.0 - 1e-6))


def nested_answers(
    logits: NDArray[np.float64], labels: NDArray[np.int64], folds: NDArray[np.int64]
) -> "NestedAnswers":
    """Calibrate every fold on the other folds, so that no threshold saw what it is measured on.

    Args:
        logits: Held-out logits (photos, signs).
        labels: Indices into `SIGNS` (photos,).
        folds: Fold of each photo (photos,).
    """
    probabilities = np.zeros_like(logits)
    unclear_below = np.zeros(len(labels))
    alarms = {sign: np.zeros(len(labels)) for sign in ALARM_SIGNS}
    for fold in np.unique(folds):
        held_out = folds == fold
        chosen = calibrate(logits[~held_out], labels[~held_out])
        probabilities[held_out] = softmax(logits[held_out], chosen.temperature)
        unclear_below[held_out] = chosen.unclear_below
        for sign, threshold in chosen.alarm_thresholds.items():
            alarms[sign][held_out] = threshold
    return NestedAnswers(probabilities, unclear_below, alarms)


def calibrate(logits: NDArray[np.float64], labels: NDArray[np.int64]) -> Calibration:
    """Choose temperature and thresholds from held-out logits.

    Args:
        logits: Held-out logits (photos, signs), every photo predicted by a model that never saw
            its group.
        labels: Indices into `SIGNS` (photos,).
    """
    temperature = fit_temperature(logits, labels)
    probabilities = softmax(logits, temperature)
    return Calibration(
        temperature,
        choose_unclear_below(probabilities),
        choose_alarm_thresholds(probabilities, labels),
    )
