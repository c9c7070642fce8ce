"""GPU or CPU, decided for each request: what falls back and what does not.

The real `spaces` package is imported; only the GPU function's outcome is made, with the very
exceptions that package raises (their texts were read from its source).
"""

from collections.abc import Callable

import gradio as gr
import httpx
import numpy as np
import pytest

from vetscanner import gpu
from vetscanner.errors import InferenceError, ModelLoadError
from vetscanner.model_specs import bundled_spec
from vetscanner.schema import Device, SignClass

PHOTO = np.full((240, 320, 3), 127, np.uint8)


@pytest.fixture
def gpu_that_raises(monkeypatch: pytest.MonkeyPatch) -> Callable[[Exception], None]:
    """Pretend that a GPU is offered and that its call raises."""

    def arrange(error: Exception) -> None:
        def refuse(*_: object) -> None:
            raise error

        monkeypatch.setenv("SPACES_ZERO_GPU", "true")
        monkeypatch.setattr(gpu, "classify_on_gpu", refuse)

    return arrange


def test_without_a_gpu_the_cpu_answers_and_says_so() -> None:
    result = gpu.classify([PHOTO], bundled_spec())
    assert result.device is Device.CPU
    assert "no GPU" in result.device_reason
    assert sum(result.predictions[0].probabilities.values()) == pytest.approx(1, abs=1e-6)
    assert set(result.predictions[0].probabilities) == set(SignClass)


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (gr.Error("You have exceeded your <a href='x'>free</a> quota"), "exceeded your free quota"),
        (gr.Error("No GPU was available"), "No GPU was available"),
        (gr.Error("OutOfMemoryError", title="ZeroGPU worker error"), "OutOfMemoryError"),
        (httpx.ConnectError("refused"), "could not be reached"),
        (httpx.RemoteProtocolError("dropped"), "could not be reached"),
        (RuntimeError("ZeroGPU API /schedule error: 500"), "reported an error"),
        (InferenceError("CUDA failed"), "failed while it looked"),
    ],
    ids=["quota", "busy", "out-of-memory", "down", "dropped", "server-error", "gpu-failed"],
)
def test_a_refused_or_failed_gpu_call_falls_back(
    gpu_that_raises: Callable[[Exception], None], error: Exception, words: str
) -> None:
    gpu_that_raises(error)
    result = gpu.classify([PHOTO], bundled_spec())
    assert result.device is Device.CPU
    assert words in result.device_reason
    assert "<" not in result.device_reason


@pytest.mark.parametrize(
    "error",
    [
        RuntimeError("Connection closed by visitor while queueing"),
        RuntimeError("Unexpected end of stream"),
        ModelLoadError("no weights"),
    ],
    ids=["visitor-left", "stream-ended", "broken-model"],
)
def test_what_the_cpu_cannot_mend_does_not_fall_back(
    gpu_that_raises: Callable[[Exception], None], error: Exception
) -> None:
    gpu_that_raises(error)
    with pytest.raises(type(error)):
        gpu.classify([PHOTO], bundled_spec())


def test_the_duration_grows_with_the_photos_and_stays_short() -> None:
    spec = bundled_spec()
    one, many = gpu.gpu_duration_s([PHOTO], spec), gpu.gpu_duration_s([PHOTO] * 12, spec)
    assert 0 < one < many <= 30
