"""Fine-tune the whole network, epoch by epoch, so that a stopped training goes on where it was."""

import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional

from vetscanner.training.augment import Pixels, mirror, to_square
from vetscanner.training.backbone import (
    LITE2,
    Backbone,
    build_imagenet_model,
    put_head,
    without_gates,
)
from vetscanner.training.disguise import disguised_view
from vetscanner.training.examples import Examples, deal
from vetscanner.training.fast_layers import fast_layers
from vetscanner.training.features import fast_arithmetic, to_pixel_values
from vetscanner.training.labels import SIGNS

_PREDICT_BATCH = 16
# The network halves a view five times; its sides must stay whole.
_STRIDE_PX = 32
_GROWING_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a network is fine-tuned.

    Attributes:
        backbone: What it starts from.
        epochs: How often as many views are seen as there are photos.
        batch_size: Views in a step.
        first_px: Side of the views that it learns from at first: the coarse is learned as well from
            small views, in half the time.
        view_px: Side of the views from the middle on.
        side_px: Side of the square that it judges: a little more, since a random crop shows things
            larger than the whole photo does.
        frozen_blocks: The stem and so many blocks stay as they are: edges and colours look the same
            on cattle, and their large maps cost a third of the time.
        rate: Peak learning rate of the network.
        head_rate: Peak learning rate of the new head, which starts from zero.
        warm_up: Share of the steps in which the rates rise; then they fall along a cosine.
        weight_decay: Of kernels, not of biases and norms.
        smoothing: Of the labels, some of which are wrong.
        dropout: Of the pooled features.
        averaging: Share of the running mean of the weights that each step keeps.
    """

    backbone: Backbone = LITE2
    epochs: int = 8
    batch_size: int = 32
    first_px: int = 160
    view_px: int = 224
    side_px: int = 256
    frozen_blocks: int = 2
    rate: float = 3e-4
    head_rate: float = 3e-3
    warm_up: float = 0.08
    weight_decay: float = 0.05
    smoothing: float = 0.1
    dropout: float = 0.2
    averaging: float = 0.99

    def epoch_px(self, epoch: int) -> int:
        """Return the side of the views in an epoch, counted from 0: a multiple of 32."""
        grown = min(1.0, epoch / (_GROWING_SHARE * self.epochs))
        side = self.first_px + (self.view_px - self.first_px) * grown
        return _STRIDE_PX * int(side / _STRIDE_PX)


def start_network(recipe: Recipe) -> Any:
    """Build the network with a head of zeros; freeze stem, first blocks and gates.

    Raises:
        ModelLoadError: When the ImageNet weights are missing.
    """
    network: Any = build_imagenet_model(recipe.backbone)
    width = network.classifier.in_features
    put_head(network, np.zeros((len(SIGNS), width)), np.zeros(len(SIGNS)))
    network.to(memory_format=torch.channels_last)
    blocks = network.efficientnet.encoder.blocks
    for block in blocks:
        block.squeeze_excite.requires_grad_(requires_grad=False)
    for part in (network.efficientnet.embeddings, *blocks[: recipe.frozen_blocks]):
        part.requires_grad_(requires_grad=False)
    return network


class FineTuning:
    """One network on its way: weights, their running mean, optimiser and epochs done."""

    def __init__(self, recipe: Recipe, examples: Examples, seed: int, steps: int) -> None:
        """Start from ImageNet weights and a head of zeros.

        Args:
            recipe: How to train.
            examples: What to learn from.
            seed: Fixes every view and every order.
            steps: Steps in an epoch.

        Raises:
            ModelLoadError: When the ImageNet weights are missing.
        """
        self.recipe, self.examples, self.seed, self.steps = recipe, examples, seed, steps
        self.epochs_done = 0
        self.network: Any = start_network(recipe)
        self.optimiser = _make_optimiser(self.network, recipe)
        self.mean = {name: tensor.clone() for name, tensor in self._learned()}

    def run_epoch(self) -> float:
        """See as many views as the steps of an epoch take, and return the mean loss."""
        rng = np.random.default_rng((self.seed, self.epochs_done))
        torch.manual_seed(self.seed * 1000 + self.epochs_done)
        chosen = deal(self.examples, self.steps * self.recipe.batch_size, rng)
        losses = []
        with without_gates(self.network), fast_layers(self.network):
            for step, batch in enumerate(np.split(chosen, self.steps)):
                self._set_rates(self.epochs_done * self.steps + step)
                losses.append(self._take_step(batch, rng))
        self.epochs_done += 1
        return float(np.mean(losses))

    def finished_network(self) -> Any:
        """Return the network with the running mean of its weights, for judging."""
        with torch.no_grad():
            for name, tensor in self._learned():
                tensor.copy_(self.mean[name])
        return self.network.eval()

    def save(self, path: Path) -> None:
        """Write everything that `load` needs to go on, all or nothing."""
        partial = path.with_suffix(".partial")
        state = {
            "epochs_done": self.epochs_done,
            "network": self.network.state_dict(),
            "optimiser": self.optimiser.state_dict(),
            "mean": self.mean,
        }
        torch.save(state, partial)
        partial.replace(path)

    def load(self, path: Path) -> None:
        """Go on from what `save` wrote."""
        state = torch.load(path, weights_only=True)
        self.network.load_state_dict(state["network"])
        self.optimiser.load_state_dict(state["optimiser"])
        self.mean = state["mean"]
        self.epochs_done = state["epochs_done"]

    def _learned(self) -> Iterator[tuple[str, torch.Tensor]]:
        """Yield the weights that change."""
        for name, weight in self.network.named_parameters():
            if weight.requires_grad:
                yield name, weight.detach()

    def _set_rates(self, step: int) -> None:
        """Rise linearly, then fall along a cosine."""
        total = self.recipe.epochs * self.steps
        rising = max(1, round(total * self.recipe.warm_up))
        if step < rising:
            share = (step + 1) / rising
        else:
            share = 0.5 + 0.5 * math.cos(math.pi * (step - rising) / max(1, total - rising))
        for group in self.optimiser.param_groups:
            group["lr"] = group["peak"] * share

    def _take_step(self, batch: NDArray[np.int64], rng: np.random.Generator) -> float:
        """Learn from one batch and return its loss."""
        side_px = self.recipe.epoch_px(self.epochs_done)
        views = [disguised_view(self.examples.pictures[index], rng, side_px) for index in batch]
        with fast_arithmetic():
            features = self.network.efficientnet(to_pixel_values(views)).pooler_output
            features = functional.dropout(features, self.recipe.dropout)
            logits = self.network.classifier(features)
        loss = functional.cross_entropy(
            logits.float(),
            torch.from_numpy(self.examples.labels[batch]),
            label_smoothing=self.recipe.smoothing,
        )
        self.optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        self.optimiser.step()
        self._move_mean()
        return float(loss.detach())

    def _move_mean(self) -> None:
        """Move the running mean towards the weights, faster at the start."""
        steps = int(self.optimiser.state[self.network.classifier.weight]["step"])
        keep = min(self.recipe.averaging, steps / (steps + 9))
        for name, tensor in self._learned():
            self.mean[name].lerp_(tensor, 1.0 - keep)


def fine_tune(
    recipe: Recipe, examples: Examples, seed: int, photo_count: int, checkpoint: Path
) -> Any:
    """Train a network, going on from the checkpoint if there is one.

    Args:
        recipe: How to train.
        examples: What to learn from.
        seed: Fixes every view and every order.
        photo_count: An epoch sees about as many views.
        checkpoint: Written after each epoch.

    Returns:
        The network, ready for judging.

    Raises:
        ModelLoadError: When the ImageNet weights are missing.
    """
    steps = max(1, round(photo_count / recipe.batch_size))
    training = FineTuning(recipe, examples, seed, steps)
    if checkpoint.is_file():
        training.load(checkpoint)
    while training.epochs_done < recipe.epochs:
        loss = training.run_epoch()
        training.save(checkpoint)
        done = f"epoch {training.epochs_done} of {recipe.epochs}"
        print(f"{checkpoint.stem}: {done}, loss {loss:.3f}", file=sys.stderr, flush=True)
    return training.finished_network()


def judge(network: Any, pictures: list[Pixels], side_px: int) -> NDArray[np.float64]:
    """Return logits (pictures, signs), the mean over each picture and its mirror image."""
    rows = []
    with torch.inference_mode(), without_gates(network), fast_layers(network):
        for start in range(0, len(pictures), _PREDICT_BATCH):
            squares = [to_square(p, side_px) for p in pictures[start : start + _PREDICT_BATCH]]
            both = (squares, [mirror(square) for square in squares])
            logits = [network(to_pixel_values(views)).logits.double() for views in both]
            rows.append(((logits[0] + logits[1]) / 2).numpy())
    return np.concatenate(rows)


def _make_optimiser(network: Any, recipe: Recipe) -> torch.optim.Optimizer:
    """Give the head a rate of its own, and spare biases and norms the weight decay."""
    body = [w for w in network.efficientnet.parameters() if w.requires_grad]
    groups = [
        {"params": [w for w in body if w.dim() > 1], "peak": recipe.rate},
        {"params": [w for w in body if w.dim() == 1], "peak": recipe.rate, "weight_decay": 0.0},
        {"params": list(network.classifier.parameters()), "peak": recipe.head_rate},
    ]
    return torch.optim.AdamW(groups, lr=recipe.rate, weight_decay=recipe.weight_decay)
