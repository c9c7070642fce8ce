"""A training says before it begins, and while it runs, why it cannot go on."""

import math
import shutil
import signal
from pathlib import Path

import pytest
import torch

from style_lora.checkpoints import read_standing
from style_lora.config import TrainConfig
from style_lora.errors import BaseModelError, SettingsError, TrainingStoppedError
from style_lora.out_lock import hold_folder
from style_lora.schema import Phase, TrainProgress
from style_lora.stop_request import StopRequest
from style_lora.training import train_lora
from style_lora.training_loop import LAST
from tests.style_lora.conftest import Trained
from tests.style_lora.test_dataset_zip import write_dataset


@pytest.fixture
def two_pictures(tmp_path: Path) -> Path:
    return write_dataset(tmp_path / "set.zip", 2)


def configure(base: Path, **changes: object) -> TrainConfig:
    settings: dict[str, object] = {
        "base": str(base), "resolution": 64, "rank": 4, "alpha": 2, "steps": 4,
        "learning_rate": 1e-2, "validate_every": 2, "sample_every": 0,
    }  # fmt: skip
    return TrainConfig(**(settings | changes))  # type: ignore[arg-type]


def test_a_loss_that_is_no_number_stops_it(
    tiny_base: Path, two_pictures: Path, tmp_path: Path
) -> None:
    broken = shutil.copytree(tiny_base, tmp_path / "base")
    from safetensors.torch import load_file, save_file

    weights = load_file(broken / "unet/diffusion_pytorch_model.safetensors")
    weights["conv_out.weight"][:] = torch.nan
    save_file(weights, broken / "unet/diffusion_pytorch_model.safetensors", {"format": "pt"})
    with pytest.raises(TrainingStoppedError, match="Step 1"):
        train_lora(two_pictures, tmp_path / "out", configure(broken))


def test_captions_and_memory_that_do_not_suffice_are_told(
    tiny_base: Path, two_pictures: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def overflow(*_: object) -> float:
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 MiB.")

    monkeypatch.setattr("style_lora.trainer.Trainer.add_gradients", overflow)
    messages: list[str] = []

    def note(progress: TrainProgress) -> None:
        messages.extend([progress.message] if progress.message else [])

    long = "engraving " * 75 + "ship sea"
    config = configure(tiny_base, sample_every=1, sample_prompts=(long,), sample_steps=1)
    with pytest.raises(TrainingStoppedError, match="smaller --batch-size"):
        train_lora(two_pictures, tmp_path / "out", config, on_progress=note)
    (told,) = [message for message in messages if "not learned" in message]
    assert told.startswith("1 of 3 captions")
    assert told.endswith("such as: ship sea")


def test_an_interrupt_before_the_samples_loses_no_step(
    tiny_base: Path, two_pictures: Path, tmp_path: Path
) -> None:
    def interrupt(progress: TrainProgress) -> None:
        if progress.phase is Phase.SAMPLING and progress.done == 2:
            raise KeyboardInterrupt

    config = configure(tiny_base, sample_every=2, sample_steps=1)
    with pytest.raises(KeyboardInterrupt):
        train_lora(two_pictures, tmp_path / "out", config, on_progress=interrupt)
    standing = read_standing(tmp_path / "out" / LAST)
    assert standing is not None
    assert standing.step == 2


def test_a_wrong_base_is_told_first(two_pictures: Path, tiny_base: Path, tmp_path: Path) -> None:
    with pytest.raises(BaseModelError, match="does not exist"):
        train_lora(two_pictures, tmp_path / "out", configure(tmp_path / "nothing"))
    partial = shutil.copytree(tiny_base, tmp_path / "partial")
    (partial / "unet/diffusion_pytorch_model.safetensors").unlink()
    with pytest.raises(BaseModelError, match=r"unet/\*\.safetensors"):
        train_lora(two_pictures, tmp_path / "out", configure(partial))


def test_settings_that_cannot_work_are_refused() -> None:
    refused: dict[str, tuple[float | str, ...]] = {
        "epochs": (0, -1, 501), "steps": (0, -5, 10**9), "rank": (0, -1, 10_000),
        "resolution": (0, 56, 1001, 10**6), "learning_rate": (0, -1e-4, 2, math.nan, math.inf),
        "alpha": (0, -1, math.nan), "batch_size": (0, 10**6), "accumulate": (0, -1, 10**6),
        "seed": (-1, 2**32), "noise_offset": (-0.1, math.nan), "snr_gamma": (-1, math.inf),
        "caption_dropout": (-0.1, 1.1), "validation_share": (-0.1, 0.9), "patience": (-1,),
        "validate_every": (0,), "sample_every": (-1,), "sample_steps": (0, 10**4),
        "checkpoint_every": (0,), "max_duration_s": (0, -1, math.nan), "precision": ("fp8",),
        "optimizer": ("sgd",), "base": ("", " "),
    }  # fmt: skip
    for name, values in refused.items():
        for value in values:
            with pytest.raises(SettingsError, match=f"^{name} is"):
                TrainConfig(**{name: value})  # type: ignore[arg-type]
    assert TrainConfig(epochs=500).epochs == 500


def test_a_folder_of_results_is_not_overwritten_nor_shared(
    trained: Trained, dataset: Path, tmp_path: Path
) -> None:
    with pytest.raises(SettingsError, match="a finished training of 30 steps"):
        train_lora(dataset, trained.folder, trained.config)
    kept = shutil.copytree(trained.folder, tmp_path / "kept")
    shutil.rmtree(kept / "checkpoints")
    with pytest.raises(SettingsError, match="has a LoRA and no checkpoint"):
        train_lora(dataset, kept, trained.config, resume=True)
    with hold_folder(tmp_path / "busy"), pytest.raises(SettingsError, match="Another training"):
        train_lora(dataset, tmp_path / "busy", trained.config)
    with pytest.raises(SettingsError, match="is a file"):
        train_lora(dataset, dataset, trained.config)


def test_what_is_finished_loads_no_model_again(
    trained: Trained, dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = shutil.copytree(trained.folder, tmp_path / "out")
    monkeypatch.setattr("style_lora.training.fetch_models", None)
    result = train_lora(dataset, out, trained.config, resume=True)
    assert result.finished
    assert result.best_validation_loss == trained.result.best_validation_loss


def test_a_first_stop_waits_for_the_step_and_a_second_does_not() -> None:
    told: list[str] = []
    before = signal.getsignal(signal.SIGINT)
    stop = StopRequest(lambda: told.append("wait"))
    with stop.listen():
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        stop.can_wait = True
        signal.raise_signal(signal.SIGTERM)
        assert (stop.is_made, told) == (True, ["wait"])
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before
