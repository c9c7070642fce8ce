"""The optimisers: AdamW of PyTorch, or the one of bitsandbytes with moments in 8 bit.

bitsandbytes is none of this tool's packages. Its state goes into checkpoints like that of AdamW, so
a training with it goes on exactly, too.
"""

from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final

from style_lora.config import OptimizerName
from style_lora.errors import SettingsError, first_line

if TYPE_CHECKING:
    import torch

_WEIGHT_DECAY: Final = 1e-2


def require_optimizer(name: OptimizerName) -> None:
    """Check that the package of an optimiser is installed.

    Args:
        name: Of the optimiser.

    Raises:
        SettingsError: It is not; the message has the command.
    """
    if name == "adamw8bit" and find_spec("bitsandbytes") is None:
        raise SettingsError(
            "The optimiser adamw8bit needs bitsandbytes, which is not installed: "
            "pip install bitsandbytes. Or leave out --optimizer: at rank 16 it saves 0.14 GB."
        )


def open_optimizer(
    name: OptimizerName, weights: Mapping[str, "torch.nn.Parameter"], learning_rate: float
) -> "torch.optim.Optimizer":
    """Return an optimiser of the weights.

    Args:
        name: Of the optimiser.
        weights: By name; their order is that of the optimiser's state.
        learning_rate: At first.

    Raises:
        SettingsError: bitsandbytes is there and does not work here.
    """
    import torch

    chosen = torch.optim.AdamW if name == "adamw" else _find_8bit()
    optimizer: torch.optim.Optimizer = chosen(
        list(weights.values()), lr=learning_rate, weight_decay=_WEIGHT_DECAY
    )
    return optimizer


def read_state(
    optimizer: "torch.optim.Optimizer", weights: Mapping[str, "torch.nn.Parameter"]
) -> "dict[str, torch.Tensor]":
    """Return the state of an optimiser as tensors named PART/WEIGHT; counts become whole numbers.

    Args:
        optimizer: Of `open_optimizer`.
        weights: Those it was made with.
    """
    import torch

    return {
        f"{part}/{name}": value if isinstance(value, torch.Tensor) else torch.tensor(value)
        for name, weight in weights.items()
        for part, value in optimizer.state[weight].items()
    }


def write_state(
    optimizer: "torch.optim.Optimizer",
    weights: Mapping[str, "torch.nn.Parameter"],
    state: "Mapping[str, torch.Tensor]",
) -> None:
    """Put back what `read_state` gave.

    Args:
        optimizer: Of the same kind.
        weights: Those it was made with.
        state: By name; what is not of an optimiser is passed over.
    """
    found: dict[str, dict[str, Any]] = {name: {} for name in weights}
    for key, value in state.items():
        part, _, name = key.partition("/")
        if name in found:
            found[name][part] = _as_count(value)
    moments = {index: parts for index, parts in enumerate(found.values()) if parts}
    groups = optimizer.state_dict()["param_groups"]
    optimizer.load_state_dict({"state": moments, "param_groups": groups})


def _as_count(value: "torch.Tensor") -> "torch.Tensor | int":
    """Return a number where the optimiser keeps a number: AdamW counts its steps in a tensor."""
    is_count = value.ndim == 0 and not value.is_floating_point()
    return int(value) if is_count else value


def _find_8bit() -> Any:
    try:
        return import_module("bitsandbytes.optim").AdamW8bit
    except (ImportError, OSError, RuntimeError, AttributeError) as error:
        # It looks for the libraries of the GPU.
        raise SettingsError(
            f"bitsandbytes does not work here ({first_line(error)}). Leave out --optimizer."
        ) from error
