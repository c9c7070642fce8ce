"""The unzipped dataset as each trainer reads it; the traps were reproduced with the real ones.

The rules of the configs were read from sd-scripts 48d368f, SimpleTuner bc8e6ab, OneTrainer 23df383,
ai-toolkit 27a03a9 and diffusers 58eb52c.
"""

import itertools
import json
import shutil
import subprocess
import tomllib
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import datasets
import pytest
import yaml

from archive_tools.captions import clean_trigger
from archive_tools.config import DatasetConfig
from archive_tools.trainer_configs import iter_trainer_configs
from archive_tools.writer import open_dataset_writer
from tests.integration.test_writer import CONFIG, SOURCES, make_source, write_inputs

IMAGE_COUNT = 8
Load = Callable[..., datasets.Dataset]
ODD_SOURCE = make_source("b.pdf", 1, 'Журнал "Нива" 😀')
TRIGGER = 'eng "rv" \\ стиль'

# Keys that sd-scripts' ConfigSanitizer takes at each level (library/config_util.py); any other
# key is an error there. `validation_split` belongs to [[datasets]], whatever its manual says.
KOHYA_SUBSET_KEYS = {
    "image_dir", "num_repeats", "caption_extension", "shuffle_caption", "keep_tokens",
    "class_tokens", "is_reg", "caption_prefix", "caption_dropout_rate", "flip_aug", "alpha_mask",
}  # fmt: skip
KOHYA_DATASET_KEYS = {
    "resolution", "batch_size", "enable_bucket", "min_bucket_reso", "max_bucket_reso",
    "bucket_reso_steps", "bucket_no_upscale", "validation_split", "subsets",
}  # fmt: skip
KOHYA_GENERAL_KEYS = (KOHYA_SUBSET_KEYS | KOHYA_DATASET_KEYS) - {"image_dir", "is_reg", "subsets"}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An unzipped dataset; its documents have Cyrillic, quotes and emoji in their titles."""
    folder = tmp_path_factory.mktemp("formats")
    with open_dataset_writer(folder / "dataset.zip", CONFIG, False) as writer:
        write_inputs(writer, (*SOURCES[:2], ODD_SOURCE, SOURCES[3]))
        writer.finish()
    with zipfile.ZipFile(folder / "dataset.zip") as dataset:
        dataset.extractall(folder / "root")
    return folder / "root"


@pytest.fixture
def load(tmp_path: Path) -> Load:
    """The real `load_dataset` with a cache of its own; the only split comes back."""

    def load_train(path: Path | str, **options: Any) -> datasets.Dataset:
        cache = str(tmp_path / "cache")
        loaded = datasets.load_dataset(str(path), cache_dir=cache, **options)
        assert list(loaded) == ["train"]
        return loaded["train"]

    return load_train


def check_rows(train: datasets.Dataset) -> None:
    assert train.num_rows == IMAGE_COUNT
    assert {"image", "text"} <= set(train.column_names)
    assert train[0]["text"] == "engrv, illustration, Harper's Weekly 1863"
    assert train[4]["text"] == 'engrv, illustration, Журнал "Нива" 😀'
    for row in train:
        assert row["image"].size == (row["width"], row["height"]) == (64, 64)
        assert row["image"].mode == "RGB"
    assert {row["source_file"] for row in train} == {"a.pdf", "b.pdf", "deep/c.pdf"}


class TestLoadDataset:
    def test_root(self, root: Path, load: Load) -> None:
        """SimpleTuner (huggingface), the Hub's viewer, anyone."""
        check_rows(load(root))

    def test_train_folder(self, root: Path, load: Load) -> None:
        """The dreambooth scripts of diffusers: `--dataset_name train`."""
        check_rows(load(root / "train"))

    def test_image_folder(self, root: Path, load: Load) -> None:
        """train_text_to_image_lora_sdxl.py: `--train_data_dir train`."""
        files = {"train": [str(root / "train" / "**")]}
        check_rows(load("imagefolder", data_files=files))

    @pytest.mark.parametrize("folder", [".", "train"])
    def test_without_the_card_the_captions_win(
        self, root: Path, tmp_path: Path, folder: str
    ) -> None:
        """The trap that the cards are for; when it is gone, the cards may be too."""
        bare = tmp_path / "bare"
        shutil.copytree(root, bare)
        for card in bare.rglob("README.md"):
            card.unlink()
        cache = str(tmp_path / "cache")
        loaded = datasets.load_dataset(str(bare / folder), cache_dir=cache)
        assert loaded["train"].column_names == ["text"]

    def test_every_column_has_a_type(self, root: Path, load: Load) -> None:
        for feature in load(root).features.values():
            assert getattr(feature, "dtype", "") != "null"

    def test_hub_card(self, root: Path) -> None:
        header = yaml.safe_load((root / "README.md").read_text("utf-8").split("---")[1])
        assert header["task_categories"] == ["text-to-image"]
        assert header["size_categories"] == ["n<1K"]
        assert header["license"] == "other"
        assert header["configs"][0]["data_files"] == [
            {"split": "train", "path": ["train/*.jpg", "train/metadata.jsonl"]}
        ]

    def test_card_without_images_promises_none(self, tmp_path: Path) -> None:
        out = tmp_path / "dataset.zip"
        with open_dataset_writer(out, CONFIG, False) as writer:
            write_inputs(writer, (SOURCES[1],))
            writer.finish()
        with zipfile.ZipFile(out) as dataset:
            for name in ("README.md", "train/README.md"):
                header = yaml.safe_load(dataset.read(name).decode().split("---")[1])
                assert "configs" not in (header or {})


class TestFolder:
    """What holds for the pairs of image and caption, whichever trainer walks the folder."""

    def test_stems_are_safe(self, root: Path) -> None:
        stems = [path.stem for path in (root / "train").glob("*.jpg")]
        assert len(set(stems)) == IMAGE_COUNT
        assert all(set(stem) <= set("abcdefghijklmnopqrstuvwxyz0123456789_-") for stem in stems)
        # sd-scripts looks for the caption of another stem where one has five parts.
        assert all(stem.count("_") < 4 for stem in stems)

    def test_each_image_has_its_caption(self, root: Path) -> None:
        for image in (root / "train").glob("*.jpg"):
            caption = image.with_suffix(".txt").read_bytes()
            assert not caption.startswith(b"\xef\xbb\xbf")
            text = caption.decode("utf-8")
            assert text.strip()
            assert text.splitlines() == [text]
            assert text.startswith("engrv, ")

    def test_nothing_else_is_taken_for_a_picture_or_a_caption(self, root: Path) -> None:
        others = {path.name for path in (root / "train").iterdir() if path.suffix != ".jpg"}
        captions = {f"{n:06d}.txt" for n in range(1, IMAGE_COUNT + 1)}
        assert others == captions | {"metadata.jsonl", "README.md"}
        # metadata.csv beside metadata.jsonl is an error in `datasets`.
        assert not list(root.rglob("metadata.csv"))
        # ai-toolkit and kohya walk for pictures: there are none outside train/.
        assert {path.parent.name for path in root.rglob("*.jpg")} == {"train"}


def configs(config: DatasetConfig = CONFIG, trigger: str = TRIGGER) -> dict[str, str]:
    return dict(iter_trainer_configs(config, clean_trigger(trigger)))


class TestConfigs:
    def test_they_are_in_the_dataset(self, root: Path) -> None:
        names = {path.name for path in (root / "configs").iterdir()}
        assert names == set(configs())

    @pytest.mark.parametrize("size_px", [64, 1024, 4096])
    def test_kohya(self, root: Path, size_px: int) -> None:
        text = configs(DatasetConfig(size_px=size_px))["kohya_dataset.toml"]
        settings = tomllib.loads(text)
        assert set(settings) == {"general", "datasets"}
        assert set(settings["general"]) <= KOHYA_GENERAL_KEYS
        (dataset,) = settings["datasets"]
        assert set(dataset) <= KOHYA_DATASET_KEYS
        (subset,) = dataset["subsets"]
        assert set(subset) <= KOHYA_SUBSET_KEYS
        # Its default, ".caption", leaves every caption unused without a word.
        assert settings["general"]["caption_extension"] == ".txt"
        assert (root / subset["image_dir"]).is_dir()
        assert subset["num_repeats"] >= 1
        assert dataset["resolution"] == size_px
        assert dataset["min_bucket_reso"] <= size_px <= dataset["max_bucket_reso"]
        # Its default of 1024 shrinks every picture that is not square.
        assert dataset["max_bucket_reso"] >= 2048
        assert dataset["max_bucket_reso"] % dataset["bucket_reso_steps"] == 0
        assert dataset["min_bucket_reso"] % dataset["bucket_reso_steps"] == 0
        assert dataset["bucket_no_upscale"] is True

    def test_simpletuner(self, root: Path) -> None:
        backends = json.loads(configs()["simpletuner_multidatabackend.json"])
        images = [one for one in backends if one.get("dataset_type", "image") == "image"]
        texts = [one for one in backends if one.get("dataset_type") == "text_embeds"]
        assert len({one["id"] for one in backends}) == len(backends) == 2
        assert [one["default"] for one in texts] == [True]
        (image,) = images
        assert (root / image["instance_data_dir"]).is_dir()
        assert image["caption_strategy"] == "textfile"
        # What is smaller is left out, or it would be blown up.
        assert image["minimum_image_size"] == image["resolution"] == CONFIG.size_px
        assert "delete_unwanted_images" not in image

    def test_onetrainer(self, root: Path) -> None:
        (concept,) = json.loads(configs()["onetrainer_concepts.json"])
        assert concept["__version"] == 2
        assert concept["type"] == "STANDARD"
        assert concept["include_subdirectories"] is False
        assert concept["text"] == {"prompt_source": "sample"}
        assert (root / concept["path"]).is_dir()

    def test_ai_toolkit(self, root: Path) -> None:
        job = yaml.safe_load(configs()["ai_toolkit.yaml"])
        (step,) = job["config"]["process"]
        assert step["trigger_word"] == TRIGGER
        assert step["model"]["arch"] == "sdxl"
        assert isinstance(step["train"]["lr"], float)
        (dataset,) = step["datasets"]
        assert (root / dataset["folder_path"]).is_dir()
        assert dataset["caption_ext"] == "txt"
        assert dataset["resolution"] == [CONFIG.size_px]

    def test_ai_toolkit_without_trigger(self) -> None:
        job = yaml.safe_load(configs(trigger="")["ai_toolkit.yaml"])
        assert "trigger_word" not in job["config"]["process"][0]

    def test_diffusers_command_runs_from_the_dataset(self, root: Path, tmp_path: Path) -> None:
        """A stand-in for `accelerate` writes down how it is called."""
        accelerate = tmp_path / "accelerate"
        accelerate.write_text('#!/bin/sh\npwd\nprintf "%s\\n" "$@"\n')
        accelerate.chmod(0o755)
        (tmp_path / "train.py").touch()
        called = subprocess.run(
            ["sh", str(root / "configs" / "diffusers_command.sh"), "train.py", "--rank", "4"],
            env={"PATH": f"{tmp_path}:/usr/bin:/bin"},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=True,
        ).stdout.splitlines()
        assert Path(called[0]).samefile(root)
        assert called[1:3] == ["launch", str(tmp_path / "train.py")]
        assert called[-2:] == ["--rank", "4"]
        options = dict(itertools.pairwise(called))
        assert (root / options["--train_data_dir"]).is_dir()
        assert options["--image_column"] == "image"
        assert options["--caption_column"] == "text"
        assert options["--resolution"] == "64"
