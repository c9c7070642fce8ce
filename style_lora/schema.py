"""What flows through a training: frozen records without behaviour."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

Size = tuple[int, int]
"""Width and height in pixels."""


class Phase(StrEnum):
    """What a training is busy with."""

    CHECKING = "checking"
    FETCHING = "fetching"
    CACHING = "caching"
    LOADING = "loading"
    TRAINING = "training"
    SAMPLING = "sampling"
    SAVING = "saving"


class StoppedBecause(StrEnum):
    """Why a training, or a slice of it, has ended."""

    ALL_STEPS = "all steps are done"
    NO_LONGER_BETTER = "the validation loss no longer got better"
    SLICE_OVER = "the time of this slice is over"


@dataclass(frozen=True, slots=True)
class Example:
    """One picture of the dataset with its caption.

    Attributes:
        name: Of the entry in the ZIP.
        caption: One line of text.
        size: Width and height in pixels of the picture as it lies in the ZIP.
        crc: Checksum of the picture's bytes, from the ZIP.
    """

    name: str
    caption: str
    size: Size
    crc: int


@dataclass(frozen=True, slots=True)
class Examples:
    """All pictures of a dataset: names and captions, never pixels.

    Attributes:
        training: What the LoRA is trained on.
        validation: What its loss is measured on.
        held_out: Whether `validation` is kept apart from `training`; tiny sets have too few.
    """

    training: tuple[Example, ...]
    validation: tuple[Example, ...]
    held_out: bool

    @property
    def every(self) -> tuple[Example, ...]:
        """Return all that are looked at, those of the training first."""
        return self.training + self.validation


@dataclass(frozen=True, slots=True)
class TrainProgress:
    """Where a training stands.

    Attributes:
        phase: What it is busy with.
        done: Pictures checked or cached, or steps done.
        total: Of the same, at the end.
        epoch: Passes over the data that are done.
        loss: Mean training loss of the last steps.
        validation_loss: The last one measured.
        step_s: Seconds a step takes.
        left_s: Seconds until all steps are done.
        message: Something to tell once, in words.
    """

    phase: Phase
    done: int = 0
    total: int = 0
    epoch: int = 0
    loss: float | None = None
    validation_loss: float | None = None
    step_s: float | None = None
    left_s: float | None = None
    message: str | None = None


@dataclass(frozen=True, slots=True)
class TrainResult:
    """How a training, or a slice of it, has ended.

    Attributes:
        steps_done: Of all slices together.
        finished: Whether nothing is left to do; False after a slice.
        stopped_because: Why it has ended.
        best_step: Step whose weights were best on the validation pictures and are the ones saved.
        best_validation_loss: Their loss; None where none was measured.
        lora_path: The LoRA in diffusers form; None when a slice ended before the first validation.
        kohya_path: The LoRA in kohya form, likewise.
    """

    steps_done: int
    finished: bool
    stopped_because: StoppedBecause
    best_step: int
    best_validation_loss: float | None
    lora_path: Path | None
    kohya_path: Path | None
