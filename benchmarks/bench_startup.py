"""How long until the page is there: import of app.py, first served page, first triage.

    python -m benchmarks.bench_startup [--runs 3]

Prints Markdown rows for results.md. Each run is a fresh process; the first fills the page cache.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from tests.request_bursts import ask, measure_own_mb
from tests.sample_files import draw_photo
from tests.served_app import REPOSITORY, serve_app

IMPORT = """
import sys, time
start = time.perf_counter()
import app
print(time.perf_counter() - start, "torch" in sys.modules, "transformers" in sys.modules)
"""


def time_import() -> tuple[float, bool]:
    """Return the seconds that `import app` takes, and whether it imports torch."""
    command = [sys.executable, "-c", IMPORT]
    done = subprocess.run(command, cwd=REPOSITORY, check=True, capture_output=True, text=True)
    seconds, has_torch, has_transformers = done.stdout.split()[-3:]
    return float(seconds), "True" in (has_torch, has_transformers)


def time_server(folder: Path) -> tuple[float, float, float, float]:
    """Return seconds to the first page, of two triages, and MiB held when the page is there."""
    photo = draw_photo(folder / "cow.jpg", size=(1600, 1200))
    start = time.perf_counter()
    with serve_app(folder / "served") as served:
        to_page_s = time.perf_counter() - start
        idle_mb = measure_own_mb(served)
        (first_s, _, _), (second_s, _, _) = ask(served, photo), ask(served, photo)
    return to_page_s, first_s, second_s, idle_mb


def main() -> int:
    """Run the benchmark; returns the exit status."""
    parser = argparse.ArgumentParser(description="How long until the page is there.")
    parser.add_argument("--runs", type=int, default=3)
    runs = parser.parse_args().runs
    imports = [time_import() for _ in range(runs)]
    servers = []
    for _ in range(runs):
        with tempfile.TemporaryDirectory() as name:
            servers.append(time_server(Path(name)))
    rows = {
        "import of app.py, s": [seconds for seconds, _ in imports],
        "start to first served page, s": [server[0] for server in servers],
        "first triage (imports PyTorch), s": [server[1] for server in servers],
        "second triage, s": [server[2] for server in servers],
        "memory of the idle page, MB": [server[3] for server in servers],
    }
    print(f"cores {os.cpu_count()}, runs {runs}, load {os.getloadavg()[0]:.1f}\n")
    print("| what | median | best |\n|---|---|---|")
    for what, figures in rows.items():
        print(f"| {what} | {median(figures):.2f} | {min(figures):.2f} |")
    imports_torch = any(imported for _, imported in imports)
    print(f"\napp.py imports torch or transformers: {'yes' if imports_torch else 'no'}")
    return int(imports_torch)


if __name__ == "__main__":
    sys.exit(main())
