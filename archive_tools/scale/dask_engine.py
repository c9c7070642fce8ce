"""Dask distributed as an engine; the only door to it."""

import asyncio
import logging
import queue
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import resource_tracker
from types import TracebackType
from typing import Any, Self

import dask
import distributed

from archive_tools.capacity import count_usable_cpus
from archive_tools.errors import EngineError
from archive_tools.scale.engines import TASKS_PER_WORKER, Ended, Work, describe_error
from archive_tools.scale.shard_worker import close_workshops
from archive_tools.scale.tasks import Task

# Hardly anything in the package is typed.
_dask: Any = distributed
_CLOSE_S = 10
# For a few numbers; everything else waits meanwhile.
_TELL_S = 5
_ASK_EVERY_S = 1.0
_SETTINGS = {
    # A task that loses its worker comes back to us at once: we know what to do with it.
    "distributed.scheduler.allowed-failures": 0,
    # Pages are made by a process of their own, under a limit of their own.
    "distributed.worker.memory.terminate": False,
    "distributed.worker.memory.pause": False,
    "distributed.worker.memory.spill": False,
    "distributed.worker.memory.target": False,
    "distributed.scheduler.active-memory-manager.start": False,
}


class DaskEngine:
    """Works on a Dask cluster."""

    def __init__(self, address: str | None, worker_count: int | None, work: Work) -> None:
        """Reach a cluster, or start one on this machine.

        Args:
            address: Of its scheduler, `tcp://host:8786`; None starts one.
            worker_count: Worker processes of one that is started; None follows the CPUs.
            work: What is done with a task.

        Raises:
            EngineError: The address does not answer, or no cluster can be started.
        """
        self._work = work
        self._address = address
        self._ended: queue.SimpleQueue[tuple[int, Any]] = queue.SimpleQueue()
        self._futures: dict[int, Any] = {}
        self._cluster: Any = None
        self._threads, self._ask_again_s = 0, 0.0
        self._settings: Any = dask.config.set(_SETTINGS)
        try:
            if address is None:
                with _without_interrupts():
                    self._cluster = _start_cluster(worker_count or count_usable_cpus())
            self._client = _dask.Client(self._cluster or address, set_as_default=False)
        except (OSError, TimeoutError, ValueError, RuntimeError) as error:
            self._close_cluster()
            raise _unreachable(address, error) from error

    @property
    def in_flight_limit(self) -> int:
        """How many tasks keep every worker busy; follows workers that come and go."""
        now_s = time.monotonic()
        # Each question goes to the scheduler; one that has gone lets half a minute pass.
        if now_s >= self._ask_again_s and self._is_connected:
            self._ask_again_s = now_s + _ASK_EVERY_S
            self._threads = sum(worker["nthreads"] for worker in self._list_workers())
        return max(1, TASKS_PER_WORKER * self._threads)

    def submit(self, number: int, task: Task) -> None:
        """Hand a task in."""
        # Never pure: a task that is tried again must run again.
        future = self._client.submit(
            self._work, task, key=f"pages-{id(self)}-{number}", pure=False, retries=0
        )
        self._futures[number] = future
        future.add_done_callback(lambda done: self._ended.put((number, done)))

    def next_ended(self, timeout_s: float) -> Ended | None:
        """Wait for the next task that ends."""
        try:
            number, future = self._ended.get(timeout=timeout_s)
        except queue.Empty:
            self._check_connected()
            return None
        # Forgotten by the scheduler, too, once we forget it.
        self._futures.pop(number, None)
        if future.status in ("cancelled", "lost"):
            self._check_connected()
            return Ended(number, loss="Dask lost it")
        error = future.exception() if future.status == "error" else None
        if isinstance(error, _dask.KilledWorker):
            return Ended(number, loss="its worker process died")
        if error is not None:
            return describe_error(number, error, workers_differ=self._address is not None)
        try:
            return Ended(number, future.result(timeout=_TELL_S))
        except TimeoutError:
            # Dask keeps results where they were made, and that place has gone.
            return Ended(number, loss="its worker went away")

    def __enter__(self) -> Self:
        """Return the engine."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Take back what is unfinished; end the cluster if it is ours."""
        try:
            if self._futures and self._is_connected:
                self._client.cancel(list(self._futures.values()), force=True)
            elif self._is_connected:
                self._client.run(close_workshops, on_error="ignore")
            self._client.close(timeout=_CLOSE_S)
        except (OSError, TimeoutError, RuntimeError, asyncio.CancelledError):
            pass  # a scheduler that has gone cannot be told
        self._close_cluster()

    @property
    def _is_connected(self) -> bool:
        return bool(self._client.status == "running")

    def _list_workers(self) -> list[dict[str, Any]]:
        return list(self._client.scheduler_info(n_workers=-1).get("workers", {}).values())

    def _check_connected(self) -> None:
        if not self._is_connected:
            raise EngineError(
                "The Dask scheduler has gone. Start it again and give the same command: finished "
                "shards are kept."
            )

    def _close_cluster(self) -> None:
        if self._cluster is not None:
            self._cluster.close(timeout=_CLOSE_S)
        self._settings.__exit__(None, None, None)


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """Let what is started meanwhile not hear of Ctrl-C, which a terminal sends to everybody.

    Workers would each end with a traceback, and no longer do what they are told at the end. For
    this process it only comes later.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    # First, since its start lets the signal through again.
    resource_tracker.ensure_running()
    former = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, former)


def _start_cluster(worker_count: int) -> Any:
    return _dask.LocalCluster(
        n_workers=worker_count,
        threads_per_worker=1,
        processes=True,
        memory_limit=0,
        dashboard_address="127.0.0.1:0",
        silence_logs=logging.CRITICAL,
    )


def _unreachable(address: str | None, error: Exception) -> EngineError:
    if address is None:
        return EngineError(f"No Dask cluster can be started on this machine: {error}.")
    return EngineError(
        f"No Dask scheduler answers at {address}. Check the address, and that it was started with "
        "the same version of Dask."
    )
