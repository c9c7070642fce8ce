"""The benchmark of archives larger than the disk works, at a small size."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.commands import REPOSITORY

SMALL = ["--shrink", "6", "--drawn", "2"]


def run_benchmark(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "benchmarks.bench_big_archive", str(folder), *words, *SMALL],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("words", "pages"),
    [
        (["archive", "--gigabytes", "0.001", "--file-pages", "4"], None),
        (["long", "--pages", "3", "9"], [3, 9]),
    ],
)
def test_every_page_is_there_and_nothing_is_left(
    words: list[str], pages: list[int] | None, tmp_path: Path
) -> None:
    ended = run_benchmark(tmp_path / "big", *words)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    rows = [line.split("|")[1:-1] for line in ended.stdout.splitlines()[2:] if line[0] == "|"]
    seen = [int(row[0]) for row in rows]
    assert seen == pages if pages else seen[0] > 16
    assert all(int(row[2]) > 0 for row in rows)
    assert ended.stdout.endswith("Everything as it must be.\n")
    assert list(tmp_path.iterdir()) == []
