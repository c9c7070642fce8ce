"""How much load + infer + unload costs against inference with a resident model.

python -m benchmarks.classifier_cycle [--photos 1] [--rounds 20] > cycle.json
"""

import argparse
import gc
import json
import platform
import statistics
import sys
import time
from dataclasses import asdict

import numpy as np
from numpy.typing import NDArray

from vetscanner.classifier import classify, open_classifier
from vetscanner.heatmap import draw_heatmap
from vetscanner.model_specs import bundled_spec
from vetscanner.schema import Device

TIMES = ("load_s", "infer_s", "unload_s")


def measure(photo_count: int, rounds: int) -> dict[str, object]:
    """Time both ways in one process, on the CPU, with the bundled model.

    Args:
        photo_count: Photos in each request.
        rounds: Requests of each kind; medians are reported.
    """
    rng = np.random.default_rng(0)
    photos = [rng.integers(0, 256, (768, 1024, 3), dtype=np.uint8) for _ in range(photo_count)]
    spec = bundled_spec()
    classify(photos, spec, Device.CPU, "warm-up")  # Imports torch and transformers once.
    resident_s = []
    with open_classifier(spec) as classifier:
        for _ in range(rounds):
            start = time.perf_counter()
            classifier.predict(photos)
            resident_s.append(time.perf_counter() - start)
    requests = [asdict(classify(photos, spec, Device.CPU, "benchmark")) for _ in range(rounds)]
    medians = {name: statistics.median(request[name] for request in requests) for name in TIMES}
    resident = statistics.median(resident_s)
    start = time.perf_counter()
    gc.collect()
    return {
        "photos": photo_count,
        "rounds": rounds,
        "resident_infer_s": round(resident, 4),
        **{name: round(value, 4) for name, value in medians.items()},
        "draw_heatmap_s": round(_median_drawing_s(photos[0], rounds), 4),
        "cycle_to_resident": round(sum(medians.values()) / resident, 2),
        "full_collection_s": round(time.perf_counter() - start, 4),
        "python": platform.python_version(),
        "machine": platform.machine(),
        "model": f"{spec.model_id}@{spec.revision}",
    }


def _median_drawing_s(photo: NDArray[np.uint8], rounds: int) -> float:
    """Time drawing the map of one photo; what it shows is a by-product of the inference."""
    evidence = np.random.default_rng(1).normal(size=(7, 7)).astype(np.float32)
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        draw_heatmap(photo, evidence)
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--photos", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=20)
    options = parser.parse_args()
    json.dump(measure(options.photos, options.rounds), sys.stdout, indent=2)
    sys.stdout.write("\n")


if __name__ == "__main__":
    main()
