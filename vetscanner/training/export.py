"""Write a trained network as a plain transformers folder: fp16 safetensors and its settings."""

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vetscanner.model_specs import CALIBRATION_FILE
from vetscanner.training.backbone import PIXEL_MEAN, PIXEL_SCALE, Backbone
from vetscanner.training.calibration import Calibration
from vetscanner.training.labels import SIGNS

if TYPE_CHECKING:
    from transformers import EfficientNetForImageClassification

_REVISION_DIGITS = 12
_WHITE = 255.0
_BICUBIC = 3


def save_model(
    model: "EfficientNetForImageClassification",
    calibration: Calibration,
    out_dir: Path,
    backbone: Backbone,
    side_px: int,
) -> None:
    """Write config.json, preprocessor_config.json, model.safetensors and calibration.json.

    Args:
        model: Network with one output for each sign class; left in half precision.
        calibration: From held-out photos.
        out_dir: Created when missing.
        backbone: What the network was made from; the model is named after it.
        side_px: Side of the square that the network judges.
    """
    out_dir.mkdir(parents=True, exist_ok=True)
    model.config.image_size = side_px
    model.config.id2label = dict(enumerate(str(sign) for sign in SIGNS))
    model.config.label2id = {str(sign): index for index, sign in enumerate(SIGNS)}
    network: Any = model
    network.half().save_pretrained(out_dir)
    _write_json(out_dir / "preprocessor_config.json", _preprocessor_settings(side_px))
    digest = hashlib.sha256((out_dir / "model.safetensors").read_bytes()).hexdigest()
    settings = {
        "model_id": f"vetscanner-{backbone.name}",
        "revision": digest[:_REVISION_DIGITS],
        "calibrated": True,
        "temperature": calibration.temperature,
        "unclear_below": calibration.unclear_below,
        "alarm_thresholds": dict(calibration.alarm_thresholds),
        "labels": {str(sign): str(sign) for sign in SIGNS},
        "mirror": True,
    }
    _write_json(out_dir / CALIBRATION_FILE, settings)


def _preprocessor_settings(side_px: int) -> dict[str, object]:
    """Say (pixel - 127) / 128 in the words of transformers: squash to the square, then scale."""
    return {
        "image_processor_type": "ViTImageProcessor",
        "do_resize": True,
        "size": {"height": side_px, "width": side_px},
        "resample": _BICUBIC,
        "do_rescale": True,
        "rescale_factor": 1.0 / _WHITE,
        "do_normalize": True,
        "image_mean": [PIXEL_MEAN / _WHITE] * 3,
        "image_std": [PIXEL_SCALE / _WHITE] * 3,
    }


def _write_json(path: Path, settings: dict[str, object]) -> None:
    """Write readable JSON."""
    path.write_text(json.dumps(settings, indent=2) + "\n", encoding="utf-8")
