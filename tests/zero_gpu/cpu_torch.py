"""What a CPU build of torch lacks to be driven by the real `spaces` package.

Three things are missing before the package can be imported; nothing of the package is changed for
that. To let a GPU call end well on a machine without CUDA, its worker is told that the device is
there (`spaces.zero.torch.init`), and the classifier's seam puts the model on the CPU in its stead.
The name of the device, which the device service chooses, decides what goes wrong on it.
"""

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch

import vetscanner.classifier
from vetscanner.classifier import Classifier, TorchDevice
from vetscanner.model_specs import ModelSpec

CUDA_IN_MAIN_PROCESS = "The main process has touched CUDA."
SLOW_S = 3.0


def _no_cuda_init() -> None:
    raise AssertionError("A CPU build of torch was asked to start CUDA.")


def _is_never_in_bad_fork() -> bool:
    return False


def complete_torch() -> None:
    """Add what `spaces` looks for when it is imported on ZeroGPU."""
    torch.version.cuda = torch.version.cuda or "13.0"
    if not hasattr(torch._C, "_cuda_init"):
        torch._C._cuda_init = _no_cuda_init
    # The CPU build has a lambda here, which cannot be pickled to the process that asks.
    torch.cuda._is_in_bad_fork = _is_never_in_bad_fork


def offer_devices() -> None:
    """Give the workers devices: "GPU-fine", and others with a fault; call it after `spaces`."""
    import spaces.zero.torch as zero_torch

    torch._C._cuda_init = _tell_of_cuda
    zero_torch.init = _use_device(zero_torch.init)
    zero_torch.move = _move_nothing
    vetscanner.classifier.open_classifier = _open_on_cpu(vetscanner.classifier.open_classifier)


def _tell_of_cuda() -> None:
    print(CUDA_IN_MAIN_PROCESS, file=sys.stderr, flush=True)
    raise RuntimeError(CUDA_IN_MAIN_PROCESS)


def _move_nothing(**_: object) -> None:
    """Move no tensors to the device: the app keeps none at module level."""


def _use_device(start_cuda: Callable[[str], None]) -> Callable[[str], None]:
    def init(device: str) -> None:
        if device == "GPU-broken":
            start_cuda(device)
        os.environ["CUDA_VISIBLE_DEVICES"] = device

    return init


def _open_on_cpu(open_classifier: Callable[..., Any]) -> Callable[..., Any]:
    @contextmanager
    def opened(spec: ModelSpec, device: TorchDevice = "cpu") -> Iterator[Classifier]:
        with open_classifier(spec, "cpu") as classifier:
            if device == "cuda":
                _play_fault(classifier, os.environ["CUDA_VISIBLE_DEVICES"])
            yield classifier

    return opened


def _play_fault(classifier: Classifier, device: str) -> None:
    if device == "GPU-slow":
        time.sleep(SLOW_S)
    if device == "GPU-full":
        assert classifier._network is not None
        classifier._network.forward = _raise_out_of_memory  # type: ignore[assignment]


def _raise_out_of_memory(**_: object) -> None:
    raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")
