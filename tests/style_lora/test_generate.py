"""Generation with a LoRA of diffusers' own making: load, paint, unload; and what is refused."""

import gc
import json
import pickle
import shutil
import weakref
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from PIL import Image
from safetensors.torch import load_file, save_file

from style_lora.cli import main
from style_lora.errors import BaseModelError, GenerationError, LoraFileError
from style_lora.generate import choose_base, draw_comparison, list_orders, paint_pictures
from style_lora.lora_file import WEIGHTS_NAME, LoraFile, find_lora
from style_lora.painter import PictureOrder, open_painter
from tests.style_lora.drawn_lora import save_official_lora

ORDER = PictureOrder("engraving of a cyber-monocle", steps=2, size_px=(64, 64))


@pytest.fixture(scope="module")
def official(tiny_base: Path, tmp_path_factory: pytest.TempPathFactory) -> LoraFile:
    return find_lora(save_official_lora(tiny_base, tmp_path_factory.mktemp("official")))


def paint(base: Path, lora: LoraFile | None, *orders: PictureOrder) -> list[NDArray[np.int16]]:
    with open_painter(str(base), lora, "cpu") as painter:
        return [np.asarray(painter.paint(order), dtype=np.int16) for order in orders]


def test_strength_and_seed_decide_the_picture(tiny_base: Path, official: LoraFile) -> None:
    wanted = list_orders([ORDER.prompt], 2, [0.0, 0.5, 1.0, 0.0], ORDER)
    off, half, full, off_again, other_seed, *_ = paint(tiny_base, official, *wanted)
    (base,) = paint(tiny_base, None, ORDER)
    (full_again,) = paint(tiny_base, official, ORDER)
    assert np.array_equal(off, base)
    assert np.array_equal(off_again, base), "a strength must not stay from the picture before"
    assert np.array_equal(full, full_again)
    assert np.abs(full - base).mean() > 1
    assert not np.array_equal(half, full)
    assert not np.array_equal(other_seed, off)
    assert full.shape == (64, 64, 3)


def test_nothing_of_the_model_stays(tiny_base: Path, official: LoraFile) -> None:
    with open_painter(str(tiny_base), official, "cpu") as painter:
        painter.paint(ORDER)
        unet = weakref.ref(next(m for m in gc.get_objects() if is_unet(m)))
        assert unet() is not None
    assert unet() is None
    with pytest.raises(GenerationError, match="inside the with block"):
        painter.paint(ORDER)


def is_unet(thing: object) -> bool:
    return type(thing).__name__ == "UNet2DConditionModel"


@pytest.mark.parametrize("precision", ["fp16", "bf16"])
def test_half_precision_paints_nearly_the_same(
    tiny_base: Path, official: LoraFile, monkeypatch: pytest.MonkeyPatch, precision: str
) -> None:
    (exact,) = paint(tiny_base, official, ORDER)
    monkeypatch.setattr("style_lora.painter.pick_precision", lambda _device: precision)
    off, near = paint(tiny_base, official, *list_orders([ORDER.prompt], 1, [0, 1], ORDER))
    assert np.abs(near - exact).mean() < np.abs(off - exact).mean() / 2


def test_a_sheet_shows_each_seed_at_each_strength(tiny_base: Path, official: LoraFile) -> None:
    wanted = list_orders([ORDER.prompt], 2, [0.0, 1.0], ORDER)
    pictures = list(paint_pictures(official, wanted, str(tiny_base), "cpu"))
    sheet = np.asarray(draw_comparison(pictures))
    for number, picture in enumerate(pictures):
        bottom, right = 64 * (1 - number // 2), 64 * (1 - number % 2)
        rows = slice(sheet.shape[0] - bottom - 64, sheet.shape[0] - bottom)
        columns = slice(sheet.shape[1] - right - 64, sheet.shape[1] - right)
        assert np.array_equal(sheet[rows, columns], np.asarray(picture.image))
    labels = sheet[: sheet.shape[0] - 128]
    assert (labels < 100).sum() > 200, "prompt and strengths stand above"


def test_the_command_paints_and_compares(
    tiny_base: Path, official: LoraFile, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--lora", str(official.path), "--base", str(tiny_base), "--out", str(tmp_path)]
    sampling = ["--steps", "2", "--size", "64x72", "--seed", "7", "--grid", "--scale", "0.8"]
    assert main(["generate", *arguments, *sampling, "--prompt", "A ship, at sea"]) == 0
    told = capsys.readouterr()
    paths = [Path(line) for line in told.out.splitlines()]
    assert [path.name for path in paths] == [
        "a-ship-at-sea_seed7_scale0.png",
        "a-ship-at-sea_seed7_scale0.8.png",
        "a-ship-at-sea_grid.png",
    ]
    assert all(path.is_file() for path in paths)
    with Image.open(paths[1]) as picture:
        assert picture.size == (64, 72)
        assert (picture.info["prompt"], picture.info["seed"]) == ("A ship, at sea", "7")


def test_a_lora_of_another_model_is_refused(
    tiny_base: Path, official: LoraFile, tmp_path: Path
) -> None:
    tensors = load_file(official.path)
    wider = {name: torch.cat([part, part], -1) for name, part in tensors.items()}
    deeper = {
        name.replace("transformer_blocks.0", "transformer_blocks.9"): part
        for name, part in tensors.items()
    }
    for number, strange in enumerate([wider, deeper]):
        path = tmp_path / f"{number}.safetensors"
        save_file(strange, path)
        with pytest.raises(LoraFileError, match=r"does not fit"):
            paint(tiny_base, find_lora(path), ORDER)


def test_what_is_no_lora_is_refused(tiny_base: Path, tmp_path: Path) -> None:
    (tmp_path / "damaged").mkdir()
    (tmp_path / "damaged" / WEIGHTS_NAME).write_bytes(b"\x40" * 200)
    refused = {
        tmp_path / "missing": "There is no LoRA",
        tmp_path: "holds no LoRA",
        tmp_path / "damaged": "damaged",
        tiny_base / "unet" / "diffusion_pytorch_model.safetensors": "no LoRA for SDXL",
        tiny_base / "model_index.json": "damaged or another kind",
    }
    for where, why in refused.items():
        with pytest.raises(LoraFileError, match=why):
            find_lora(where)


def test_a_wrong_base_is_refused(tiny_base: Path, official: LoraFile, tmp_path: Path) -> None:
    unfinished = tmp_path / "unfinished"
    unfinished.mkdir()
    (unfinished / "model_index.json").write_bytes((tiny_base / "model_index.json").read_bytes())
    for base in (tmp_path, unfinished, tiny_base / "unet", tmp_path / "missing" / "folder"):
        with pytest.raises(BaseModelError, match=r"SDXL|fetched from the hub"):
            paint(base, official, ORDER)


def test_prompts_that_begin_alike_do_not_overwrite_each_other(
    tiny_base: Path, official: LoraFile, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    long = "a very long description of the harbour with many ships "
    prompts = ["A ship!", "a ship", "a ship", f"{long} by day", f"{long} by night"]
    options = [f"--prompt={prompt}" for prompt in prompts]
    options += ["--lora", str(official.path), "--base", str(tiny_base), "--out", str(tmp_path)]
    sampling = ["--steps", "1", "--size", "64", "--grid", "--scale", "0"]
    assert main(["generate", *options, *sampling]) == 0
    pictures = capsys.readouterr().out.splitlines()
    assert len(pictures) == len(set(pictures)) == 2 * 4
    assert all(Path(one).is_file() for one in pictures)


def test_what_is_cut_off_a_prompt_is_told_before_painting(
    tiny_base: Path, official: LoraFile
) -> None:
    long = " ".join(["engraving"] * 75 + ["ship", "sea"])
    prompts = [long, long.removesuffix(" ship sea")]
    orders = [PictureOrder(prompt, steps=1, size_px=(64, 64)) for prompt in prompts]
    told: list[str] = []
    painting = paint_pictures(official, orders, str(tiny_base), "cpu", told.append)
    first = next(painting)
    assert told == ["Longer than the model reads, so it paints without the end: ship sea"]
    (second,) = painting
    assert np.array_equal(first.image, second.image), "what is told is what is cut"
    assert len(told) == 1


@pytest.mark.parametrize(
    "options",
    [
        ["--n", "0"], ["--n", "-1"], ["--n", "many"], ["--n", "1000000000"], ["--seed", "-1"],
        ["--seed", str(2**64)], ["--scale", "nan"], ["--scale", "inf"], ["--steps", "0"],
        ["--guidance", "nan"], ["--size", "0"], ["--size", "65"], ["--size", "8"],
        ["--size", "64x100000"], ["--size", "1e3"], ["--prompt", " "], ["--device", "tpu"],
    ],
)  # fmt: skip
def test_options_that_cannot_work_are_refused(
    options: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["generate", "--lora", "lora", "--prompt", "a ship", *options])
    assert ended.value.code == 2
    assert f"argument {options[0]}: " in capsys.readouterr().err


def test_a_lora_of_another_stable_diffusion_is_named(official: LoraFile, tmp_path: Path) -> None:
    tensors = load_file(official.path)
    for width, model in ((768, "1.x"), (1024, "2.x")):
        other = {
            name: torch.zeros(part.shape[0], width) if "attn2.to_k.lora_A" in name else part
            for name, part in tensors.items()
        }
        path = tmp_path / f"{width}.safetensors"
        save_file(other, path)
        with pytest.raises(LoraFileError, match=f"a LoRA for Stable Diffusion {model}"):
            find_lora(path)
    kohya = "lora_unet_down_blocks_0_attentions_0_transformer_blocks_0_attn2_to_k.lora_down.weight"
    save_file({kohya: torch.zeros(4, 768)}, tmp_path / "kohya.safetensors")
    with pytest.raises(LoraFileError, match=r"Stable Diffusion 1\.x"):
        find_lora(tmp_path / "kohya.safetensors")


class Trap:
    """Leaves a file behind when it is unpickled."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[object, tuple[Path]]:
        return Path.touch, (self.mark,)


def test_a_pickle_is_refused_and_not_run(tmp_path: Path) -> None:
    mark = tmp_path / "it ran"
    (tmp_path / "lora").mkdir()
    for name in ("pytorch_lora_weights.bin", "last.ckpt"):
        (tmp_path / "lora" / name).write_bytes(pickle.dumps(Trap(mark)))
        with pytest.raises(LoraFileError, match="is a pickle file"):
            find_lora(tmp_path / "lora" / name)
    with pytest.raises(LoraFileError, match="is a pickle file"):
        find_lora(tmp_path / "lora")
    (tmp_path / "lora" / WEIGHTS_NAME).write_bytes(pickle.dumps(Trap(mark)))
    with pytest.raises(LoraFileError, match="damaged or another kind"):
        find_lora(tmp_path / "lora")
    assert not mark.exists()


def test_what_a_config_from_elsewhere_says_is_not_obeyed(
    official: LoraFile, tmp_path: Path
) -> None:
    folder = shutil.copytree(official.path.parent, tmp_path / "lora")
    for side in (7, 10**9, -1024, 1001, True, "1024"):
        config = {"resolution": side, "caption": "ink\x1b[2J\n" + "x" * 9999, "base": 3}
        (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
        found = find_lora(folder)
        assert found.resolution == 1024
        assert found.caption.startswith("ink[2J x")
        assert len(found.caption) == 300
        assert found.base is None
    (folder / "config.json").write_text('{"base": "/not/here"}', encoding="utf-8")
    with pytest.raises(LoraFileError, match="--base"):
        choose_base(find_lora(folder), None)


@pytest.mark.skipif(torch.backends.mps.is_available(), reason="this machine has what it lacks")
def test_a_device_that_is_not_there_is_told(tiny_base: Path, official: LoraFile) -> None:
    with (
        pytest.raises(GenerationError, match="no mps"),
        open_painter(str(tiny_base), official, "mps"),
    ):
        pass


def test_pictures_that_find_no_room_are_told(
    tiny_base: Path, official: LoraFile, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "taken").touch()
    options = ["--lora", str(official.path), "--base", str(tiny_base), "--prompt", "a ship"]
    assert main(["generate", *options, "--out", str(tmp_path / "taken")]) == 2
    assert "cannot be written" in capsys.readouterr().err
