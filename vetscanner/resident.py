"""A model that stays in memory between requests, for owners who ask for it.

`VETSCANNER_KEEP_LOADED=1` trades memory for speed on a machine of one's own. It has no effect on
ZeroGPU, where the GPU belongs to a worker that may be gone after the request.
"""

import os
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from vetscanner.classifier import Classifier, TorchDevice, open_classifier
from vetscanner.errors import InferenceError
from vetscanner.model_specs import ModelSpec

KEEP_LOADED_VARIABLE = "VETSCANNER_KEEP_LOADED"


def wants_resident_model() -> bool:
    """Whether the owner asked for a model that stays loaded."""
    return os.environ.get(KEEP_LOADED_VARIABLE, "").strip().lower() in {"1", "t", "true", "yes"}


class ResidentModel:
    """Keeps the model that was used last; one request at a time has it.

    The lock is held while a request uses the model, so that none can lose it in the middle when
    another asks for a different one. Two requests at once would not be faster: one inference
    already uses every core, or the whole GPU.
    """

    def __init__(self) -> None:
        """Start without a model; the first request loads it."""
        self._lock = threading.Lock()
        self._loaded = ExitStack()
        self._key: tuple[ModelSpec, TorchDevice] | None = None
        self._classifier: Classifier | None = None

    @contextmanager
    def open(self, spec: ModelSpec, device: TorchDevice = "cpu") -> Iterator[Classifier]:
        """Yield the model, loaded before or now; it stays loaded afterwards.

        Args:
            spec: Which model; another one than before replaces it.
            device: Where it runs.

        Raises:
            ModelLoadError: When the weights or settings cannot be loaded.
        """
        with self._lock:
            classifier = self._find(spec, device)
            try:
                yield classifier
            except InferenceError:
                # A CUDA error can leave the model unusable: the next request starts afresh.
                self._unload()
                raise

    def close(self) -> None:
        """Unload the model, after the request that uses it."""
        with self._lock:
            self._unload()

    def _find(self, spec: ModelSpec, device: TorchDevice) -> Classifier:
        if self._classifier is None or self._key != (spec, device):
            self._unload()
            self._classifier = self._loaded.enter_context(open_classifier(spec, device))
            self._key = (spec, device)
        return self._classifier

    def _unload(self) -> None:
        self._classifier, self._key = None, None
        self._loaded.close()
