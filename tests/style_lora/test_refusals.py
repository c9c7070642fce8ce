"""A training says before it begins, and while it runs, why it cannot go on."""

import shutil
from pathlib import Path

import pytest

from style_lora.config import TrainConfig
from style_lora.errors import BaseModelError, SettingsError, TrainingStoppedError
from style_lora.training import train_lora
from tests.style_lora.test_dataset_zip import write_dataset


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    return write_dataset(tmp_path / "set.zip", 2)


def configure(base: Path, **changes: object) -> TrainConfig:
    settings: dict[str, object] = {
        "base": str(base), "resolution": 64, "rank": 4, "alpha": 2, "steps": 4,
        "learning_rate": 1e-2, "validate_every": 2, "sample_every": 0,
    }  # fmt: skip
    return TrainConfig(**(settings | changes))  # type: ignore[arg-type]


def test_a_loss_that_is_no_number_stops_it(tiny_base: Path, dataset: Path, tmp_path: Path) -> None:
    broken = shutil.copytree(tiny_base, tmp_path / "base")
    import torch
    from safetensors.torch import load_file, save_file

    weights = load_file(broken / "unet/diffusion_pytorch_model.safetensors")
    weights["conv_out.weight"][:] = torch.nan
    save_file(weights, broken / "unet/diffusion_pytorch_model.safetensors", {"format": "pt"})
    with pytest.raises(TrainingStoppedError, match="Step 1"):
        train_lora(dataset, tmp_path / "out", configure(broken))


def test_a_wrong_base_is_told_first(dataset: Path, tiny_base: Path, tmp_path: Path) -> None:
    with pytest.raises(BaseModelError, match="does not exist"):
        train_lora(dataset, tmp_path / "out", configure(tmp_path / "nothing"))
    partial = shutil.copytree(tiny_base, tmp_path / "partial")
    (partial / "unet/diffusion_pytorch_model.safetensors").unlink()
    with pytest.raises(BaseModelError, match=r"unet/\*\.safetensors"):
        train_lora(dataset, tmp_path / "out", configure(partial))


def test_settings_that_cannot_work_are_refused() -> None:
    for changes in ({"epochs": 501}, {"rank": 0}, {"resolution": 1001}, {"learning_rate": 0}):
        with pytest.raises(SettingsError, match=next(iter(changes))):
            TrainConfig(**changes)  # type: ignore[arg-type]
    assert TrainConfig(epochs=500).epochs == 500
