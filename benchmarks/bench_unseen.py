"""How steady the recipe is on photos that its network never saw, and what it says of no cattle.

python -m benchmarks.bench_unseen DATA_DIR --work-dir DIR [--every 10] > out.json

DIR holds the networks of the cross-validation (`python -m vetscanner train DATA_DIR --recipe
fine-tune --work-dir DIR`); a missing one is trained. Every photo is judged by the network of the
fold that left it out, with the thresholds of the other folds: the same classifier and policy as in
the scanner, so that photos of other animals and things are counted as a farmer would see them.
"""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks.bench_robustness import CHANGES, judge_photo
from vetscanner.classifier import Classifier, open_classifier
from vetscanner.model_specs import ModelSpec, read_spec
from vetscanner.schema import SignClass
from vetscanner.training.augment import Pixels
from vetscanner.training.calibration import calibrate
from vetscanner.training.export import save_model
from vetscanner.training.fine_tune import Recipe
from vetscanner.training.fine_tune_runs import FineTuneRuns
from vetscanner.training.fit import assign_folds
from vetscanner.training.labels import class_indices, read_labels, read_pixels

_SEED = 0  # that of `vetscanner train`


def iter_folds(data_dir: Path, work_dir: Path) -> Iterator[tuple[ModelSpec, list[int]]]:
    """Yield the model of each fold, exported as the shipped one is, and the rows it never saw."""
    photos = read_labels(data_dir)
    folds, labels = assign_folds(photos, seed=_SEED), class_indices(photos)
    runs = FineTuneRuns(photos, _SEED, work_dir, Recipe())
    logits = runs.held_out_logits(folds)
    for fold in range(int(folds.max()) + 1):
        held_out = folds == fold
        calibration = calibrate(logits[~held_out], labels[~held_out])
        network = runs.fold_network(folds, fold)
        with TemporaryDirectory() as folder:
            save_model(network, calibration, Path(folder), runs.backbone, runs.side_px)
            yield read_spec(Path(folder)), [int(row) for row in np.flatnonzero(held_out)]


def judge_stranger(classifier: Classifier, spec: ModelSpec, pixels: Pixels) -> str:
    """Say what a photo without cattle is told: a finding, a level without one, or neither."""
    (answer,) = classifier.predict([pixels])
    outcome = judge_photo(answer, pixels, spec)
    if outcome.findings:
        return "finding"
    return "level" if outcome.urgency is not None else "retake"


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data_dir", type=Path)
    parser.add_argument("--work-dir", type=Path, required=True)
    parser.add_argument("--every", type=int, default=10, help="change every so many photos")
    options = parser.parse_args()
    photos = read_labels(options.data_dir)
    moved: Counter[str] = Counter()
    told: Counter[str] = Counter()
    count = 0
    for spec, rows in iter_folds(options.data_dir, options.work_dir):
        with open_classifier(spec) as classifier:
            for row in rows:
                is_stranger = photos[row].sign is SignClass.NOT_CATTLE
                if not is_stranger and row % options.every:
                    continue
                pixels = read_pixels(photos[row].path)
                if is_stranger:
                    told[judge_stranger(classifier, spec, pixels)] += 1
                if row % options.every == 0:
                    before, *after = (
                        classifier.predict([view])[0].top
                        for view in (pixels, *(change(pixels) for change in CHANGES))
                    )
                    for change, top in zip(CHANGES, after, strict=True):
                        moved[change.__name__] += top is not before
                    count += 1
    figures = {
        "photos": count,
        "top_class_changed": {c.__name__: round(moved[c.__name__] / count, 4) for c in CHANGES},
        "not_cattle": dict(told),
    }
    json.dump(figures, sys.stdout, indent=2)


if __name__ == "__main__":
    main()
