"""How steady the answers of a model are, and what it says of pictures without cattle.

python -m benchmarks.bench_robustness DATA_DIR [--model DIR] [--every 10] [--drawn 200] > out.json

Photos that the model was trained on give figures that are a little too good. Pictures without
cattle are drawn anew (text, screens, gradients, noise, blanks), and photos labelled `not_cattle`.
"""

import argparse
import json
import sys
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

import numpy as np
from PIL import Image, ImageEnhance

from vetscanner.classifier import Classifier, open_classifier
from vetscanner.model_specs import ModelSpec, resolve_spec
from vetscanner.photo import judge_quality
from vetscanner.schema import Abstention, Prediction, SignClass, Triage
from vetscanner.training.augment import Pixels, mirror
from vetscanner.training.drawn_negatives import iter_drawn_negatives
from vetscanner.training.labels import read_labels, read_pixels
from vetscanner.triage import triage

CROPPED_SHARE = 0.1
_SEED = 20_261_130  # not the seed of any training


def crop(pixels: Pixels) -> Pixels:
    """Cut a tenth of each side off, half of it at either end."""
    height, width = pixels.shape[:2]
    rows, columns = (round(side * CROPPED_SHARE / 2) for side in (height, width))
    return np.ascontiguousarray(pixels[rows : height - rows, columns : width - columns])


def compress(pixels: Pixels) -> Pixels:
    """Pass a photo through JPEG of quality 50."""
    buffer = BytesIO()
    Image.fromarray(pixels).save(buffer, "JPEG", quality=50)
    return np.asarray(Image.open(buffer).convert("RGB"))


def darken(pixels: Pixels) -> Pixels:
    """Make a photo a fifth darker."""
    return np.asarray(ImageEnhance.Brightness(Image.fromarray(pixels)).enhance(0.8))


def brighten(pixels: Pixels) -> Pixels:
    """Make a photo a fifth brighter."""
    return np.asarray(ImageEnhance.Brightness(Image.fromarray(pixels)).enhance(1.2))


CHANGES: tuple[Callable[[Pixels], Pixels], ...] = (mirror, crop, compress, darken, brighten)


def measure_steadiness(classifier: Classifier, photos: list[Pixels]) -> dict[str, float]:
    """Return for each change the share of photos whose likeliest class it changes."""
    before = [answer.top for photo in photos for answer in classifier.predict([photo])]
    shares = {}
    for change in CHANGES:
        after = [answer.top for p in photos for answer in classifier.predict([change(p)])]
        moved = sum(a is not b for a, b in zip(before, after, strict=True))
        shares[change.__name__] = round(moved / len(photos), 4)
    return shares


def share_told(classifier: Classifier, spec: ModelSpec, pictures: list[Pixels]) -> float:
    """Return the share of pictures of which the report tells a finding or no visible sign."""
    told = 0
    for pixels in pictures:
        (answer,) = classifier.predict([pixels])
        told += _tells(answer, pixels, spec)
    return round(told / len(pictures), 4)


def judge_photo(answer: Prediction, pixels: Pixels, spec: ModelSpec) -> Triage | Abstention:
    """Return what the policy says of one photo by itself."""
    quality = judge_quality(pixels, min(pixels.shape[:2]))
    return triage([answer], [quality], [], spec.unclear_below, spec.alarm_thresholds)


def _tells(answer: Prediction, pixels: Pixels, spec: ModelSpec) -> bool:
    """Whether the policy tells anything but "unclear" or "take a new photo"."""
    outcome = judge_photo(answer, pixels, spec)
    return bool(outcome.findings) or outcome.urgency is not None


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data_dir", type=Path)
    parser.add_argument("--model")
    parser.add_argument("--every", type=int, default=10, help="take every so many photos")
    parser.add_argument("--drawn", type=int, default=200, help="how many pictures to draw")
    options = parser.parse_args()
    spec = resolve_spec(options.model)
    photos = read_labels(options.data_dir)[:: options.every]
    pictures = [read_pixels(photo.path) for photo in photos]
    strangers = [
        p for p, photo in zip(pictures, photos, strict=True) if photo.sign is SignClass.NOT_CATTLE
    ]
    drawn = list(iter_drawn_negatives(options.drawn, np.random.default_rng(_SEED)))
    with open_classifier(spec) as classifier:
        figures = {
            "model": f"{spec.model_id}@{spec.revision}",
            "photos": len(pictures),
            "top_class_changed": measure_steadiness(classifier, pictures),
            "told_of_drawn": share_told(classifier, spec, drawn),
            "told_of_not_cattle": share_told(classifier, spec, strangers),
        }
    json.dump(figures, sys.stdout, indent=2)


if __name__ == "__main__":
    main()
