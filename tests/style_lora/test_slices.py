"""A training in slices ends in the same weights as one without, and says when it cannot go on."""

import shutil
from pathlib import Path

import pytest

from style_lora.config import TrainConfig
from style_lora.errors import BaseModelError, SettingsError, TrainingStoppedError
from style_lora.schema import StoppedBecause
from style_lora.training import train_lora
from style_lora.training_log import read_log
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


def test_slices_end_in_the_same_bytes(tiny_base: Path, dataset: Path, tmp_path: Path) -> None:
    whole = train_lora(dataset, tmp_path / "whole", configure(tiny_base))
    sliced = configure(tiny_base, max_duration_s=0.01)
    ends = [train_lora(dataset, tmp_path / "sliced", sliced, resume=True)]
    while not ends[-1].finished:
        ends.append(train_lora(dataset, tmp_path / "sliced", sliced, resume=True))
    assert ends[0].stopped_because is StoppedBecause.SLICE_OVER
    assert len(ends) > 3
    assert ends[-1].best_validation_loss == whole.best_validation_loss
    checkpoints = [tmp_path / run / "checkpoints/last.safetensors" for run in ("whole", "sliced")]
    assert checkpoints[0].read_bytes() == checkpoints[1].read_bytes()
    logs = [read_log(tmp_path / run / "log.jsonl") for run in ("whole", "sliced")]
    assert logs[0] == logs[1]
    assert not (tmp_path / "sliced/cache").exists()


def test_an_unfinished_training_is_not_overwritten_nor_mixed(
    tiny_base: Path, dataset: Path, tmp_path: Path
) -> None:
    sliced = configure(tiny_base, max_duration_s=0.01)
    while not train_lora(dataset, tmp_path / "out", sliced, resume=True).steps_done:
        pass
    with pytest.raises(SettingsError, match="--resume"):
        train_lora(dataset, tmp_path / "out", sliced)
    with pytest.raises(SettingsError, match="rank"):
        train_lora(dataset, tmp_path / "out", configure(tiny_base, rank=8), resume=True)


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
