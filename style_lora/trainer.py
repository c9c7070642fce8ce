"""The UNet in training: one step, one validation, and its state for a checkpoint."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from style_lora.adapter import list_weights, read_lora, write_lora
from style_lora.config import TrainConfig
from style_lora.data_order import derive_seed
from style_lora.embedding_cache import EmbeddingCache
from style_lora.errors import TrainingStoppedError
from style_lora.objective import (
    Batch,
    add_noise,
    drop_captions,
    noise_latents,
    predict,
    weigh_errors,
)
from style_lora.optimizers import open_optimizer, read_state, write_state
from style_lora.schema import Example

if TYPE_CHECKING:
    import torch

_LARGEST_NORM: Final = 1.0
# Noise levels of the validation, as shares of all: where style is decided, neither end.
_VALIDATION_LEVELS: Final = (0.15, 0.45, 0.75)
_SMALLEST_SCALE: Final = 2.0**-6


class Trainer:
    """A UNet with a LoRA, its optimiser, and the cached pictures."""

    def __init__(
        self, unet: Any, schedule: Any, cache: EmbeddingCache, config: TrainConfig, steps: int
    ) -> None:
        """Prepare the optimiser.

        Args:
            unet: With a LoRA, on its device.
            schedule: `DDPMScheduler` of the base.
            cache: Latents and caption embeddings.
            config: Settings.
            steps: Of the whole training; the warm-up is a small part of them.
        """
        import torch

        self.unet = unet
        self._schedule = schedule
        self._cache = cache
        self._config = config
        self._warm_up_steps = min(100, max(1, steps // 20))
        self._weights = list_weights(unet)
        self._optimizer = open_optimizer(config.optimizer, self._weights, config.learning_rate)
        self._scaler = torch.amp.GradScaler(unet.device.type, enabled=unet.dtype == torch.float16)

    def take_step(self, step: int, batches: Sequence[Sequence[Example]]) -> float:
        """Train on one batch, or on several whose gradients are added up.

        Args:
            step: Steps done before; all that is random follows from it.
            batches: Pictures of one bucket each.

        Returns:
            The loss.

        Raises:
            TrainingStoppedError: The loss or the gradients are no numbers.
        """
        import torch

        loss = self.add_gradients(step, batches)
        self._scaler.unscale_(self._optimizer)
        norm = float(torch.nn.utils.clip_grad_norm_(self._weights.values(), _LARGEST_NORM))
        self._check_numbers(step, loss, norm)
        for group in self._optimizer.param_groups:
            group["lr"] = self.learning_rate(step)
        self._scaler.step(self._optimizer)
        self._scaler.update()
        self._optimizer.zero_grad()
        return loss

    def add_gradients(self, step: int, batches: Sequence[Sequence[Example]]) -> float:
        """Compute the gradients of a step, each picture with the same weight, and return the loss.

        Args:
            step: Steps done before.
            batches: Pictures of one bucket each.
        """
        pictures = sum(map(len, batches))
        first = step * self._config.accumulate
        return math.fsum(
            self._backward(first + number, examples, len(examples) / pictures)
            for number, examples in enumerate(batches)
        )

    def rehearse_batch(self, examples: Sequence[Example]) -> None:
        """Compute a batch and forget it, to see how long one takes."""
        self._backward(0, examples, 1.0)
        self._optimizer.zero_grad()

    def learning_rate(self, step: int) -> float:
        """Return the learning rate of a step: a short warm-up, then constant."""
        return self._config.learning_rate * min(1.0, (step + 1) / self._warm_up_steps)

    def validate(self, examples: Sequence[Example]) -> float:
        """Return the mean squared error on pictures with the same noise each time.

        Args:
            examples: Validation pictures.
        """
        import torch

        errors = []
        with torch.no_grad():
            for index, example in enumerate(examples):
                errors.append(self._measure(index, example))
        return math.fsum(errors) / len(errors)

    def state(self) -> "dict[str, torch.Tensor]":
        """Return LoRA weights and optimiser state by name, on the CPU."""
        tensors = {f"lora/{name}": one for name, one in read_lora(self.unet).items()}
        tensors |= read_state(self._optimizer, self._weights)
        # A copy, since the next step changes what it was read from.
        return {
            name: one.detach().to("cpu", copy=True).contiguous() for name, one in tensors.items()
        }

    def restore(self, tensors: "dict[str, torch.Tensor]", scaler: dict[str, float]) -> None:
        """Put back what `state` and `scaler_state` gave.

        Args:
            tensors: By name.
            scaler: Of the loss scaling.
        """
        lora = {key[5:]: one for key, one in tensors.items() if key.startswith("lora/")}
        write_lora(self.unet, lora)
        write_state(self._optimizer, self._weights, tensors)
        if scaler and self._scaler.is_enabled():
            self._scaler.load_state_dict(scaler)

    def scaler_state(self) -> dict[str, float]:
        """Return the state of the loss scaling, empty where there is none."""
        state: dict[str, float] = self._scaler.state_dict()
        return state

    def _backward(self, number: int, examples: Sequence[Example], share: float) -> float:
        """Add the gradients of one batch; its number in the whole training says what is random."""
        import torch

        generator = torch.Generator().manual_seed(derive_seed(self._config.seed, "step", number))
        batch = self._load(examples)
        batch = drop_captions(batch, self._config.caption_dropout, generator)
        noising = add_noise(batch, self._schedule, self._config, generator)
        told = predict(self.unet, noising, batch)
        loss = weigh_errors(told, noising, self._schedule, self._config.snr_gamma) * share
        self._scaler.scale(loss).backward()  # type: ignore[no-untyped-call]
        return float(loss.detach())

    def _measure(self, index: int, example: Example) -> float:
        """Return the error on one picture, all noise levels in one batch."""
        import torch

        batch = self._load([example] * len(_VALIDATION_LEVELS))
        generator = torch.Generator().manual_seed(
            derive_seed(self._config.seed, "validation noise", index)
        )
        noise = torch.randn(batch.mean.shape, generator=generator)
        count = len(self._schedule.alphas_cumprod)
        levels = torch.tensor([int(share * count) for share in _VALIDATION_LEVELS])
        noising = noise_latents(batch.mean, noise, levels, self._schedule)
        return float((predict(self.unet, noising, batch) - noising.target).square().mean())

    def _load(self, examples: Sequence[Example]) -> Batch:
        import torch

        device, dtype = self.unet.device, self.unet.dtype
        latents = [self._cache.read_latents(one) for one in examples]
        captions = [self._cache.read_caption(one.caption) for one in examples]
        time_ids = torch.tensor([self._cache.frame(one).time_ids for one in examples])
        return Batch(
            torch.stack([one.mean for one in latents]).to(device),
            torch.stack([one.deviation for one in latents]).to(device),
            torch.stack([one.words for one in captions]).to(device, dtype),
            torch.stack([one.summary for one in captions]).to(device, dtype),
            time_ids.to(device, dtype),
        )

    def _check_numbers(self, step: int, loss: float, norm: float) -> None:
        """Stop at the first sign: weights that are no numbers would never become any again.

        With loss scaling a gradient may overflow now and then; that step is left out.
        """
        scaled = self._scaler.is_enabled()
        is_lost = not math.isfinite(loss) or (not scaled and not math.isfinite(norm))
        if is_lost or (scaled and self._scaler.get_scale() < _SMALLEST_SCALE):
            raise TrainingStoppedError(
                f"Step {step + 1}: the loss is {loss} (norm of the gradients {norm}). Lower "
                "--learning-rate or take --precision fp32; the last checkpoint is kept."
            )
