"""Checks in a process of their own, and the page that needs them."""

import gc
import math
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from archive_tools.apart import ask_apart
from archive_tools.config import DatasetConfig, PageFilter, RunOptions, WorkerLimits
from archive_tools.pipeline import build_dataset
from archive_tools.run_report import RunReport
from tests.hostile_pdfs import endless_page


def crash() -> bool:
    os.kill(os.getpid(), signal.SIGKILL)
    return True


def hang() -> bool:
    time.sleep(3600)
    return True


def fail() -> bool:
    raise ValueError("broken")


@pytest.mark.parametrize(
    ("question", "answer"),
    [(lambda: True, True), (lambda: False, False), (crash, False), (hang, False), (fail, False)],
    ids=["yes", "no", "crash", "hang", "exception"],
)
def test_only_a_yes_is_a_yes(question: Callable[[], bool], answer: bool) -> None:
    before = psutil.Process().children()
    assert bool(ask_apart(question, limit_s=2.0)) is answer
    assert set(psutil.Process().children()) <= set(before)


def test_a_number_comes_back_as_it_is_and_no_file_stays_open() -> None:
    # What earlier tests have left is closed whenever it is collected: now, not in between.
    gc.collect()
    open_files = psutil.Process().num_fds()
    for number in (0.37, math.inf, 0.0, -1.0):
        assert ask_apart(lambda number=number: number, limit_s=60.0) == number
    assert psutil.Process().num_fds() <= open_files


def test_an_endless_page_in_the_middle_costs_only_itself(tmp_path: Path) -> None:
    source = tmp_path / "endless.pdf"
    source.write_bytes(endless_page(pages_before=1, pages_after=1))
    run = RunOptions(workers=1, limits=WorkerLimits(page_time_s=15))
    *_, report = build_dataset(
        [source], tmp_path / "out.zip", DatasetConfig(filter=PageFilter.NONE, dedupe=False), run
    )
    assert isinstance(report, RunReport)
    assert [failure.page_number for failure in report.page_failures] == [2]
    assert report.pages.failed == 1
