"""Checkpoints: all that a training needs to go on as if it had never stopped, in one file.

The generators need no place in it: whatever is random at a step follows from seed and step.
"""

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from style_lora.atomic_files import write_atomically
from style_lora.errors import LoraFileError

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a training stands after a step.

    Attributes:
        step: Steps done.
        best_step: The one with the best validation loss, 0 before the first validation.
        best_loss: That loss.
        since_best: Validations since.
        validation_loss: The last one measured.
        is_finished: Whether the training has ended, by its last step or early.
        scaler: State of the loss scaling; empty where there is none.
        settings: What must be equal for a training to go on.
    """

    step: int = 0
    best_step: int = 0
    best_loss: float | None = None
    since_best: int = 0
    validation_loss: float | None = None
    is_finished: bool = False
    scaler: dict[str, float] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)


def save_checkpoint(path: Path, tensors: "dict[str, torch.Tensor]", standing: Standing) -> None:
    """Write a checkpoint in place of the last one, atomically.

    Args:
        path: File to write.
        tensors: LoRA weights and optimiser state, by name.
        standing: The rest.

    Raises:
        DiskSpaceError: The disk is full.
    """
    from safetensors.torch import save_file

    notes = {"standing": json.dumps(asdict(standing))}
    write_atomically(path, lambda partial: save_file(tensors, partial, metadata=notes))


def read_standing(path: Path) -> Standing | None:
    """Return where a training stands, or None where there is no checkpoint.

    Args:
        path: Of the checkpoint.

    Raises:
        LoraFileError: It cannot be read.
    """
    from safetensors import SafetensorError, safe_open

    if not path.exists():
        return None
    try:
        with safe_open(path, framework="pt") as checkpoint:
            notes = checkpoint.metadata()
        return Standing(**json.loads(notes["standing"]))
    except (OSError, SafetensorError, KeyError, TypeError, ValueError) as error:
        raise LoraFileError(
            f"The checkpoint {path} cannot be read ({error}). Remove it to start anew."
        ) from error


def read_tensors(path: Path) -> "dict[str, torch.Tensor]":
    """Return LoRA weights and optimiser state of a checkpoint, by name.

    Args:
        path: Of the checkpoint.

    Raises:
        LoraFileError: It cannot be read.
    """
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        tensors: dict[str, torch.Tensor] = load_file(path)
    except (OSError, SafetensorError) as error:
        raise LoraFileError(f"The checkpoint {path} cannot be read ({error}).") from error
    return tensors
