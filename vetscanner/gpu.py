"""GPU or CPU, decided anew for every request; the only door to ZeroGPU.

A refused or failed GPU call falls back to the CPU for that request alone. The GPU function is a
plain function, never a generator: when a visitor leaves, Gradio closes generators on the server's
event loop and would wait there for the GPU worker.
"""

import os
import re
from collections.abc import Sequence

import spaces  # before torch: on ZeroGPU this package patches it

# isort: split
import gradio as gr
import httpx
import numpy as np
from numpy.typing import NDArray

from vetscanner.classifier import classify as run_classifier
from vetscanner.errors import InferenceError
from vetscanner.model_specs import ModelSpec
from vetscanner.schema import Classification, Device

Pixels = Sequence[NDArray[np.uint8]]

# Quota is charged by the seconds asked for, not used, and today's hardware multiplies them by 1.5:
# ask for what starting a worker and loading the model take, and a little for each photo.
START_AND_LOAD_S = 15
SECONDS_A_PHOTO = 1

_GPU_REASON = "A GPU was free for this request."
# What the `spaces` package says when nobody waits for the answer any more.
_VISITOR_LEFT = ("Connection closed by visitor", "Unexpected end of stream")


def is_zero_gpu() -> bool:
    """Whether this process runs on ZeroGPU hardware (the variable is Hugging Face's own)."""
    return os.environ.get("SPACES_ZERO_GPU", "").lower() in {"1", "t", "true"}


def gpu_duration_s(photos: Pixels, spec: ModelSpec) -> int:  # noqa: ARG001 - ZeroGPU passes both
    """Seconds of GPU time to ask for."""
    return START_AND_LOAD_S + SECONDS_A_PHOTO * len(photos)


@spaces.GPU(duration=gpu_duration_s)  # type: ignore[untyped-decorator]
def classify_on_gpu(photos: Pixels, spec: ModelSpec) -> Classification:
    """Load the model on the GPU, look at the photos, unload it; arguments and result are plain."""
    return run_classifier(photos, spec, Device.GPU, _GPU_REASON)


def classify(photos: Pixels, spec: ModelSpec) -> Classification:
    """Classify photos on a GPU where one is to be had, else on the CPU.

    Args:
        photos: uint8 RGB arrays (H, W, 3).
        spec: The model.

    Returns:
        The predictions, with the device and the reason for it in plain words.

    Raises:
        ModelLoadError: The model cannot be loaded on the CPU either.
        InferenceError: The model failed on the CPU too.
        RuntimeError: The visitor left while waiting for a GPU.
    """
    if not _has_gpu():
        return _classify_on_cpu(photos, spec, "This machine has no GPU.")
    try:
        result: Classification = classify_on_gpu(photos, spec)
        return result
    except gr.Error as refusal:
        # The package writes links into its messages; the report is plain text.
        reason = re.sub(r"<[^>]*>", "", str(refusal.message))
    except (httpx.HTTPError, OSError):
        reason = "The GPU service could not be reached."
    except InferenceError:
        reason = "The GPU failed while it looked at the photos."
    except RuntimeError as error:
        if str(error).startswith(_VISITOR_LEFT):
            raise
        reason = "The GPU service reported an error."
    return _classify_on_cpu(photos, spec, f"No GPU for this request: {reason}")


def _has_gpu() -> bool:
    if is_zero_gpu():
        return True
    # Only here, so that a ZeroGPU server's main process never asks for CUDA.
    import torch

    return torch.cuda.is_available()


def _classify_on_cpu(photos: Pixels, spec: ModelSpec, reason: str) -> Classification:
    return run_classifier(photos, spec, Device.CPU, reason)
