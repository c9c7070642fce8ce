"""Painting for a visitor of the page: on a GPU, for a bounded time, or not at all.

SDXL takes minutes a picture on a CPU and more memory than a free machine has, so there is no
falling back to it: what keeps the GPU away is told. The GPU function is a plain function, never a
generator (see vetscanner/gpu.py for why).
"""

import importlib.util
import logging
import math
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import spaces  # before torch: on ZeroGPU this package patches it

# isort: split
import gradio as gr
import httpx
from PIL import Image

from serving.gpu_refusals import GpuRefusal, recognise_refusal
from style_lora.base_source import count_weight_bytes, fetch_base
from style_lora.errors import BaseModelError, GenerationError, StyleLoraError
from style_lora.generate import choose_base
from style_lora.lora_file import LoraFile, find_lora
from style_lora.painter import PictureOrder, open_painter

LORA_VARIABLE: Final = "STYLE_LORA_DIR"
"""Names the LoRA to paint with: a folder of a training, a file, or OWNER/NAME on the hub."""

DEVICE_VARIABLE: Final = "STYLE_LORA_DEVICE"
"""`cpu` paints without a GPU all the same, for owners who can wait; else a GPU is needed."""

# A visitor's quota is checked against the seconds asked for, and today's hardware multiplies them
# by 1.5. A call that needs more is stopped.
MOST_S: Final = 90
START_WORKER_S = 8.0
LOAD_BYTES_A_SECOND = 200e6
SECONDS_A_STEP = 0.4

_LOG = logging.getLogger(__name__)
_PACKAGES = ("diffusers", "peft", "torch")
# Titles of errors that come out of a GPU worker: where in `paint_on_gpu` they arose.
_PAINTING, _SETTING_UP = "Painting", "Setting up"
_NONE_FREE = "No GPU was free. Try again in a minute."
_QUOTA = (
    "The GPU time is used up, yours or that of all visitors who are not signed in to Hugging Face. "
    "Try again later."
)
_WORKER_FAILED = "The GPU worker failed. Try again."
_WORDS: Final = {
    GpuRefusal.NONE_IN_TIME: _NONE_FREE,
    GpuRefusal.ANONYMOUS_QUOTA: _QUOTA,
    GpuRefusal.RUNS_QUOTA: _QUOTA,
    GpuRefusal.TIME_QUOTA: _QUOTA,
    GpuRefusal.TOO_LONG: "Painting would take more GPU time than one request may have.",
    GpuRefusal.CREDITS_HELD: (
        "Your GPU credits are held by tasks that are still running. Try again in a moment."
    ),
    GpuRefusal.NONE_FREE: _NONE_FREE,
    GpuRefusal.EXPIRED: "The sign-in to the GPU service has expired. Reload the page.",
    GpuRefusal.ABORTED: _WORKER_FAILED,
    GpuRefusal.OUT_OF_MEMORY: _WORKER_FAILED,
    GpuRefusal.WORKER_FAILED: _WORKER_FAILED,
}
# What a GPU call can raise beside the refusals in words (`gr.Error`).
_SERVICE_FAILURES = (
    httpx.HTTPError, OSError, RuntimeError, ValueError, LookupError, AssertionError,
)  # fmt: skip


def can_paint() -> bool:
    """Whether this server has what painting takes: a LoRA, the packages, and a GPU."""
    if not os.environ.get(LORA_VARIABLE):
        return False
    if any(importlib.util.find_spec(name) is None for name in _PACKAGES):
        return False
    return _wants_cpu() or _is_zero_gpu() or _has_cuda()


def _wants_cpu() -> bool:
    return os.environ.get(DEVICE_VARIABLE, "").lower() == "cpu"


def _is_zero_gpu() -> bool:
    return os.environ.get("SPACES_ZERO_GPU", "").lower() in {"1", "t", "true"}


def _has_cuda() -> bool:
    # Only here: a server that cannot paint never loads torch for it.
    import torch

    return torch.cuda.is_available()


def gpu_duration_s(base: str, lora: LoraFile, order: PictureOrder) -> int:
    """Seconds of GPU time to ask for: start the worker, load the weights, paint.

    Args:
        base: Folder of the SDXL.
        lora: The style.
        order: What to paint.
    """
    weights = count_weight_bytes(Path(base), half=True) + lora.path.stat().st_size
    seconds = START_WORKER_S + weights / LOAD_BYTES_A_SECOND + SECONDS_A_STEP * order.steps
    return min(MOST_S, math.ceil(seconds))


@dataclass(frozen=True, slots=True)
class Painted:
    """A picture, and the end of its prompt that the model did not see; mostly nothing."""

    image: Image.Image
    cut: str


@spaces.GPU(duration=gpu_duration_s)  # type: ignore[untyped-decorator]
def paint_on_gpu(base: str, lora: LoraFile, order: PictureOrder) -> Painted:
    """Load the model, paint one picture, unload it; arguments and result are plain.

    Only a `gr.Error` keeps its words on the way out of a GPU worker; its title says whose fault
    it was.
    """
    try:
        with open_painter(base, lora, "cpu" if _wants_cpu() else None) as painter:
            return Painted(painter.paint(order), painter.find_cut(order.prompt))
    except GenerationError as error:
        raise gr.Error(str(error), title=_PAINTING, print_exception=False) from error
    except StyleLoraError as error:
        raise gr.Error(str(error), title=_SETTING_UP, print_exception=False) from error


def find_style() -> LoraFile:
    """Return the LoRA that the owner has named.

    Raises:
        LoraFileError: It cannot be used.
    """
    return find_lora(os.environ.get(LORA_VARIABLE, ""))


def paint(lora: LoraFile, order: PictureOrder) -> Painted:
    """Paint one picture for a visitor.

    Call it in the thread that Gradio runs the handler in: the visitor's token is there.

    Args:
        lora: The style.
        order: What to paint.

    Raises:
        GenerationError: There is no picture; the message says why, in words for a visitor.
        StyleLoraError: The server's owner has to mend something.
    """
    # Before the GPU's time runs; and a forked GPU worker need not import it all again.
    base = str(fetch_base(choose_base(lora, None), not _wants_cpu(), _LOG.info))
    try:
        painted: Painted = paint_on_gpu(base, lora, order)
    except gr.Error as refusal:
        raise _translate(refusal) from refusal
    except _SERVICE_FAILURES as error:
        message = f"The GPU service reported an error ({type(error).__name__}). Try again."
        raise GenerationError(message) from error
    return painted


def _translate(refusal: gr.Error) -> StyleLoraError:
    """Return what the worker or the GPU service refuses as an error of ours."""
    said = str(refusal.message)
    if refusal.title == _SETTING_UP:
        return BaseModelError(said)
    if refusal.title == _PAINTING:
        return GenerationError(said)
    known = recognise_refusal(refusal.title, said)
    if known is not None:
        return GenerationError(_WORDS[known])
    return GenerationError(f"The GPU service reported an error ({refusal.title}). Try again.")
