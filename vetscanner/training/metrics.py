"""Figures of a classifier over every row: pure numpy on calibrated probabilities."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vetscanner.model_specs import ALARM_SIGNS
from vetscanner.schema import SignClass
from vetscanner.training.calibration import (
    Threshold,
    expected_calibration_error,
    false_alarm_rate,
    goes_off,
    nested_answers,
)
from vetscanner.training.labels import SIGNS

THRESHOLD_FIGURES = (
    "ece",
    "coverage",
    "selective_accuracy",
    "alarm_recall",
    "alarm_false_rate",
)
_DIGITS = 4


def confusion_matrix(labels: NDArray[np.int64], predicted: NDArray[np.int64]) -> NDArray[np.int64]:
    """Count photos: row = label, column = prediction, both in the order of `SIGNS`."""
    counts = np.zeros((len(SIGNS), len(SIGNS)), dtype=np.int64)
    np.add.at(counts, (labels, predicted), 1)
    return counts


def measure(
    probabilities: NDArray[np.float64],
    labels: NDArray[np.int64],
    sources: Sequence[str],
    unclear_below: Threshold,
    alarm_thresholds: Mapping[SignClass, Threshold],
) -> dict[str, Any]:
    """Compute every figure that `evaluate` prints.

    Args:
        probabilities: Calibrated probabilities (photos, signs).
        labels: Indices into `SIGNS` (photos,).
        sources: Source of each photo.
        unclear_below: Threshold of abstention on the largest probability; one for all photos, or
            (photos,).
        alarm_thresholds: Threshold of each alarm sign; one for all photos, or (photos,).

    Returns:
        JSON values. `alarm_recall` counts a photo as caught when the probability of its own sign
        reaches the threshold of that sign and the photo is not taken for one without cattle;
        `alarm_false_rate` is the share of the cattle photos of all other classes on which either
        alarm goes off. A class without photos has recall null
        and stays out of `macro_f1`.
    """
    predicted = probabilities.argmax(axis=1)
    confusion = confusion_matrix(labels, predicted)
    answered = probabilities.max(axis=1) >= unclear_below
    correct = predicted == labels
    return {
        "n": len(labels),
        "accuracy": _share(correct),
        **_per_class(confusion),
        "confusion": {
            sign: dict(zip(SIGNS, map(int, row), strict=True))
            for sign, row in zip(SIGNS, confusion, strict=True)
        },
        "ece": round(expected_calibration_error(probabilities, labels), _DIGITS),
        "coverage": _share(answered),
        "selective_accuracy": _share(correct[answered]),
        **_alarms(probabilities, labels, alarm_thresholds),
        "per_source": _per_source(correct, sources),
    }


def measure_nested(
    logits: NDArray[np.float64], labels: NDArray[np.int64], folds: NDArray[np.int64]
) -> dict[str, Any]:
    """Measure what depends on thresholds, each fold with the thresholds of the other folds.

    Args:
        logits: Held-out logits (photos, signs).
        labels: Indices into `SIGNS` (photos,).
        folds: Fold of each photo (photos,).
    """
    answers = nested_answers(logits, labels, folds)
    figures = measure(
        answers.probabilities,
        labels,
        [""] * len(labels),
        answers.unclear_below,
        answers.alarm_thresholds,
    )
    return {key: figures[key] for key in THRESHOLD_FIGURES}


def _share(flags: NDArray[np.bool_]) -> float | None:
    """Return the share of true flags, None when there are none."""
    return round(float(flags.mean()), _DIGITS) if len(flags) else None


def _ratio(part: int, whole: int) -> float | None:
    """Return part / whole, None when whole is 0."""
    return round(part / whole, _DIGITS) if whole else None


def _per_class(confusion: NDArray[np.int64]) -> dict[str, Any]:
    """Return macro_f1, recall and precision; macro over the classes that have photos."""
    hits = np.diag(confusion)
    actual, claimed = confusion.sum(axis=1), confusion.sum(axis=0)
    # F1 = 2 hits / (actual + claimed); 0 for a class that is never claimed.
    f1 = [2 * hits[i] / (actual[i] + claimed[i]) for i in range(len(SIGNS)) if actual[i]]
    return {
        "macro_f1": round(float(np.mean(f1)), _DIGITS),
        "recall": {s: _ratio(int(hits[i]), int(actual[i])) for i, s in enumerate(SIGNS)},
        "precision": {s: _ratio(int(hits[i]), int(claimed[i])) for i, s in enumerate(SIGNS)},
    }


def _alarms(
    probabilities: NDArray[np.float64],
    labels: NDArray[np.int64],
    thresholds: Mapping[SignClass, Threshold],
) -> dict[str, Any]:
    """Return recall and false rate of the official-vet alarms."""
    caught = {
        s: goes_off(probabilities, s, thresholds[s])[labels == SIGNS.index(s)] for s in ALARM_SIGNS
    }
    return {
        "alarm_recall": {s: _share(caught[s]) for s in ALARM_SIGNS},
        "alarm_false_rate": round(false_alarm_rate(probabilities, labels, thresholds), _DIGITS),
    }


def _per_source(correct: NDArray[np.bool_], sources: Sequence[str]) -> dict[str, Any]:
    """Return count and accuracy of each source."""
    names = np.array(sources)
    return {
        str(name): {"n": int((names == name).sum()), "accuracy": _share(correct[names == name])}
        for name in np.unique(names)
    }
