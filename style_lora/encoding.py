"""Pictures to latents, captions to embeddings: the first half of SDXL, run once."""

from typing import TYPE_CHECKING, Any

import numpy as np
from PIL import Image

from style_lora.base_model import TextParts
from style_lora.embedding_cache import CaptionEmbedding, LatentSpread
from style_lora.errors import BaseModelError
from style_lora.framing import Framing

if TYPE_CHECKING:
    pass


def cut_picture(picture: Image.Image, framing: Framing) -> Image.Image:
    """Return a picture brought to its bucket.

    Args:
        picture: RGB, of the framing's original size.
        framing: Where it goes.
    """
    if picture.size != framing.resized:
        picture = picture.resize(framing.resized, Image.Resampling.LANCZOS)
    return picture.crop(framing.cut_box)


def encode_picture(vae: Any, picture: Image.Image) -> LatentSpread:
    """Return what the VAE says of one picture.

    Args:
        vae: `AutoencoderKL` in 32 bit.
        picture: RGB, sides divisible by 8.

    Raises:
        BaseModelError: The VAE overflows.
    """
    import torch

    pixels = torch.from_numpy(np.array(picture, dtype=np.float32)).permute(2, 0, 1)
    with torch.inference_mode():
        spread = vae.encode((pixels / 127.5 - 1)[None].to(vae.device, vae.dtype)).latent_dist
    factor, shift = vae.config.scaling_factor, vae.config.shift_factor or 0.0
    mean = (spread.mean[0].float() - shift) * factor
    deviation = spread.std[0].float() * factor
    if not bool(torch.isfinite(mean).all() and torch.isfinite(deviation).all()):
        raise BaseModelError("The VAE gives no numbers: try --vae madebyollin/sdxl-vae-fp16-fix.")
    return LatentSpread(mean.cpu(), deviation.cpu())


def encode_caption(parts: TextParts, caption: str) -> CaptionEmbedding:
    """Return what both text encoders say of a caption, as the SDXL pipeline would.

    Args:
        parts: Tokenizers and encoders.
        caption: Text; what lies beyond 77 tokens is cut off.
    """
    import torch

    words: list[torch.Tensor] = []
    summary: torch.Tensor | None = None
    with torch.inference_mode():
        for tokenizer, encoder in zip(parts.tokenizers, parts.encoders, strict=True):
            tokens = tokenizer(
                caption,
                padding="max_length",
                max_length=tokenizer.model_max_length,
                truncation=True,
                return_tensors="pt",
            ).input_ids.to(encoder.device)
            output = encoder(tokens, output_hidden_states=True)
            # SDXL was trained on the last layer but one.
            words.append(output.hidden_states[-2][0])
            summary = output[0][0]
    assert summary is not None
    return CaptionEmbedding(torch.cat(words, dim=-1).cpu(), summary.cpu())
