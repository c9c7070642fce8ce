"""A complete SDXL of a few megabytes, drawn at random on the spot; it learns, and paints noise.

All parts are the real classes at a tiny size, so whatever takes SDXL takes it: two text encoders, a
UNet with SDXL's extra conditions, and an autoencoder that makes 8 x 8 pixels one latent.
"""

from pathlib import Path

import torch
from diffusers import (
    AutoencoderKL,
    EulerDiscreteScheduler,
    StableDiffusionXLPipeline,
    UNet2DConditionModel,
)
from transformers import CLIPTextConfig, CLIPTextModel, CLIPTextModelWithProjection, CLIPTokenizer

WIDTHS = (32, 48)
"""Widths of the two text encoders; the UNet sees both side by side."""

SIZE_PX = 128
"""What the UNet's own size of 16 x 16 latents makes in pixels."""

_WORDS = ("engraving", "ship", "of", "the", "sea")


def make_tiny_sdxl(folder: Path, seed: int = 0) -> Path:
    """Write the model as a folder of diffusers, and return it; the same bytes for the same seed."""
    torch.manual_seed(seed)
    tokenizer = _make_tokenizer()
    pipeline = StableDiffusionXLPipeline(
        vae=_make_vae(),
        text_encoder=CLIPTextModel(_text_config(WIDTHS[0], tokenizer)),
        text_encoder_2=CLIPTextModelWithProjection(_text_config(WIDTHS[1], tokenizer)),
        tokenizer=tokenizer,
        tokenizer_2=tokenizer,
        unet=_make_unet(),
        scheduler=_make_scheduler(),
        add_watermarker=False,
    )
    pipeline.save_pretrained(folder)
    return folder


def _make_tokenizer() -> CLIPTokenizer:
    """Return a tokenizer of all bytes, and of merges that make a few words one token."""
    letters = [chr(code) for code in (*range(33, 127), *range(161, 173), *range(174, 256))]
    letters += [chr(256 + number) for number in range(256 - len(letters))]
    merges = _merges()
    tokens = [*letters, *(f"{letter}</w>" for letter in letters)]
    tokens += [left + right for left, right in merges]
    tokens += ["<|startoftext|>", "<|endoftext|>"]
    vocabulary = {token: number for number, token in enumerate(dict.fromkeys(tokens))}
    return CLIPTokenizer(vocabulary, merges, model_max_length=77)


def _merges() -> list[tuple[str, str]]:
    """Return pairs that grow each word from its first letter."""
    pairs: dict[tuple[str, str], None] = {}
    for word in _WORDS:
        pieces = [*word[:-1], f"{word[-1]}</w>"]
        grown = pieces[0]
        for piece in pieces[1:]:
            pairs[grown, piece] = None
            grown += piece
    return list(pairs)


def _text_config(width: int, tokenizer: CLIPTokenizer) -> CLIPTextConfig:
    return CLIPTextConfig(
        vocab_size=len(tokenizer),
        hidden_size=width,
        intermediate_size=2 * width,
        projection_dim=width,
        num_hidden_layers=3,
        num_attention_heads=4,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )


def _make_vae() -> AutoencoderKL:
    return AutoencoderKL(
        block_out_channels=(8, 8, 16, 16),
        down_block_types=("DownEncoderBlock2D",) * 4,
        up_block_types=("UpDecoderBlock2D",) * 4,
        layers_per_block=1,
        norm_num_groups=4,
        latent_channels=4,
        sample_size=SIZE_PX,
        scaling_factor=0.13025,
        force_upcast=True,
    )


def _make_unet() -> UNet2DConditionModel:
    return UNet2DConditionModel(
        sample_size=SIZE_PX // 8,
        block_out_channels=(32, 64),
        down_block_types=("DownBlock2D", "CrossAttnDownBlock2D"),
        up_block_types=("CrossAttnUpBlock2D", "UpBlock2D"),
        layers_per_block=1,
        norm_num_groups=8,
        attention_head_dim=(2, 4),
        transformer_layers_per_block=1,
        use_linear_projection=True,
        cross_attention_dim=sum(WIDTHS),
        addition_embed_type="text_time",
        addition_time_embed_dim=8,
        projection_class_embeddings_input_dim=6 * 8 + WIDTHS[1],
    )


def _make_scheduler() -> EulerDiscreteScheduler:
    return EulerDiscreteScheduler(
        beta_start=0.00085,
        beta_end=0.012,
        beta_schedule="scaled_linear",
        steps_offset=1,
        timestep_spacing="leading",
    )
