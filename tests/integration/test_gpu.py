"""GPU or CPU, decided for each request: what falls back, what does not, and in which words.

The real `spaces` package is imported; only the GPU function's outcome is made, with the very
exceptions that package raises (their texts were read from its source). The whole way through the
package is driven in `tests/e2e/test_zero_gpu.py`.
"""

import ast
import gc
import pickle
import threading
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import gradio as gr
import httpx
import numpy as np
import pytest
from spaces.zero.gradio import HTMLError

from tests.zero_gpu.tiny_model import write_tiny_model
from vetscanner import gpu
from vetscanner.errors import InferenceError, ModelLoadError, VisitorLeftError
from vetscanner.gpu_failures import model_failure
from vetscanner.model_specs import ModelSpec, bundled_spec, read_spec
from vetscanner.resident import ResidentModel
from vetscanner.schema import Device, SignClass

PHOTO = np.full((240, 320, 3), 127, np.uint8)
PACKAGE = Path(gpu.__file__).parent


@pytest.fixture(scope="module")
def spec(tmp_path_factory: pytest.TempPathFactory) -> ModelSpec:
    """A small model, quick to load."""
    return read_spec(write_tiny_model(tmp_path_factory.mktemp("gpu") / "model"))


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
    assert result.device_reason == "This machine has no GPU."
    assert sum(result.predictions[0].probabilities.values()) == pytest.approx(1, abs=1e-6)
    assert set(result.predictions[0].probabilities) == set(SignClass)


def refusal(title: str, message: str) -> gr.Error:
    return gr.Error(message, title=title, print_exception=False)


QUOTA = "ZeroGPU quota exceeded"
WORKER = "ZeroGPU worker error"
FALLBACKS = {
    "quota": (
        refusal(
            QUOTA,
            "You have exceeded your free ZeroGPU quota (9s requested vs. 3s left). "
            "Try again in 1 day, 1:00:00. <a href='x'>Subscribe</a> to Pro",
        ),
        "your GPU time is used up (9s requested and 3s left, try again in 1 day, 1:00:00)",
    ),
    "busy": (refusal("ZeroGPU client error", "No GPU was available"), "no GPU was free"),
    "queue": (
        HTMLError("No GPU was available after 60s. <a>Pro</a>", title="ZeroGPU queue timeout"),
        "no GPU became free in time",
    ),
    "stopped": (refusal(WORKER, "GPU task aborted"), "the GPU worker was stopped"),
    "out-of-memory": (refusal(WORKER, "OutOfMemoryError"), "the GPU had too little memory free"),
    "worker": (refusal(WORKER, "AssertionError"), "the GPU worker failed"),
    "model": (model_failure(InferenceError("CUDA failed")), "the model failed on the GPU"),
    "unknown": (refusal("ZeroGPU news", "The <b>moon</b> is full."), "The moon is full"),
    "empty": (refusal("ZeroGPU news", ""), "the GPU service reported an error"),
    "down": (httpx.ConnectError("refused"), "the GPU service could not be reached"),
    "silent": (httpx.ReadTimeout("60 s"), "the GPU service could not be reached"),
    "dropped": (httpx.RemoteProtocolError("dropped"), "the GPU service could not be reached"),
    "no-fork": (BlockingIOError("fork"), "the GPU service could not be reached"),
    "server-error": (RuntimeError("ZeroGPU API /schedule error: 500"), "service reported an error"),
    "stream-ended": (RuntimeError("Unexpected end of stream"), "service reported an error"),
    "no-sense": (ValueError("not JSON"), "service reported an error"),
    "no-header": (KeyError("content-type"), "service reported an error"),
}


@pytest.mark.parametrize(("error", "words"), FALLBACKS.values(), ids=FALLBACKS)
def test_a_refused_or_failed_gpu_call_falls_back(
    gpu_that_raises: Callable[[Exception], None], spec: ModelSpec, error: Exception, words: str
) -> None:
    gpu_that_raises(error)
    result = gpu.classify([PHOTO], spec)
    assert result.device is Device.CPU
    assert result.device_reason.startswith("No GPU for this request: ")
    assert words in result.device_reason
    assert result.device_reason.endswith(".")
    assert not set("<>") & set(result.device_reason)


@pytest.mark.parametrize("when", ["while queueing", "on queue success"])
def test_a_visitor_who_left_gets_no_cpu_time(
    gpu_that_raises: Callable[[Exception], None], spec: ModelSpec, when: str
) -> None:
    gpu_that_raises(RuntimeError(f"Connection closed by visitor {when}"))
    with pytest.raises(VisitorLeftError):
        gpu.classify([PHOTO], spec)


def test_a_broken_model_is_an_error_on_every_device(
    gpu_that_raises: Callable[[Exception], None], spec: ModelSpec, tmp_path: Path
) -> None:
    gpu_that_raises(refusal(WORKER, "ModelLoadError"))
    with pytest.raises(ModelLoadError):
        gpu.classify([PHOTO], replace(spec, path=tmp_path))


def test_a_mistake_of_ours_is_not_taken_for_a_gpu_failure(
    gpu_that_raises: Callable[[Exception], None], spec: ModelSpec
) -> None:
    gpu_that_raises(NameError("undefined"))
    with pytest.raises(NameError):
        gpu.classify([PHOTO], spec)


def test_the_decision_is_made_anew_for_each_request(
    gpu_that_raises: Callable[[Exception], None],
    monkeypatch: pytest.MonkeyPatch,
    spec: ModelSpec,
) -> None:
    gpu_that_raises(refusal(QUOTA, "You have exceeded your ZeroGPU runs limit. "))
    answers = [gpu.classify([PHOTO], spec)]
    on_gpu = replace(answers[0], device=Device.GPU)
    monkeypatch.setattr(gpu, "classify_on_gpu", lambda *_: on_gpu)
    answers.append(gpu.classify([PHOTO], spec))
    assert [answer.device for answer in answers] == [Device.CPU, Device.GPU]


def test_out_of_memory_is_told_apart_however_deep_it_lies() -> None:
    class OutOfMemoryError(RuntimeError):
        """Named as torch's."""

    error = InferenceError("The model failed")
    error.__cause__ = ValueError("in between")
    error.__cause__.__cause__ = OutOfMemoryError("CUDA out of memory")
    assert "too little memory" in str(model_failure(error).message)
    assert "too little memory" not in str(model_failure(InferenceError("other")).message)


def test_a_failure_keeps_its_words_across_the_process_boundary() -> None:
    failure = model_failure(InferenceError("CUDA failed"))
    copy = pickle.loads(pickle.dumps(failure))
    assert (copy.message, copy.title) == (failure.message, failure.title)


def test_a_classification_crosses_the_process_boundary_unchanged(spec: ModelSpec) -> None:
    result = gpu.classify([PHOTO], spec)
    assert pickle.loads(pickle.dumps(result)) == result
    assert len(pickle.dumps(result)) < 4096


def test_the_duration_grows_with_photos_and_weights_and_stays_short(
    spec: ModelSpec, tmp_path: Path
) -> None:
    one, many = gpu.gpu_duration_s([PHOTO], spec), gpu.gpu_duration_s([PHOTO] * 12, spec)
    assert 0 < one < many <= 20
    with (tmp_path / "model.safetensors").open("wb") as weights:
        weights.truncate(2 * 10**9)
    assert gpu.gpu_duration_s([PHOTO], replace(spec, path=tmp_path)) >= one + 9


def test_the_gpu_function_is_not_a_generator() -> None:
    """Gradio closes generators on the event loop and would wait there for the worker."""
    import inspect

    assert not inspect.isgeneratorfunction(inspect.unwrap(gpu.classify_on_gpu))


def test_no_module_holds_a_model() -> None:
    """On ZeroGPU a model at module level is packed away and answers zeros on the CPU."""
    loaders = {"from_pretrained", "from_config", "open_classifier", "pipeline"}
    for path in PACKAGE.glob("*.py"):
        for statement in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(statement, ast.FunctionDef | ast.ClassDef | ast.If):
                continue
            called = {
                getattr(call.func, "attr", getattr(call.func, "id", ""))
                for call in ast.walk(statement)
                if isinstance(call, ast.Call)
            }
            assert not called & loaders, path


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch) -> Iterator[ResidentModel]:
    """A resident model that the owner has asked for."""
    resident = ResidentModel()
    monkeypatch.setenv("VETSCANNER_KEEP_LOADED", "1")
    monkeypatch.setattr(gpu, "_RESIDENT", resident)
    yield resident
    resident.close()


def test_a_resident_model_is_loaded_once_and_answers_the_same(
    kept: ResidentModel, monkeypatch: pytest.MonkeyPatch, spec: ModelSpec
) -> None:
    first, second = gpu.classify([PHOTO], spec), gpu.classify([PHOTO], spec)
    assert second.load_s < first.load_s
    with kept.open(spec) as classifier:
        once = classifier
    with kept.open(spec) as classifier:
        assert classifier is once
    monkeypatch.setenv("VETSCANNER_KEEP_LOADED", "0")
    assert gpu.classify([PHOTO], spec).predictions == first.predictions == second.predictions


@pytest.mark.usefixtures("kept")
def test_a_resident_model_serves_many_threads(spec: ModelSpec) -> None:
    photos = [np.full((64, 64, 3), 20 * number, np.uint8) for number in range(12)]
    expected = [gpu.classify([photo], spec).predictions for photo in photos]
    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(lambda photo: gpu.classify([photo], spec).predictions, photos))
    assert answers == expected


def test_another_model_replaces_the_resident_one(
    kept: ResidentModel, spec: ModelSpec, tmp_path: Path
) -> None:
    other = read_spec(write_tiny_model(tmp_path / "other", width=16))
    with kept.open(spec) as classifier:
        old = weakref.ref(classifier)
    del classifier
    assert gpu.classify([PHOTO], other).model_id == "other"
    gc.collect()
    assert old() is None


def test_a_failed_resident_model_is_loaded_afresh(kept: ResidentModel, spec: ModelSpec) -> None:
    def fail(**_: object) -> None:
        raise RuntimeError("CUDA error: an illegal memory access was encountered")

    with kept.open(spec) as classifier:
        assert classifier._network is not None
        classifier._network.forward = fail  # type: ignore[assignment]
    with pytest.raises(InferenceError):
        gpu.classify([PHOTO], spec)
    assert gpu.classify([PHOTO], spec).device is Device.CPU


def test_on_zero_gpu_nothing_stays_loaded(
    kept: ResidentModel, gpu_that_raises: Callable[[Exception], None], spec: ModelSpec
) -> None:
    gpu_that_raises(refusal("ZeroGPU client error", "No GPU was available"))
    gpu.classify([PHOTO], spec)
    assert kept._classifier is None


def test_no_more_models_are_loaded_at_once_than_allowed(
    monkeypatch: pytest.MonkeyPatch, spec: ModelSpec
) -> None:
    lock, now, most = threading.Lock(), 0, 0
    run = gpu.run_classifier

    def counted(*arguments: object, **options: object) -> object:
        nonlocal now, most
        with lock:
            now += 1
            most = max(most, now)
        try:
            return run(*arguments, **options)  # type: ignore[arg-type]
        finally:
            with lock:
                now -= 1

    monkeypatch.setattr(gpu, "run_classifier", counted)
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: gpu.classify([PHOTO], spec), range(16)))
    assert len(answers) == 16
    assert 1 <= most <= gpu.MODELS_AT_ONCE
