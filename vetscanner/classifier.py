"""Load, infer, unload: at run time the only door to torch and transformers.

Both are imported inside functions, so that importing this module costs nothing and a Space can
import `spaces` first. No model outlives its `with` block.
"""

import gc
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from vetscanner.errors import InferenceError, ModelLoadError
from vetscanner.evidence import record_features
from vetscanner.heap import trim_heap
from vetscanner.model_specs import ModelSpec
from vetscanner.schema import Classification, Device, Prediction, SignClass
from vetscanner.weights import load_whole
from vetscanner.zero_shot import load_zero_shot

if TYPE_CHECKING:
    from transformers import BaseImageProcessor, PreTrainedModel

TorchDevice = Literal["cpu", "cuda"]
# Bounds the memory of a request with many photos; larger batches are no faster on two cores.
BATCH_SIZE = 8
# A full collection of garbage takes about as long as a triage: now and then, not each time.
FULL_COLLECTION_EVERY = 8

# What the libraries raise over a model folder in which something is missing or does not fit.
_BROKEN_MODEL = (OSError, ValueError, LookupError, AttributeError, TypeError, RuntimeError)

# Building a network replaces torch's default number type and functions for all threads meanwhile:
# two at once could leave them replaced.
_BUILDING = threading.Lock()


class _FrozenHeap:
    """Keeps the garbage collector off what existed before the first open model.

    The collection at the end of a request then looks only at what models brought along: a full one
    takes longer than loading does. Frozen once for all open models, or a second request would
    freeze the first one's model as well.
    """

    def __init__(self) -> None:
        """Start with no open model."""
        self._lock = threading.Lock()
        self._open_models = 0
        self._thaws = 0

    def __enter__(self) -> None:
        """Freeze before the first model is loaded."""
        # Young garbage first: frozen, it would become old and stay. The sockets and pipes of GPU
        # calls hang on it.
        gc.collect(1)
        with self._lock:
            if self._open_models == 0:
                gc.freeze()
            self._open_models += 1

    def __exit__(self, *error: object) -> None:
        """Thaw after the last model is unloaded."""
        with self._lock:
            self._open_models -= 1
            if self._open_models > 0:
                return
            gc.unfreeze()
            self._thaws += 1
            is_due = self._thaws % FULL_COLLECTION_EVERY == 0
        if is_due:
            # Outside the lock: what is collected may be a model that was left open.
            gc.collect()


_HEAP = _FrozenHeap()


def _renew_locks() -> None:
    """Give a forked GPU worker locks that no thread of its parent holds."""
    global _BUILDING, _HEAP
    _BUILDING = threading.Lock()
    _HEAP = _FrozenHeap()


os.register_at_fork(after_in_child=_renew_locks)


class Classifier:
    """A loaded model; usable only inside the `with` block of `open_classifier`."""

    def __init__(
        self,
        spec: ModelSpec,
        device: TorchDevice,
        network: "PreTrainedModel",
        preprocessor: "BaseImageProcessor",
    ) -> None:
        """Keep the loaded parts; see `open_classifier`."""
        self._spec = spec
        self._device = device
        self._network: PreTrainedModel | None = network
        self._preprocessor = preprocessor
        self._columns = _sign_columns(spec, network.config.id2label or {})

    def predict(self, photos: Sequence[NDArray[np.uint8]]) -> tuple[Prediction, ...]:
        """Look at photos.

        Args:
            photos: uint8 RGB arrays (H, W, 3), upright.

        Returns:
            Calibrated probabilities over all sign classes, one for each photo, in order.

        Raises:
            InferenceError: When the model fails, answers with no numbers, or is closed already.
        """
        network = self._network
        if network is None:
            message = "The model is unloaded already: call predict inside the with block."
            raise InferenceError(message)
        try:
            batches = [
                self._look(network, photos[start : start + BATCH_SIZE])
                for start in range(0, len(photos), BATCH_SIZE)
            ]
        except (RuntimeError, MemoryError) as error:
            message = (
                f"The model failed on {self._device} ({type(error).__name__}: {error}). "
                "Try again with fewer photos, or with the device cpu."
            )
            raise InferenceError(message) from error
        return tuple(
            self._to_prediction(row, places)
            for logits, maps in batches
            for row, places in zip(logits, maps, strict=True)
        )

    def close(self) -> None:
        """Let go of the network; `predict` fails from now on."""
        self._network = None

    def _look(
        self, network: "PreTrainedModel", photos: Sequence[NDArray[np.uint8]]
    ) -> tuple[NDArray[np.float64], Sequence[NDArray[np.float64] | None]]:
        """Return logits, float64 (photos, labels), and the map of each photo."""
        import torch

        inputs = self._preprocessor(
            list(photos), return_tensors="pt", input_data_format="channels_last"
        )["pixel_values"]
        with torch.inference_mode():
            pixels = inputs.to(self._device)
            with record_features(network) as record:
                logits = network(pixel_values=pixels).logits.float()
                maps = None if self._is_cut else record.class_maps()
            if self._spec.mirror:
                mirrored = network(pixel_values=pixels.flip(-1)).logits.float()
                logits = (logits + mirrored) / 2
            numbers = cast("NDArray[np.float64]", logits.cpu().double().numpy())
        return numbers, [None] * len(photos) if maps is None else list(maps)

    @property
    def _is_cut(self) -> bool:
        """Whether the model sees only the middle of a photo, so that its map fits no photo."""
        return bool(getattr(self._preprocessor, "do_center_crop", False))

    def _to_prediction(
        self, logits: NDArray[np.float64], places: NDArray[np.float64] | None
    ) -> Prediction:
        """Turn the logits (labels,) and the map of one photo into what is said of the signs."""
        if not np.isfinite(logits).all():
            message = (
                "The model gave no numbers for a photo: check the model or use the bundled one."
            )
            raise InferenceError(message)
        scaled = np.exp((logits - logits.max()) / self._spec.temperature)
        totals = self._columns @ (scaled / scaled.sum())
        return Prediction(
            {sign: float(total) for sign, total in zip(SignClass, totals, strict=True)},
            None if places is None else self._sign_maps(places),
        )

    def _sign_maps(self, places: NDArray[np.float64]) -> NDArray[np.float32]:
        """Turn a map of the labels (labels, rows, columns) into one of the signs."""
        shares = self._columns / np.maximum(self._columns.sum(axis=1, keepdims=True), 1.0)
        signs = np.einsum("sl,lhw->shw", shares, places)
        return np.asarray(signs - signs.mean(axis=0), dtype=np.float32)


@contextmanager
def open_classifier(spec: ModelSpec, device: TorchDevice = "cpu") -> Iterator[Classifier]:
    """Load a model, yield it, and unload it whatever happens.

    Args:
        spec: Which model.
        device: "cpu" never touches CUDA.

    Raises:
        ModelLoadError: When the weights or settings cannot be loaded.
    """
    with _HEAP:
        classifier = Classifier(spec, device, _load_network(spec, device), _load_preprocessor(spec))
        try:
            yield classifier
        finally:
            _unload(classifier, device)


OpenModel = Callable[[ModelSpec, TorchDevice], AbstractContextManager[Classifier]]


def classify(
    photos: Sequence[NDArray[np.uint8]],
    spec: ModelSpec,
    device: Device,
    device_reason: str,
    open_model: OpenModel | None = None,
) -> Classification:
    """Load the model, look at the photos, unload the model: the story of one request.

    Args:
        photos: uint8 RGB arrays (H, W, 3), upright.
        spec: Which model.
        device: Where to run.
        device_reason: Why there, in plain words; handed on to the report.
        open_model: Gives the loaded model; `open_classifier` by default.

    Raises:
        ModelLoadError: When the model cannot be loaded.
        InferenceError: When the model fails on the photos.
    """
    torch_device: TorchDevice = "cuda" if device is Device.GPU else "cpu"
    start = time.perf_counter()
    with (open_model or open_classifier)(spec, torch_device) as classifier:
        loaded = time.perf_counter()
        predictions = classifier.predict(photos)
        inferred = time.perf_counter()
    unloaded = time.perf_counter()
    return Classification(
        predictions=predictions,
        model_id=spec.model_id,
        revision=spec.revision,
        calibrated=spec.calibrated,
        device=device,
        device_reason=device_reason,
        load_s=loaded - start,
        infer_s=inferred - loaded,
        unload_s=unloaded - inferred,
    )


def _load_network(spec: ModelSpec, device: TorchDevice) -> "PreTrainedModel":
    """Load the network in float32 and eval mode."""
    from safetensors import SafetensorError

    try:
        with _BUILDING:
            network: Any = (
                load_zero_shot(spec.path, device)
                if spec.is_zero_shot
                else _assemble(spec, device) or _convert(spec, device)
            )
    except (*_BROKEN_MODEL, AssertionError, SafetensorError) as error:
        message = f"Cannot load the model {spec.model_id} from {spec.path}: {error}"
        raise ModelLoadError(message) from error
    return cast("PreTrainedModel", network.eval())


def _assemble(spec: ModelSpec, device: TorchDevice) -> "PreTrainedModel | None":
    """Build the network without memory and hang the weights of the file into it: no double copy.

    Ten times as fast as `from_pretrained`, but only for weights that fit name by name.

    Returns:
        None when they do not, or when the network computes tensors that are in no file.
    """
    from accelerate import init_empty_weights
    from safetensors.torch import load_file
    from transformers import AutoConfig, AutoModelForImageClassification

    build: Any = AutoModelForImageClassification.from_config
    config = AutoConfig.from_pretrained(spec.path, local_files_only=True)
    with init_empty_weights(include_buffers=True):
        network = build(config)
    for shard in sorted(spec.path.glob("*.safetensors")):
        weights = {
            name: tensor.float() if tensor.is_floating_point() else tensor
            for name, tensor in load_file(shard, device=device).items()
        }
        if network.load_state_dict(weights, strict=False, assign=True).unexpected_keys:
            return None
    network.tie_weights()
    tensors = (*network.parameters(), *network.buffers())
    return None if any(tensor.is_meta for tensor in tensors) else network


def _convert(spec: ModelSpec, device: TorchDevice) -> "PreTrainedModel":
    """Load weights whose names transformers has to translate first, and miss none."""
    from transformers import AutoModelForImageClassification

    network = load_whole(AutoModelForImageClassification, spec.path)
    return cast("PreTrainedModel", network.to(device))


def _load_preprocessor(spec: ModelSpec) -> "BaseImageProcessor":
    """Load the preprocessor in its Pillow form: the same on every machine, no torchvision."""
    from transformers import AutoImageProcessor

    load: Any = AutoImageProcessor.from_pretrained
    try:
        preprocessor = load(spec.path, backend="pil", local_files_only=True)
    except _BROKEN_MODEL as error:
        message = f"Cannot load the preprocessor of {spec.model_id} from {spec.path}: {error}"
        raise ModelLoadError(message) from error
    return cast("BaseImageProcessor", preprocessor)


def _unload(classifier: Classifier, device: TorchDevice) -> None:
    """Give the memory of the model back to the machine."""
    network = classifier._network
    classifier.close()
    if network is not None and device == "cuda":
        network.cpu()
    del network
    gc.collect()
    if device == "cuda":
        import torch

        torch.cuda.empty_cache()
    trim_heap()


def _sign_columns(
    spec: ModelSpec, id2label: Mapping[int, str] | Mapping[str, str]
) -> NDArray[np.float64]:
    """Return the 0/1 matrix (signs, labels) that adds up the labels of each sign."""
    columns = np.zeros((len(SignClass), len(id2label)))
    signs = list(SignClass)
    for index, label in id2label.items():
        columns[signs.index(spec.labels[label]), int(index)] = 1.0
    return columns
