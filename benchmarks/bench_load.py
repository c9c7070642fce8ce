"""Many visitors of both tools at once: is every one answered, and how long does a triage take?

    python -m benchmarks.bench_load [--seconds 60] [--visitors 28] [--every 20] [--jobs 2]

Triages are timed alone first, then beside archive runs. Prints Markdown rows for results.md; exit
status 1 when something failed, a triage took more than three times as long at the 95th percentile,
or memory did not return. Before that, one upload of `--upload-mb` is watched, and one breaks off.
"""

import argparse
import itertools
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from serving.janitor import STALLED_S, sweep
from tests.mixed_load import MixedLoad, Outcome, Plan
from tests.raw_visitor import RawVisitor
from tests.request_bursts import (
    KEPT_LIMIT_MB,
    WARM_UP_AT_ONCE,
    WARM_UP_REQUESTS,
    PeakMemory,
    measure,
    run_burst,
    settle,
)
from tests.sample_files import draw_photo, write_pdf
from tests.served_app import ServedApp, serve_app
from tests.uploading import break_off, upload_large

ALONE = 20
SLOWER_LIMIT = 3.0
PAGES = 40


def main() -> int:
    """Run the benchmark; returns the exit status."""
    parser = argparse.ArgumentParser(description="Many visitors of both tools at once.")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--visitors", type=int, default=28)
    parser.add_argument("--every", type=float, default=20.0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--upload-mb", type=int, default=1_024)
    options = parser.parse_args()
    plan = Plan(options.seconds, options.visitors, options.every, options.jobs)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with serve_app(folder / "served") as served:
            photo = draw_photo(folder / "cow.jpg", size=(1600, 1200))
            pdf = write_pdf(folder / "magazine.pdf", ["engraving", "text"] * (PAGES // 2))
            _warm_up(served, photo, pdf)
            is_flat = report_upload(served, options.upload_mb)
            is_quick = report_load(served, plan, photo, pdf)
            return 0 if is_flat and is_quick else 1


def report_upload(served: ServedApp, size_mb: int) -> bool:
    """Print what an upload takes and what one that breaks off leaves; returns if all is well."""
    before = measure(served)
    start_s = time.perf_counter()
    with PeakMemory(served) as memory:
        disk_mb = upload_large(served, size_mb)
    seconds, grown_mb = time.perf_counter() - start_s, memory.peak_mb - before.resident_mb
    staged = break_off(served)
    sweep(served.gradio_folder, time.time() + STALLED_S + 1)
    print(
        f"upload of {size_mb} MB: {seconds:.1f} s, memory {grown_mb:+.1f} MB at most, "
        f"{disk_mb:.0f} MB on the disk at most; one that broke off is "
        f"{'still there' if staged.exists() else 'gone'} after the janitor's round",
        flush=True,
    )
    return grown_mb < KEPT_LIMIT_MB and disk_mb < size_mb + 1 and not staged.exists()


def report_load(served: ServedApp, plan: Plan, photo: Path, pdf: Path) -> bool:
    """Print triages alone and beside archive runs; returns whether all is well."""
    before = measure(served)
    alone = run_burst(served, photo, ALONE, 1)
    outcome = MixedLoad(served, plan, photo, pdf).run()
    after = settle(served, lambda now: now.resident_mb < before.resident_mb + KEPT_LIMIT_MB)
    alone_s, loaded_s = percentile_95(alone.latencies_s), percentile_95(outcome.latencies_s)
    kept_mb = after.resident_mb - before.resident_mb
    print(f"cores {os.cpu_count()}, load {os.getloadavg()[0]:.1f}; {plan}")
    print("| triages | median s | p95 s | max s | alone p95 s | times | jobs | failed | MB kept |")
    print("|---" * 9 + "|")
    print(
        f"| {len(outcome.latencies_s)} | {statistics.median(outcome.latencies_s):.2f} "
        f"| {loaded_s:.2f} | {max(outcome.latencies_s):.2f} | {alone_s:.2f} "
        f"| {loaded_s / alone_s:.1f} | {outcome.jobs} | {len(outcome.failed)} | {kept_mb:+.0f} |"
    )
    _print_failures(outcome)
    is_quick = loaded_s <= SLOWER_LIMIT * alone_s
    return is_quick and not outcome.failed and outcome.jobs > 0 and kept_mb < KEPT_LIMIT_MB


def percentile_95(seconds: Sequence[float]) -> float:
    """Return the time within which 95 of 100 are done; the longest where they are few."""
    return sorted(seconds)[min(len(seconds) - 1, int(0.95 * len(seconds)))]


def _print_failures(outcome: Outcome) -> None:
    for words, group in itertools.groupby(sorted(outcome.failed)):
        print(f"failed {len(list(group))} times: {words}")


def _warm_up(served: ServedApp, photo: Path, pdf: Path) -> None:
    """Let everything that is imported once be imported."""
    run_burst(served, photo, WARM_UP_REQUESTS, WARM_UP_AT_ONCE)
    with RawVisitor(served.url) as visitor:
        visitor.ask("build_dataset", [visitor.upload(pdf)])
        visitor.wait_for_answer()


if __name__ == "__main__":
    sys.exit(main())
