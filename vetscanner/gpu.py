"""GPU or CPU, decided anew for every request; the only door to ZeroGPU.

A refused or failed GPU call falls back to the CPU for that request alone. The GPU function is a
plain function, never a generator: when a visitor leaves, Gradio closes generators on the server's
event loop and would wait there for the GPU worker.
"""

import logging
import math
import os
import threading
import traceback
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import spaces  # before torch: on ZeroGPU this package patches it

# isort: split
import numpy as np
from numpy.typing import NDArray

from vetscanner.classifier import classify as run_classifier
from vetscanner.errors import VetScannerError, VisitorLeftError
from vetscanner.gpu_failures import (
    GPU_CALL_FAILURES,
    failure_in_plain_words,
    has_visitor_left,
    model_failure,
)
from vetscanner.model_specs import ModelSpec
from vetscanner.resident import ResidentModel, wants_resident_model
from vetscanner.schema import Classification, Device

Pixels = Sequence[NDArray[np.uint8]]

# A visitor's quota is checked against the seconds asked for, and today's hardware multiplies them
# by 1.5. So they are few; a call that needs more is stopped, and the CPU answers.
START_WORKER_S = 8.0
LOAD_BYTES_A_SECOND = 200e6
SECONDS_A_PHOTO = 0.5

# Models in the memory of this process at the same time. On ZeroGPU more requests than that may be
# at work, since most of them wait for a GPU and hold nothing but their photos. Threads of their
# own, since each thread that has run torch keeps its own helpers and buffers: in the many threads
# of Gradio they would add up.
MODELS_AT_ONCE = 2
_CPU_THREADS = ThreadPoolExecutor(MODELS_AT_ONCE, thread_name_prefix="classify")
_REQUESTS_ON_ZERO_GPU = 8

_GPU_REASON = "A GPU was free for this request."
_NO_GPU_REASON = "This machine has no GPU."

_LOG = logging.getLogger(__name__)
_RESIDENT = ResidentModel()
_PREPARED: set[Path] = set()
_PREPARING = threading.Lock()
_TRIAL_PHOTO = np.full((64, 64, 3), 127, np.uint8)


def is_zero_gpu() -> bool:
    """Whether this process runs on ZeroGPU hardware (the variable is Hugging Face's own)."""
    return os.environ.get("SPACES_ZERO_GPU", "").lower() in {"1", "t", "true"}


def requests_at_once() -> int:
    """How many triage requests may be at work at the same time; the others queue."""
    return _REQUESTS_ON_ZERO_GPU if is_zero_gpu() else MODELS_AT_ONCE


def gpu_duration_s(photos: Pixels, spec: ModelSpec) -> int:
    """Seconds of GPU time to ask for: start the worker, load the weights, look at the photos."""
    weights = sum(file.stat().st_size for file in spec.path.glob("*.safetensors"))
    seconds = START_WORKER_S + weights / LOAD_BYTES_A_SECOND + SECONDS_A_PHOTO * len(photos)
    return math.ceil(seconds)


@spaces.GPU(duration=gpu_duration_s)  # type: ignore[untyped-decorator]
def classify_on_gpu(photos: Pixels, spec: ModelSpec) -> Classification:
    """Load the model on the GPU, look at the photos, unload it; arguments and result are plain.

    A model that fails is an exception, not a result: it can leave CUDA unusable, and the package
    reuses a worker unless it raised.
    """
    try:
        return _run(photos, spec, Device.GPU, _GPU_REASON)
    except VetScannerError as error:
        _LOG.warning("The model failed on the GPU.", exc_info=error)
        raise model_failure(error) from error


def classify(photos: Pixels, spec: ModelSpec) -> Classification:
    """Classify photos on a GPU where one is to be had, else on the CPU.

    Call it in the thread that Gradio runs the handler in: the visitor's token, and where messages
    go, are in that thread's context variables.

    Args:
        photos: uint8 RGB arrays (H, W, 3).
        spec: The model.

    Returns:
        The predictions, with the device and the reason for it in plain words.

    Raises:
        ModelLoadError: The model cannot be loaded on the CPU either.
        InferenceError: The model failed on the CPU too.
        VisitorLeftError: The visitor left while waiting for a GPU.
    """
    if not _has_gpu():
        return _classify_on_cpu(photos, spec, _NO_GPU_REASON)
    prepare(spec)
    try:
        result: Classification = classify_on_gpu(photos, spec)
        return result
    except GPU_CALL_FAILURES as error:
        if has_visitor_left(error):
            message = "The visitor left while waiting for a GPU."
            raise VisitorLeftError(message) from error
        _LOG.warning("No GPU (%s: %s); the CPU answers.", type(error).__name__, error)
        reason = failure_in_plain_words(error)
        # The package's frame and its error hold each other, and with them the pipes of the worker:
        # without this they would stay open until Python looks for cycles among old objects.
        traceback.clear_frames(error.__traceback__)
    return _classify_on_cpu(photos, spec, f"No GPU for this request: {reason}.")


def prepare(spec: ModelSpec) -> None:
    """Use the model once on the CPU of ZeroGPU's main process; elsewhere do nothing.

    It imports all that the model needs: GPU workers are forks of that process and need not import
    it again, on the visitor's quota. All requests wait for the first: a worker forked in the middle
    of an import would wait for its end for ever.

    Raises:
        ModelLoadError: The model cannot be loaded.
        InferenceError: The model fails.
    """
    if not is_zero_gpu():
        return
    with _PREPARING:
        if spec.path not in _PREPARED:
            _classify_on_cpu([_TRIAL_PHOTO], spec, "")
            _PREPARED.add(spec.path)


def _has_gpu() -> bool:
    if is_zero_gpu():
        return True
    # Only here, so that a ZeroGPU server's main process never asks for CUDA.
    import torch

    return torch.cuda.is_available()


def _classify_on_cpu(photos: Pixels, spec: ModelSpec, reason: str) -> Classification:
    return _CPU_THREADS.submit(_run, photos, spec, Device.CPU, reason).result()


def _run(photos: Pixels, spec: ModelSpec, device: Device, reason: str) -> Classification:
    """Run the model where this process stands: in a GPU worker, or on a machine of one's own."""
    if wants_resident_model() and not is_zero_gpu():
        return run_classifier(photos, spec, device, reason, open_model=_RESIDENT.open)
    return run_classifier(photos, spec, device, reason)
