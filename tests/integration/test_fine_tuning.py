"""Fine-tuning on a few drawn pictures: exact steps, going on after a stop, and what is kept."""

import shutil
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from tests.drawn_photos import draw_sign_photo, write_labelled_folder
from vetscanner.classifier import open_classifier
from vetscanner.model_specs import read_spec
from vetscanner.training import fine_tune
from vetscanner.training.backbone import LITE0, LITE2, build_imagenet_model, without_gates
from vetscanner.training.calibration import Calibration
from vetscanner.training.evaluate import cross_validate_folder
from vetscanner.training.examples import Examples
from vetscanner.training.export import save_model
from vetscanner.training.fast_layers import fast_layers
from vetscanner.training.fine_tune import FineTuning, Recipe, judge
from vetscanner.training.fine_tune_runs import FineTuneRuns
from vetscanner.training.labels import SIGNS, read_labels
from vetscanner.training.train import train_model

TINY = Recipe(
    backbone=LITE0, epochs=2, batch_size=4, first_px=32, view_px=32, side_px=32, frozen_blocks=9
)
MAX_MEGABYTES = 10


@pytest.fixture(scope="module")
def examples() -> Examples:
    pictures = [np.asarray(draw_sign_photo(sign, 0)) for sign in SIGNS]
    return Examples(pictures, np.arange(len(SIGNS)), np.full(len(SIGNS), 1 / len(SIGNS)))


@pytest.fixture(scope="module")
def drawn_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_labelled_folder(tmp_path_factory.mktemp("labelled"), photos_per_sign=2)


def gradients(network: torch.nn.Module, pictures: torch.Tensor) -> list[torch.Tensor]:
    network.zero_grad()
    network(pictures).logits.square().sum().backward()
    return [w.grad.clone() for w in network.parameters() if w.grad is not None]


@pytest.mark.parametrize("backbone", [LITE0, LITE2], ids=["lite0", "lite2"])
def test_fast_layers_give_the_same_answers_and_gradients(backbone: fine_tune.Backbone) -> None:
    network = build_imagenet_model(backbone).double()
    torch.manual_seed(0)
    pictures = torch.randn(2, 3, 64, 64, dtype=torch.float64)
    with without_gates(network):
        plain_answers = network(pictures).logits
        plain = gradients(network, pictures)
        with fast_layers(network):
            fast_answers = network(pictures).logits
            fast = gradients(network, pictures)
        again = network(pictures).logits
    torch.testing.assert_close(fast_answers, plain_answers)
    torch.testing.assert_close(again, plain_answers, rtol=0, atol=0)
    assert len(fast) == len(plain) > 140
    torch.testing.assert_close(fast, plain)


def test_a_stopped_training_goes_on_to_the_same_weights(examples: Examples, tmp_path: Path) -> None:
    whole = FineTuning(TINY, examples, seed=1, steps=1)
    losses = [whole.run_epoch(), whole.run_epoch()]
    stopped = FineTuning(TINY, examples, seed=1, steps=1)
    assert stopped.run_epoch() == losses[0]
    stopped.save(tmp_path / "checkpoint.pt")
    resumed = FineTuning(TINY, examples, seed=1, steps=1)
    resumed.load(tmp_path / "checkpoint.pt")
    assert resumed.run_epoch() == losses[1]
    ends = [t.finished_network().state_dict() for t in (whole, resumed)]
    assert all(torch.equal(ends[0][name], ends[1][name]) for name in ends[0])


def test_views_grow_until_the_middle_and_stay_divisible() -> None:
    sides = [Recipe().epoch_px(epoch) for epoch in range(Recipe().epochs)]
    assert sides == [160, 160, 192, 192, 224, 224, 224, 224]


def test_only_the_later_blocks_and_the_head_learn(examples: Examples) -> None:
    training = FineTuning(TINY, examples, seed=2, steps=2)
    before = {name: w.clone() for name, w in training.network.state_dict().items()}
    training.run_epoch()
    after = training.network.state_dict()
    changed = {name for name in before if not torch.equal(before[name], after[name])}
    assert "classifier.weight" in changed
    assert "efficientnet.encoder.blocks.15.depthwise_conv.depthwise_conv.weight" in changed
    frozen = ("embeddings", *(f"encoder.blocks.{i}." for i in range(TINY.frozen_blocks)))
    assert not [
        n for n in changed if n.startswith(tuple(f"efficientnet.{part}" for part in frozen))
    ]
    # Neither the statistics of the batch norms nor the neutral gates move.
    assert not [n for n in changed if "running" in n or "squeeze" in n]


def test_finished_parts_are_kept_and_other_labels_train_anew(
    drawn_folder: Path, tmp_path: Path
) -> None:
    copy = shutil.copytree(drawn_folder, tmp_path / "copy")
    photos = read_labels(copy)
    folds = np.arange(len(photos)) % 2
    recipe = replace(TINY, epochs=1)
    logits = FineTuneRuns(photos, 0, tmp_path / "work", recipe).fold_logits(folds, 0)
    assert logits.shape == (len(photos) // 2, len(SIGNS))
    assert not list((tmp_path / "work").glob("*checkpoint*"))
    for photo in photos:
        photo.path.write_bytes(b"gone")  # whoever trains again has to read them
    again = FineTuneRuns(photos, 0, tmp_path / "work", recipe).fold_logits(folds, 0)
    np.testing.assert_array_equal(again, logits)
    with pytest.raises(Exception, match="Cannot read the photo"):
        FineTuneRuns(photos, 1, tmp_path / "work", recipe).fold_logits(folds, 0)


def test_the_exported_model_is_small_and_answers_the_same(tmp_path: Path) -> None:
    network = fine_tune.start_network(Recipe())
    with torch.no_grad():
        torch.manual_seed(0)
        network.classifier.weight.normal_(0, 0.1)
    pixels = np.asarray(draw_sign_photo(SIGNS[0], 5))
    expected = judge(network, [pixels], 256)[0]
    unchanged = Calibration(1.0, 0.5, {SIGNS[0]: 0.1, SIGNS[1]: 0.1})
    save_model(network, unchanged, tmp_path, LITE2, 256)
    assert sum(f.stat().st_size for f in tmp_path.iterdir()) < MAX_MEGABYTES * 1e6
    with open_classifier(read_spec(tmp_path)) as classifier:
        (answer,) = classifier.predict([pixels])
    shares = np.exp(expected - expected.max())
    np.testing.assert_allclose(
        [answer.probabilities[sign] for sign in SIGNS], shares / shares.sum(), atol=0.01
    )


def test_train_and_cross_validate_share_their_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "photos").mkdir()
    photos = write_labelled_folder(tmp_path / "photos", photos_per_sign=5)
    monkeypatch.setattr(fine_tune, "Recipe", partial(replace, TINY, epochs=1))
    train_model(photos, tmp_path / "model", "fine-tune", 0, tmp_path / "work")
    card = (tmp_path / "model" / "README.md").read_text(encoding="utf-8")
    assert "was fine-tuned" in card
    finished = {path: path.stat().st_mtime_ns for path in (tmp_path / "work").iterdir()}
    assert len(finished) == 5 * 2 + 1  # weights and logits of each fold, weights of the end
    spec = read_spec(tmp_path / "model")
    figures = cross_validate_folder(photos, spec, "fine-tune", tmp_path / "work")
    assert f"| accuracy of the top class | {figures['accuracy']:.3f} |" in card
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "work").iterdir()} == finished


def test_photos_larger_than_a_view_needs_are_shrunk_once(tmp_path: Path) -> None:
    Image.new("RGB", (1200, 800)).save(tmp_path / "a.png")
    (tmp_path / "labels.csv").write_text("file,label\na.png,eye\n", encoding="utf-8")
    runs = FineTuneRuns(read_labels(tmp_path), 0, tmp_path / "work", TINY)
    assert [p.shape for p in runs._read()] == [(320, 480, 3)]
