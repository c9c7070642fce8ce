"""The commands as processes: a training that is killed, a picture, and the notebook's cells."""

import dataclasses
import os
import signal
import subprocess
import zipfile
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from safetensors.torch import load_file

from style_lora.checkpoints import read_standing
from style_lora.errors import SettingsError
from style_lora.lora_file import WEIGHTS_NAME
from style_lora.schema import StoppedBecause
from style_lora.training import train_lora
from style_lora.training_log import read_log
from tests.commands import LIMIT_S, REPOSITORY
from tests.sample_files import write_pdf
from tests.style_lora.conftest import STEPS, Trained
from tests.style_lora.forked_commands import run_forked, start_forked
from tests.style_lora.test_notebook import read_notebook
from tests.style_lora.test_training import ORDER, paint
from tests.waiting import wait_until


def as_options(trained: Trained) -> list[str]:
    """Return the settings of the training as options of the command."""
    told = trained.config
    return [
        "--base", told.base, "--resolution", str(told.resolution), "--rank", str(told.rank),
        "--alpha", str(told.alpha), "--steps", str(told.steps), "--batch-size", "2",
        "--learning-rate", str(told.learning_rate), "--validate-every", "10",
        "--checkpoint-every", "5", "--sample-every", "0", "--patience", "0",
    ]  # fmt: skip


def test_a_killed_training_ends_in_the_same_weights(
    trained: Trained, dataset: Path, tmp_path: Path
) -> None:
    """The killed process recomputes activations, the undisturbed one has kept them."""
    out = tmp_path / "killed"
    # First slices, as on ZeroGPU, where no call may last: too short even for the cache.
    short = dataclasses.replace(trained.config, max_duration_s=0.01)
    part = train_lora(dataset, out, short, resume=True)
    assert (part.stopped_because, part.steps_done) == (StoppedBecause.SLICE_OVER, 0)
    words = ["style_lora", "train", str(dataset), "--out", str(out), "--resume"]
    process = start_forked([*words, *as_options(trained)], tmp_path / "log.txt")
    last = out / "checkpoints" / "last.safetensors"
    assert wait_until(lambda: last.exists() or process.exitcode is not None, 120)
    process.kill()
    process.join()
    assert process.exitcode == -signal.SIGKILL, (tmp_path / "log.txt.err").read_text()
    assert not list(out.glob("*.safetensors"))
    refuse_what_does_not_fit(trained, dataset, out)
    part = train_lora(dataset, out, short, resume=True)
    assert not part.finished
    assert 0 < part.steps_done < STEPS
    result = train_lora(dataset, out, trained.config, resume=True)
    assert (result.finished, result.steps_done) == (True, STEPS)
    name = "checkpoints/last.safetensors"
    assert (out / name).read_bytes() == (trained.folder / name).read_bytes()
    # The notes of a LoRA file stand in another order in each process.
    ours, undisturbed = (load_file(folder / WEIGHTS_NAME) for folder in (out, trained.folder))
    assert ours.keys() == undisturbed.keys()
    assert all(torch.equal(ours[key], undisturbed[key]) for key in ours)
    assert read_log(out / "log.jsonl") == read_log(trained.folder / "log.jsonl")
    assert not (out / "cache").exists()


def refuse_what_does_not_fit(trained: Trained, dataset: Path, out: Path) -> None:
    with pytest.raises(SettingsError, match="--resume"):
        train_lora(dataset, out, trained.config)
    for name, value in (("learning_rate", 1e-3), ("rank", 4)):
        other = dataclasses.replace(trained.config, **{name: value})  # type: ignore[arg-type]
        with pytest.raises(SettingsError, match=name):
            train_lora(dataset, out, other, resume=True)


def test_ctrl_c_saves_the_step_that_is_under_way(
    trained: Trained, dataset: Path, tmp_path: Path
) -> None:
    out = tmp_path / "stopped"
    words = ["style_lora", "train", str(dataset), "--out", str(out), *as_options(trained)]
    process = start_forked([*words, "--steps", "5000"], tmp_path / "log.txt")
    log = out / "log.jsonl"
    assert wait_until(lambda: is_logged(log, "loss") or process.exitcode is not None, 120)
    assert process.pid is not None
    os.kill(process.pid, signal.SIGINT)
    process.join(LIMIT_S)
    told = (tmp_path / "log.txt.err").read_text()
    assert process.exitcode == 130, told
    assert "Stopping after this step" in told
    assert told.splitlines()[-1] == "Stopped. What was saved goes on with --resume."
    assert "Traceback" not in told
    standing = read_standing(out / "checkpoints" / "last.safetensors")
    assert standing is not None
    assert standing.step == read_log(log)[-1]["step"] > 0


def is_logged(log: Path, what: str) -> bool:
    return any(what in row for row in read_log(log))


def test_another_process_paints_the_style(trained: Trained, tmp_path: Path) -> None:
    words = [
        "style_lora", "generate", "--lora", str(trained.folder), f"--prompt={ORDER.prompt}",
        "--steps", "2", "--out", str(tmp_path), "--grid", "--device", "cpu", "--scale", "1",
    ]  # fmt: skip
    ended = run_forked(words, tmp_path / "log.txt")
    assert ended.status == 0, ended.stderr
    off, full, grid = (np.asarray(Image.open(line), np.int16) for line in ended.stdout.splitlines())
    assert off.shape == (64, 64, 3), "as large as it was trained"
    assert grid.shape[1] > 128
    (base,) = paint(trained, None)
    here_off, here = paint(trained, trained.folder, 0.0, 1.0)
    assert np.array_equal(off, base)
    assert np.array_equal(here_off, base)
    assert np.array_equal(full, here)
    assert np.abs(full - base).mean() > 1


def test_the_cells_of_the_notebook_go_from_pdfs_to_pictures(
    tiny_base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The install cell is skipped: the packages are those of the tests."""
    pdfs, kept = tmp_path / "pdfs", tmp_path / "kept"
    pdfs.mkdir()
    write_pdf(pdfs / "magazine.pdf", ["engraving"] * 3)
    settings = {
        "KEPT": kept, "PDFS": pdfs, "BASE": tiny_base, "RESOLUTION": 64, "STEPS": 2,
        "PICTURE_STEPS": 1, "SAMPLE_STEPS": 1, "CHECKOUT": REPOSITORY, "INSTALLED": 1,
    }  # fmt: skip
    for name, value in settings.items():
        monkeypatch.setenv(f"STYLE_{name}", str(value))
    commands: list[list[str]] = []

    def run(words: list[str], cwd: Path, check: bool) -> None:
        assert (words[1], cwd, check) == ("-m", REPOSITORY, True)
        commands.append(words[2:])
        ended = run_forked(words[2:], tmp_path / f"command_{len(commands)}")
        assert ended.status == 0, ended.stderr[-2000:]

    monkeypatch.setattr(subprocess, "run", run)
    code = ["".join(one["source"]) for one in read_notebook()["cells"] if "outputs" in one]
    exec("\n".join(code), {"__name__": "__main__"})
    assert [words[:2] for words in commands] == [
        ["archive_tools", "build"], ["style_lora", "train"], ["style_lora", "generate"],
    ]  # fmt: skip
    with zipfile.ZipFile(kept / "style_lora.zip") as archive:
        names = archive.namelist()
    assert {"pytorch_lora_weights.safetensors", "lora_kohya.safetensors", "README.md"} <= {*names}
    assert sum(name.endswith("_grid.png") for name in names) == 1
