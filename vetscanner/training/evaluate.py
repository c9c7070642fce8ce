"""How right a model is on a labelled folder, over every row."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vetscanner.classifier import open_classifier
from vetscanner.model_specs import ModelSpec
from vetscanner.training.calibration import softmax
from vetscanner.training.labels import (
    SIGNS,
    LabelledPhoto,
    class_indices,
    read_labels,
    read_pixels,
)
from vetscanner.training.metrics import measure, measure_nested
from vetscanner.training.train import cross_validate


def evaluate_folder(data_dir: Path, spec: ModelSpec) -> dict[str, Any]:
    """Measure a model on a folder with labels.csv.

    Photos that the model was trained on give figures that are too good.

    Args:
        data_dir: Folder with labels.csv: `file`, `label`, optional `group`, `source`, `quality`.
        spec: The model.

    Returns:
        The figures of `metrics.measure`.

    Raises:
        InvalidOptionError: When the folder cannot be used.
        ModelLoadError: When the model is missing.
    """
    photos = read_labels(data_dir)
    return _measure(predict_photos(photos, spec), photos, spec)


def cross_validate_folder(
    data_dir: Path, spec: ModelSpec, recipe: str, work_dir: Path
) -> dict[str, Any]:
    """Measure a training recipe: train anew without each fold of groups, measure on that fold.

    Args:
        data_dir: Folder with labels.csv: `file`, `label`, optional `group`, `source`, `quality`.
        spec: Its temperature and thresholds are used.
        recipe: One of `train.RECIPES`.
        work_dir: Where a fine-tuning keeps its results.

    Returns:
        The figures of `metrics.measure`; also `folds`, and `nested`: the figures that depend on
        thresholds, each fold with thresholds chosen on the other folds.

    Raises:
        InvalidOptionError: When the folder cannot be used.
        ModelLoadError: When a package that training needs is missing.
    """
    photos = read_labels(data_dir)
    logits, folds = cross_validate(data_dir, recipe, work_dir=work_dir)
    probabilities = softmax(logits, spec.temperature)
    figures = _measure(probabilities, photos, spec)
    figures["folds"] = [
        {"groups": len({photos[i].group for i in np.flatnonzero(folds == fold)})}
        | _headline(probabilities[folds == fold], class_indices(photos)[folds == fold], spec)
        for fold in range(int(folds.max()) + 1)
    ]
    figures["nested"] = measure_nested(logits, class_indices(photos), folds)
    return figures


def predict_photos(photos: tuple[LabelledPhoto, ...], spec: ModelSpec) -> NDArray[np.float64]:
    """Return calibrated probabilities (photos, signs); one photo in memory at a time."""
    probabilities = np.zeros((len(photos), len(SIGNS)))
    with open_classifier(spec) as classifier:
        for row, photo in zip(probabilities, photos, strict=True):
            (prediction,) = classifier.predict([read_pixels(photo.path)])
            row[:] = [prediction.probabilities[sign] for sign in SIGNS]
    return probabilities


def _measure(
    probabilities: NDArray[np.float64], photos: tuple[LabelledPhoto, ...], spec: ModelSpec
) -> dict[str, Any]:
    """Measure with the shipped thresholds."""
    return measure(
        probabilities,
        class_indices(photos),
        [photo.source for photo in photos],
        spec.unclear_below,
        spec.alarm_thresholds,
    )


def _headline(
    probabilities: NDArray[np.float64], labels: NDArray[np.int64], spec: ModelSpec
) -> dict[str, Any]:
    """Return the short figures of one fold."""
    sources = [""] * len(labels)
    figures = measure(probabilities, labels, sources, spec.unclear_below, spec.alarm_thresholds)
    return {key: figures[key] for key in ("n", "accuracy", "macro_f1", "coverage")}
