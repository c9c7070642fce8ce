"""A small model with random weights, in the layout of transformers."""

import json
from pathlib import Path

from vetscanner.schema import SignClass

SIDE_PX = 32


def write_tiny_model(folder: Path, *, width: int = 32, layers: int = 2) -> Path:
    """Write a vision transformer whose answers differ from class to class, and return its folder.

    Args:
        folder: Where to write it; it must not exist yet.
        width: Size of its hidden layers, a multiple of 2.
        layers: Their number.
    """
    import torch
    from transformers import ViTConfig, ViTForImageClassification

    torch.manual_seed(20261130)
    labels = dict(enumerate(SignClass))
    config = ViTConfig(
        hidden_size=width,
        num_hidden_layers=layers,
        num_attention_heads=2,
        intermediate_size=2 * width,
        image_size=SIDE_PX,
        patch_size=8,
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
        "size": {"height": SIDE_PX, "width": SIDE_PX},
        "image_mean": [0.5, 0.5, 0.5],
        "image_std": [0.5, 0.5, 0.5],
    }
    (folder / "preprocessor_config.json").write_text(json.dumps(settings), encoding="utf-8")
    return folder
