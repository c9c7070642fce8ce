"""Which model: bundled, a folder, or a pinned repository; everything else is refused in words."""

import json
from pathlib import Path

import pytest

from vetscanner.errors import ModelLoadError
from vetscanner.model_specs import ALARM_SIGNS, bundled_spec, resolve_spec
from vetscanner.schema import SignClass

MAX_WEIGHTS_BYTES = 10_000_000


def write_model_folder(folder: Path, names: list[str], **calibration: object) -> Path:
    folder.mkdir(exist_ok=True)
    config = {"id2label": {str(index): label for index, label in enumerate(names)}}
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    (folder / "model.safetensors").write_bytes(b"")
    if calibration:
        text = json.dumps(calibration)
        (folder / "calibration.json").write_text(text, encoding="utf-8")
    return folder


def test_bundled_model_is_calibrated_small_and_knows_every_sign() -> None:
    spec = bundled_spec()
    assert set(spec.labels.values()) == set(SignClass)
    assert set(spec.alarm_thresholds) == set(ALARM_SIGNS)
    assert spec.calibrated
    assert 0.0 < spec.unclear_below < 1.0
    assert all(0.0 < threshold < 1.0 for threshold in spec.alarm_thresholds.values())
    assert (spec.path / "model.safetensors").stat().st_size < MAX_WEIGHTS_BYTES


@pytest.mark.parametrize("text", [None, "", "  "])
def test_nothing_asked_for_is_the_bundled_model(text: str | None) -> None:
    assert resolve_spec(text) == bundled_spec()


def test_folder_without_calibration_is_uncalibrated_with_cautious_defaults(tmp_path: Path) -> None:
    spec = resolve_spec(str(write_model_folder(tmp_path / "vit", ["LSD", "Healthy", "Not cow"])))
    assert spec.model_id == "vit"
    assert not spec.calibrated
    assert spec.temperature == 1.0
    assert spec.labels == {
        "LSD": SignClass.LUMPY_SKIN,
        "Healthy": SignClass.NO_VISIBLE_SIGN,
        "Not cow": SignClass.NOT_CATTLE,
    }


def test_calibration_maps_labels_of_any_name(tmp_path: Path) -> None:
    table = {"Kuh krank": "lumpy_skin", "Kuh": "no_visible_sign"}
    folder = write_model_folder(tmp_path / "m", list(table), labels=table, temperature=2.0)
    spec = resolve_spec(str(folder))
    assert spec.labels == {key: SignClass(value) for key, value in table.items()}
    assert spec.temperature == 2.0


@pytest.mark.parametrize(
    ("labels", "calibration", "word"),
    [
        pytest.param(["lumpy_skin", "tabby cat"], {}, "tabby cat", id="unknown-label"),
        pytest.param([], {}, "labels", id="no-labels"),
        pytest.param(["eye"], {"temperature": 0}, "temperature", id="zero-temperature"),
        pytest.param(["eye"], {"temperature": "warm"}, "not usable", id="temperature-in-words"),
        pytest.param(["eye"], {"alarm_thresholds": 3}, "not usable", id="thresholds-no-table"),
    ],
)
def test_unusable_settings_are_refused(
    tmp_path: Path, labels: list[str], calibration: dict[str, object], word: str
) -> None:
    folder = write_model_folder(tmp_path / "m", labels, **calibration)
    with pytest.raises(ModelLoadError, match=word):
        resolve_spec(str(folder))


def test_pickled_weights_are_refused(tmp_path: Path) -> None:
    folder = write_model_folder(tmp_path / "m", ["eye"])
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    with pytest.raises(ModelLoadError, match="safetensors"):
        resolve_spec(str(folder))


def test_broken_config_is_refused(tmp_path: Path) -> None:
    folder = write_model_folder(tmp_path / "m", ["eye"])
    (folder / "config.json").write_text("{", encoding="utf-8")
    with pytest.raises(ModelLoadError, match=r"config\.json"):
        resolve_spec(str(folder))


@pytest.mark.parametrize("text", ["owner/name", "owner/name@main", "owner/name@1234abc"])
def test_unpinned_repository_is_refused(text: str) -> None:
    with pytest.raises(ModelLoadError, match="40-digit commit"):
        resolve_spec(text)


def test_text_that_is_no_model_is_refused() -> None:
    with pytest.raises(ModelLoadError, match="local folder or OWNER/NAME@COMMIT"):
        resolve_spec("no such folder")
