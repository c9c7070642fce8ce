"""The trainings of one cross-validation and of the final model, each kept on disk once done."""

import hashlib
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from vetscanner.training.augment import Pixels
from vetscanner.training.examples import gather_examples, read_pictures
from vetscanner.training.fine_tune import (
    FineTuning,
    Recipe,
    count_steps,
    judge,
    run_epochs,
    start_network,
)
from vetscanner.training.labels import SIGNS, LabelledPhoto

_KEY_DIGITS = 12
_FINAL = "final"


class FineTuneRuns:
    """Fine-tunes without each fold in turn, and on everything, over the same photos."""

    def __init__(
        self, photos: tuple[LabelledPhoto, ...], seed: int, work_dir: Path, recipe: Recipe
    ) -> None:
        """Say what to train on.

        Args:
            photos: All photos.
            seed: Fixes every view and every order.
            work_dir: Weights, held-out logits and checkpoints go here, under names that change with
                photos, labels, seed and recipe. A run that finds its results there trains nothing.
            recipe: How to train.
        """
        self.photos, self.seed, self.recipe = photos, seed, recipe
        self.backbone, self.side_px = recipe.backbone, recipe.side_px
        self._work_dir = work_dir
        self._pictures: list[Pixels] = []

    def held_out_logits(self, folds: NDArray[np.int64]) -> NDArray[np.float64]:
        """Judge every photo by a network that never saw its group.

        Args:
            folds: Fold of each photo (photos,).

        Returns:
            Logits (photos, signs).

        Raises:
            InvalidOptionError: When a photo cannot be read.
            ModelLoadError: When the ImageNet weights are missing.
        """
        logits = np.zeros((len(self.photos), len(SIGNS)))
        for fold in range(int(folds.max()) + 1):
            logits[folds == fold] = self.fold_logits(folds, fold)
        return logits

    def fold_logits(self, folds: NDArray[np.int64], fold: int) -> NDArray[np.float64]:
        """Train without one fold and return the logits of its photos (photos of fold, signs)."""
        held_out = folds == fold
        name = self._name(f"fold{fold}", ~held_out, self.recipe)
        kept = self._work_dir / f"{name}-{self.side_px}px-logits.npy"
        if not kept.is_file():
            network = self._train(f"fold{fold}", ~held_out, self.recipe)
            pictures = [self._read()[i] for i in np.flatnonzero(held_out)]
            logits = judge(network, pictures, self.side_px)
            partial = kept.with_suffix(".partial.npy")
            np.save(partial, logits)
            partial.replace(kept)
        return np.asarray(np.load(kept))

    def final_network(self) -> Any:
        """Train on all photos and return the network.

        Raises:
            InvalidOptionError: When a photo cannot be read.
            ModelLoadError: When the ImageNet weights are missing.
        """
        everything = np.ones(len(self.photos), dtype=np.bool_)
        return self._train(_FINAL, everything, self.recipe)

    def _train(self, part: str, chosen: NDArray[np.bool_], recipe: Recipe) -> Any:
        """Return the network trained on some of the photos, from disk if it is there."""
        self._work_dir.mkdir(parents=True, exist_ok=True)
        name = self._name(part, chosen, recipe)
        weights = self._work_dir / f"{name}-weights.pt"
        if weights.is_file():
            network = start_network(recipe)
            network.load_state_dict(torch.load(weights, weights_only=True))
            return network
        training = self._begin(part, chosen, recipe)
        checkpoint = self._work_dir / f"{name}-checkpoint.pt"
        network = run_epochs(training, checkpoint)
        partial = weights.with_suffix(".partial")
        torch.save(network.state_dict(), partial)
        partial.replace(weights)
        checkpoint.unlink()
        return network

    def _begin(self, part: str, chosen: NDArray[np.bool_], recipe: Recipe) -> FineTuning:
        """Begin a training with the network of the one before it, which is trained if need be."""
        before = recipe.after
        network = self._train(part, chosen, before) if before else start_network(recipe)
        indices = np.flatnonzero(chosen)
        photos = tuple(self.photos[i] for i in indices)
        # Other views than those of the training before.
        seed = self.seed + 1 if before else self.seed
        examples = gather_examples(photos, [self._read()[i] for i in indices], seed)
        return FineTuning(recipe, network, examples, seed, count_steps(recipe, len(indices)))

    def _read(self) -> list[Pixels]:
        """Return the pixels of all photos, decoded once."""
        self._pictures = self._pictures or read_pictures(self.photos)
        return self._pictures

    def _name(self, part: str, chosen: NDArray[np.bool_], recipe: Recipe) -> str:
        """Name a training after all that it depends on."""
        rows = [
            [photo.path.name, photo.sign, photo.subtype, photo.is_weak, bool(is_chosen)]
            for photo, is_chosen in zip(self.photos, chosen, strict=True)
        ]
        content = json.dumps([_settings(recipe), self.seed, rows], sort_keys=True)
        digest = hashlib.sha256(content.encode()).hexdigest()[:_KEY_DIGITS]
        return f"{part}-{digest}"


def _settings(recipe: Recipe) -> dict[str, Any]:
    """Return what weights depend on; the side of what is judged is not of it."""
    settings = asdict(recipe)
    del settings["side_px"]
    settings["after"] = _settings(recipe.after) if recipe.after else None
    return settings
