"""Fit the seven-class head on frozen features, and split the photos by group."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vetscanner.errors import InvalidOptionError, ModelLoadError
from vetscanner.training.backbone import INSTALL_HINT
from vetscanner.training.features import NO_OWNER, FeatureTable
from vetscanner.training.labels import SIGNS, LabelledPhoto, class_indices

FOLD_COUNT = 5
MIN_FOLDS = 2
MIN_CLASSES = 2
# These were chosen by grouped cross-validation on the development photos.
INVERSE_PENALTY = 0.015
BALANCE_POWER = 0.5
WEAK_WEIGHT = 0.6
_FEATURE_SD_FLOOR = 0.02
_MAX_ITERATIONS = 200
_TOLERANCE = 1e-3


@dataclass(frozen=True, slots=True)
class Head:
    """A linear head.

    Attributes:
        weight: (signs, features).
        bias: (signs,).
    """

    weight: NDArray[np.float64]
    bias: NDArray[np.float64]

    def logits(self, features: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return logits (views, signs) of features (views, features)."""
        return np.asarray(features @ self.weight.T + self.bias)


def assign_folds(
    photos: tuple[LabelledPhoto, ...], fold_count: int = FOLD_COUNT, seed: int = 0
) -> NDArray[np.int64]:
    """Deal the photos to folds by group, every class spread evenly.

    Returns:
        Fold of each photo (photos,).

    Raises:
        InvalidOptionError: When there are too few groups or classes.
        ModelLoadError: When scikit-learn is not installed.
    """
    try:
        from sklearn.model_selection import StratifiedGroupKFold
    except ImportError as error:
        message = f"Training and cross-validation need scikit-learn: {INSTALL_HINT}"
        raise ModelLoadError(message) from error
    labels = class_indices(photos)
    groups = np.array([photo.group for photo in photos])
    fold_count = min(fold_count, len(set(groups)))
    # Every fold must leave two classes to train on.
    if fold_count < MIN_FOLDS or len(set(labels)) < MIN_CLASSES:
        message = "Training needs photos of at least two classes from at least two groups."
        raise InvalidOptionError(message)
    folds = np.zeros(len(photos), dtype=np.int64)
    splitter = StratifiedGroupKFold(fold_count, shuffle=True, random_state=seed)
    for index, (_, held_out) in enumerate(splitter.split(labels, labels, groups)):
        folds[held_out] = index
    return folds


def view_weights(table: FeatureTable, photos: tuple[LabelledPhoto, ...]) -> NDArray[np.float64]:
    """Weigh the views: rare classes more, unsure labels less; the mean is 1.

    A photo counts the same however many views it has, so the class counts are counts of views.
    """
    counts = np.bincount(table.labels, minlength=len(SIGNS))
    balance = (len(table.labels) / len(SIGNS) / np.maximum(counts, 1)) ** BALANCE_POWER
    is_weak = np.array([photo.is_weak for photo in photos] + [False])
    weights = balance[table.labels] * np.where(is_weak[table.owners], WEAK_WEIGHT, 1.0)
    return np.asarray(weights / weights.mean())


def fit_head(table: FeatureTable, photos: tuple[LabelledPhoto, ...]) -> Head:
    """Fit multinomial logistic regression on standardised features; deterministic.

    Args:
        table: Training views.
        photos: All photos, to which `table.owners` points.

    Raises:
        ModelLoadError: When scikit-learn is not installed.
    """
    try:
        from sklearn.linear_model import LogisticRegression
    except ImportError as error:
        message = f"Training needs scikit-learn: {INSTALL_HINT}"
        raise ModelLoadError(message) from error
    mean = table.features.mean(axis=0)
    # Features that are nearly always 0 must not be blown up to unit variance.
    scale = table.features.std(axis=0) + _FEATURE_SD_FLOOR
    # The penalty was tuned for one view a photo, so views share their photo's weight.
    share = len(photos) / len(table.labels)
    regression = LogisticRegression(C=INVERSE_PENALTY, max_iter=_MAX_ITERATIONS, tol=_TOLERANCE)
    regression.fit(
        (table.features - mean) / scale,
        table.labels,
        sample_weight=share * view_weights(table, photos),
    )
    weight = np.zeros((len(SIGNS), table.features.shape[1]))
    bias = np.full(len(SIGNS), -20.0)  # A class without photos is never predicted.
    weight[regression.classes_] = regression.coef_ / scale
    bias[regression.classes_] = regression.intercept_
    return Head(weight, bias - weight @ mean)


def held_out_logits(
    table: FeatureTable, photos: tuple[LabelledPhoto, ...], folds: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Predict every photo by a head that never saw its group.

    Returns:
        Mean logits of the plain views (whole and mirrored), (photos, signs).
    """
    logits = np.zeros((len(photos), len(SIGNS)))
    for train, held_out in _iter_splits(table, folds):
        head = fit_head(train, photos)
        np.add.at(logits, held_out.owners, head.logits(held_out.features))
    views = np.bincount(table.owners[~table.is_random], minlength=len(photos))
    return np.asarray(logits / views[:, None])


def _iter_splits(
    table: FeatureTable, folds: NDArray[np.int64]
) -> Iterator[tuple[FeatureTable, FeatureTable]]:
    """Yield training views and plain held-out views, fold by fold."""
    # Drawn negatives have no owner: they train in every fold and are measured in none.
    fold_of_view = np.append(folds, NO_OWNER)[table.owners]
    for fold in range(int(folds.max()) + 1):
        held_out = (fold_of_view == fold) & ~table.is_random
        yield _select(table, fold_of_view != fold), _select(table, held_out)


def _select(table: FeatureTable, chosen: NDArray[np.bool_]) -> FeatureTable:
    """Return some views of a table."""
    return FeatureTable(
        table.features[chosen], table.labels[chosen], table.owners[chosen], table.is_random[chosen]
    )
