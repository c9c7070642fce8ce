"""SDXL with a LoRA: load, paint, unload.

Heavy libraries are imported inside functions, so that a command's help and a Space's start cost
nothing. No model outlives its `with` block.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from style_lora.base_model import require_packages
from style_lora.base_source import check_base, fetch_base, pick_variant
from style_lora.devices import (
    empty_caches,
    is_available,
    is_short_of_memory,
    pick_device,
    pick_precision,
    to_dtype,
)
from style_lora.errors import BaseModelError, GenerationError, LoraFileError, first_line
from style_lora.lora_file import LoraFile
from style_lora.prompt_length import find_cut

if TYPE_CHECKING:
    import torch
    from PIL import Image

SIZE_STEP_PX: Final = 8
"""One latent is that wide: sizes of pictures are its multiples."""

_ADAPTER = "style"
# What the libraries raise over files that are missing, damaged or of another model.
_UNUSABLE = (OSError, ValueError, LookupError, AttributeError, TypeError, RuntimeError)


@dataclass(frozen=True, slots=True)
class PictureOrder:
    """One picture to paint; the same order gives the same picture.

    Attributes:
        prompt: What it shows.
        seed: Of the noise that it grows from.
        scale: How strongly the LoRA acts; 0 is the base model alone, 1 as it was trained.
        steps: Steps of denoising.
        size_px: Width and height, multiples of 8.
        guidance: How closely it keeps to the prompt.
        negative_prompt: What it shall not show.
    """

    prompt: str
    seed: int = 0
    scale: float = 1.0
    steps: int = 30
    size_px: tuple[int, int] = (1024, 1024)
    guidance: float = 5.0
    negative_prompt: str = ""


class Painter:
    """A loaded SDXL; usable only inside the `with` block of `open_painter`."""

    def __init__(self, pipeline: Any, device: "torch.device") -> None:
        """Keep the loaded parts; see `open_painter`."""
        self._pipeline = pipeline
        self._device = device
        self._has_lora = bool(pipeline.get_list_adapters())

    def paint(self, order: PictureOrder) -> "Image.Image":
        """Paint one picture.

        Args:
            order: What to paint.

        Returns:
            RGB, of the size asked for.

        Raises:
            GenerationError: The painter is closed, memory is short, or the model gave no numbers.
        """
        if self._pipeline is None:
            message = "The model is unloaded already: call paint inside the with block."
            raise GenerationError(message)
        self._set_scale(order.scale)
        try:
            pixels = self._run(order)
        except (RuntimeError, MemoryError) as error:
            raise GenerationError(_tell_failure(error, self._device.type)) from error
        return _to_image(pixels)

    def find_cut(self, prompt: str) -> str:
        """Return the end of a prompt that the model does not see; empty where it sees all.

        Args:
            prompt: What a picture shall show, or not show.
        """
        return find_cut(self._pipeline.tokenizer, prompt)

    def _run(self, order: PictureOrder) -> Any:
        import torch

        width, height = order.size_px
        # The noise comes from the CPU's generator, so that a seed means the same on every device.
        noise = torch.Generator("cpu").manual_seed(order.seed)
        with torch.inference_mode():
            return self._pipeline(
                prompt=order.prompt,
                negative_prompt=order.negative_prompt or None,
                num_inference_steps=order.steps,
                guidance_scale=order.guidance,
                width=width,
                height=height,
                generator=noise,
                output_type="np",
            ).images[0]

    def _set_scale(self, scale: float) -> None:
        if not self._has_lora:
            return
        if scale == 0:
            # Left out, not multiplied by nothing: in half precision that may be no number.
            self._pipeline.disable_lora()
            return
        self._pipeline.enable_lora()
        self._pipeline.set_adapters([_ADAPTER], [scale])

    def close(self) -> None:
        """Unload the model and give its memory back."""
        self._pipeline = None
        empty_caches(self._device)


@contextmanager
def open_painter(base: str, lora: LoraFile | None, device: str | None = None) -> Iterator[Painter]:
    """Load SDXL with a LoRA for the length of a `with` block.

    Args:
        base: Folder of a diffusers SDXL, or its name on the hub.
        lora: None paints with the base model alone.
        device: `cpu`, `cuda` or `mps`; None takes the best there is.

    Raises:
        BaseModelError: There is no SDXL at `base`.
        HubError: It lies on the hub only, which cannot be reached or does not give it.
        DiskSpaceError: There is too little room to fetch it.
        LoraFileError: The LoRA is for another model.
        GenerationError: There is no such device, or too little memory on it for the model.
    """
    require_packages()
    check_base(base)
    import torch

    chosen = torch.device(device) if device else pick_device()
    if not is_available(chosen):
        raise GenerationError(f"This machine has no {chosen.type} that PyTorch can use.")
    dtype = to_dtype(pick_precision(chosen))
    pipeline = _load_base(fetch_base(base, dtype.itemsize == 2, _tell), dtype)
    if lora is not None:
        _add_lora(pipeline, lora, base)
    painter = Painter(_move(pipeline, chosen), chosen)
    del pipeline
    try:
        yield painter
    finally:
        painter.close()


def _tell_failure(error: Exception, device: str) -> str:
    said = first_line(error)
    if is_short_of_memory(error):
        return f"There was too little memory on {device} to paint this size. Try a smaller one."
    return f"Painting failed on {device} ({type(error).__name__}: {said})."


def _tell(message: str) -> None:
    print(message, file=sys.stderr)


def _load_base(base: Path, dtype: "torch.dtype") -> Any:
    try:
        return _load_variant(base, dtype, pick_variant(base / "unet", dtype.itemsize == 2))
    except _UNUSABLE as error:
        message = (
            f"{base} cannot be loaded as SDXL ({type(error).__name__}: "
            f"{first_line(error).rstrip('.')}). Give a folder in the form of diffusers, or a name "
            "on the hub such as stabilityai/stable-diffusion-xl-base-1.0."
        )
        raise BaseModelError(message) from error


def _load_variant(base: Path, dtype: "torch.dtype", variant: str | None) -> Any:
    from diffusers import StableDiffusionXLPipeline

    _quieten()
    pipeline = StableDiffusionXLPipeline.from_pretrained(
        base, dtype=dtype, variant=variant, use_safetensors=True, add_watermarker=False
    )
    pipeline.set_progress_bar_config(disable=not sys.stderr.isatty())
    return pipeline


def _quieten() -> None:
    """Keep bars and hints of the libraries off standard error; what matters is told in ours."""
    import diffusers.utils.logging
    import transformers.utils.logging

    for told in (diffusers.utils.logging, transformers.utils.logging):
        told.disable_progress_bar()
        told.set_verbosity_error()


def _move(pipeline: Any, device: "torch.device") -> Any:
    try:
        return pipeline.to(device)
    except (RuntimeError, MemoryError) as error:
        if not is_short_of_memory(error):
            raise
        message = f"There is too little memory on {device.type} for the model."
        raise GenerationError(message) from error


def _add_lora(pipeline: Any, lora: LoraFile, base: str) -> None:
    try:
        pipeline.load_lora_weights(
            str(lora.path.parent), weight_name=lora.path.name, adapter_name=_ADAPTER
        )
    except _UNUSABLE as error:
        message = f"{lora.path} does not fit {base} ({first_line(error).rstrip('.')})."
        raise LoraFileError(message) from error
    added = _count_layers(pipeline)
    if added < lora.layers:
        # diffusers only warns, and would paint with what is left.
        message = (
            f"{lora.path} does not fit {base}: only {added} of its {lora.layers} layers are there. "
            "Name the model that it was trained on with --base."
        )
        raise LoraFileError(message)


def _count_layers(pipeline: Any) -> int:
    parts = (pipeline.unet, pipeline.text_encoder, pipeline.text_encoder_2)
    mark = f".lora_A.{_ADAPTER}."
    return sum(mark in name for part in parts for name, _ in part.named_parameters())


def _to_image(pixels: Any) -> "Image.Image":
    import numpy as np
    from PIL import Image

    if not np.isfinite(pixels).all():
        message = (
            "The model gave no numbers: its autoencoder may not bear half precision. Try a base "
            "with a mended one, or --device cpu."
        )
        raise GenerationError(message)
    return Image.fromarray((pixels * 255).round().astype(np.uint8))
