"""LoRA files: the form of diffusers with its alpha, and the form of kohya's scripts."""

import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from style_lora.atomic_files import write_atomically
from style_lora.errors import LoraFileError
from style_lora.lora_file import WEIGHTS_NAME

if TYPE_CHECKING:
    import torch

_UNET = "unet."
_PEFT_TO_KOHYA: Final = (
    (".lora_A.weight", ".lora_down.weight"),
    (".lora_B.weight", ".lora_up.weight"),
)


def save_diffusers(
    weights: "dict[str, torch.Tensor]", settings: dict[str, Any], path: Path
) -> None:
    """Save a LoRA of the UNet as diffusers does, atomically.

    Args:
        weights: By peft's names.
        settings: Of the LoRA (`describe_lora`); they carry the alpha.
        path: File to write.

    Raises:
        DiskSpaceError: The disk is full.
    """
    write_atomically(path, lambda partial: _save_with_diffusers(weights, settings, partial))


def save_kohya(source: Path, alpha: float, path: Path) -> None:
    """Turn a LoRA in diffusers form into kohya's, which A1111, ComfyUI and Forge read, too.

    Args:
        source: Of `save_diffusers`.
        alpha: Of the LoRA; each layer of the file carries it.
        path: File to write.

    Raises:
        LoraFileError: The source cannot be read, or is no LoRA of a UNet.
        DiskSpaceError: The disk is full.
    """
    import torch
    from safetensors.torch import save_file

    renamed: dict[str, torch.Tensor] = {}
    rank = 0
    for name, tensor in _read_tensors(source).items():
        layer, direction = _name_for_kohya(name)
        renamed[layer + direction] = tensor
        renamed[f"{layer}.alpha"] = torch.tensor(float(alpha))
        rank = tensor.shape[0] if direction == ".lora_down.weight" else rank
    notes = {
        "format": "pt",
        "ss_network_module": "networks.lora",
        "ss_network_dim": str(rank),
        "ss_network_alpha": f"{alpha:g}",
        "ss_base_model_version": "sdxl_base_v1-0",
    }
    write_atomically(path, lambda partial: save_file(renamed, partial, metadata=notes))


def _save_with_diffusers(
    weights: "dict[str, torch.Tensor]", settings: dict[str, Any], path: Path
) -> None:
    from diffusers import StableDiffusionXLPipeline

    # diffusers names the file only inside a folder of its own.
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        StableDiffusionXLPipeline.save_lora_weights(
            folder,
            unet_lora_layers=weights,
            weight_name=WEIGHTS_NAME,
            unet_lora_adapter_metadata=settings,
        )
        shutil.move(Path(folder, WEIGHTS_NAME), path)


def _read_tensors(path: Path) -> "dict[str, torch.Tensor]":
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        tensors: dict[str, torch.Tensor] = load_file(path)
    except (OSError, SafetensorError) as error:
        raise LoraFileError(f"{path} cannot be read as safetensors: {error}.") from error
    return tensors


def _name_for_kohya(name: str) -> tuple[str, str]:
    """Return the layer and the direction of a weight as kohya's scripts name them."""
    for ending, direction in _PEFT_TO_KOHYA:
        if name.startswith(_UNET) and name.endswith(ending):
            layer = name.removeprefix(_UNET).removesuffix(ending).replace(".", "_")
            return f"lora_unet_{layer}", direction
    raise LoraFileError(f"{name} is no weight of a LoRA of the UNet.")
