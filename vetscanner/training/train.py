"""The story of one training run: photos -> held-out logits -> calibration -> model folder."""

from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from vetscanner.training.backbone import LITE0, Backbone, build_imagenet_model, put_head
from vetscanner.training.calibration import Calibration, calibrate, softmax
from vetscanner.training.export import save_model
from vetscanner.training.features import FeatureTable, embed, iter_views
from vetscanner.training.fit import assign_folds, fit_head, held_out_logits
from vetscanner.training.labels import LabelledPhoto, class_indices, read_labels
from vetscanner.training.metrics import measure, measure_nested
from vetscanner.training.model_card import write_card

# Results of long trainings are kept here, relative to where the command is called.
WORK_DIR = Path("build/training")
RECIPES = ("head", "fine-tune")


class Training(Protocol):
    """One way to make a network from photos."""

    @property
    def backbone(self) -> Backbone:
        """What it starts from."""

    @property
    def side_px(self) -> int:
        """Side of the square that the network judges."""

    def held_out_logits(self, folds: NDArray[np.int64]) -> NDArray[np.float64]:
        """Judge every photo by a network that never saw its group: (photos, signs)."""

    def final_network(self) -> Any:
        """Train on all photos."""


class HeadTraining:
    """A linear head on the frozen ImageNet network: minutes on two cores."""

    backbone = LITE0
    side_px = 224

    def __init__(self, photos: tuple[LabelledPhoto, ...], seed: int) -> None:
        """Say what to train on; nothing is read yet."""
        self._photos, self._seed = photos, seed

    @cached_property
    def _network(self) -> Any:
        return build_imagenet_model(self.backbone)

    @cached_property
    def _table(self) -> FeatureTable:
        return embed(self._network, iter_views(self._photos, self._seed))

    def held_out_logits(self, folds: NDArray[np.int64]) -> NDArray[np.float64]:
        """Fit a head without each fold in turn."""
        return held_out_logits(self._table, self._photos, folds)

    def final_network(self) -> Any:
        """Fit the head on all photos."""
        head = fit_head(self._table, self._photos)
        put_head(self._network, head.weight, head.bias)
        return self._network


def open_training(
    recipe: str, photos: tuple[LabelledPhoto, ...], seed: int, work_dir: Path
) -> Training:
    """Return the training of a name in `RECIPES`.

    Args:
        recipe: Its name.
        photos: What to train on.
        seed: Fixes views and order, so the same photos give the same model.
        work_dir: Where a fine-tuning keeps its results, so that a stopped one goes on.
    """
    if recipe == "head":
        return HeadTraining(photos, seed)
    from vetscanner.training.fine_tune import Recipe
    from vetscanner.training.fine_tune_runs import FineTuneRuns

    return FineTuneRuns(photos, seed, work_dir, Recipe())


def train_model(
    data_dir: Path, out_dir: Path, recipe: str = "head", seed: int = 0, work_dir: Path = WORK_DIR
) -> None:
    """Train a model on a labelled folder and write a model folder.

    The network learns from all photos; temperature, thresholds and the figures of the model card
    come from cross-validation by group with the same recipe.

    Args:
        data_dir: Folder with labels.csv.
        out_dir: Where config, weights, calibration and model card go.
        recipe: One of `RECIPES`.
        seed: Fixes views and folds, so the same photos give the same model.
        work_dir: Where a fine-tuning keeps its results, so that a stopped one goes on.

    Raises:
        InvalidOptionError: When the labels cannot be used.
        ModelLoadError: When the packages that training needs are missing.
    """
    photos = read_labels(data_dir)
    folds = assign_folds(photos, seed=seed)
    training = open_training(recipe, photos, seed, work_dir)
    logits = training.held_out_logits(folds)
    calibration = calibrate(logits, class_indices(photos))
    save_model(training.final_network(), calibration, out_dir, training.backbone, training.side_px)
    figures = _figures(logits, photos, calibration)
    figures["nested"] = measure_nested(logits, class_indices(photos), folds)
    write_card(out_dir, photos, figures, recipe)


def cross_validate(
    data_dir: Path, recipe: str = "head", seed: int = 0, work_dir: Path = WORK_DIR
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Repeat the cross-validation of `train_model`.

    Args:
        data_dir: Folder with labels.csv.
        recipe: One of `RECIPES`.
        seed: As given to `train_model`.
        work_dir: As given to `train_model`.

    Returns:
        Held-out logits (photos, signs) and the fold of each photo (photos,), in the order of
        labels.csv.

    Raises:
        InvalidOptionError: When the labels cannot be used.
        ModelLoadError: When the packages that training needs are missing.
    """
    photos = read_labels(data_dir)
    folds = assign_folds(photos, seed=seed)
    return open_training(recipe, photos, seed, work_dir).held_out_logits(folds), folds


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
