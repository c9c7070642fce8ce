"""The story of one training run: photos -> features -> head -> calibration -> model folder."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from vetscanner.training.backbone import build_imagenet_model
from vetscanner.training.calibration import Calibration, calibrate, softmax
from vetscanner.training.export import save_model
from vetscanner.training.features import FeatureTable, embed, iter_views
from vetscanner.training.fit import Head, assign_folds, fit_head, held_out_logits
from vetscanner.training.labels import SIGNS, LabelledPhoto, class_indices, read_labels
from vetscanner.training.metrics import measure, measure_nested
from vetscanner.training.model_card import write_card

if TYPE_CHECKING:
    from transformers import EfficientNetForImageClassification


def train_model(data_dir: Path, out_dir: Path, seed: int = 0) -> None:
    """Train the bundled kind of model on a labelled folder and write a model folder.

    The head is fitted on all photos; temperature, thresholds and the figures of the model card
    come from cross-validation by group with the same recipe.

    Args:
        data_dir: Folder with labels.csv.
        out_dir: Where config, weights, calibration and model card go.
        seed: Fixes views and folds, so the same photos give the same model.

    Raises:
        InvalidOptionError: When the labels cannot be used.
        ModelLoadError: When the packages that training needs are missing.
    """
    photos = read_labels(data_dir)
    folds = assign_folds(photos, seed=seed)
    model = build_imagenet_model()
    table = embed(model, iter_views(photos, seed))
    logits = held_out_logits(table, photos, folds)
    calibration = calibrate(logits, class_indices(photos))
    _put_head(model, fit_head(table, photos))
    save_model(model, calibration, out_dir)
    figures = _figures(logits, photos, calibration)
    figures["nested"] = measure_nested(logits, class_indices(photos), folds)
    write_card(out_dir, photos, figures)


def cross_validate(data_dir: Path, seed: int = 0) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Repeat the cross-validation of `train_model`.

    Args:
        data_dir: Folder with labels.csv.
        seed: As given to `train_model`.

    Returns:
        Held-out logits (photos, signs) and the fold of each photo (photos,), in the order of
        labels.csv.

    Raises:
        InvalidOptionError: When the labels cannot be used.
        ModelLoadError: When the packages that training needs are missing.
    """
    photos = read_labels(data_dir)
    folds = assign_folds(photos, seed=seed)
    table: FeatureTable = embed(build_imagenet_model(), iter_views(photos, seed))
    return held_out_logits(table, photos, folds), folds


def _put_head(model: "EfficientNetForImageClassification", head: Head) -> None:
    """Replace the 1,000 ImageNet classes by ours."""
    import torch

    classifier = torch.nn.Linear(head.weight.shape[1], len(SIGNS))
    with torch.no_grad():
        classifier.weight.copy_(torch.from_numpy(head.weight))
        classifier.bias.copy_(torch.from_numpy(head.bias))
    model.classifier = classifier
    model.config.num_labels = len(SIGNS)
    model.num_labels = len(SIGNS)


def _figures(
    logits: NDArray[np.float64], photos: tuple[LabelledPhoto, ...], calibration: Calibration
) -> dict[str, Any]:
    """Measure held-out logits for the model card."""
    return measure(
        softmax(logits, calibration.temperature),
        class_indices(photos),
        [photo.source for photo in photos],
        calibration.unclear_below,
        calibration.alarm_thresholds,
    )
