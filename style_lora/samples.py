"""Sample pictures during a training: same prompts, same noise, only the LoRA changes."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from PIL import Image

from style_lora.atomic_files import write_atomically
from style_lora.base_model import open_sampler, open_vae
from style_lora.config import TrainConfig
from style_lora.data_order import derive_seed
from style_lora.embedding_cache import CaptionEmbedding
from style_lora.framing import list_buckets

if TYPE_CHECKING:
    import torch

_GUIDANCE: Final = 6.0


def draw_samples(
    unet: Any,
    captions: Sequence[CaptionEmbedding],
    config: TrainConfig,
    base: Path,
    vae_folder: Path | None,
) -> list[Image.Image]:
    """Generate one square picture a caption; the VAE is opened and dropped again.

    Args:
        unet: With its LoRA.
        captions: Embeddings of the sample prompts.
        config: Resolution, seed and steps.
        base: Folder of the base.
        vae_folder: Of another VAE, where one is used.

    Returns:
        RGB pictures.

    Raises:
        BaseModelError: VAE or sampler cannot be loaded.
    """
    import torch

    latents = [_denoise(unet, one, index, config, base) for index, one in enumerate(captions)]
    vae = open_vae(base, vae_folder).to(unet.device)
    # In 32 bit a whole picture would not fit beside the UNet on 16 GB.
    vae.enable_tiling()
    with torch.inference_mode():
        return [_decode(vae, one) for one in latents]


def save_samples(pictures: Sequence[Image.Image], folder: Path, step: int) -> None:
    """Write sample pictures as `step_000250_1.png`.

    Args:
        pictures: RGB.
        folder: Where to.
        step: Steps done.

    Raises:
        DiskSpaceError: The disk is full.
    """
    for number, picture in enumerate(pictures, 1):
        path = folder / f"step_{step:06}_{number}.png"
        write_atomically(path, lambda partial, one=picture: one.save(partial, "PNG"))  # type: ignore[misc]


def _denoise(
    unet: Any, caption: CaptionEmbedding, index: int, config: TrainConfig, base: Path
) -> "torch.Tensor":
    import torch
    from diffusers import StableDiffusionXLPipeline

    pipeline = StableDiffusionXLPipeline(
        None, None, None, None, None, unet, open_sampler(base), add_watermarker=False
    )
    pipeline.set_progress_bar_config(disable=True)
    words = caption.words[None].to(unet.device, unet.dtype)
    summary = caption.summary[None].to(unet.device, unet.dtype)
    side = min(list_buckets(config.resolution), key=lambda size: abs(size[0] - size[1]))[0]
    with torch.autocast(unet.device.type, unet.dtype, enabled=unet.dtype != torch.float32):
        drawn: torch.Tensor = pipeline(
            prompt_embeds=words,
            pooled_prompt_embeds=summary,
            negative_prompt_embeds=torch.zeros_like(words),
            negative_pooled_prompt_embeds=torch.zeros_like(summary),
            width=side,
            height=side,
            num_inference_steps=config.sample_steps,
            guidance_scale=_GUIDANCE,
            generator=torch.Generator().manual_seed(derive_seed(config.seed, "sample", index)),
            output_type="latent",
        ).images
    return drawn


def _decode(vae: Any, latents: "torch.Tensor") -> Image.Image:
    factor, shift = vae.config.scaling_factor, vae.config.shift_factor or 0.0
    pixels = vae.decode(latents.to(vae.dtype) / factor + shift, return_dict=False)[0][0]
    scaled = ((pixels.float() + 1) * 127.5).clamp(0, 255).round().byte()
    return Image.fromarray(scaled.permute(1, 2, 0).cpu().numpy())
