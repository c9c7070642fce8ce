"""One tiny SDXL for the whole session, in one thread, where sums have one order."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from tests.style_lora.tiny_sdxl import make_tiny_sdxl


@pytest.fixture(scope="session", autouse=True)
def _one_thread() -> Iterator[None]:
    """Compute with one thread, here and in every command: tiny sums are slower with two."""
    before = torch.get_num_threads(), os.environ.get("OMP_NUM_THREADS")
    torch.set_num_threads(1)
    os.environ["OMP_NUM_THREADS"] = "1"
    yield
    torch.set_num_threads(before[0])
    os.environ.pop("OMP_NUM_THREADS")
    if before[1] is not None:
        os.environ["OMP_NUM_THREADS"] = before[1]


@pytest.fixture(scope="session")
def tiny_base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny SDXL as a folder of diffusers."""
    return make_tiny_sdxl(tmp_path_factory.mktemp("base") / "tiny-sdxl")
