"""Bursts of triage requests, and what the server holds before, during and after them."""

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

import psutil

from tests.raw_visitor import RawVisitor
from tests.served_app import ServedApp
from tests.waiting import wait_until

KEPT_LIMIT_MB = 25.0
WARM_UP_REQUESTS = 20
# At once, so that as many threads have worked as will work later.
WARM_UP_AT_ONCE = 8
SAMPLE_EVERY_S = 0.05
SETTLE_S = 30.0


@dataclass(frozen=True, slots=True)
class Holdings:
    """What a server holds.

    Attributes:
        resident_mb: Resident memory of its process tree in MiB, without the pages of files that
            the system takes away and brings back as it likes.
        threads: Threads of its main process.
        files: Open file descriptors of its main process.
    """

    resident_mb: float
    threads: int
    files: int


@dataclass(frozen=True, slots=True)
class Burst:
    """How a number of requests went.

    Attributes:
        latencies_s: Seconds of each answered request.
        failed: How many were not answered with a report.
        peak_mb: Highest resident memory meanwhile, in MiB.
        places_told: How many visitors were told their place in the queue.
    """

    latencies_s: list[float]
    failed: int
    peak_mb: float
    places_told: int


class PeakMemory:
    """Samples the resident memory of a server while the block runs."""

    def __init__(self, served: ServedApp) -> None:
        """Sample the process tree of `served`."""
        self._served = served
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._sample)
        self.peak_mb = 0.0

    def __enter__(self) -> "PeakMemory":
        """Start."""
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop."""
        self._done.set()
        self._thread.join()

    def _sample(self) -> None:
        while not self._done.wait(SAMPLE_EVERY_S):
            self.peak_mb = max(self.peak_mb, measure_own_mb(self._served))


def measure(served: ServedApp) -> Holdings:
    """Measure what the server holds now."""
    process = psutil.Process(served.pid)
    return Holdings(measure_own_mb(served), process.num_threads(), process.num_fds())


def measure_own_mb(served: ServedApp) -> float:
    """Return the anonymous resident memory of the server and its descendants in MiB."""
    total_kb = 0
    for pid in (served.pid, *(child.pid for child in served.list_children())):
        try:
            status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
        except FileNotFoundError:
            continue  # it has just ended
        total_kb += sum(
            int(line.split()[1]) for line in status.splitlines() if line.startswith("RssAnon")
        )
    return total_kb / 1024


def ask(served: ServedApp, photo: Path) -> tuple[float, bool, bool]:
    """Ask for one triage; returns (seconds, whether a report came, whether a place was told)."""
    with RawVisitor(served.url) as visitor:
        start = time.perf_counter()
        visitor.ask("triage", [visitor.upload(photo)], ["fever"], "en")
        last = visitor.wait_for_answer()
        seconds = time.perf_counter() - start
        told = any(m["msg"] == "estimation" and m["rank"] is not None for m in visitor.messages)
        return seconds, bool(last["success"] and last["output"]["data"][0]["device_reason"]), told


def run_burst(served: ServedApp, photo: Path, count: int, at_once: int) -> Burst:
    """Send `count` requests, `at_once` at the same time."""
    with PeakMemory(served) as memory, ThreadPoolExecutor(at_once) as pool:
        answers = list(pool.map(lambda _: ask(served, photo), range(count)))
    return Burst(
        latencies_s=[seconds for seconds, answered, _ in answers if answered],
        failed=sum(not answered for _, answered, _ in answers),
        peak_mb=memory.peak_mb,
        places_told=sum(told for _, _, told in answers),
    )


def settle(served: ServedApp, holds: Callable[[Holdings], bool]) -> Holdings:
    """Wait until what the server holds fulfils a condition, or time is up; returns the last."""
    wait_until(lambda: holds(measure(served)), SETTLE_S)
    return measure(served)
