"""The base model, part by part, from a folder in diffusers form (see base_source.py).

Parts are opened where they are used and dropped afterwards; never the whole pipeline at once.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from style_lora.base_source import pick_variant
from style_lora.errors import BaseModelError, first_line

if TYPE_CHECKING:
    import torch

_PACKAGES: Final = ("torch", "diffusers", "peft", "transformers", "safetensors")


@dataclass(frozen=True, slots=True)
class TextParts:
    """Both tokenizers and both text encoders of SDXL, in their order."""

    tokenizers: tuple[Any, Any]
    encoders: tuple[Any, Any]


def require_packages() -> None:
    """Check that the packages of this tool are installed.

    Raises:
        BaseModelError: They are not; the message has the command.
    """
    # Looked for before any is imported, which takes seconds.
    missing = [name for name in _PACKAGES if find_spec(name) is None]
    if missing:
        raise BaseModelError(
            f"{' and '.join(missing)} missing. Install the packages of the style LoRA: "
            "pip install --constraint constraints.txt -r requirements-lora.txt"
        )


def open_unet(base: Path, dtype: "torch.dtype") -> Any:
    """Open the UNet, frozen.

    Args:
        base: Its folder.
        dtype: Number format of its weights.

    Raises:
        BaseModelError: It cannot be loaded.
    """
    from diffusers import UNet2DConditionModel

    unet = _open_weights(UNet2DConditionModel, base, "unet", torch_dtype=dtype)
    if unet.config.addition_embed_type != "text_time":
        raise BaseModelError(f"{base}: its UNet is not that of SDXL.")
    return unet.requires_grad_(False)


def open_vae(base: Path, vae: Path | None = None) -> Any:
    """Open the VAE in 32 bit, frozen: in 16 bit SDXL's own overflows to black pictures.

    Args:
        base: Its folder.
        vae: Folder that holds another VAE at its top.

    Raises:
        BaseModelError: It cannot be loaded.
    """
    import torch
    from diffusers import AutoencoderKL

    if vae is None:
        model = _open_weights(AutoencoderKL, base, "vae", torch_dtype=torch.float32)
    else:
        model = _open_weights(AutoencoderKL, vae, None, torch_dtype=torch.float32)
    return model.requires_grad_(False)


def open_text_parts(base: Path, dtype: "torch.dtype") -> TextParts:
    """Open tokenizers and text encoders, frozen.

    Args:
        base: Its folder.
        dtype: Number format of the weights.

    Raises:
        BaseModelError: They cannot be loaded.
    """
    from transformers import CLIPTextModel, CLIPTextModelWithProjection, CLIPTokenizer
    from transformers.utils import logging

    logging.disable_progress_bar()  # type: ignore[no-untyped-call]  # of reading weights that lie on the disk already

    first = _open_weights(CLIPTextModel, base, "text_encoder", dtype=dtype)
    second = _open_weights(CLIPTextModelWithProjection, base, "text_encoder_2", dtype=dtype)
    with _loading(base, "tokenizer"):
        tokenizers = (
            CLIPTokenizer.from_pretrained(base, subfolder="tokenizer"),
            CLIPTokenizer.from_pretrained(base, subfolder="tokenizer_2"),
        )
    return TextParts(tokenizers, (first.requires_grad_(False), second.requires_grad_(False)))


def open_noise_schedule(base: Path) -> Any:
    """Open the noise schedule that the base was trained with (`DDPMScheduler`).

    Args:
        base: Its folder.

    Raises:
        BaseModelError: It cannot be loaded.
    """
    from diffusers import DDPMScheduler

    return _open_scheduler(DDPMScheduler, base)


def open_sampler(base: Path) -> Any:
    """Open the sampler that the base comes with (Euler for SDXL).

    Args:
        base: Its folder.

    Raises:
        BaseModelError: It cannot be loaded.
    """
    from diffusers import EulerDiscreteScheduler

    return _open_scheduler(EulerDiscreteScheduler, base)


def _open_scheduler(scheduler: Any, base: Path) -> Any:
    with _loading(base, "scheduler"):
        return scheduler.from_pretrained(base, subfolder="scheduler")


def _open_weights(model: Any, base: Path, part: str | None, **format_of: "torch.dtype") -> Any:
    where = {"subfolder": part} if part else {}
    half = next(iter(format_of.values())).itemsize == 2
    variant = pick_variant(Path(base, part or ""), half)
    with _loading(base, part or "vae"):
        return model.from_pretrained(
            base, use_safetensors=True, variant=variant, **where, **format_of
        )


@contextmanager
def _loading(base: Path, part: str) -> Iterator[None]:
    """Turn what goes wrong while a part is loaded into one clear error."""
    from safetensors import SafetensorError

    failures = (OSError, ValueError, KeyError, RuntimeError, SafetensorError)
    try:
        yield
    except failures as error:
        if "out of memory" in str(error):
            raise
        raise BaseModelError(f"{base}: {part} cannot be loaded: {first_line(error)}") from error
