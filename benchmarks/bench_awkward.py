"""Every awkward and every fuzzed PDF must end in a clear record, within its limits.

    python -m benchmarks.bench_awkward FOLDER [--fuzz 3] [--fixtures]

Each file of the folder is worked on as it is, truncated at every tenth of its length, and with
bytes flipped (seeds fixed), through the worker pool with all its limits. Printed: a line a file
that fails, how the pages ended, the slowest page, and the peak memory of the process tree.
"""

import argparse
import collections
import json
import random
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import psutil

FLIPPED_SHARE = 0.001
MOST_FLIPS = 200


def iter_variants(name: str, whole: bytes, fuzz: int) -> Iterator[tuple[str, bytes]]:
    """Yield the file as it is, truncated, and with bytes flipped."""
    yield name, whole
    for tenth in range(1, 10):
        yield f"{name}.cut{tenth}0", whole[: len(whole) * tenth // 10]
    for seed in range(fuzz):
        random_source = random.Random(f"{name} {seed}")
        flipped = bytearray(whole)
        for _ in range(min(MOST_FLIPS, max(1, int(len(whole) * FLIPPED_SHARE)))):
            flipped[random_source.randrange(len(whole))] = random_source.randrange(256)
        yield f"{name}.flip{seed}", bytes(flipped)


def iter_files(folder: Path | None, with_fixtures: bool) -> Iterator[tuple[str, bytes]]:
    """Yield names and bytes of the PDFs to start from."""
    for path in sorted(folder.glob("*.pdf")) if folder else ():
        yield path.stem, path.read_bytes()
    if with_fixtures:
        from tests import pdf_fixtures

        for name in pdf_fixtures.ALL:
            yield name, getattr(pdf_fixtures, name)()


def run(folder: Path, out: Path) -> tuple[int, dict[str, object], float]:
    """Build a dataset from a folder; return exit status, report and peak memory in MB."""
    command = [sys.executable, "-m", "archive_tools", "build", str(folder), "--out", str(out)]
    process = subprocess.Popen(
        [*command, "--filter", "sigma", "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    peaks = [0.0]
    watcher = threading.Thread(target=_watch, args=(process.pid, peaks), daemon=True)
    watcher.start()
    printed, _ = process.communicate()
    return process.returncode, json.loads(printed or "{}"), peaks[0]


def _watch(pid: int, peaks: list[float]) -> None:
    """Keep the peak of the tree's resident memory."""
    tree = psutil.Process(pid)
    while True:
        try:
            members = [tree, *tree.children(recursive=True)]
            peaks[0] = max(peaks[0], sum(m.memory_info().rss for m in members) / 2**20)
        except psutil.Error:
            return
        time.sleep(0.05)


def _without_name(failure: dict[str, str]) -> str:
    """Return why a file or page failed, without the file's name at the start."""
    reason = str(failure.get("message") or failure.get("reason"))
    return re.sub(r"^\S+\.pdf ", "", reason)


def main() -> None:
    """Make the files, run, and print how they ended."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--fuzz", type=int, default=3)
    parser.add_argument("--fixtures", action="store_true", help="the tests' own PDFs as well")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "pdfs"
        folder.mkdir()
        count = 0
        for name, whole in iter_files(options.folder, options.fixtures):
            for variant, content in iter_variants(name, whole, options.fuzz):
                (folder / f"{variant}.pdf").write_bytes(content)
                count += 1
        started = time.perf_counter()
        status, report, peak_mb = run(folder, Path(scratch) / "out.zip")
        seconds = time.perf_counter() - started
    print(f"{count} files, {seconds:.0f} s, exit status {status}, peak {peak_mb:.0f} MB")
    print(
        json.dumps(
            {
                key: report.get(key)
                for key in ("status", "pages_seen", "pages_kept", "pages_failed")
            },
            indent=1,
        )
    )
    _print_failures(report)


def _print_failures(report: dict[str, object]) -> None:
    """Print each reason with the number of files or pages that it befell."""
    dataset = report.get("dataset") or {}
    assert isinstance(dataset, dict)
    for kind in ("file_failures", "page_failures"):
        reasons = collections.Counter(_without_name(failure) for failure in dataset.get(kind, []))
        print(kind)
        for reason, times in reasons.most_common():
            print(f"  {times:4} {reason[:150]}")


if __name__ == "__main__":
    main()
