"""CLIP and SigLIP with the catalogue's prompts: tiny random models, made on the spot."""

from pathlib import Path

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import (
    AutoImageProcessor,
    CLIPConfig,
    CLIPModel,
    PreTrainedModel,
    PreTrainedTokenizerFast,
    SiglipConfig,
    SiglipModel,
)
from transformers.models.vit.image_processing_pil_vit import ViTImageProcessorPil

from vetscanner.classifier import open_classifier
from vetscanner.conditions import PROMPTS
from vetscanner.errors import ModelLoadError
from vetscanner.model_specs import read_spec
from vetscanner.schema import SignClass

LENGTH = 24
LAYERS = {
    "hidden_size": 16,
    "intermediate_size": 32,
    "num_attention_heads": 2,
    "num_hidden_layers": 2,
}


def make_tokenizer() -> PreTrainedTokenizerFast:
    """Know each word of the prompts."""
    words = sorted({w for texts in PROMPTS.values() for text in texts for w in text.split()})
    names = ["<pad>", "<unk>", *words, "<end>"]
    tokenizer = Tokenizer(models.WordLevel({n: i for i, n in enumerate(names)}, "<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="$A <end>", special_tokens=[("<end>", len(names) - 1)]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="<pad>",
        unk_token="<unk>",
        eos_token="<end>",
        model_input_names=["input_ids", "attention_mask"],
    )


def make_model(kind: str, tokenizer: PreTrainedTokenizerFast) -> PreTrainedModel:
    torch.manual_seed(5)
    text = {"vocab_size": len(tokenizer), "max_position_embeddings": LENGTH, **LAYERS}
    vision = {"patch_size": 8, "image_size": 32, **LAYERS}
    if kind == "clip":
        text["eos_token_id"] = tokenizer.eos_token_id
        config = CLIPConfig(text_config=text, vision_config=vision, projection_dim=12)
        return CLIPModel(config).eval()
    text["projection_size"] = LAYERS["hidden_size"]
    return SiglipModel(SiglipConfig(text_config=text, vision_config=vision)).eval()


@pytest.fixture(params=["clip", "siglip"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    tokenizer = make_tokenizer()
    make_model(request.param, tokenizer).save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    ViTImageProcessorPil(size={"height": 32, "width": 32}).save_pretrained(tmp_path)
    return tmp_path


def expected_answer(folder: Path, photo: np.ndarray) -> list[float]:
    """Ask the model as transformers documents it, prompt by prompt."""
    kind = CLIPModel if "CLIP" in (folder / "config.json").read_text() else SiglipModel
    model = kind.from_pretrained(folder).eval()
    pixels = AutoImageProcessor.from_pretrained(folder, backend="pil")(photo, return_tensors="pt")
    tokenizer = make_tokenizer()
    logits = []
    for texts in PROMPTS.values():
        tokens = tokenizer(
            list(texts), padding="max_length", max_length=LENGTH, return_tensors="pt"
        )
        known = {name: tokens[name] for name in ("input_ids", "attention_mask")}
        with torch.inference_mode():
            answer = model(**known, **pixels)
        mean = answer.text_embeds.mean(0)
        cosine = (answer.image_embeds[0] * mean / mean.norm()).sum()
        logits.append(float(model.logit_scale.detach().exp() * cosine))
    return torch.tensor(logits).softmax(-1).tolist()


def test_a_photo_is_compared_with_the_prompts_of_every_sign(folder: Path) -> None:
    spec = read_spec(folder)
    assert spec.is_zero_shot
    assert not spec.calibrated
    photo = np.random.default_rng(1).integers(0, 256, (40, 50, 3), dtype=np.uint8)
    with open_classifier(spec) as classifier:
        (answer,) = classifier.predict([photo])
    assert answer.evidence is None
    probabilities = [answer.probabilities[sign] for sign in SignClass]
    assert probabilities == pytest.approx(expected_answer(folder, photo), abs=1e-5)
    assert len({round(p, 6) for p in probabilities}) > 1


@pytest.mark.parametrize("missing", ["tokenizer.json", "preprocessor_config.json"])
def test_an_incomplete_folder_is_a_load_error(folder: Path, missing: str) -> None:
    (folder / missing).unlink()
    with (
        pytest.raises(ModelLoadError, match=str(folder)),
        open_classifier(read_spec(folder)),
    ):
        pass


def test_every_class_has_prompts_in_the_order_of_the_classes() -> None:
    assert list(PROMPTS) == list(SignClass)
    assert all(len(texts) >= 2 for texts in PROMPTS.values())
