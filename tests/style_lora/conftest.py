"""One tiny SDXL for the whole session, in one thread, where sums have one order."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch

from archive_tools.config import DatasetConfig, Fit
from style_lora.config import TrainConfig
from style_lora.schema import TrainProgress, TrainResult
from style_lora.training import train_lora
from tests.datasets import build
from tests.sample_files import write_pdf
from tests.style_lora.tiny_sdxl import make_tiny_sdxl

STEPS = 30
TRIGGER = "oldplate"


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


@pytest.fixture(scope="session")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ZIP that the archive tool made of a scanned magazine; its captions have a trigger."""
    folder = tmp_path_factory.mktemp("dataset")
    magazine = write_pdf(folder / "magazine.pdf", ["engraving", "text", *["engraving"] * 5])
    config = DatasetConfig(trigger=TRIGGER, fit=Fit.BUCKET)
    return build(magazine, folder / "dataset.zip", config)


@dataclass(frozen=True, slots=True)
class Trained:
    """A training that nothing disturbed.

    Attributes:
        folder: What it wrote.
        config: Its settings.
        result: How it ended.
        losses: The validation losses, in order.
    """

    folder: Path
    config: TrainConfig
    result: TrainResult
    losses: tuple[float, ...]


@pytest.fixture(scope="session")
def trained(dataset: Path, tiny_base: Path, tmp_path_factory: pytest.TempPathFactory) -> Trained:
    """A LoRA of 30 steps; its alpha is not its rank, since that is what files lose."""
    folder = tmp_path_factory.mktemp("trained") / "old-plates"
    config = TrainConfig(
        base=str(tiny_base), resolution=64, rank=8, alpha=4, steps=STEPS, learning_rate=1e-2,
        batch_size=2, validate_every=10, checkpoint_every=5, sample_every=0, patience=0,
    )  # fmt: skip
    losses: list[float] = []

    def note(progress: TrainProgress) -> None:
        if progress.validation_loss is not None:
            losses.append(progress.validation_loss)

    result = train_lora(dataset, folder, config, on_progress=note)
    return Trained(folder, config, result, tuple(dict.fromkeys(losses)))
