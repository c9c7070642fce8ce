"""One tiny SDXL, dataset and LoRA for the whole session, in one thread, where sums have one order.

All workers of pytest-xdist share them: the first one that asks makes them.
"""

import fcntl
import gc
import os
import pickle
from collections.abc import Callable, Iterator
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
    # Each model that is dropped has the garbage collected; the libraries' own objects stay anyway.
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()
    torch.set_num_threads(before[0])
    os.environ.pop("OMP_NUM_THREADS")
    if before[1] is not None:
        os.environ["OMP_NUM_THREADS"] = before[1]


@pytest.fixture(scope="session")
def shared_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that all workers of this run of pytest have in common."""
    own = tmp_path_factory.getbasetemp()
    return own.parent if "PYTEST_XDIST_WORKER" in os.environ else own


def make_once(folder: Path, make: Callable[[Path], object]) -> Path:
    """Have a folder made by the first that asks; the others wait for it."""
    folder.mkdir(exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "made").exists():
            make(folder)
            (folder / "made").touch()
    return folder


@pytest.fixture(scope="session")
def tiny_base(shared_folder: Path) -> Path:
    """The tiny SDXL as a folder of diffusers."""
    made = make_once(shared_folder / "base", lambda folder: make_tiny_sdxl(folder / "tiny-sdxl"))
    return made / "tiny-sdxl"


@pytest.fixture(scope="session")
def dataset(shared_folder: Path) -> Path:
    """A ZIP that the archive tool made of a scanned magazine; its captions have a trigger."""
    return make_once(shared_folder / "dataset", build_dataset) / "dataset.zip"


def build_dataset(folder: Path) -> None:
    magazine = write_pdf(folder / "magazine.pdf", ["engraving", "text", *["engraving"] * 5])
    build(magazine, folder / "dataset.zip", DatasetConfig(trigger=TRIGGER, fit=Fit.BUCKET))


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
def trained(dataset: Path, tiny_base: Path, shared_folder: Path) -> Trained:
    """A LoRA of 30 steps; its alpha is not its rank, since that is what files lose."""
    config = TrainConfig(
        base=str(tiny_base), resolution=64, rank=8, alpha=4, steps=STEPS, learning_rate=1e-2,
        batch_size=2, validate_every=10, checkpoint_every=5, sample_every=0, patience=0,
        gradient_checkpointing=False,
    )  # fmt: skip
    made = make_once(shared_folder / "trained", lambda folder: train(folder, dataset, config))
    told = pickle.loads((made / "trained.pickle").read_bytes())
    assert isinstance(told, Trained)
    return told


def train(folder: Path, dataset: Path, config: TrainConfig) -> None:
    losses: list[float] = []

    def note(progress: TrainProgress) -> None:
        if progress.validation_loss is not None:
            losses.append(progress.validation_loss)

    result = train_lora(dataset, folder / "old-plates", config, on_progress=note)
    trained = Trained(folder / "old-plates", config, result, tuple(dict.fromkeys(losses)))
    (folder / "trained.pickle").write_bytes(pickle.dumps(trained))
