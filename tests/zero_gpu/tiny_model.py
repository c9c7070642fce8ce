"""A small model with random weights, in the layout of transformers."""

import json
from pathlib import Path

from vetscanner.schema import SignClass

SIDE_PX = 32


def write_tiny_model(
    folder: Path, *, width: int = 32, layers: int = 2, side_px: int = SIDE_PX
) -> Path:
    """Write a vision transformer whose answers differ from class to class, and return its folder.

    Args:
        folder: Where to write it; it must not exist yet.
        width: Size of its hidden layers, a multiple of 2, and of 64 above 128.
        layers: Their number.
        side_px: Size of the square that it looks at, a multiple of 16.
    """
    import torch
    from transformers import ViTConfig, ViTForImageClassification

    torch.manual_seed(20261130)
    labels = dict(enumerate(SignClass))
    config = ViTConfig(
        hidden_size=width,
        num_hidden_layers=layers,
        num_attention_heads=max(2, width // 64),
        intermediate_size=4 * width,
        image_size=side_px,
        patch_size=side_px // 4 if side_px < 64 else 16,
        id2label={index: str(sign) for index, sign in labels.items()},
        label2id={str(sign): index for index, sign in labels.items()},
    )
    network = ViTForImageClassification(config)
    with torch.no_grad():
        network.classifier.weight.mul_(30)  # else every class would come out at 1/7
    folder.mkdir(parents=True)
    network.save_pretrained(folder)
    settings = {
        "image_processor_type": "ViTImageProcessor",
        "size": {"height": side_px, "width": side_px},
        "image_mean": [0.5, 0.5, 0.5],
        "image_std": [0.5, 0.5, 0.5],
    }
    (folder / "preprocessor_config.json").write_text(json.dumps(settings), encoding="utf-8")
    return folder
