"""Many triage requests: all answered, and what the server keeps afterwards.

    python -m benchmarks.bench_requests [--sequential 200] [--concurrent 64] [--keep-loaded]

Then a visitor of each tab leaves in the middle. Prints Markdown rows for results.md; exit status 1
when a request was not answered or memory did not return. Memory is what the server's process tree
holds itself, without pages of files.
"""

import argparse
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

import psutil

from tests.raw_visitor import RawVisitor
from tests.request_bursts import (
    KEPT_LIMIT_MB,
    WARM_UP_AT_ONCE,
    WARM_UP_REQUESTS,
    Holdings,
    measure,
    run_burst,
    settle,
)
from tests.sample_files import draw_photo, write_pdf
from tests.served_app import ServedApp, serve_app
from tests.waiting import wait_until

PAGES_OF_THE_LEFT_RUN = 200


def main() -> int:
    """Run the benchmark; returns the exit status."""
    parser = argparse.ArgumentParser(description="Many triage requests to a served page.")
    parser.add_argument("--sequential", type=int, default=200)
    parser.add_argument("--concurrent", type=int, default=64)
    parser.add_argument("--keep-loaded", action="store_true")
    options = parser.parse_args()
    environment = {"VETSCANNER_KEEP_LOADED": str(int(options.keep_loaded))}
    with tempfile.TemporaryDirectory() as name:
        photo = draw_photo(Path(name) / "cow.jpg", size=(1600, 1200))
        with serve_app(Path(name) / "served", environment=environment) as served:
            status = _report(served, photo, options)
            pdf = write_pdf(Path(name) / "long.pdf", ["engraving"] * PAGES_OF_THE_LEFT_RUN)
            for endpoint, source in (("triage", photo), ("build_dataset", pdf)):
                seconds = measure_leaving_s(served, endpoint, source)
                print(f"a visitor leaves {endpoint}: all freed after {seconds:.1f} s", flush=True)
            return status


def measure_cpu_s(served: ServedApp) -> float:
    """Return the seconds of processor time used so far: a busy machine does not stretch them."""
    times = psutil.Process(served.pid).cpu_times()
    return float(times.user + times.system)


def measure_leaving_s(served: ServedApp, endpoint: str, source: Path) -> float:
    """Return the seconds from a visitor's leaving until nothing is left of the run."""
    before = measure(served)
    with RawVisitor(served.url) as visitor:
        visitor.ask(endpoint, [visitor.upload(source)])
        working = {"process_starts", "process_generating"}
        next(message for message in visitor.iter_messages() if message["msg"] in working)
        # A triage works in the server itself, an archive run in workers.
        wait_until(lambda: endpoint == "triage" or bool(served.list_children()))
    start = time.perf_counter()
    if not wait_until(lambda: _is_freed(served, before)):
        raise SystemExit(f"{endpoint}: something is left: {measure(served)}, before {before}")
    return time.perf_counter() - start


def _is_freed(served: ServedApp, before: Holdings) -> bool:
    """Say whether processes, job folder, memory and file descriptors of a run are gone."""
    now = measure(served)
    return (
        not served.list_children()
        and not list(served.gradio_folder.glob("archive-*"))
        and now.resident_mb < before.resident_mb + KEPT_LIMIT_MB
        and now.files <= before.files
    )


def _report(served: ServedApp, photo: Path, options: argparse.Namespace) -> int:
    """Print a row for each burst; returns the exit status."""
    idle = measure(served)
    warm = run_burst(served, photo, WARM_UP_REQUESTS, WARM_UP_AT_ONCE)
    before = measure(served)
    print(
        f"cores {os.cpu_count()}, model {'kept loaded' if options.keep_loaded else 'per request'}"
    )
    print(f"before the first request: {idle}\nafter {WARM_UP_REQUESTS} requests: {before}\n")
    print(
        "| requests | at once | answered | median s | max s | CPU s each | peak MB | MB kept "
        "| threads | files |"
    )
    print("|---" * 10 + "|")
    is_good = not warm.failed
    for count, at_once in ((options.sequential, 1), (options.concurrent, options.concurrent)):
        cpu_before_s = measure_cpu_s(served)
        burst = run_burst(served, photo, count, at_once)
        cpu_s = (measure_cpu_s(served) - cpu_before_s) / count
        after = settle(served, lambda now: now.resident_mb < before.resident_mb + KEPT_LIMIT_MB)
        kept_mb = after.resident_mb - before.resident_mb
        print(
            f"| {count} | {at_once} | {len(burst.latencies_s)} "
            f"| {statistics.median(burst.latencies_s):.2f} | {max(burst.latencies_s):.2f} "
            f"| {cpu_s:.2f} | {burst.peak_mb:.0f} | {kept_mb:+.0f} "
            f"| {after.threads - before.threads:+d} | {after.files - before.files:+d} |",
            flush=True,
        )
        is_good = is_good and not burst.failed and kept_mb < KEPT_LIMIT_MB
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())
