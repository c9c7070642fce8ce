"""Which device computes, and in which number format."""

from typing import TYPE_CHECKING

from style_lora.config import Precision

if TYPE_CHECKING:
    import torch


def pick_device() -> "torch.device":
    """Return the best device of this machine: CUDA, else Apple's GPU, else the CPU."""
    import torch

    if torch.cuda.is_available():
        return torch.device("cuda")
    if torch.backends.mps.is_available():
        return torch.device("mps")
    return torch.device("cpu")


def is_available(device: "torch.device") -> bool:
    """Tell whether this machine has a device that this build of PyTorch can use.

    Args:
        device: Any of `cpu`, `cuda` and `mps`.
    """
    import torch

    if device.type == "cuda":
        return torch.cuda.is_available()
    return device.type == "cpu" or torch.backends.mps.is_available()


def pick_precision(device: "torch.device") -> Precision:
    """Return the number format that suits a device.

    bf16 where the GPU computes in it (Ampere and newer), fp16 on older ones such as the T4, else
    fp32: CPUs emulate both, and Apple's GPU has no loss scaling.

    Args:
        device: Where to compute.
    """
    import torch

    if device.type != "cuda":
        return "fp32"
    # The T4 claims bf16 but emulates it, slower than fp32.
    return "bf16" if torch.cuda.is_bf16_supported(including_emulation=False) else "fp16"


def to_dtype(precision: Precision) -> "torch.dtype":
    """Return PyTorch's name of a number format other than "auto"."""
    import torch

    return {"fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}[precision]


def name_device(device: "torch.device") -> str:
    """Return the device's name for people, such as "Tesla T4"."""
    import torch

    if device.type == "cuda":
        return str(torch.cuda.get_device_name(device))
    return {"mps": "Apple GPU", "cpu": "this CPU"}.get(device.type, device.type)


def is_short_of_memory(error: BaseException) -> bool:
    """Tell whether an error means that memory, of the GPU or the computer, did not suffice.

    Args:
        error: What a library has raised.
    """
    # PyTorch has an exception of its own for GPUs and a plain RuntimeError for the CPU.
    return isinstance(error, MemoryError) or (
        isinstance(error, RuntimeError) and "memory" in str(error).lower()
    )


def empty_caches(device: "torch.device") -> None:
    """Give back what unloaded models have left behind."""
    import gc

    import torch

    gc.collect()
    if device.type == "cuda":
        torch.cuda.empty_cache()
