"""LoRA files made by diffusers' and peft's own functions, as their training scripts make them."""

from pathlib import Path

import torch
from diffusers import StableDiffusionXLPipeline, UNet2DConditionModel
from diffusers.training_utils import _collate_lora_metadata
from peft import LoraConfig
from peft.utils import get_peft_model_state_dict

SCRIPT_LAYERS = ("to_k", "to_q", "to_v", "to_out.0")
"""What `train_text_to_image_lora_sdxl.py` of diffusers adapts."""


def save_official_lora(base: Path, folder: Path, rank: int = 4, alpha: int = 2) -> Path:
    """Write a LoRA of random weights through `save_lora_weights`, and return its folder."""
    unet = UNet2DConditionModel.from_pretrained(base / "unet")
    unet.add_adapter(LoraConfig(r=rank, lora_alpha=alpha, target_modules=list(SCRIPT_LAYERS)))
    noise = torch.Generator().manual_seed(1)
    for name, weights in unet.named_parameters():
        if "lora" in name:
            weights.data.normal_(0, 0.3, generator=noise)
    StableDiffusionXLPipeline.save_lora_weights(
        folder,
        unet_lora_layers=get_peft_model_state_dict(unet),
        **_collate_lora_metadata({"unet": unet}),
    )
    return folder
