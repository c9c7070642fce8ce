"""Many visitors of both tools at once: what each of them waited for, and what went wrong."""

import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from tests.raw_visitor import RawVisitor
from tests.request_bursts import ask
from tests.served_app import ServedApp


@dataclass(frozen=True, slots=True)
class Plan:
    """How the visitors behave.

    Attributes:
        duration_s: Nobody begins anything after so many seconds; what was begun is waited for.
        triage_visitors: Each asks at once after its turn has come, and then again and again.
        every_s: Seconds from one question of a visitor to the next.
        archive_visitors: Each builds a dataset, fetches it, and builds the next.
    """

    duration_s: float
    triage_visitors: int
    every_s: float
    archive_visitors: int


@dataclass(slots=True)
class Outcome:
    """How it went.

    Attributes:
        latencies_s: Seconds of each triage, its upload included.
        beside_a_job: How many of them were answered while a dataset was being built.
        jobs: How many datasets were built.
        failed: What was not answered, in words.
    """

    latencies_s: list[float] = field(default_factory=list)
    beside_a_job: int = 0
    jobs: int = 0
    failed: list[str] = field(default_factory=list)


class MixedLoad:
    """One run of a plan."""

    def __init__(self, served: ServedApp, plan: Plan, photo: Path, pdf: Path) -> None:
        """Prepare it.

        Args:
            served: The page.
            plan: How the visitors behave.
            photo: What is asked about.
            pdf: What datasets are built from.
        """
        self._served, self._plan, self._photo, self._pdf = served, plan, photo, pdf
        self._outcome = Outcome()
        self._lock = threading.Lock()
        self._until_s = 0.0

    def run(self) -> Outcome:
        """Let all visitors do what they want, and wait until each has its last answer."""
        self._until_s = time.monotonic() + self._plan.duration_s
        results_before = len(self._list_results())
        count = self._plan.triage_visitors
        with ThreadPoolExecutor(count + self._plan.archive_visitors) as pool:
            for _ in range(self._plan.archive_visitors):
                pool.submit(self._guarded, self._build_again_and_again, 0.0)
            for number in range(count):
                # Spread evenly: visitors do not agree on when to come.
                pool.submit(self._guarded, self._ask_again_and_again, number / count)
        if len(self._list_results()) - results_before != self._outcome.jobs:
            self._outcome.failed.append("a job ended without its ZIP")
        return self._outcome

    def _list_results(self) -> list[Path]:
        return list(self._served.gradio_folder.glob("archive-*/dataset.zip"))

    def _guarded(self, visit: Callable[[float], None], turn: float) -> None:
        """A visitor's error is an outcome like any other."""
        try:
            visit(turn)
        except Exception as error:  # noqa: BLE001 - whatever it is, it was no answer
            with self._lock:
                self._outcome.failed.append(f"{type(error).__name__}: {error}")

    def _ask_again_and_again(self, turn: float) -> None:
        next_s = time.monotonic() + turn * self._plan.every_s
        while next_s < self._until_s:
            time.sleep(max(0.0, next_s - time.monotonic()))
            seconds, is_answered, _ = ask(self._served, self._photo)
            is_beside = bool(self._served.list_children())
            with self._lock:
                self._outcome.latencies_s.append(seconds)
                self._outcome.beside_a_job += is_beside
                if not is_answered:
                    self._outcome.failed.append("a triage without a report")
            next_s = max(next_s + self._plan.every_s, time.monotonic())

    def _build_again_and_again(self, _: float) -> None:
        while time.monotonic() < self._until_s:
            with RawVisitor(self._served.url) as visitor:
                visitor.ask("build_dataset", [visitor.upload(self._pdf)])
                last = visitor.wait_for_answer()
            with self._lock:
                self._outcome.jobs += last["success"]
                if not last["success"]:
                    self._outcome.failed.append(f"a job: {last['output']}")
