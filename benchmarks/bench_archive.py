"""Pages per second and CPU time of the engine and of the reference, in one run on one input.

    python -m benchmarks.bench_archive INPUTS_FOLDER [--kinds colour ...] [--rounds 3]
        [--variants engine-2 auto-2 article ...] [--json results.json]

Each variant runs as a process of its own, start-up included; variants take turns within a round,
so that a busy machine hits all alike. Ratios are of medians. CPU time is that of the whole process
tree and hardly depends on what else runs; wall time does.
"""

import argparse
import json
import os
import resource
import select
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import psutil
import pymupdf

REFERENCE = "article"
ENGINES = {"engine": "sigma", "auto": "auto"}
"""The engine's variants, such as `engine-2` with two workers, and their filters."""
ENGINE_OPTIONS = ["--no-finishing", "--no-dedupe"]
REFERENCE_VARIANTS = (
    "article",
    "article without gc",
    "pdf2image 144 whole",
    "pdf2image 144 by page",
    "pdf2image 300 whole",
    "pdf2image 300 by page",
)
DEFAULT_VARIANTS = ("engine-2", "engine-1", "article", "article without gc")
# Fifty times a second would take 4 % of two cores away from whoever uses both.
SAMPLING_S = 0.1


@dataclass(frozen=True, slots=True)
class Run:
    """One run of one variant."""

    kind: str
    variant: str
    pages: int
    wall_s: float
    cpu_s: float
    peak_mb: float


def command_for(variant: str, pdf: Path, out: Path, pages: int) -> list[str]:
    """Return the command line of a variant."""
    name, _, workers = variant.partition("-")
    if name in ENGINES:
        build = [sys.executable, "-m", "archive_tools", "build", str(pdf), "--out", str(out)]
        return [*build, "--filter", ENGINES[name], *ENGINE_OPTIONS, "--workers", workers]
    reference = [sys.executable, "-m", "benchmarks.reference", str(pdf), str(out)]
    return [*reference, "--variant", variant, "--pages", str(pages)]


def measure(kind: str, variant: str, pdf: Path, pages: int) -> Run:
    """Run a variant once and measure its whole process tree."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with tempfile.TemporaryDirectory() as folder:
        command = command_for(variant, pdf, Path(folder) / "out.zip", pages)
        started = time.perf_counter()
        process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        peak = _watch(process)
        wall_s = time.perf_counter() - started
    if process.returncode != 0:
        assert process.stderr is not None
        raise RuntimeError(f"{variant} on {pdf.name}: {process.stderr.read()[-2000:]}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Run(kind, variant, pages, wall_s, cpu_s, peak / 2**20)


def _watch(process: "subprocess.Popen[str]") -> int:
    """Wait for a process; return the peak of the resident bytes of its tree."""
    peak = 0
    tree = psutil.Process(process.pid)
    handle = os.pidfd_open(process.pid)
    try:
        # Wakes at its end, and not a sample later: that would count as its time.
        while not select.select([handle], [], [], SAMPLING_S)[0]:
            peak = max(peak, _resident_bytes(tree))
    finally:
        os.close(handle)
    process.wait()
    return peak


def _resident_bytes(tree: psutil.Process) -> int:
    try:
        members = [tree, *tree.children(recursive=True)]
        return sum(member.memory_info().rss for member in members)
    except psutil.Error:
        return 0


def iter_runs(options: argparse.Namespace) -> Iterator[Run]:
    """Yield every run; variants take turns within a round."""
    for kind in options.kinds:
        pdf = options.folder / f"{kind}.pdf"
        with pymupdf.open(pdf) as document:
            pages = document.page_count
        for _ in range(options.rounds):
            for variant in options.variants:
                run = measure(kind, variant, pdf, pages)
                print(f"  {kind} {variant}: {run.wall_s:.1f} s, CPU {run.cpu_s:.1f} s", flush=True)
                yield run


def table(runs: list[Run]) -> str:
    """Return a Markdown table of medians and ratios to the reference."""
    lines = [
        "| kind | variant | pages/s | wall ratio | CPU ms a page | CPU ratio x cores | peak MB |",
        "|---|---|---|---|---|---|---|",
    ]
    for kind in dict.fromkeys(run.kind for run in runs):
        members = [run for run in runs if run.kind == kind]
        medians = {v: _median(members, v) for v in dict.fromkeys(run.variant for run in members)}
        reference = medians.get(REFERENCE)
        lines += [_row(kind, variant, each, reference) for variant, each in medians.items()]
    return "\n".join(lines)


def _median(runs: list[Run], variant: str) -> Run:
    members = [run for run in runs if run.variant == variant]
    return Run(
        members[0].kind,
        variant,
        members[0].pages,
        statistics.median(run.wall_s for run in members),
        statistics.median(run.cpu_s for run in members),
        max(run.peak_mb for run in members),
    )


def _row(kind: str, variant: str, run: Run, reference: Run | None) -> str:
    name, _, workers = variant.partition("-")
    cores = int(workers) if name in ENGINES else 1
    wall = cpu = ""
    if reference is not None:
        wall = f"{reference.wall_s / run.wall_s:.2f}"
        cpu = f"{reference.cpu_s / run.cpu_s * cores:.2f}"
    return (
        f"| {kind} | {variant} | {run.pages / run.wall_s:.1f} | {wall} | "
        f"{run.cpu_s / run.pages * 1000:.1f} | {cpu} | {run.peak_mb:.0f} |"
    )


def main() -> None:
    """Measure, print the table, and save the runs where asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--kinds", nargs="+", default=["colour"])
    parser.add_argument("--variants", nargs="+", default=list(DEFAULT_VARIANTS))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    runs = list(iter_runs(options))
    print(table(runs))
    if options.json:
        options.json.write_text(json.dumps([asdict(run) for run in runs], indent=1))


if __name__ == "__main__":
    main()
