"""Archives larger than memory and disk: peak memory, peak disk, and whether every page is there.

    python -m benchmarks.bench_big_archive FOLDER archive [--gigabytes 9.24] [--file-pages 100]
    python -m benchmarks.bench_big_archive FOLDER long [--pages 300 3000]
    python -m benchmarks.bench_big_archive FOLDER single [--gigabytes 4.4]

`archive`: many PDFs, of which only a few exist at any time. Each is made shortly before the engine
comes to it and deleted after it, as someone does who fetches an archive that is larger than the
disk. `long`: PDFs of A4 colour scans at 300 dpi of so many pages, to see whether memory grows.
`single`: one PDF of more than 4 GiB. The pages are drawn scans of real size; every stream has bytes
of its own. The engine runs as a command with two workers (`--workers`), every safety check on.

Memory is the resident memory of the engine's processes added up (shared pages count repeatedly) and
disk what FOLDER takes, both sampled ten times a second; no limit is enforced. FOLDER is emptied of
what this script made. Exit status 1 when a page is missing or a limit is exceeded.
"""

import argparse
import json
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
import psutil

from benchmarks.make_inputs import A4_PX, DRAWN_PAGES, draw_scan
from examples.magazine_drawing.pdf import EncodedImage, PdfStream

DPI = 300
ENTRIES = "/ColorSpace /DeviceRGB /BitsPerComponent 8 /Filter /DCTDecode"
FIRST_SEED, SEED_STEP = 6, 3
AHEAD = 3  # so many files are there before the engine comes to them
SAMPLING_S = 0.1
MEMORY_LIMIT_MB = {"archive": 16_000.0, "long": 450.0, "single": 450.0}
DISK_LIMIT_GB = 20.0
MOST_GROWTH = 1.10
LEAST_PAGES_FOR_GROWTH = 100


@dataclass(slots=True)
class Peaks:
    """What a run took at most."""

    memory_mb: float = 0.0
    disk_gb: float = 0.0


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a run of the engine ended."""

    report: dict[str, object]
    peaks: Peaks
    wall_s: float


def draw_jpegs(count: int, shrink: int, quality: int) -> list[bytes]:
    """Draw scans and encode each once.

    Args:
        count: How many.
        shrink: Divides width and height, for a quick run.
        quality: Of the JPEGs; at 75 a page takes 1 MB, at 95 four.
    """
    drawn = []
    for number in range(count):
        # Plates, text and a blank leaf are mixed however few are drawn.
        pixels = draw_scan((FIRST_SEED + SEED_STEP * number) % DRAWN_PAGES)[:, :, ::-1]
        if shrink > 1:
            pixels = cv2.resize(pixels, None, fx=1 / shrink, fy=1 / shrink)
        pixels = np.ascontiguousarray(pixels)
        drawn.append(cv2.imencode(".jpg", pixels, [cv2.IMWRITE_JPEG_QUALITY, quality])[1].tobytes())
    return drawn


def write_scans(path: Path, jpegs: list[bytes], pages: range, shrink: int) -> None:
    """Write a PDF whose pages are these scans in turn, each with bytes of its own."""
    width, height = A4_PX[0] // shrink, A4_PX[1] // shrink
    partial = path.with_name(f"{path.name}.part")
    with partial.open("wb") as stream, PdfStream(stream) as pdf:
        for number in pages:
            jpeg = jpegs[number % len(jpegs)]
            # A comment (ITU-T T.81, B.2.4.5) after the start marker.
            comment = b"page %010d" % number
            marked = jpeg[:2] + b"\xff\xfe" + (len(comment) + 2).to_bytes(2) + comment + jpeg[2:]
            pdf.add_page(EncodedImage(width, height, ENTRIES, marked), DPI // shrink)
    partial.replace(path)


def run_engine(folder: Path, source: Path, workers: int, watch: Callable[[], None]) -> Outcome:
    """Build a dataset and sample what it takes; `watch` is called ten times a second."""
    out = folder / "dataset.zip"
    command = [sys.executable, "-m", "archive_tools", "build", str(source), "--out", str(out)]
    started = time.perf_counter()
    process = subprocess.Popen(
        [*command, "--filter", "sigma", "--no-dedupe", "--workers", str(workers), "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    printed: list[str] = []
    reader = threading.Thread(target=lambda: printed.append(process.communicate()[0]))
    reader.start()
    peaks = Peaks()
    while reader.is_alive():
        watch()
        peaks.memory_mb = max(peaks.memory_mb, _resident_mb(process.pid))
        peaks.disk_gb = max(peaks.disk_gb, _disk_gb(folder))
        reader.join(SAMPLING_S)
    return Outcome(json.loads(printed[0] or "{}"), peaks, time.perf_counter() - started)


class Supply:
    """Makes each source shortly before the engine comes to it and deletes it afterwards."""

    def __init__(self, folder: Path, files: int, make: Callable[[Path, int], None]) -> None:
        """Put empty files in place, so that the engine knows the names.

        Args:
            folder: Where the sources are to lie; made here.
            files: How many there will be.
            make: Writes the file of a number.
        """
        folder.mkdir()
        self._paths = [folder / f"{number:04d}.pdf" for number in range(files)]
        self._make = make
        self._made = self._deleted = 0
        self.bytes_made = 0
        for path in self._paths:
            path.touch()
        self.move_on(0)

    def move_on(self, begun: int) -> None:
        """Keep the file that the engine is at and the next few.

        Args:
            begun: How many files the engine has begun.
        """
        while self._deleted < begun - 1:
            self._paths[self._deleted].unlink()
            self._deleted += 1
        while self._made < min(len(self._paths), begun + AHEAD):
            path = self._paths[self._made]
            self._make(path, self._made)
            self.bytes_made += path.stat().st_size
            self._made += 1


def run_archive(options: argparse.Namespace, jpegs: list[bytes]) -> tuple[Outcome, int, float]:
    """Run the archive of many files; returns pages and bytes (in GB) that there were."""
    page_bytes = sum(map(len, jpegs)) / len(jpegs)
    files = max(AHEAD + 1, round(options.gigabytes * 1e9 / (page_bytes * options.file_pages)) + 1)

    def make(path: Path, number: int) -> None:
        first = number * options.file_pages
        write_scans(path, jpegs, range(first, first + options.file_pages), options.shrink)

    supply = Supply(options.folder / "sources", files, make)
    begun = _JournalWatch(options.folder / "dataset.zip.journal")
    outcome = run_engine(
        options.folder,
        options.folder / "sources",
        options.workers,
        lambda: supply.move_on(begun.count()),
    )
    return outcome, files * options.file_pages, supply.bytes_made / 1e9


class _JournalWatch:
    """Counts the sources that the engine's journal says have begun."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._read = self._count = 0
        self._rest = b""

    def count(self) -> int:
        """Return how many have begun so far."""
        try:
            with self._path.open("rb") as file:
                file.seek(self._read)
                new = file.read()
        except FileNotFoundError:
            return self._count
        self._read += len(new)
        *lines, self._rest = (self._rest + new).split(b"\n")
        self._count += sum(b'"type":"SourceBegun"' in line[:40] for line in lines)
        return self._count


def run_one_file(
    options: argparse.Namespace, jpegs: list[bytes], pages: int
) -> tuple[Outcome, int, float]:
    """Run one PDF of so many pages."""
    path = options.folder / "scans.pdf"
    write_scans(path, jpegs, range(pages), options.shrink)
    size_gb = path.stat().st_size / 1e9
    outcome = run_engine(options.folder, path, options.workers, lambda: None)
    path.unlink()
    return outcome, pages, size_gb


def iter_runs(options: argparse.Namespace) -> Iterator[tuple[Outcome, int, float]]:
    """Run what was asked for."""
    jpegs = draw_jpegs(options.drawn, options.shrink, options.quality)
    if options.what == "archive":
        yield run_archive(options, jpegs)
        return
    if options.what == "single":
        pages = int(options.gigabytes * 1e9 / (sum(map(len, jpegs)) / len(jpegs))) + 1
        options.pages = [pages]
    for pages in options.pages:
        yield run_one_file(options, jpegs, pages)


def find_faults(what: str, outcome: Outcome, pages: int) -> list[str]:
    """Say what is not as it must be."""
    report, peaks = outcome.report, outcome.peaks
    faults = []
    if report.get("pages_seen") != pages or report.get("pages_failed") != 0:
        faults.append(f"{report.get('pages_seen')} of {pages} pages, or some failed")
    if report.get("files_failed") != 0:
        faults.append(f"{report.get('files_failed')} files failed")
    if peaks.memory_mb > MEMORY_LIMIT_MB[what]:
        faults.append(f"more than {MEMORY_LIMIT_MB[what]:.0f} MB of memory")
    if peaks.disk_gb > DISK_LIMIT_GB:
        faults.append(f"more than {DISK_LIMIT_GB:.0f} GB of disk")
    return faults


def main() -> int:
    """Run, print a table, and return 1 where something is not as it must be."""
    options = _parse()
    options.folder.mkdir(parents=True)
    faults: list[str] = []
    memory: list[float] = []
    print("| pages | GB of PDF | kept | s | pages/s | peak memory MB | peak disk GB |")
    print("|---|---|---|---|---|---|---|")
    try:
        for outcome, pages, size_gb in iter_runs(options):
            kept, peaks = outcome.report.get("pages_kept"), outcome.peaks
            print(
                f"| {pages} | {size_gb:.2f} | {kept} | {outcome.wall_s:.0f} "
                f"| {pages / outcome.wall_s:.1f} | {peaks.memory_mb:.0f} | {peaks.disk_gb:.2f} |",
                flush=True,
            )
            faults += find_faults(options.what, outcome, pages)
            memory.append(peaks.memory_mb)
    finally:
        shutil.rmtree(options.folder)
    # Over fewer pages workers are still taking their first steps.
    is_settled = options.what == "long" and min(options.pages) >= LEAST_PAGES_FOR_GROWTH
    if is_settled and memory[-1] > MOST_GROWTH * memory[0]:
        faults.append("memory grows with the number of pages")
    print("\n".join(faults) if faults else "Everything as it must be.")
    return 1 if faults else 0


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="made here, and removed at the end")
    parser.add_argument("what", choices=MEMORY_LIMIT_MB)
    parser.add_argument("--gigabytes", type=float)
    parser.add_argument("--file-pages", type=int, default=100)
    parser.add_argument("--pages", type=int, nargs="+", default=[300, 3000])
    parser.add_argument("--drawn", type=int, default=20, help="distinct scans")
    parser.add_argument("--shrink", type=int, default=1, help="smaller scans, for a quick run")
    parser.add_argument("--quality", type=int, default=75, help="of the scans' JPEGs")
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    if options.gigabytes is None:
        options.gigabytes = 4.4 if options.what == "single" else 9.24
    if options.folder.exists():
        parser.error(f"{options.folder} exists; give a new folder")
    return options


def _resident_mb(pid: int) -> float:
    """Return the resident memory of a process and those below it, added up."""
    total = 0
    try:
        tree = psutil.Process(pid)
        members = [tree, *tree.children(recursive=True)]
    except psutil.Error:
        return 0.0
    for member in members:
        try:
            total += member.memory_info().rss
        except psutil.Error:
            continue
    return total / 2**20


def _disk_gb(folder: Path) -> float:
    """Return the room that a folder takes on the disk."""
    blocks = 0
    for path in folder.rglob("*"):
        try:
            blocks += path.lstat().st_blocks
        except OSError:
            continue  # it has just gone
    return blocks * 512 / 1e9


if __name__ == "__main__":
    sys.exit(main())
