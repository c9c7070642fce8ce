"""Convolution and frozen batch norm as one step, with a backward pass that is fast in bfloat16.

A frozen batch norm multiplies and shifts each channel, so the convolution before it can do that
with its kernels: same answers and gradients, without two more passes over every feature map.

PyTorch 2.13 falls back to reference loops for two gradients of depthwise convolutions in bfloat16
on the CPU, that of the input at stride 2 and that of a 5 x 5 kernel: 20 to 40 times slower than the
rest and three quarters of a training step. Both can be said in convolutions that are fast.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from itertools import pairwise
from typing import Any

import torch
from torch import nn
from torch.nn import functional

_SMALL_KERNEL = 3
_BIG_KERNEL = 5


@contextmanager
def fast_layers(network: nn.Module) -> Iterator[None]:
    """Run each convolution together with the batch norm that follows it, inside the block.

    Args:
        network: In its list of modules a convolution without bias stands right before its batch
            norm; the statistics of all batch norms are frozen.
    """
    pairs = [
        (layer, norm)
        for layer, norm in pairwise(network.modules())
        if isinstance(layer, nn.Conv2d) and isinstance(norm, nn.BatchNorm2d)
    ]
    for layer, norm in pairs:
        layer.forward = partial(_convolve, layer, norm)  # type: ignore[method-assign]
        norm.forward = _pass_on  # type: ignore[assignment, method-assign]
    try:
        yield
    finally:
        for layer, norm in pairs:
            del layer.forward, norm.forward  # those of their classes show again


def _pass_on(pictures: torch.Tensor) -> torch.Tensor:
    """Stand for a batch norm whose work is done."""
    return pictures


def _convolve(layer: nn.Conv2d, norm: nn.BatchNorm2d, pictures: torch.Tensor) -> torch.Tensor:
    """Apply a convolution and its frozen batch norm."""
    if norm.running_mean is None or norm.running_var is None:
        raise ValueError("Only a batch norm with statistics can be frozen.")
    scale = norm.weight / torch.sqrt(norm.running_var + norm.eps)
    shift = norm.bias - norm.running_mean * scale
    kernels = layer.weight * scale[:, None, None, None]
    size, stride = layer.kernel_size[0], layer.stride[0]
    padding = size // 2 if layer.padding == "same" else 0
    if layer.groups == 1 or (size, stride) == (_SMALL_KERNEL, 1):
        return functional.conv2d(pictures, kernels, shift, stride, padding, 1, layer.groups)
    dtype = pictures.dtype
    output: Any = _Depthwise.apply(  # type: ignore[no-untyped-call]
        pictures, kernels.to(dtype), shift.to(dtype), stride, padding
    )
    return output  # type: ignore[no-any-return]


class _Depthwise(torch.autograd.Function):
    """Depthwise convolution of pictures (N, C, H, W) with kernels (C, 1, k, k)."""

    @staticmethod
    def forward(
        ctx: Any,
        pictures: torch.Tensor,
        kernels: torch.Tensor,
        shift: torch.Tensor,
        stride: int,
        padding: int,
    ) -> torch.Tensor:
        ctx.save_for_backward(pictures, kernels)
        ctx.stride, ctx.padding = stride, padding
        return functional.conv2d(pictures, kernels, shift, stride, padding, 1, len(kernels))

    @staticmethod
    def backward(ctx: Any, *gradients: torch.Tensor) -> Any:
        pictures, kernels = ctx.saved_tensors
        gradient = gradients[0].contiguous(memory_format=torch.channels_last)
        settings = (gradient, pictures, kernels, ctx.stride, ctx.padding)
        of_pictures = (
            _native_gradients(*settings, mask=(True, False, False))[0]
            if ctx.stride == 1
            else _picture_gradient(*settings)
        )
        return of_pictures, _kernel_gradient(*settings), gradient.sum((0, 2, 3)), None, None


def _picture_gradient(
    gradient: torch.Tensor, pictures: torch.Tensor, kernels: torch.Tensor, stride: int, padding: int
) -> torch.Tensor:
    """Return the gradient of the pictures: spread over the stride, then the turned kernels."""
    reach = kernels.shape[-1] - 1
    count, channels, height, width = pictures.shape
    size = (count, channels, height + 2 * padding + reach, width + 2 * padding + reach)
    spread = torch.empty(size, dtype=gradient.dtype, memory_format=torch.channels_last).zero_()
    rows, columns = (reach + stride * side for side in gradient.shape[-2:])
    spread[:, :, reach:rows:stride, reach:columns:stride] = gradient
    result = functional.conv2d(spread, kernels.flip(2, 3), groups=channels)
    return result[:, :, padding : padding + height, padding : padding + width]


def _kernel_gradient(
    gradient: torch.Tensor, pictures: torch.Tensor, kernels: torch.Tensor, stride: int, padding: int
) -> torch.Tensor:
    """Return the gradient of the kernels; one of 5 x 5 comes from four of 3 x 3."""
    mask = (False, True, False)
    if kernels.shape[-1] != _BIG_KERNEL:
        return _native_gradients(gradient, pictures, kernels, stride, padding, mask=mask)[1]
    padded = functional.pad(pictures, [padding] * 4)
    result = torch.empty_like(kernels)
    part = kernels[:, :, :_SMALL_KERNEL, :_SMALL_KERNEL].contiguous()
    rows, columns = (stride * (side - 1) + _SMALL_KERNEL for side in gradient.shape[-2:])
    for top in (0, 2):
        for left in (0, 2):
            window = padded[:, :, top : top + rows, left : left + columns]
            window = window.contiguous(memory_format=torch.channels_last)
            of_part = _native_gradients(gradient, window, part, stride, 0, mask=mask)[1]
            result[:, :, top : top + _SMALL_KERNEL, left : left + _SMALL_KERNEL] = of_part
    return result


def _native_gradients(
    gradient: torch.Tensor,
    pictures: torch.Tensor,
    kernels: torch.Tensor,
    stride: int,
    padding: int,
    *,
    mask: tuple[bool, bool, bool],
) -> tuple[torch.Tensor, ...]:
    """Return the gradients of pictures, kernels and bias that the mask asks for."""
    backward: Any = torch.ops.aten.convolution_backward
    layout = ([stride] * 2, [padding] * 2, [1, 1], False, [0, 0], len(kernels))
    return backward(gradient, pictures, kernels, None, *layout, mask)  # type: ignore[no-any-return]
