"""`make bench`: run every benchmark after the other and print what each prints.

python -m benchmarks [--quick] [NAME ...]

Takes an hour or more; NAME picks some of them. Inputs are made in `build/bench/`. What needs the
labelled photos and scans beside the checkout is left out, saying so, where they are missing.
"""

import argparse
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
INPUTS = REPOSITORY / "build" / "bench" / "inputs"
BIG = REPOSITORY / "build" / "bench" / "big"
SHARED_DATA = REPOSITORY.parent / "shared" / "data"
SCAN_LABELS = SHARED_DATA / "scans" / "labels.csv"
CATTLE = SHARED_DATA / "cattle"


@dataclass(frozen=True, slots=True)
class Benchmark:
    """One command and how it is shortened.

    Attributes:
        words: Module and arguments after `python -m`.
        quick: Arguments that `--quick` adds.
        needs: A file or folder without which it is left out.
    """

    words: tuple[str, ...]
    quick: tuple[str, ...] = ()
    needs: Path | None = None


BENCHMARKS = {
    "inputs": Benchmark(
        ("benchmarks.make_inputs", str(INPUTS), "--scans", str(SCAN_LABELS.parent)),
        ("--pages", "40"),
        SCAN_LABELS,
    ),
    "archive": Benchmark(("benchmarks.bench_archive", str(INPUTS)), ("--rounds", "1"), SCAN_LABELS),
    "big": Benchmark(
        ("benchmarks.bench_big_archive", str(BIG), "archive"), ("--gigabytes", "0.05")
    ),
    "long": Benchmark(("benchmarks.bench_big_archive", str(BIG), "long"), ("--pages", "20", "60")),
    "large-file": Benchmark(
        ("benchmarks.bench_big_archive", str(BIG), "single"), ("--gigabytes", "0.05")
    ),
    "quality": Benchmark(("benchmarks.bench_quality", str(INPUTS)), ("--pages", "3"), SCAN_LABELS),
    "sigma": Benchmark(
        ("benchmarks.measure_sigma", str(SCAN_LABELS.parent)), ("--every", "12"), SCAN_LABELS
    ),
    "filter": Benchmark(
        ("archive_tools", "evaluate", str(SCAN_LABELS), "--json"), needs=SCAN_LABELS
    ),
    "finishing": Benchmark(
        ("benchmarks.bench_finishing", str(SCAN_LABELS)), ("--step", "24"), SCAN_LABELS
    ),
    "duplicates": Benchmark(
        ("benchmarks.bench_duplicates", str(SCAN_LABELS)), ("--step", "12"), SCAN_LABELS
    ),
    "model": Benchmark(
        ("vetscanner", "evaluate", str(CATTLE), "--cross-validate", "--json"), needs=CATTLE
    ),
    "classifier": Benchmark(("benchmarks.classifier_cycle",), ("--rounds", "5")),
    "requests": Benchmark(
        ("benchmarks.bench_requests",), ("--sequential", "20", "--concurrent", "16")
    ),
    "load": Benchmark(
        ("benchmarks.bench_load",), ("--seconds", "10", "--visitors", "8", "--upload-mb", "64")
    ),
    "engines": Benchmark(("benchmarks.bench_engines",), ("--pages", "32", "--rounds", "1")),
    "scale": Benchmark(
        ("benchmarks.bench_scale_simulation",),
        ("--pages", "32000", "128000", "--reduced-pages", "1280", "5120"),
    ),
    "startup": Benchmark(("benchmarks.bench_startup",), ("--runs", "1")),
}


def run(name: str, is_quick: bool) -> bool:
    """Run one benchmark; returns whether it succeeded or was rightly left out."""
    benchmark = BENCHMARKS[name]
    if benchmark.needs is not None and not benchmark.needs.exists():
        print(f"{name}: left out, {benchmark.needs} is missing.", flush=True)
        return True
    words = [*benchmark.words, *(benchmark.quick if is_quick else ())]
    print(f"== {name}: python -m {' '.join(words)}", flush=True)
    return subprocess.run([sys.executable, "-m", *words], cwd=REPOSITORY).returncode == 0


def main() -> int:
    """Run the benchmarks that were asked for; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(BENCHMARKS)}")
    parser.add_argument("--quick", action="store_true", help="small sizes: minutes, no figures")
    options = parser.parse_args()
    unknown = [name for name in options.names if name not in BENCHMARKS]
    if unknown:
        parser.error(f"unknown: {', '.join(unknown)}")
    chosen = options.names or list(BENCHMARKS)
    failed = [name for name in chosen if not run(name, options.quick)]
    print(f"failed: {', '.join(failed)}" if failed else "all benchmarks ran", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
