"""From the ZIP to a picture, and every way in which a training is refused."""

import dataclasses
import json
import shutil
import zipfile
from pathlib import Path

import numpy as np
import pytest
import torch
from diffusers import StableDiffusionXLPipeline
from numpy.typing import NDArray
from safetensors import safe_open

from style_lora.cli import main
from style_lora.errors import BaseModelError, DatasetError, DiskSpaceError
from style_lora.generate import list_orders
from style_lora.lora_file import find_lora
from style_lora.painter import PictureOrder, open_painter
from style_lora.training import train_lora
from tests.style_lora.conftest import STEPS, TRIGGER, Trained

ORDER = PictureOrder(f"{TRIGGER}, a cyber-monocle", steps=2, size_px=(64, 64))


def paint(trained: Trained, path: Path | None, *scales: float) -> list[NDArray[np.int16]]:
    lora = find_lora(path) if path else None
    with open_painter(trained.config.base, lora, "cpu") as painter:
        orders = list_orders([ORDER.prompt], 1, scales or (1.0,), ORDER)
        return [np.asarray(painter.paint(order), np.int16) for order in orders]


def test_it_learns(trained: Trained) -> None:
    assert trained.result.finished
    assert trained.result.steps_done == STEPS
    assert trained.losses[-1] < trained.losses[0] - 0.03
    assert list(trained.losses) == sorted(trained.losses, reverse=True)
    assert trained.result.best_validation_loss == trained.losses[-1]


def test_the_kohya_file_paints_the_same(trained: Trained) -> None:
    (here,) = paint(trained, trained.folder)
    (kohya,) = paint(trained, trained.result.kohya_path)
    assert np.abs(kohya - here).max() <= 1
    assert trained.result.kohya_path
    with safe_open(trained.result.kohya_path, framework="pt") as tensors:
        names = list(tensors.keys())
        alphas = {float(tensors.get_tensor(name)) for name in names if name.endswith(".alpha")}
    assert all(name.startswith("lora_unet_") for name in names)
    assert alphas == {4.0}


def test_plain_diffusers_takes_ours(trained: Trained) -> None:
    pipeline = StableDiffusionXLPipeline.from_pretrained(trained.config.base, use_safetensors=True)
    pipeline.load_lora_weights(trained.folder)
    image = pipeline(
        ORDER.prompt,
        num_inference_steps=ORDER.steps,
        guidance_scale=ORDER.guidance,
        width=64,
        height=64,
        generator=torch.Generator("cpu").manual_seed(ORDER.seed),
    ).images[0]
    (here,) = paint(trained, trained.folder)
    assert np.abs(np.asarray(image, np.int16) - here).max() <= 1


def rewrite(dataset: Path, out: Path, change: dict[str, bytes | None]) -> Path:
    """Copy a ZIP with entries replaced, or left out where `change` has None."""
    with zipfile.ZipFile(dataset) as source, zipfile.ZipFile(out, "w") as target:
        for name in source.namelist():
            content = change.get(name, source.read(name))
            if content is not None:
                target.writestr(name, content)
    return out


@pytest.mark.parametrize("kind", ["no_captions", "broken", "empty", "no_zip", "empty_caption"])
def test_a_bad_dataset_is_refused(
    trained: Trained, dataset: Path, tmp_path: Path, kind: str
) -> None:
    with zipfile.ZipFile(dataset) as archive:
        picture = next(name for name in archive.namelist() if name.endswith("3.jpg"))
        whole, rows = archive.read(picture), archive.read("train/metadata.jsonl")
    bad = tmp_path / "bad.zip"
    changes: dict[str, tuple[dict[str, bytes | None], str]] = {
        "no_captions": ({"train/metadata.jsonl": None}, "no captions"),
        "broken": ({picture: whole[: len(whole) // 2]}, picture),
        "empty_caption": ({"train/metadata.jsonl": blank_caption(rows)}, "has no caption"),
    }
    if kind in changes:
        rewrite(dataset, bad, changes[kind][0])
    elif kind == "empty":
        zipfile.ZipFile(bad, "w").close()
    else:
        bad.write_text("no ZIP", encoding="utf-8")
    why = changes[kind][1] if kind in changes else {"empty": "empty ZIP", "no_zip": "ZIP"}[kind]
    with pytest.raises(DatasetError, match=why):
        train_lora(bad, tmp_path / "out", trained.config)


def blank_caption(rows: bytes) -> bytes:
    first, *rest = rows.splitlines()
    row = json.loads(first) | {"text": " "}
    return b"\n".join([json.dumps(row).encode(), *rest])


def test_a_wrong_base_is_refused_before_the_dataset_is_read(
    trained: Trained, tmp_path: Path
) -> None:
    incomplete = tmp_path / "incomplete"
    shutil.copytree(trained.config.base, incomplete, ignore=shutil.ignore_patterns("text_enc*2"))
    missing = tmp_path / "missing.zip"
    for base, why in ((tmp_path, "model_index"), (incomplete, "text_encoder_2")):
        config = dataclasses.replace(trained.config, base=str(base))
        with pytest.raises(BaseModelError, match=why):
            train_lora(missing, tmp_path / "out", config)
    assert not (tmp_path / "out").exists()


def test_a_full_disk_is_told_before_anything_is_trained(
    trained: Trained, dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Usage:
        free = 1_000_000

    # The one thing that a test cannot have without a file system of its own.
    monkeypatch.setattr("style_lora.atomic_files.shutil.disk_usage", lambda _path: Usage)
    with pytest.raises(DiskSpaceError, match="GB left"):
        train_lora(dataset, tmp_path / "out", trained.config)
    assert not list(tmp_path.rglob("*.safetensors"))


def test_the_command_says_what_is_wrong_in_one_line(
    dataset: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    nowhere = str(tmp_path / "no-model")
    assert main(["train", str(dataset), "--out", str(tmp_path / "out"), "--base", nowhere]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.splitlines()[-1].startswith(f"error: {nowhere} does not exist")
