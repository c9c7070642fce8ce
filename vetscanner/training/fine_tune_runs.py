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
from vetscanner.training.fine_tune import Recipe, fine_tune, judge, start_network
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
        name = self._name(f"fold{fold}", ~held_out)
        kept = self._work_dir / f"{name}-logits.npy"
        if not kept.is_file():
            network = self.fold_network(folds, fold)
            pictures = [self._read()[i] for i in np.flatnonzero(held_out)]
            logits = judge(network, pictures, self.recipe.side_px)
            partial = kept.with_suffix(".partial.npy")
            np.save(partial, logits)
            partial.replace(kept)
        return np.asarray(np.load(kept))

    def fold_network(self, folds: NDArray[np.int64], fold: int) -> Any:
        """Return the network that was trained without one fold, from disk if it is there."""
        held_out = folds == fold
        return self._train(self._name(f"fold{fold}", ~held_out), ~held_out)

    def final_network(self) -> Any:
        """Train on all photos and return the network.

        Raises:
            InvalidOptionError: When a photo cannot be read.
            ModelLoadError: When the ImageNet weights are missing.
        """
        everything = np.ones(len(self.photos), dtype=np.bool_)
        return self._train(self._name(_FINAL, everything), everything)

    def _train(self, name: str, chosen: NDArray[np.bool_]) -> Any:
        """Return the network trained on some of the photos, from disk if it is there."""
        self._work_dir.mkdir(parents=True, exist_ok=True)
        weights = self._work_dir / f"{name}-weights.pt"
        if weights.is_file():
            network = start_network(self.recipe)
            network.load_state_dict(torch.load(weights, weights_only=True))
            return network
        indices = np.flatnonzero(chosen)
        examples = gather_examples(
            tuple(self.photos[i] for i in indices), [self._read()[i] for i in indices], self.seed
        )
        checkpoint = self._work_dir / f"{name}-checkpoint.pt"
        network = fine_tune(self.recipe, examples, self.seed, len(indices), checkpoint)
        partial = weights.with_suffix(".partial")
        torch.save(network.state_dict(), partial)
        partial.replace(weights)
        checkpoint.unlink()
        return network

    def _read(self) -> list[Pixels]:
        """Return the pixels of all photos, decoded once."""
        self._pictures = self._pictures or read_pictures(self.photos)
        return self._pictures

    def _name(self, part: str, chosen: NDArray[np.bool_]) -> str:
        """Name a training after all that it depends on."""
        rows = [
            [photo.path.name, photo.sign, photo.subtype, photo.is_weak, bool(is_chosen)]
            for photo, is_chosen in zip(self.photos, chosen, strict=True)
        ]
        content = json.dumps([asdict(self.recipe), self.seed, rows], sort_keys=True)
        digest = hashlib.sha256(content.encode()).hexdigest()[:_KEY_DIGITS]
        return f"{part}-{digest}"
