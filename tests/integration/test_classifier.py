"""The real bundled model: right answers, no memory left behind, errors in words."""

import gc
import json
import pickle
import shutil
import subprocess
import sys
import weakref
from contextlib import ExitStack
from pathlib import Path

import gradio
import numpy as np
import psutil
import pytest
import torch
from numpy.typing import NDArray
from PIL import Image
from transformers import (
    AutoImageProcessor,
    AutoModelForImageClassification,
    PreTrainedModel,
    ResNetConfig,
    ResNetForImageClassification,
    SiglipConfig,
    SiglipForImageClassification,
    SwinConfig,
    SwinForImageClassification,
    ViTConfig,
    ViTForImageClassification,
)
from transformers.models.vit.image_processing_pil_vit import ViTImageProcessorPil

from vetscanner.classifier import classify, open_classifier
from vetscanner.errors import InferenceError, ModelLoadError
from vetscanner.evidence import record_features
from vetscanner.model_specs import ModelSpec, bundled_spec, read_spec
from vetscanner.schema import Device, SignClass

LION = Path(gradio.__file__).parent / "media_assets" / "images" / "lion.jpg"
# After the libraries are warm, one request may leave this much behind: glibc's arenas and torch's
# own caches, not the 16 MB of the model in float32.
RSS_TOLERANCE_MB = 12.0


def read_rgb(path: Path) -> NDArray[np.uint8]:
    return np.asarray(Image.open(path).convert("RGB"))


@pytest.fixture(scope="module")
def lion() -> NDArray[np.uint8]:
    return read_rgb(LION)


def test_importing_the_classifier_imports_no_torch() -> None:
    code = (
        "import sys, vetscanner.classifier; "
        "print('torch' in sys.modules, 'transformers' in sys.modules)"
    )
    answer = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert answer.stdout.split() == ["False", "False"]


def test_lion_is_not_cattle(lion: NDArray[np.uint8]) -> None:
    answer = classify([lion], bundled_spec(), Device.CPU, "no graphics card")
    (prediction,) = answer.predictions
    assert prediction.top is SignClass.NOT_CATTLE
    assert prediction.probabilities[SignClass.NOT_CATTLE] > 0.9
    assert sum(prediction.probabilities.values()) == pytest.approx(1.0)
    assert (answer.device, answer.device_reason) == (Device.CPU, "no graphics card")
    assert min(answer.load_s, answer.infer_s, answer.unload_s) > 0.0


def draw_blank(level: int) -> NDArray[np.uint8]:
    return np.full((240, 320, 3), level, dtype=np.uint8)


def draw_static() -> NDArray[np.uint8]:
    return np.random.default_rng(7).integers(0, 256, (300, 300, 3), dtype=np.uint8)


def draw_stripes() -> NDArray[np.uint8]:
    page = np.full((400, 300, 3), 245, dtype=np.uint8)
    page[::12, 20:280] = 30
    return page


@pytest.mark.parametrize(
    "picture",
    [
        pytest.param(draw_blank(0), id="black"),
        pytest.param(draw_blank(255), id="white"),
        pytest.param(draw_static(), id="static"),
        pytest.param(draw_stripes(), id="stripes"),
        pytest.param(draw_blank(128)[:1, :1], id="one-pixel"),
    ],
)
def test_pictures_of_nothing_are_unclear_or_not_cattle(picture: NDArray[np.uint8]) -> None:
    spec = bundled_spec()
    with open_classifier(spec) as classifier:
        (prediction,) = classifier.predict([picture])
    is_unclear = prediction.probabilities[prediction.top] < spec.unclear_below
    assert is_unclear or prediction.top is SignClass.NOT_CATTLE


def test_answers_do_not_depend_on_batch_mates_or_order(lion: NDArray[np.uint8]) -> None:
    photos = [lion, draw_static(), draw_stripes()] * 4  # More than one batch.
    with open_classifier(bundled_spec()) as classifier:
        together = classifier.predict(photos)
        (alone,) = classifier.predict([draw_stripes()])
        assert classifier.predict([]) == ()
    assert len(together) == len(photos)
    for sign in SignClass:
        assert together[2].probabilities[sign] == pytest.approx(alone.probabilities[sign], abs=1e-4)
        assert together[2].probabilities[sign] == pytest.approx(
            together[11].probabilities[sign], abs=1e-4
        )


def test_mirrored_photo_gets_the_same_answer(lion: NDArray[np.uint8]) -> None:
    with open_classifier(bundled_spec()) as classifier:
        plain, mirrored = classifier.predict([lion, np.ascontiguousarray(lion[:, ::-1])])
    for sign in SignClass:
        assert plain.probabilities[sign] == pytest.approx(mirrored.probabilities[sign], abs=0.02)


def test_model_is_gone_after_the_block(lion: NDArray[np.uint8]) -> None:
    with open_classifier(bundled_spec()) as classifier:
        network = weakref.ref(classifier._network)
        classifier.predict([lion])
        assert network() is not None
    assert network() is None
    with pytest.raises(InferenceError, match="unloaded"):
        classifier.predict([lion])


def test_model_is_gone_after_a_failure_inside_the_block() -> None:
    def fail() -> None:
        with open_classifier(bundled_spec()) as classifier:
            found.append(weakref.ref(classifier._network))
            message = "the request was cancelled"
            raise KeyboardInterrupt(message)

    found: list[weakref.ref[object]] = []
    with pytest.raises(KeyboardInterrupt):
        fail()
    gc.collect()
    assert found[0]() is None
    assert gc.get_freeze_count() == 0


def test_model_is_gone_while_another_request_still_has_its_own(lion: NDArray[np.uint8]) -> None:
    first, second = ExitStack(), ExitStack()
    with first, second:
        early = first.enter_context(open_classifier(bundled_spec()))
        network = weakref.ref(early._network)
        # A cycle, as transformers makes some: only a collection finds it.
        early._network.itself = [early._network]
        late = second.enter_context(open_classifier(bundled_spec()))
        first.close()
        assert network() is None
        assert late.predict([lion])[0].top is SignClass.NOT_CATTLE
    assert gc.get_freeze_count() == 0


def test_memory_returns_to_its_baseline(lion: NDArray[np.uint8]) -> None:
    process = psutil.Process()

    def request() -> float:
        classify([lion], bundled_spec(), Device.CPU, "")
        return float(process.memory_info().rss) / 1e6

    for _ in range(3):
        baseline_mb = request()
    after_mb = [request() for _ in range(8)]
    assert max(after_mb) - baseline_mb < RSS_TOLERANCE_MB


def test_cpu_path_never_touches_cuda(lion: NDArray[np.uint8]) -> None:
    with open_classifier(bundled_spec(), "cpu") as classifier:
        classifier.predict([lion])
    assert not torch.cuda.is_initialized()


@pytest.mark.skipif(torch.cuda.is_available(), reason="needs a machine without CUDA")
def test_missing_graphics_card_is_a_load_error(lion: NDArray[np.uint8]) -> None:
    with pytest.raises(ModelLoadError, match="Cannot load the model"):
        classify([lion], bundled_spec(), Device.GPU, "asked for")


def test_result_crosses_a_process_boundary(lion: NDArray[np.uint8]) -> None:
    spec: ModelSpec = pickle.loads(pickle.dumps(bundled_spec()))
    answer = classify([lion], spec, Device.CPU, "")
    assert pickle.loads(pickle.dumps(answer)) == answer


@pytest.fixture
def copied_model(tmp_path: Path) -> Path:
    return shutil.copytree(bundled_spec().path, tmp_path / "model")


@pytest.mark.parametrize(
    "break_it",
    [
        pytest.param(lambda p: (p / "model.safetensors").write_bytes(b"\0" * 64), id="weights"),
        pytest.param(lambda p: (p / "preprocessor_config.json").unlink(), id="preprocessor"),
        pytest.param(
            lambda p: (p / "config.json").write_text(
                json.dumps(json.loads((p / "config.json").read_text()) | {"model_type": "nonsense"})
            ),
            id="architecture",
        ),
        pytest.param(
            lambda p: (p / "config.json").write_text(
                json.dumps(json.loads((p / "config.json").read_text()) | {"hidden_dim": 640})
            ),
            id="other-shape",
        ),
    ],
)
def test_broken_model_is_a_load_error_that_names_the_folder(copied_model: Path, break_it) -> None:
    break_it(copied_model)
    with (
        pytest.raises(ModelLoadError, match=str(copied_model)),
        open_classifier(read_spec(copied_model)),
    ):
        pass


def test_poisoned_weights_are_an_inference_error(
    copied_model: Path, lion: NDArray[np.uint8]
) -> None:
    from safetensors.torch import load_file, save_file

    weights = load_file(copied_model / "model.safetensors")
    weights["classifier.bias"][:] = float("nan")
    save_file(weights, copied_model / "model.safetensors", metadata={"format": "pt"})
    with (
        open_classifier(read_spec(copied_model)) as classifier,
        pytest.raises(InferenceError, match="no numbers"),
    ):
        classifier.predict([lion])


def make_tiny_model(kind: str) -> PreTrainedModel:
    """Build a random image classifier of another family with three of our labels."""
    labels = {0: "lumpy_skin", 1: "healthy", 2: "not_cattle"}
    common = {
        "image_size": 32,
        "id2label": labels,
        "label2id": {name: index for index, name in labels.items()},
    }
    layers = {
        "hidden_size": 16,
        "intermediate_size": 32,
        "num_attention_heads": 2,
        "num_hidden_layers": 2,
    }
    if kind == "vit":
        config = ViTConfig(patch_size=8, **layers, **common)
        return ViTForImageClassification(config)
    if kind == "swin":
        config = SwinConfig(
            patch_size=4, embed_dim=8, depths=[1, 1], num_heads=[2, 2], window_size=4, **common
        )
        return SwinForImageClassification(config)
    vision = {"patch_size": 8, "image_size": 32, **layers}
    config = SiglipConfig(vision_config=vision, id2label=labels, label2id=common["label2id"])
    return SiglipForImageClassification(config)


@pytest.mark.parametrize("kind", ["vit", "swin", "siglip"])
def test_other_families_load_exactly_as_transformers_loads_them(tmp_path: Path, kind: str) -> None:
    torch.manual_seed(3)
    model = make_tiny_model(kind).eval()
    model.save_pretrained(tmp_path)
    ViTImageProcessorPil(size={"height": 32, "width": 32}).save_pretrained(tmp_path)
    photo = np.random.default_rng(1).integers(0, 256, (40, 50, 3), dtype=np.uint8)
    processor = AutoImageProcessor.from_pretrained(tmp_path, backend="pil")
    with torch.inference_mode():
        logits = model(**processor(photo, return_tensors="pt")).logits
    expected = logits.softmax(-1)[0].tolist()
    with open_classifier(read_spec(tmp_path)) as classifier:
        (prediction,) = classifier.predict([photo])
    signs = (SignClass.LUMPY_SKIN, SignClass.NO_VISIBLE_SIGN, SignClass.NOT_CATTLE)
    assert [prediction.probabilities[sign] for sign in signs] == pytest.approx(expected, abs=1e-5)
    assert prediction.probabilities[SignClass.EYE] == 0.0
    assert prediction.evidence is None  # not linear on the mean of a feature map


@pytest.mark.parametrize("kind", ["bundled", "resnet"])
def test_the_mean_of_a_map_is_the_answer_itself(kind: str) -> None:
    torch.manual_seed(4)
    if kind == "bundled":
        network = AutoModelForImageClassification.from_pretrained(bundled_spec().path).float()
    else:
        config = ResNetConfig(hidden_sizes=[8, 8, 8, 8], depths=[1, 1, 1, 1], num_labels=3)
        network = ResNetForImageClassification(config)
    with torch.inference_mode(), record_features(network.eval()) as record:
        logits = network(pixel_values=torch.randn(2, 3, 64, 64)).logits
        maps = record.class_maps()
    assert maps is not None
    assert maps.shape == (2, network.config.num_labels, 2, 2)
    answer = maps.mean(axis=(2, 3)) + record.head.bias.detach().numpy()
    np.testing.assert_allclose(answer, logits.numpy(), atol=1e-3)


def test_the_map_lies_over_the_photo_as_it_is_turned(lion: NDArray[np.uint8]) -> None:
    with open_classifier(bundled_spec()) as classifier:
        plain, mirrored = classifier.predict([lion, np.ascontiguousarray(lion[:, ::-1])])
    assert plain.evidence is not None
    assert mirrored.evidence is not None
    assert plain.evidence.shape == (len(SignClass), 8, 8)
    turned_back = mirrored.evidence[:, :, ::-1].ravel()
    same = np.corrcoef(plain.evidence.ravel(), turned_back)[0, 1]
    assert same > 0.95
    assert np.corrcoef(plain.evidence.ravel(), mirrored.evidence.ravel())[0, 1] < same - 0.03


def test_missing_weights_are_never_made_up(copied_model: Path) -> None:
    from safetensors.torch import load_file, save_file

    weights = load_file(copied_model / "model.safetensors")
    del weights["classifier.weight"]
    save_file(weights, copied_model / "model.safetensors", metadata={"format": "pt"})
    with (
        pytest.raises(ModelLoadError, match="missing"),
        open_classifier(read_spec(copied_model)),
    ):
        pass
