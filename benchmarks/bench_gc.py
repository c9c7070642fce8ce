"""What `gc.collect()` after each page costs and changes, for the engine and for the article.

    python -m benchmarks.bench_gc PDF [--pages 300]

Each variant runs in a process of its own; printed are the CPU time a page, and the resident memory
after a tenth, a half and all of the pages.
"""

import argparse
import gc
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import psutil

from benchmarks import reference

VARIANTS = ("engine", "engine with gc", "article without gc", "article")


def engine(pdf: Path, pages: int, collect_garbage: bool) -> Iterator[None]:
    """Work on the pages as a worker does."""
    from archive_tools.config import NO_FINISHING, DatasetConfig, PageFilter
    from archive_tools.extraction import PageExtractor
    from archive_tools.schema import PageTask

    options = DatasetConfig(filter=PageFilter.SIGMA, finishing=NO_FINISHING, dedupe=False)
    with closing(PageExtractor(options)) as extractor:
        for page_index in range(pages):
            extractor.extract(PageTask(pdf, page_index))
            if collect_garbage:
                gc.collect()
            yield


def article(pdf: Path, pages: int, collect_garbage: bool) -> Iterator[None]:
    """Work on the pages as the article does, without the ZIP."""
    import pymupdf

    with pymupdf.open(pdf) as document:
        for page_index in range(pages):
            reference.article_page(document, page_index)
            if collect_garbage:
                gc.collect()
            yield


def run(variant: str, pdf: Path, pages: int) -> str:
    """Run a variant in this process and return its table row."""
    work: Callable[[Path, int, bool], Iterator[None]]
    work = engine if variant.startswith("engine") else article
    collect_garbage = variant in ("engine with gc", "article")
    resident = []
    started = time.process_time()
    for done, _ in enumerate(work(pdf, pages, collect_garbage), start=1):
        if done in (max(1, pages // 10), pages // 2, pages):
            resident.append(f"{psutil.Process().memory_info().rss / 2**20:.0f}")
    milliseconds = (time.process_time() - started) / pages * 1000
    return f"| {variant} | {milliseconds:.1f} | {' | '.join(resident)} |"


def main() -> None:
    """Print one row a variant."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pdf", type=Path)
    parser.add_argument("--pages", type=int, default=300)
    parser.add_argument("--variant", choices=VARIANTS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.variant:
        print(run(options.variant, options.pdf, options.pages), flush=True)
        return
    print("| variant | CPU ms a page | MB after a tenth | a half | all |\n|---|---|---|---|---|")
    for variant in VARIANTS:
        command = [sys.executable, "-m", "benchmarks.bench_gc", str(options.pdf)]
        command += ["--pages", str(options.pages), "--variant", variant]
        print(subprocess.run(command, check=True, capture_output=True, text=True).stdout, end="")


if __name__ == "__main__":
    main()
