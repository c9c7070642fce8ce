"""A base on the hub: fetched last, only what is needed, and told of in one sentence else."""

import logging
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from huggingface_hub import constants
from safetensors.torch import load_file, save_file

from style_lora.base_model import open_text_parts, open_unet, open_vae
from style_lora.base_source import count_weight_bytes, fetch_base
from style_lora.config import DEFAULT_BASE, TrainConfig
from style_lora.errors import BaseModelError, DatasetError, DiskSpaceError, HubError, SettingsError
from style_lora.lora_file import find_lora
from style_lora.painter import PictureOrder, open_painter
from style_lora.training import train_lora
from tests.style_lora.hub_stand_in import StandIn
from tests.style_lora.test_dataset_zip import write_dataset

NAME = "anna/tiny-sdxl"


@pytest.fixture
def repository(tiny_base: Path, tmp_path: Path) -> Path:
    """What the hub has: weights in 16 bit beside whole ones, and much that nobody needs."""
    folder = shutil.copytree(tiny_base, tmp_path / "repository")
    for weights in (
        folder / "unet" / "diffusion_pytorch_model.safetensors",
        folder / "text_encoder" / "model.safetensors",
    ):
        halves = {name: one.half() for name, one in load_file(weights).items()}
        save_file(halves, weights.with_suffix(".fp16.safetensors"), {"format": "pt"})
    (folder / "unet" / "diffusion_flax_model.msgpack").write_bytes(b"x")
    (folder / "sd_xl_base_1.0.safetensors").write_bytes(b"x")
    return folder


@pytest.fixture
def hub(repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[StandIn]:
    with StandIn(repository, NAME) as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        point_to(server.url, tmp_path / "cache", monkeypatch)
        yield server
        server.shutdown()


def point_to(url: str, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The client reads the environment once, long before the tests."""
    template = f"{url}/{{repo_id}}/resolve/{{revision}}/{{filename}}"
    monkeypatch.setattr(constants, "ENDPOINT", url)
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(cache))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


def test_only_what_is_needed_is_fetched_and_only_once(hub: StandIn) -> None:
    told: list[str] = []
    folder = fetch_base(NAME, half=True, tell=told.append)
    (message,) = told
    assert NAME in message
    assert "GB" in message
    assert "unet/diffusion_pytorch_model.fp16.safetensors" in hub.fetched
    assert "text_encoder/model.fp16.safetensors" in hub.fetched
    # Where there is nothing in 16 bit, and the VAE, whole; no other program's files.
    assert "text_encoder_2/model.safetensors" in hub.fetched
    assert "vae/diffusion_pytorch_model.safetensors" in hub.fetched
    assert "unet/diffusion_pytorch_model.safetensors" not in hub.fetched
    assert not [name for name in hub.fetched if name.endswith(".msgpack") or "/" not in name][1:]
    asked = hub.asked
    assert fetch_base(NAME, half=True, tell=told.append) == folder
    assert hub.asked == asked, "what lies in the cache takes no network"
    order = PictureOrder("a ship", steps=1, size_px=(64, 64))
    with open_painter(str(folder), None, "cpu") as painter:
        assert painter.paint(order).size == (64, 64)


@pytest.mark.usefixtures("hub")
def test_a_damaged_listing_of_weights_in_the_cache_is_named() -> None:
    folder = fetch_base(NAME, half=True, tell=list[str]().append)
    listing = folder / "unet" / "diffusion_pytorch_model.fp16.safetensors.index.json"
    for content in ("{", "[]", "{}", '{"weight_map": 1}'):
        listing.write_text(content, encoding="utf-8")
        with pytest.raises(BaseModelError, match="is damaged"):
            fetch_base(NAME, half=True, tell=list[str]().append)


def test_a_folder_of_halves_alone_serves_a_cpu(tiny_base: Path, tmp_path: Path) -> None:
    """It is what the command in our advice fetches."""
    folder = shutil.copytree(tiny_base, tmp_path / "halves")
    for weights in list(folder.glob("*/*.safetensors")):
        halves = {name: one.half() for name, one in load_file(weights).items()}
        save_file(halves, weights.with_suffix(".fp16.safetensors"), {"format": "pt"})
        weights.unlink()
    assert fetch_base(str(folder), half=False, tell=print) == folder
    parts = [open_unet(folder, torch.float32), open_vae(folder)]
    parts += open_text_parts(folder, torch.float32).encoders
    assert {part.dtype for part in parts} == {torch.float32}
    with open_painter(str(folder), None, "cpu") as painter:
        assert painter.paint(PictureOrder("a ship", steps=1, size_px=(64, 64))).size == (64, 64)


def test_the_gpu_is_asked_for_the_time_of_what_is_read(repository: Path, tiny_base: Path) -> None:
    names = (
        "unet/diffusion_pytorch_model.fp16.safetensors",
        "text_encoder/model.fp16.safetensors",
        "text_encoder_2/model.safetensors",
        "vae/diffusion_pytorch_model.safetensors",
    )
    read = sum((repository / name).stat().st_size for name in names)
    assert count_weight_bytes(repository, half=True) == read
    whole = sum(path.stat().st_size for path in tiny_base.glob("*/*.safetensors"))
    assert count_weight_bytes(repository, half=False) == whole


def test_everything_is_checked_before_the_base_is_fetched(
    hub: StandIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = TrainConfig(base=NAME, resolution=64, steps=2, sample_every=0)
    broken = tmp_path / "broken.zip"
    broken.write_bytes(b"%PDF-1.7")
    with pytest.raises(DatasetError):
        train_lora(broken, tmp_path / "out", config)
    dataset = write_dataset(tmp_path / "set.zip", 2)
    with pytest.raises(BaseModelError, match="is no VAE"):
        train_lora(dataset, tmp_path / "out", TrainConfig(base=NAME, vae=str(tmp_path)))
    with monkeypatch.context() as patched:
        patched.setattr("style_lora.preparation.estimate_bytes", lambda *_: 10**16)
        with pytest.raises(DiskSpaceError, match="this training"):
            train_lora(dataset, tmp_path / "out", config)
    assert hub.asked == 0
    with monkeypatch.context() as patched:
        patched.setattr("style_lora.preparation.share_disk", lambda *_: True)
        patched.setattr("style_lora.base_source.hub_cache", lambda: tmp_path)
        patched.setattr("style_lora.preparation.estimate_bytes", lambda *_: free_bytes(tmp_path))
        with pytest.raises(DiskSpaceError, match=f"fetching {NAME}"):
            train_lora(dataset, tmp_path / "out", config)
    assert hub.fetched == ["model_index.json"]


def free_bytes(folder: Path) -> int:
    """Room for the training, but for nothing beside it."""
    return shutil.disk_usage(folder).free - 1_000_000


def test_a_training_fetches_its_base_and_keeps_its_name(hub: StandIn, tmp_path: Path) -> None:
    dataset = write_dataset(tmp_path / "set.zip", 2)
    config = TrainConfig(
        base=NAME, resolution=64, rank=2, steps=1, sample_prompts=("a ship",), sample_steps=1
    )
    assert train_lora(dataset, tmp_path / "out", config).finished
    assert "unet/diffusion_pytorch_model.safetensors" in hub.fetched
    assert f"base_model: {NAME}" in (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    assert len(list((tmp_path / "out" / "samples").iterdir())) == 2
    asked = hub.asked
    other = TrainConfig(base="anna/other", resolution=64, rank=2, steps=2)
    with pytest.raises(SettingsError, match=f"base {NAME}, now anna/other"):
        train_lora(dataset, tmp_path / "out", other, resume=True)
    assert hub.asked == asked, "what does not fit is told before the hub is asked"


def test_without_a_network_one_sentence_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    point_to("http://127.0.0.1:9", tmp_path / "cache", monkeypatch)
    dataset = write_dataset(tmp_path / "set.zip", 2)
    with caplog.at_level(logging.WARNING), pytest.raises(HubError) as raised:
        train_lora(dataset, tmp_path / "out", TrainConfig(resolution=64))
    told = str(raised.value)
    assert "cannot be reached" in told
    assert "Check the network" in told
    assert f"hf download {DEFAULT_BASE} --include '*.json'" in told
    assert "\n" not in told
    assert not caplog.records, "no line for each retry"
    with pytest.raises(HubError, match="hf download anna/old-plates"):
        find_lora("anna/old-plates")


def test_what_the_hub_does_not_have_is_told(hub: StandIn, repository: Path) -> None:
    with pytest.raises(HubError, match="no such model"):
        fetch_base("anna/nothing", half=False, tell=print)
    (repository / "vae" / "diffusion_pytorch_model.safetensors").unlink()
    with pytest.raises(BaseModelError, match=r"vae/\*\.safetensors missing"):
        fetch_base(NAME, half=False, tell=print)
    assert hub.fetched == []
