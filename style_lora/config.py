"""Settings of a training, checked when they are made."""

import math
from dataclasses import dataclass
from typing import Final, Literal

from style_lora.errors import SettingsError

DEFAULT_BASE: Final = "stabilityai/stable-diffusion-xl-base-1.0"
MOST_EPOCHS: Final = 500
"""A ceiling, not an aim: early stopping and the best checkpoint decide what is kept."""

Precision = Literal["auto", "fp32", "fp16", "bf16"]
PRECISIONS: Final[tuple[Precision, ...]] = ("auto", "fp32", "fp16", "bf16")

OptimizerName = Literal["adamw", "adamw8bit"]
OPTIMIZERS: Final[tuple[OptimizerName, ...]] = ("adamw", "adamw8bit")


@dataclass(frozen=True, slots=True)
class TrainConfig:
    """What a training does; equal settings, data and machine give equal weights.

    Attributes:
        base: A folder in diffusers form, or the id of a repository on the Hugging Face Hub.
        vae: Folder or hub id of another VAE, such as `madebyollin/sdxl-vae-fp16-fix`; None takes
            the one of the base, which runs in 32 bit since 16 bit makes SDXL's own overflow.
        resolution: Side in pixels of the square whose area the aspect buckets have.
        rank: Rank of the LoRA.
        alpha: Its alpha (the update is scaled by alpha / rank); None takes the rank.
        epochs: Ceiling in passes over the data, up to 500; None leaves it to `steps`.
        steps: Ceiling in optimiser steps; with neither, the number that guides recommend.
        learning_rate: Of the optimiser, reached after a short warm-up and constant from there.
        batch_size: Pictures computed at once, all of one bucket.
        accumulate: Batches whose gradients make one step, each picture with the same weight.
        optimizer: AdamW, or bitsandbytes' with moments in 8 bit.
        seed: Of everything random: LoRA, order, noise, samples.
        noise_offset: Strength of noise added to whole channels, for true black and white.
        snr_gamma: Gamma of min-SNR weighting; None weighs all noise levels alike.
        caption_dropout: Share of pictures that are trained without their caption.
        validation_share: Share of pictures held out, where the ZIP has no `validation/`.
        patience: Validations without a new best before the training stops early; 0 never stops.
        validate_every: Steps between validations.
        sample_every: Steps between sample pictures; 0 makes none.
        sample_prompts: What they show; empty takes the first two captions.
        sample_steps: Denoising steps of a sample picture.
        checkpoint_every: Steps between checkpoints.
        max_duration_s: Seconds after which a slice saves and ends; None trains to the end.
        precision: Number format of the frozen base; LoRA weights are always 32 bit.
        gradient_checkpointing: Compute activations twice instead of keeping them.
    """

    base: str = DEFAULT_BASE
    vae: str | None = None
    resolution: int = 1024
    rank: int = 16
    alpha: float | None = None
    epochs: int | None = None
    steps: int | None = None
    learning_rate: float = 1e-4
    batch_size: int = 1
    accumulate: int = 1
    optimizer: OptimizerName = "adamw"
    seed: int = 0
    noise_offset: float = 0.03
    snr_gamma: float | None = 5.0
    caption_dropout: float = 0.05
    validation_share: float = 0.05
    patience: int = 10
    validate_every: int = 100
    sample_every: int = 250
    sample_prompts: tuple[str, ...] = ()
    sample_steps: int = 20
    checkpoint_every: int = 100
    max_duration_s: float | None = None
    precision: Precision = "auto"
    gradient_checkpointing: bool = True

    def __post_init__(self) -> None:
        """Check every value.

        Raises:
            SettingsError: A value cannot work.
        """
        for name, allowed in _RANGES.items():
            _check_range(name, getattr(self, name), *allowed)
        if self.resolution % 8:
            raise SettingsError(f"resolution is {self.resolution}: give a multiple of 8.")
        if self.precision not in PRECISIONS:
            raise SettingsError(f"precision is {self.precision!r}: give one of {PRECISIONS}.")
        if self.optimizer not in OPTIMIZERS:
            raise SettingsError(f"optimizer is {self.optimizer!r}: give one of {OPTIMIZERS}.")
        if not self.base.strip():
            raise SettingsError("base is empty: give a folder or a hub id.")

    @property
    def step_pictures(self) -> int:
        """Return the most pictures that make one step."""
        return self.batch_size * self.accumulate

    @property
    def lora_alpha(self) -> float:
        """Return the alpha that is used."""
        return float(self.rank if self.alpha is None else self.alpha)


_ABOVE_ZERO = 1e-12
_RANGES: Final[dict[str, tuple[float, float]]] = {
    "resolution": (64, 2048),
    "rank": (1, 320),
    "alpha": (_ABOVE_ZERO, 10_000),
    "epochs": (1, MOST_EPOCHS),
    "steps": (1, 10_000_000),
    "learning_rate": (_ABOVE_ZERO, 1),
    "batch_size": (1, 256),
    "accumulate": (1, 1024),
    "seed": (0, 2**32 - 1),
    "noise_offset": (0, 1),
    "snr_gamma": (_ABOVE_ZERO, 1000),
    "caption_dropout": (0, 1),
    "validation_share": (0, 0.5),
    "patience": (0, math.inf),
    "validate_every": (1, math.inf),
    "sample_every": (0, math.inf),
    "sample_steps": (1, 200),
    "checkpoint_every": (1, math.inf),
    "max_duration_s": (_ABOVE_ZERO, math.inf),
}


def _check_range(name: str, value: float | None, least: float, most: float) -> None:
    if value is None:
        return
    if not (least <= value <= most):  # also false for NaN
        low = "more than 0" if least == _ABOVE_ZERO else f"at least {least:g}"
        high = "" if most == math.inf else f" and at most {most:g}"
        raise SettingsError(f"{name} is {value:g}: give {low}{high}.")
