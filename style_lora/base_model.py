"""The base model, part by part: a folder in diffusers form or a repository of the hub.

Parts are opened where they are used and dropped afterwards; never the whole pipeline at once. Only
safetensors files are read, since a pickle runs whatever its author wrote.
"""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from style_lora.errors import BaseModelError, first_line

if TYPE_CHECKING:
    import torch

PARTS: Final = (
    "unet",
    "vae",
    "text_encoder",
    "text_encoder_2",
    "tokenizer",
    "tokenizer_2",
    "scheduler",
)
_PACKAGES: Final = ("torch", "diffusers", "peft", "transformers", "safetensors")
_HUB_ID = re.compile(r"[\w.-]+/[\w.-]+")
_WITH_WEIGHTS: Final = ("unet", "vae", "text_encoder", "text_encoder_2")


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


def is_hub_id(base: str) -> bool:
    """Tell whether a base names a repository of the hub: no such folder, and written OWNER/NAME."""
    return not Path(base).exists() and _HUB_ID.fullmatch(base) is not None


def check_base(base: str) -> None:
    """Check that a base is SDXL and complete, before anything slow.

    Args:
        base: A folder or a hub id. Of a hub id only its small index is fetched.

    Raises:
        BaseModelError: It is not there, is incomplete or is another kind of model.
    """
    if is_hub_id(base):
        index = _fetch_index(base)
    else:
        _check_folder(Path(base))
        index = Path(base, "model_index.json")
    _check_index(base, index)


def open_unet(base: str, dtype: "torch.dtype") -> Any:
    """Open the UNet, frozen.

    Args:
        base: A folder or a hub id.
        dtype: Number format of its weights.

    Raises:
        BaseModelError: It cannot be loaded.
    """
    from diffusers import UNet2DConditionModel

    unet = _open_weights(UNet2DConditionModel, base, "unet", torch_dtype=dtype)
    if unet.config.addition_embed_type != "text_time":
        raise BaseModelError(f"{base}: its UNet is not that of SDXL.")
    return unet.requires_grad_(False)


def open_vae(base: str, vae: str | None = None) -> Any:
    """Open the VAE in 32 bit, frozen: in 16 bit SDXL's own overflows to black pictures.

    Args:
        base: A folder or a hub id.
        vae: Another VAE: a folder or hub id that holds it at its top.

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


def open_text_parts(base: str, dtype: "torch.dtype") -> TextParts:
    """Open tokenizers and text encoders, frozen.

    Args:
        base: A folder or a hub id.
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


def open_noise_schedule(base: str) -> Any:
    """Open the noise schedule that the base was trained with (`DDPMScheduler`).

    Args:
        base: A folder or a hub id.

    Raises:
        BaseModelError: It cannot be loaded.
    """
    from diffusers import DDPMScheduler

    return _open_scheduler(DDPMScheduler, base)


def open_sampler(base: str) -> Any:
    """Open the sampler that the base comes with (Euler for SDXL).

    Args:
        base: A folder or a hub id.

    Raises:
        BaseModelError: It cannot be loaded.
    """
    from diffusers import EulerDiscreteScheduler

    return _open_scheduler(EulerDiscreteScheduler, base)


def _open_scheduler(scheduler: Any, base: str) -> Any:
    with _loading(base, "scheduler"):
        return scheduler.from_pretrained(base, subfolder="scheduler")


def _open_weights(model: Any, base: str, part: str | None, **format_of: "torch.dtype") -> Any:
    where = {"subfolder": part} if part else {}
    variants = _list_variants(base, part, next(iter(format_of.values())))
    for variant in variants:
        try:
            with _loading(base, part or "vae"):
                return model.from_pretrained(
                    base, use_safetensors=True, variant=variant, **where, **format_of
                )
        except BaseModelError:
            if variant is variants[-1]:
                raise
    raise AssertionError("there is always a variant")


def _list_variants(base: str, part: str | None, dtype: "torch.dtype") -> list[str | None]:
    """Return the variants to try: half the download where 16 bit are wanted anyway."""
    if not is_hub_id(base):
        weights = [path.name for path in Path(base, part or "").glob("*.safetensors")]
        return [None] if any(".fp16." not in name for name in weights) else ["fp16"]
    return ["fp16", None] if dtype.itemsize == 2 else [None]


@contextmanager
def _loading(base: str, part: str) -> Iterator[None]:
    """Turn what goes wrong while a part is loaded into one clear error."""
    from huggingface_hub.errors import HfHubHTTPError
    from safetensors import SafetensorError

    failures = (OSError, ValueError, KeyError, RuntimeError, HfHubHTTPError, SafetensorError)
    try:
        yield
    except failures as error:
        if "out of memory" in str(error):
            raise
        raise BaseModelError(f"{base}: {part} cannot be loaded: {first_line(error)}") from error


def _check_folder(folder: Path) -> None:
    if folder.is_file():
        raise BaseModelError(
            f"{folder} is a file. Give the folder of an SDXL model in diffusers form (with "
            "model_index.json, unet/, vae/ ...) or a hub id such as OWNER/NAME."
        )
    if not Path(folder, "model_index.json").is_file():
        state = "has no model_index.json" if folder.is_dir() else "does not exist"
        raise BaseModelError(
            f"{folder} {state}. Give the folder of an SDXL model in diffusers form or a hub id."
        )
    missing = [part for part in PARTS if not Path(folder, part).is_dir()]
    missing += [
        f"{part}/*.safetensors"
        for part in _WITH_WEIGHTS
        if part not in missing and not any(Path(folder, part).glob("*.safetensors"))
    ]
    if missing:
        raise BaseModelError(f"{folder} is no complete SDXL model: {', '.join(missing)} missing.")


def _fetch_index(base: str) -> Path:
    from huggingface_hub import hf_hub_download
    from huggingface_hub.errors import HfHubHTTPError

    try:
        return Path(hf_hub_download(base, "model_index.json"))
    except (OSError, ValueError, HfHubHTTPError) as error:
        raise BaseModelError(
            f"{base} is no folder here and cannot be fetched from the hub: {first_line(error)}"
        ) from error


def _check_index(base: str, index: Path) -> None:
    try:
        parts = json.loads(index.read_text(encoding="utf-8"))
    except ValueError as error:
        raise BaseModelError(f"{base}: model_index.json is no JSON.") from error
    if not isinstance(parts, dict) or any(part not in parts for part in PARTS):
        kind = parts.get("_class_name") if isinstance(parts, dict) else None
        raise BaseModelError(
            f"{base} is {kind or 'another kind of model'}; SDXL is needed (two text encoders)."
        )
