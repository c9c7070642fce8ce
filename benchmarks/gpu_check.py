"""Triage on a real GPU: is its memory free after each request, are the answers those of the CPU?

    python -m benchmarks.gpu_check [--requests 50] [--rehearse]

Uses the bundled model and a random one of the size of ViT-B (made here, nothing is fetched). Exit
status 0 when all holds, 1 when something does not, 2 when there is no CUDA. `--rehearse` goes
through the same steps on the CPU, to try this script where there is no GPU.
"""

import argparse
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import numpy as np
from numpy.typing import NDArray

from tests.zero_gpu.tiny_model import write_tiny_model
from vetscanner import gpu
from vetscanner.classifier import classify
from vetscanner.model_specs import ModelSpec, bundled_spec, read_spec
from vetscanner.schema import Classification, Device

PHOTOS_A_REQUEST = 3
PHOTO_SHAPE = (768, 1024, 3)
# Convolutions on CUDA use TensorFloat-32 (10 bits of mantissa) where the CPU uses 23.
TOLERANCE = 0.02
PASSED, FAILED, NO_CUDA = 0, 1, 2


@dataclass(frozen=True, slots=True)
class Memory:
    """What this process holds on the GPU, in MiB."""

    allocated_mb: float
    reserved_mb: float
    peak_mb: float


def main(arguments: Sequence[str] | None = None) -> int:
    """Check; returns the exit status."""
    parser = argparse.ArgumentParser(description="Triage on a real GPU.")
    parser.add_argument("--requests", type=int, default=50)
    parser.add_argument("--rehearse", action="store_true", help="the same steps on the CPU")
    options = parser.parse_args(arguments)
    import torch

    if not torch.cuda.is_available() and not options.rehearse:
        print("This machine has no CUDA: nothing was checked.", file=sys.stderr)
        return NO_CUDA
    device = Device.CPU if options.rehearse else Device.GPU
    where = "CPU (rehearsal)" if options.rehearse else torch.cuda.get_device_name()
    print(f"{where}, torch {torch.__version__}, {options.requests} requests a model")
    print("| model | load s | infer s | unload s | peak MB | left MB | off the CPU by |")
    print("|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        large = write_tiny_model(Path(folder) / "vit-b", width=768, layers=12, side_px=224)
        good = [
            check(spec, device, options.requests) for spec in (bundled_spec(), read_spec(large))
        ]
    return PASSED if all(good) else FAILED


def check(spec: ModelSpec, device: Device, requests: int) -> bool:
    """Send requests, print a row, and say whether everything holds."""
    photos = draw_photos()
    expected = classify(photos, spec, Device.CPU, "")
    ask(photos, spec, device)  # CUDA's own buffers, which stay, come with the first request
    before = measure_memory(device)
    answers, left_mb = [], 0.0
    for _ in range(requests):
        answers.append(ask(photos, spec, device))
        after = measure_memory(device)
        left_mb = max(left_mb, after.allocated_mb - before.allocated_mb)
        left_mb = max(left_mb, after.reserved_mb - before.reserved_mb)
    off = max(difference(answer, expected) for answer in answers)
    print(
        f"| {spec.model_id} | {median(a.load_s for a in answers):.3f} "
        f"| {median(a.infer_s for a in answers):.3f} | {median(a.unload_s for a in answers):.3f} "
        f"| {measure_memory(device).peak_mb:.0f} | {left_mb:.1f} | {off:.4f} |",
        flush=True,
    )
    ran_there = all(answer.device is device for answer in answers)
    return ran_there and left_mb <= 0.0 and off <= TOLERANCE


def ask(photos: Sequence[NDArray[np.uint8]], spec: ModelSpec, device: Device) -> Classification:
    """Send one request the way the page does, or straight to the CPU in a rehearsal."""
    if device is Device.GPU:
        return gpu.classify(photos, spec)
    return classify(photos, spec, device, "")


def draw_photos() -> list[NDArray[np.uint8]]:
    """Return photos of coloured noise, the same ones each time."""
    random = np.random.default_rng(20261130)
    return [random.integers(0, 256, PHOTO_SHAPE, np.uint8) for _ in range(PHOTOS_A_REQUEST)]


def difference(one: Classification, other: Classification) -> float:
    """Return the largest difference between two probabilities of the same photo and sign."""
    return max(
        abs(probability - theirs.probabilities[sign])
        for ours, theirs in zip(one.predictions, other.predictions, strict=True)
        for sign, probability in ours.probabilities.items()
    )


def measure_memory(device: Device) -> Memory:
    """Measure what torch holds on the GPU, and the most it has held; nothing in a rehearsal."""
    import torch

    if device is Device.CPU:
        return Memory(0.0, 0.0, 0.0)
    in_use = torch.cuda.memory_allocated(), torch.cuda.memory_reserved()
    allocated, reserved = (amount / 2**20 for amount in in_use)
    return Memory(allocated, reserved, torch.cuda.max_memory_allocated() / 2**20)


if __name__ == "__main__":
    sys.exit(main())
