"""The benchmark of archives larger than the disk works, at a small size."""

import subprocess
import sys
from pathlib import Path

from tests.commands import REPOSITORY

SMALL = ["--gigabytes", "0.001", "--file-pages", "4", "--shrink", "6", "--drawn", "2"]


def test_every_page_is_there_and_nothing_is_left(tmp_path: Path) -> None:
    folder = tmp_path / "big"
    ended = subprocess.run(
        [sys.executable, "-m", "benchmarks.bench_big_archive", str(folder), "archive", *SMALL],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    [*_, row, verdict] = ended.stdout.splitlines()
    pages, _, kept, *_ = (float(cell) for cell in row.split("|")[1:-1])
    assert pages >= 16  # four files or more, of which only a few exist at any time
    assert 0 < kept < pages
    assert verdict == "Everything as it must be."
    assert list(tmp_path.iterdir()) == []
