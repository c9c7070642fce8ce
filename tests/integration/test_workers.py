"""Worker processes under attack: each page costs at most itself."""

import hashlib
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from archive_tools import task_runner
from archive_tools.config import DatasetConfig, PageFilter, RunOptions, WorkerLimits
from archive_tools.errors import WorkerStartError
from archive_tools.schedule import Schedule
from archive_tools.schema import (
    HashResult,
    HashTask,
    PageOutcome,
    PageResult,
    PageTask,
    ProbeResult,
    ProbeTask,
    SourceFailure,
    Task,
)
from archive_tools.source import SourceFeed
from archive_tools.source_plan import plan_sources
from archive_tools.worker_process import Ticket
from archive_tools.workers import (
    MAX_KILLED_STARTS,
    Executor,
    ProcessExecutor,
    SerialExecutor,
    map_pages,
    open_executor,
)
from tests import pdf_fixtures
from tests.commands import REPOSITORY
from tests.hostile_pdfs import ENDLESS_MEMORY_MB, endless_page
from tests.sample_files import write_bad_pdf
from tests.worker_processes import list_workers

BY_SIGMA = DatasetConfig(filter=PageFilter.SIGMA)
KEEP_ALL = DatasetConfig(filter=PageFilter.NONE)
PATIENT = WorkerLimits(page_time_s=300, page_memory_mb=ENDLESS_MEMORY_MB)
# Far above what an honest page needs, on a loaded machine as well.
HASTY = WorkerLimits(page_time_s=4, page_memory_mb=ENDLESS_MEMORY_MB)


@pytest.fixture(scope="module")
def scans(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A scan of eight pages."""
    path = tmp_path_factory.mktemp("scans") / "scans.pdf"
    path.write_bytes(pdf_fixtures.colour_jpeg(pages=8))
    return path


@pytest.fixture(scope="module")
def endless(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Blank pages around page 2 (index 1), which never ends."""
    path = tmp_path_factory.mktemp("endless") / "endless.pdf"
    path.write_bytes(endless_page(pages_before=1, pages_after=4))
    return path


@pytest.fixture(autouse=True)
def no_child_is_left() -> Iterator[None]:
    """Every test ends without a child process."""
    yield
    assert list_workers() == []


def iter_tasks(path: Path, page_count: int) -> Iterator[PageTask]:
    return (PageTask(path, page_index) for page_index in range(page_count))


def has_failed(reply: object) -> bool:
    assert isinstance(reply, PageResult)
    return reply.outcome is PageOutcome.FAILED


def probe(executor: Executor, path: Path) -> ProbeResult:
    ticket = executor.submit(ProbeTask(path, path.stat().st_size))
    assert executor.wait_for(ticket, timeout_s=120)
    assert isinstance(ticket.reply, ProbeResult)
    return ticket.reply


def wait_until(is_so: Callable[[], bool]) -> None:
    give_up_s = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < give_up_s
        time.sleep(0.02)


def find_busy_worker() -> psutil.Process:
    """Wait for a child that has used the CPU for a while, as one does that is on an endless page.

    By then it has long told its parent that it is ready.
    """
    found: list[psutil.Process] = []

    def is_found() -> bool:
        found.extend(
            child
            for child in list_workers()
            if child.status() != psutil.STATUS_ZOMBIE and child.cpu_times().user > 2
        )
        return bool(found)

    wait_until(is_found)
    return found[0]


def test_words_of_a_library_reach_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "scan.pdf"
    path.write_bytes(pdf_fixtures.colour_jpeg())

    def raise_as_mupdf_does(*_: object) -> None:
        raise RuntimeError("code=7: bad xref")

    monkeypatch.setattr("archive_tools.extraction.judge_view", raise_as_mupdf_does)
    with SerialExecutor(KEEP_ALL) as executor:
        [reply] = map_pages(executor, iter_tasks(path, 1))
    assert has_failed(reply)
    assert reply.reason == task_runner.DAMAGED


def test_what_is_cut_off_is_told_in_plain_words(tmp_path: Path) -> None:
    halved = write_bad_pdf(tmp_path, "halved")
    with SerialExecutor(KEEP_ALL) as executor:
        replies = list(map_pages(executor, iter_tasks(halved, 3)))
    assert [has_failed(reply) for reply in replies] == [False, True, True]
    for reply in replies[1:]:
        assert re.search(r"file is damaged.*missing", reply.reason)
        assert not re.search(r"Error|xref|code=", reply.reason)


def test_processes_and_serial_give_the_same_in_the_same_order(scans: Path) -> None:
    with ProcessExecutor(BY_SIGMA, PATIENT, 2) as processes:
        parallel = list(map_pages(processes, iter_tasks(scans, 8)))
    with SerialExecutor(BY_SIGMA) as serial:
        assert parallel == list(map_pages(serial, iter_tasks(scans, 8)))
    assert [result.page_index for result in parallel] == list(range(8))
    assert {result.outcome for result in parallel} == {PageOutcome.KEPT}


def test_workers_stand_back_where_they_are_asked_to(scans: Path) -> None:
    own = os.nice(0)
    with ProcessExecutor(KEEP_ALL, WorkerLimits(niceness=7), 1) as executor:
        list(map_pages(executor, [PageTask(scans, 0)]))
        assert [worker.nice() for worker in list_workers()] == [min(own + 7, 19)]


def test_tasks_are_taken_only_a_few_ahead(scans: Path) -> None:
    taken = 0

    def count_tasks() -> Iterator[PageTask]:
        nonlocal taken
        for taken in range(1, 100):
            yield PageTask(scans, taken % 8)

    with ProcessExecutor(BY_SIGMA, PATIENT, 2) as executor:
        for given, _ in enumerate(map_pages(executor, count_tasks()), start=1):
            assert taken - given <= executor.in_flight_limit
            if given == 20:
                break


def test_endless_page_costs_only_itself(endless: Path) -> None:
    with ProcessExecutor(KEEP_ALL, HASTY, 2) as executor:
        results = list(map_pages(executor, iter_tasks(endless, 6)))
    assert [has_failed(result) for result in results] == [False, True, False, False, False, False]
    # In PDFium it may be at the end of its memory before.
    assert re.match("took longer than 4 s|its worker process died", results[1].reason)


def test_a_slow_page_holds_up_only_what_waits_in_its_pipe(endless: Path) -> None:
    with ProcessExecutor(KEEP_ALL, PATIENT, 2) as executor:
        slow = executor.submit(PageTask(endless, 1))
        others = [executor.submit(PageTask(endless, index)) for index in (0, 2, 3, 4, 5, 0, 2)]

        def are_all_but_one_done() -> bool:
            executor.wait_for(slow, timeout_s=0.1)
            return sum(ticket.reply is not None for ticket in others) >= len(others) - 1

        wait_until(are_all_but_one_done)
        assert slow.reply is None


def test_slow_consumer_is_no_fault_of_the_pages(scans: Path) -> None:
    limits = WorkerLimits(page_time_s=2)
    with ProcessExecutor(BY_SIGMA, limits, 2) as executor:
        results = map_pages(executor, iter_tasks(scans, 5))
        first = next(results)
        time.sleep(3)
        assert {result.outcome for result in [first, *results]} == {PageOutcome.KEPT}


def test_page_is_tried_again_when_its_worker_is_killed(scans: Path) -> None:
    with ProcessExecutor(BY_SIGMA, PATIENT, 2) as executor:
        results = map_pages(executor, iter_tasks(scans, 8))
        outcomes = [next(results).outcome]
        for child in list_workers():
            child.kill()
        outcomes += [result.outcome for result in results]
    assert outcomes == [PageOutcome.KEPT] * 8


def test_page_that_kills_two_workers_is_failed_with_the_signal(endless: Path) -> None:
    with ProcessExecutor(KEEP_ALL, PATIENT, 1) as executor:
        tickets = [executor.submit(task) for task in iter_tasks(endless, 4)]
        assert executor.wait_for(tickets[0], timeout_s=120)
        for _ in range(2):
            busy = find_busy_worker()
            busy.kill()
            # Waiting is what makes the executor notice, and start another worker.
            while busy.is_running():
                executor.wait_for(tickets[1], timeout_s=0.1)
        assert executor.wait_for(tickets[3], timeout_s=120)
        replies = [ticket.reply for ticket in tickets]
    assert [has_failed(reply) for reply in replies] == [False, True, False, False]
    assert isinstance(replies[1], PageResult)
    assert replies[1].reason == "its worker process died (SIGKILL)"


def test_stopped_worker_is_a_late_worker(endless: Path) -> None:
    with ProcessExecutor(KEEP_ALL, HASTY, 1) as executor:
        first = executor.submit(PageTask(endless, 0))
        assert executor.wait_for(first, timeout_s=120)
        list_workers()[0].suspend()
        second = executor.submit(PageTask(endless, 2))
        third = executor.submit(PageTask(endless, 3))
        assert executor.wait_for(third, timeout_s=120)
        assert [has_failed(ticket.reply) for ticket in (first, second, third)] == [
            False,
            True,
            False,
        ]


@pytest.mark.skipif(sys.platform != "linux", reason="RLIMIT_DATA works on Linux")
def test_page_that_wants_too_much_memory_costs_only_itself(scans: Path, tmp_path: Path) -> None:
    poster = tmp_path / "poster.pdf"
    poster.write_bytes(pdf_fixtures.poster())
    with ProcessExecutor(KEEP_ALL, WorkerLimits(page_memory_mb=64), 1) as executor:
        tasks = [PageTask(poster, 0), PageTask(scans, 0)]
        greedy, modest = map_pages(executor, tasks)
        workers = list_workers()
    assert (greedy.outcome, modest.outcome) == (PageOutcome.FAILED, PageOutcome.KEPT)
    assert greedy.reason == "needs more than the 64 MB of memory it may take"
    assert len(workers) == 1


def test_file_is_opened_and_hashed(scans: Path) -> None:
    with open_executor(DatasetConfig(), RunOptions(workers=1)) as executor:
        found = probe(executor, scans)
        hashing = executor.submit(HashTask(scans, scans.stat().st_size))
        assert executor.wait_for(hashing, timeout_s=120)
    assert found.failure is None
    assert found.page_count == 8
    assert hashing.reply == HashResult(hashlib.sha256(scans.read_bytes()).hexdigest())


class VanishingFiles(SerialExecutor):
    """An executor whose files are deleted just before they are hashed."""

    def submit(self, task: Task) -> Ticket:
        if isinstance(task, HashTask):
            task.path.unlink()
        return super().submit(task)


def test_file_that_vanishes_before_it_is_hashed_is_a_failure(scans: Path, tmp_path: Path) -> None:
    gone = shutil.copy(scans, tmp_path / "gone.pdf")
    planned = plan_sources([Path(gone)], leave_out=None)
    with VanishingFiles(KEEP_ALL) as executor, SourceFeed(planned, tmp_path / "work") as feed:
        [failure] = [step for step in Schedule(feed, executor) if step is not None]
    assert isinstance(failure, SourceFailure)
    assert failure.name == "gone.pdf"
    assert failure.message


@pytest.mark.parametrize("workers", [0, 1])
def test_probe_says_what_is_wrong(workers: int, tmp_path: Path) -> None:
    page = tmp_path / "page.pdf"
    page.write_bytes(pdf_fixtures.html_named_pdf())
    with open_executor(BY_SIGMA, RunOptions(workers=workers)) as executor:
        failure = probe(executor, page).failure
        gone = probe_missing(executor, tmp_path / "gone.pdf").failure
    assert failure is not None
    assert "page.pdf is not a PDF" in failure
    assert gone is not None
    assert str(tmp_path) not in failure + gone


def probe_missing(executor: Executor, path: Path) -> ProbeResult:
    ticket = executor.submit(ProbeTask(path, 0))
    assert executor.wait_for(ticket, timeout_s=120)
    assert isinstance(ticket.reply, ProbeResult)
    return ticket.reply


def test_password_stands_in_no_process_list() -> None:
    with ProcessExecutor(DatasetConfig(password="sesame"), PATIENT, 1):
        [child] = list_workers()
        wait_until(lambda: "archive_tools.worker" in child.cmdline())
        assert "sesame" not in str(child.cmdline()) + str(child.environ())


def test_interrupt_ends_busy_workers(endless: Path) -> None:
    def interrupt() -> Iterator[PageTask]:
        yield PageTask(endless, 1)
        yield PageTask(endless, 1)
        raise KeyboardInterrupt

    with (
        pytest.raises(KeyboardInterrupt),
        ProcessExecutor(KEEP_ALL, PATIENT, 2) as executor,
    ):
        list(map_pages(executor, interrupt()))
    assert list_workers() == []


def test_worker_that_cannot_start_is_an_error_and_no_endless_loop(
    scans: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with (
        pytest.raises(WorkerStartError, match="exit status 1"),
        ProcessExecutor(BY_SIGMA, PATIENT, 2) as executor,
    ):
        list(map_pages(executor, iter_tasks(scans, 2)))


def test_workers_killed_while_they_start_are_replaced_and_no_page_is_blamed(scans: Path) -> None:
    with ProcessExecutor(KEEP_ALL, PATIENT, 2) as executor:
        # They need far longer than this to import the renderer.
        for starting in list_workers():
            starting.kill()
        replies = list(map_pages(executor, iter_tasks(scans, 8)))
    assert [has_failed(reply) for reply in replies] == [False] * 8


def test_workers_killed_at_every_start_are_an_error(
    scans: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    starts = tmp_path / "starts"
    program = tmp_path / "killed"
    program.write_text(f'#!/bin/sh\necho >> "{starts}"\nkill -9 $$\n')
    program.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(program))
    with (
        pytest.raises(WorkerStartError, match="SIGKILL"),
        ProcessExecutor(KEEP_ALL, PATIENT, 1) as executor,
    ):
        list(map_pages(executor, iter_tasks(scans, 1)))
    assert len(starts.read_text().splitlines()) == MAX_KILLED_STARTS + 1


def run_python(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(
        command, cwd=REPOSITORY, capture_output=True, text=True, timeout=120, check=True
    )


def test_missing_interpreter_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/no-such-program")
    with pytest.raises(WorkerStartError, match="No such file"):
        ProcessExecutor(BY_SIGMA, PATIENT, 2)


@pytest.mark.parametrize(
    ("module", "strangers"),
    [
        ("archive_tools.worker", {"gradio", "spaces", "torch", "transformers", "app"}),
        ("archive_tools.task_runner", {"gradio", "spaces", "torch", "transformers", "app"}),
        ("archive_tools.cli", {"gradio", "spaces", "torch", "pymupdf", "cv2", "pypdfium2"}),
        # They take longer to load than all the rest, and the workers start only after it.
        ("archive_tools.cli", {"numpy", "PIL", "archive_tools.scale"}),
    ],
)
def test_processes_import_only_their_own(module: str, strangers: set[str]) -> None:
    loaded = run_python(f"import sys, {module}; print(*sys.modules)").stdout.split()
    assert module in loaded
    assert strangers & set(loaded) == set()


PARENT = """
import sys, threading, time
from pathlib import Path
from archive_tools.config import DatasetConfig, PageFilter, WorkerLimits
from archive_tools.schema import PageTask
from archive_tools.workers import ProcessExecutor

def work():
    limits = WorkerLimits(float(sys.argv[3]), 16_000)
    executor = ProcessExecutor(DatasetConfig(filter=PageFilter.SIGMA), limits, 1)
    first = executor.submit(PageTask(Path(sys.argv[1]), 0))
    executor.wait_for(first, 120)
    executor.submit(PageTask(Path(sys.argv[1]), 1))
    print("busy", flush=True)
    time.sleep(600)

work() if sys.argv[2] == "main" else threading.Thread(target=work).start()
"""


@pytest.mark.parametrize(("thread", "page_time_s"), [("main", "300"), ("other", "1")])
def test_busy_worker_does_not_outlive_its_parent(
    thread: str, page_time_s: str, endless: Path
) -> None:
    """From a web server's thread the kernel's tie cannot be used: then the alarm ends it."""
    parent = psutil.Popen(
        [sys.executable, "-c", PARENT, str(endless), thread, page_time_s],
        cwd=REPOSITORY,
        stdout=subprocess.PIPE,
    )
    assert parent.stdout.readline() == b"busy\n"
    [worker] = parent.children()
    os.kill(parent.pid, signal.SIGKILL)
    parent.wait()
    parent.stdout.close()
    wait_until(lambda: not worker.is_running() or worker.status() == psutil.STATUS_ZOMBIE)
