"""The training objective: noise a latent, let the UNet tell the noise, weigh the error.

Everything random comes from a generator on the CPU that the caller has seeded for the step, so the
same step draws the same on every device and after every stop.
"""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from style_lora.config import TrainConfig

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True, slots=True)
class Batch:
    """Pictures of one bucket with their captions.

    Attributes:
        mean: Of the latents; (B, 4, H/8, W/8), 32 bit.
        deviation: Likewise.
        words: Caption embeddings; (B, 77, 2048).
        summary: Of the captions; (B, 1280).
        time_ids: SDXL's micro-conditions; (B, 6).
    """

    mean: "torch.Tensor"
    deviation: "torch.Tensor"
    words: "torch.Tensor"
    summary: "torch.Tensor"
    time_ids: "torch.Tensor"


@dataclass(frozen=True, slots=True)
class Noising:
    """Noisy latents, and what the UNet shall say of them; (B, 4, H/8, W/8), timesteps (B,)."""

    noisy: "torch.Tensor"
    target: "torch.Tensor"
    timesteps: "torch.Tensor"


def drop_captions(batch: Batch, share: float, generator: "torch.Generator") -> Batch:
    """Return a batch without some of its captions.

    They become zeros and not the embedding of "": so was SDXL trained, and so its pipeline stands
    in for a missing negative prompt.

    Args:
        batch: Of a step.
        share: Of captions to drop.
        generator: On the CPU.
    """
    import torch

    kept = torch.rand(len(batch.words), generator=generator) >= share
    kept = kept.to(batch.words.device, batch.words.dtype)
    return replace(
        batch, words=batch.words * kept[:, None, None], summary=batch.summary * kept[:, None]
    )


def add_noise(
    batch: Batch, schedule: Any, config: TrainConfig, generator: "torch.Generator"
) -> Noising:
    """Draw latents, noise levels and noise for a training step.

    Args:
        batch: Of the step.
        schedule: `DDPMScheduler` of the base.
        config: For the noise offset.
        generator: On the CPU.
    """
    import torch

    count, channels = batch.mean.shape[:2]
    spread = torch.randn(batch.mean.shape, generator=generator)
    noise = torch.randn(batch.mean.shape, generator=generator)
    offset = torch.randn((count, channels, 1, 1), generator=generator)
    levels = torch.randint(0, len(schedule.alphas_cumprod), (count,), generator=generator)
    latents = batch.mean + batch.deviation * spread.to(batch.mean.device)
    return noise_latents(latents, noise + config.noise_offset * offset, levels, schedule)


def noise_latents(
    latents: "torch.Tensor", noise: "torch.Tensor", timesteps: "torch.Tensor", schedule: Any
) -> Noising:
    """Mix latents with noise and say what the UNet shall tell.

    Args:
        latents: (B, 4, H/8, W/8).
        noise: Likewise, on any device.
        timesteps: (B,), on any device.
        schedule: `DDPMScheduler` of the base, which tells epsilon from v-prediction.
    """
    noise, timesteps = noise.to(latents.device), timesteps.to(latents.device)
    noisy = schedule.add_noise(latents, noise, timesteps)
    target = noise
    if schedule.config.prediction_type == "v_prediction":
        target = schedule.get_velocity(latents, noise, timesteps)
    return Noising(noisy, target, timesteps)


def predict(unet: Any, noising: Noising, batch: Batch) -> "torch.Tensor":
    """Return what the UNet says of noisy latents, in 32 bit; (B, 4, H/8, W/8).

    Args:
        unet: With its LoRA.
        noising: Noisy latents and timesteps.
        batch: For captions and time ids.
    """
    import torch

    dtype = unet.dtype  # asked once: it goes through all modules
    with torch.autocast(batch.mean.device.type, dtype, enabled=dtype != torch.float32):
        told: torch.Tensor = unet(
            noising.noisy.to(dtype),
            noising.timesteps,
            encoder_hidden_states=batch.words,
            added_cond_kwargs={"text_embeds": batch.summary, "time_ids": batch.time_ids},
            return_dict=False,
        )[0]
    return told.float()


def weigh_errors(
    told: "torch.Tensor", noising: Noising, schedule: Any, snr_gamma: float | None
) -> "torch.Tensor":
    """Return the loss: squared errors, weighed by min-SNR so that no noise level rules.

    Args:
        told: What the UNet said; (B, 4, H/8, W/8).
        noising: What it should have said.
        schedule: `DDPMScheduler` of the base.
        snr_gamma: Gamma; None weighs all alike.
    """
    errors = (told - noising.target).square().mean(dim=(1, 2, 3))
    if snr_gamma is None:
        return errors.mean()
    kept = schedule.alphas_cumprod.to(errors.device)[noising.timesteps]
    # The last level of some schedules has no signal at all.
    snr = (kept / (1 - kept)).clamp(min=1e-8)
    is_velocity = schedule.config.prediction_type == "v_prediction"
    weights = snr.clamp(max=snr_gamma) / (snr + 1 if is_velocity else snr)
    loss: torch.Tensor = (errors * weights).mean()
    return loss
