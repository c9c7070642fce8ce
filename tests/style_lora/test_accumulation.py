"""Gradients added up over batches: as one larger batch, exact after a stop, told in the plan."""

import shutil
import sys
from pathlib import Path

import pytest
import torch

from style_lora.adapter import add_lora, list_weights
from style_lora.base_model import open_noise_schedule, open_unet
from style_lora.config import TrainConfig
from style_lora.embedding_cache import CaptionEmbedding, EmbeddingCache, LatentSpread
from style_lora.errors import SettingsError
from style_lora.estimate import estimate_left_s, make_plan, tell_plan
from style_lora.schema import Example, Examples, TrainProgress
from style_lora.trainer import Trainer
from style_lora.training import train_lora
from tests.style_lora.test_dataset_zip import write_dataset
from tests.style_lora.tiny_sdxl import WIDTHS

PICTURES = tuple(Example(f"{number}.jpg", f"picture {number}", (64, 64), 0) for number in range(3))


@pytest.fixture
def cache(tmp_path: Path) -> EmbeddingCache:
    """Three pictures and captions of noise."""
    noise = torch.Generator().manual_seed(0)
    cache = EmbeddingCache(tmp_path / "cache", 64)
    for one in PICTURES:
        mean = torch.randn((4, 8, 8), generator=noise)
        cache.add_latents(one, LatentSpread(mean, torch.zeros_like(mean)))
        words = torch.randn((77, sum(WIDTHS)), generator=noise)
        cache.add_caption(one.caption, CaptionEmbedding(words, words[0, : WIDTHS[1]].clone()))
    return cache


def open_trainer(base: Path, cache: EmbeddingCache, accumulate: int) -> Trainer:
    config = TrainConfig(resolution=64, rank=2, accumulate=accumulate, caption_dropout=0)
    unet = open_unet(base, torch.float32)
    add_lora(unet, rank=2, alpha=2, seed=0)
    for number, weight in enumerate(list_weights(unet).values()):
        weight.data.normal_(0, 0.1, generator=torch.Generator().manual_seed(number))
    return Trainer(unet, open_noise_schedule(base), cache, config, steps=10)


def take_gradients(trainer: Trainer) -> list[torch.Tensor]:
    weights = list_weights(trainer.unet).values()
    found = [weight.grad.clone() for weight in weights if weight.grad is not None]
    assert len(found) == len(weights)
    for weight in weights:
        weight.grad = None
    return found


def test_each_picture_counts_alike(tiny_base: Path, cache: EmbeddingCache) -> None:
    pair, single = [PICTURES[0], PICTURES[1]], [PICTURES[2]]
    one_by_one = open_trainer(tiny_base, cache, accumulate=1)
    losses = [one_by_one.add_gradients(6, [pair])]
    of_pair = take_gradients(one_by_one)
    losses.append(one_by_one.add_gradients(7, [single]))
    of_single = take_gradients(one_by_one)
    together = open_trainer(tiny_base, cache, accumulate=2)
    loss = together.add_gradients(3, [pair, single])
    assert loss == pytest.approx((2 * losses[0] + losses[1]) / 3)
    for added, first, second in zip(take_gradients(together), of_pair, of_single, strict=True):
        torch.testing.assert_close(added, (2 * first + second) / 3)


def test_a_stop_between_two_steps_changes_nothing(tiny_base: Path, tmp_path: Path) -> None:
    dataset = write_dataset(tmp_path / "set.zip", 3)
    config = TrainConfig(
        base=str(tiny_base), resolution=64, rank=2, steps=3, accumulate=2, sample_every=0,
        validation_share=0, checkpoint_every=1,
    )  # fmt: skip

    def keep(progress: TrainProgress) -> None:
        """Keep what a kill after the first step would leave."""
        if progress.done == 1 and progress.loss is not None:
            shutil.copytree(tmp_path / "whole", tmp_path / "killed")

    train_lora(dataset, tmp_path / "whole", config, on_progress=keep)
    train_lora(dataset, tmp_path / "killed", config, resume=True)
    last = "checkpoints/last.safetensors"
    assert (tmp_path / "killed" / last).read_bytes() == (tmp_path / "whole" / last).read_bytes()


def test_the_plan_counts_steps_of_several_batches() -> None:
    examples = Examples(PICTURES * 20, PICTURES, held_out=True)
    buckets = [(64, 64)] * 60
    plain = TrainConfig(epochs=10)
    summed = TrainConfig(epochs=10, accumulate=8)
    one_by_one, together = (make_plan(examples, buckets, one) for one in (plain, summed))
    assert (one_by_one.steps, one_by_one.epochs) == (600, 10)
    assert (together.steps, together.epochs) == (75, 10)
    assert together.recommended_steps == one_by_one.recommended_steps / 8
    # A step of eight batches takes eight times as long; the whole takes as long as before.
    assert estimate_left_s(together, summed, 0, 8.0) == pytest.approx(
        estimate_left_s(one_by_one, plain, 0, 1.0), rel=0.05
    )
    told = tell_plan(together, summed, 60, "Tesla T4")
    assert "75 steps at most of 8 pictures = 10.0 epochs" in told
    # 600 pictures at 3 to 6 s each, as others report for a T4.
    assert "0.5 to 1.0 hours" in told


def test_8_bit_adam_takes_its_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "bitsandbytes", None)
    config = TrainConfig(base=str(tmp_path), optimizer="adamw8bit")
    with pytest.raises(SettingsError, match="pip install bitsandbytes"):
        train_lora(tmp_path / "missing.zip", tmp_path / "out", config)
