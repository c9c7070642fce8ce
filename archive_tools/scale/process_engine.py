"""The engine of one machine: worker processes, each driven by a thread that writes its shards."""

import queue
import threading
from types import TracebackType
from typing import Self

from archive_tools.capacity import count_usable_cpus
from archive_tools.scale.engines import TASKS_PER_WORKER, Ended, Work, describe_error
from archive_tools.scale.shard_worker import close_workshops
from archive_tools.scale.tasks import Task

_LET_END_S = 0.1


class ProcessEngine:
    """Works in processes on this machine; needs no package and no cluster."""

    def __init__(self, worker_count: int | None, work: Work) -> None:
        """Start the threads; each starts its worker process with its first task.

        Args:
            worker_count: Worker processes; None follows the CPUs.
            work: What is done with a task.
        """
        self._worker_count = worker_count or count_usable_cpus()
        self._work = work
        self._waiting: queue.SimpleQueue[tuple[int, Task] | None] = queue.SimpleQueue()
        self._ended: queue.SimpleQueue[Ended] = queue.SimpleQueue()
        self._threads = [
            threading.Thread(target=self._serve, daemon=True) for _ in range(self._worker_count)
        ]
        for thread in self._threads:
            thread.start()

    @property
    def in_flight_limit(self) -> int:
        """How many tasks keep every worker busy."""
        return TASKS_PER_WORKER * self._worker_count

    def submit(self, number: int, task: Task) -> None:
        """Hand a task in; the next free worker takes it."""
        self._waiting.put((number, task))

    def next_ended(self, timeout_s: float) -> Ended | None:
        """Wait for the next task that ends."""
        try:
            return self._ended.get(timeout=timeout_s)
        except queue.Empty:
            return None

    def __enter__(self) -> Self:
        """Return the engine."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """End the worker processes; takes moments, whatever they are doing."""
        while not self._waiting.empty():
            self._waiting.get()
        for _ in self._threads:
            self._waiting.put(None)
        # Again and again: a thread may just be starting its process.
        while any(thread.is_alive() for thread in self._threads):
            close_workshops([thread.ident for thread in self._threads if thread.ident])
            for thread in self._threads:
                thread.join(_LET_END_S)
        close_workshops([thread.ident for thread in self._threads if thread.ident])

    def _serve(self) -> None:
        """Work on tasks until there are no more."""
        while (given := self._waiting.get()) is not None:
            number, task = given
            # Any error at all: the dispatcher decides what becomes of the task.
            try:
                self._ended.put(Ended(number, self._work(task)))
            except Exception as error:  # noqa: BLE001
                self._ended.put(describe_error(number, error))
