"""Pages in worker processes: in order, a bounded number in flight, under limits.

Two executors with one interface. `ProcessExecutor` survives what pages do to its workers: a page
that takes too long or kills its worker twice is failed, and the run goes on. `SerialExecutor`
works in this process, for debugging and for tests of what lies above.
"""

import sys
import time
from collections import deque
from collections.abc import Iterable, Iterator
from multiprocessing.connection import wait
from types import TracebackType
from typing import Protocol, Self

from archive_tools.capacity import count_usable_cpus
from archive_tools.config import DatasetConfig, RunOptions, WorkerLimits
from archive_tools.errors import WorkerStartError
from archive_tools.schema import PageResult, PageTask, Task
from archive_tools.worker_process import Ticket, WorkerProcess

# One page is worked on and one waits in the pipe, so that a worker is never idle.
TICKETS_PER_WORKER = 2
# A kept page takes four times as long as a dropped one: so many pages behind it may be done and
# held before the others have to wait for it.
PAGES_AHEAD_PER_WORKER = 8
# Beyond these, workers start only when there is work for them.
WORKERS_AT_START = 2
MAX_CRASHES = 2
# In a row; a system short of memory may kill whatever has just started.
MAX_KILLED_STARTS = 3


class Executor(Protocol):
    """Works on tasks; a `with` block ends it and everything that it started."""

    @property
    def in_flight_limit(self) -> int:
        """How many tickets are worth having open at once."""

    def submit(self, task: Task) -> Ticket:
        """Hand a task in."""

    def wait_for(self, ticket: Ticket, timeout_s: float) -> bool:
        """Work until a ticket has its reply.

        Returns:
            False when the time was over before.
        """

    def __enter__(self) -> Self:
        """Return the executor."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """End everything."""


class SerialExecutor:
    """Works in this process, one task at a time; nothing protects it from a hostile file."""

    in_flight_limit = 1

    def __init__(self, config: DatasetConfig, limits: WorkerLimits | None = None) -> None:
        """Prepare for tasks.

        Args:
            config: Options of the run.
            limits: Not enforced here.
        """
        # Here and not above: the process that only starts workers has no need of MuPDF.
        from archive_tools.task_runner import TaskRunner

        self._runner = TaskRunner(config, limits or WorkerLimits())

    def submit(self, task: Task) -> Ticket:
        """Hand a task in; it is worked on when it is waited for."""
        return Ticket(task)

    def wait_for(self, ticket: Ticket, timeout_s: float) -> bool:  # noqa: ARG002
        """Work on a ticket now, however long it takes."""
        if ticket.reply is None:
            ticket.reply = self._runner.run(ticket.task)
        return True

    def __enter__(self) -> Self:
        """Return the executor."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close the document that is still open."""
        self._runner.close()


class ProcessExecutor:
    """Works in processes that it starts, watches, replaces and ends.

    Nothing runs in the background: workers are watched while a ticket is waited for.
    """

    def __init__(
        self, config: DatasetConfig, limits: WorkerLimits, worker_count: int | None = None
    ) -> None:
        """Start the first workers.

        Args:
            config: Options of the run.
            limits: What one page may cost.
            worker_count: Most workers at once; None follows the CPUs.

        Raises:
            WorkerStartError: This system cannot hand a socket to a child.
        """
        if sys.platform == "win32":
            raise WorkerStartError(
                "Worker processes need Linux or macOS. Give --workers 0 for files that you trust."
            )
        self._config = config
        self._limits = limits
        self._worker_count = worker_count or count_usable_cpus()
        self._workers: list[WorkerProcess] = []
        self._waiting: deque[Ticket] = deque()
        self._killed_starts = 0
        try:
            for _ in range(min(self._worker_count, WORKERS_AT_START)):
                self._start_worker()
        except BaseException:
            self.close()
            raise

    @property
    def in_flight_limit(self) -> int:
        """What keeps every worker busy while the page that is next in order takes long."""
        return PAGES_AHEAD_PER_WORKER * self._worker_count

    def submit(self, task: Task) -> Ticket:
        """Hand a task in; the next worker that is free takes it."""
        ticket = Ticket(task)
        self._waiting.append(ticket)
        self._hand_out()
        return ticket

    def wait_for(self, ticket: Ticket, timeout_s: float) -> bool:
        """Watch the workers until a ticket has its reply.

        Args:
            ticket: A ticket of this executor.
            timeout_s: Longest time to wait.

        Returns:
            False when the time was over before.

        Raises:
            WorkerStartError: No worker can be started on this machine.
        """
        give_up_s = time.monotonic() + timeout_s
        while ticket.reply is None:
            left_s = give_up_s - time.monotonic()
            self._watch(max(0.0, left_s))
            if left_s <= 0:
                break
        return ticket.reply is not None

    def close(self) -> None:
        """Kill and reap every worker; takes milliseconds, whatever they are doing."""
        while self._workers:
            self._workers.pop().end()

    def __enter__(self) -> Self:
        """Return the executor."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """End the workers."""
        self.close()

    def _start_worker(self) -> WorkerProcess:
        """Start one more worker."""
        worker = WorkerProcess(self._config, self._limits)
        self._workers.append(worker)
        return worker

    def _hand_out(self) -> None:
        """Give waiting tickets to the workers that have room for them."""
        while self._waiting and (worker := self._find_free_worker()):
            worker.give(self._waiting.popleft())

    def _find_free_worker(self) -> WorkerProcess | None:
        """Return the least busy worker, or a new one where all are busy and more are allowed."""
        least_busy = min(self._workers, key=lambda worker: len(worker.tickets), default=None)
        if least_busy is None or (least_busy.tickets and len(self._workers) < self._worker_count):
            return self._start_worker()
        return least_busy if len(least_busy.tickets) < TICKETS_PER_WORKER else None

    def _watch(self, timeout_s: float) -> None:
        """Wait for news from any worker, take them, and replace workers that came to grief."""
        soonest_s = min((worker.time_left_s for worker in self._workers), default=timeout_s)
        pipes = [worker.connection for worker in self._workers]
        readable = wait(pipes, timeout=max(0.0, min(timeout_s, soonest_s)))
        for worker in list(self._workers):
            if worker.connection in readable:
                if not worker.read():
                    self._replace_dead(worker)
            # Only a worker that has nothing to say is late: we may have been away ourselves.
            elif worker.time_left_s <= 0:
                self._replace_late(worker)
        self._hand_out()

    def _replace_dead(self, worker: WorkerProcess) -> None:
        """Give a dead worker's tickets to a new one; its first ticket gets one more chance."""
        self._workers.remove(worker)
        manner = worker.wait_dead(may_start_again=self._killed_starts < MAX_KILLED_STARTS)
        self._killed_starts = 0 if worker.is_ready else self._killed_starts + 1
        # No page is to blame for a worker that had not taken any.
        if worker.tickets and worker.is_ready:
            suspect = worker.tickets[0]
            suspect.crashes += 1
            if suspect.crashes >= MAX_CRASHES:
                worker.tickets.popleft()
                suspect.fail(f"its worker process died ({manner})")
        self._hand_over(worker.tickets)

    def _replace_late(self, worker: WorkerProcess) -> None:
        """Kill a worker whose page takes too long, and fail that page."""
        self._workers.remove(worker)
        worker.end()
        if worker.tickets:
            ticket = worker.tickets.popleft()
            ticket.fail(f"took longer than {self._limits.time_s(ticket.task):g} s")
        self._hand_over(worker.tickets)

    def _hand_over(self, tickets: deque[Ticket]) -> None:
        """Give the tickets of a worker that has gone to a new one, in the same order."""
        if not tickets:
            return
        successor = self._start_worker()
        for ticket in tickets:
            successor.give(ticket)


def open_executor(config: DatasetConfig, run: RunOptions) -> Executor:
    """Return the executor that the options ask for; use it in a `with` block.

    Args:
        config: Options that decide what the dataset holds.
        run: Number of workers and limits; no workers at all works in this process.
    """
    if run.workers == 0:
        return SerialExecutor(config, run.limits)
    return ProcessExecutor(config, run.limits, run.workers)


def map_pages(executor: Executor, tasks: Iterable[PageTask]) -> Iterator[PageResult]:
    """Work on pages and return their results in the order of the tasks.

    Args:
        executor: Where the work is done.
        tasks: Taken one by one, only a few ahead of the results.
    """
    waiting: deque[Ticket] = deque()
    for task in tasks:
        waiting.append(executor.submit(task))
        if len(waiting) >= executor.in_flight_limit:
            yield _page_result(executor, waiting.popleft())
    while waiting:
        yield _page_result(executor, waiting.popleft())


def _page_result(executor: Executor, ticket: Ticket) -> PageResult:
    """Wait for a page, however long its limit lets it take."""
    while not executor.wait_for(ticket, timeout_s=60.0):
        pass
    assert isinstance(ticket.reply, PageResult)
    return ticket.reply
