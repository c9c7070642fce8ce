"""Ray core tasks as an engine; the only door to it."""

import logging
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Self

import ray
from ray import exceptions

from archive_tools.capacity import count_usable_cpus
from archive_tools.errors import EngineError
from archive_tools.scale.engines import TASKS_PER_WORKER, Ended, Work, describe_error
from archive_tools.scale.tasks import Result, Task

# Of the package only a part is typed.
_ray: Any = ray
_STORE_BYTES = 80 * 2**20
_LOSSES = (
    exceptions.WorkerCrashedError,
    exceptions.NodeDiedError,
    exceptions.ObjectLostError,
    exceptions.OutOfMemoryError,
    exceptions.LocalRayletDiedError,
)


class RayEngine:
    """Works on a Ray cluster."""

    def __init__(self, address: str | None, worker_count: int | None, work: Work) -> None:
        """Reach a cluster, or start one on this machine; one that is in use here serves as it is.

        Args:
            address: `ray://host:10001`, `host:6379` or `auto`; None starts one.
            worker_count: Worker processes of one that is started; None follows the CPUs.
            work: What is done with a task.

        Raises:
            EngineError: The address does not answer, or no cluster can be started.
        """
        self._numbers: dict[Any, int] = {}
        self._is_ours = not ray.is_initialized()
        if self._is_ours:
            _connect(address, worker_count)

        # The workers of a cluster of our own are all on this machine.
        self._workers_differ = address is not None

        def work_on(task: Task) -> Result:
            return work(task)

        # Losses are counted by the dispatcher, which is the same for every engine.
        self._task: Any = ray.remote(num_cpus=1, max_retries=0, retry_exceptions=False)(work_on)

    @property
    def in_flight_limit(self) -> int:
        """How many tasks keep every worker busy; follows nodes that come and go."""
        resources: dict[str, float] = _ray.cluster_resources()
        return max(1, TASKS_PER_WORKER * int(resources.get("CPU", 1)))

    def submit(self, number: int, task: Task) -> None:
        """Hand a task in."""
        self._numbers[self._task.remote(task)] = number

    def next_ended(self, timeout_s: float) -> Ended | None:
        """Wait for the next task that ends."""
        ended, _ = ray.wait(list(self._numbers), num_returns=1, timeout=timeout_s)
        if not ended:
            return None
        number = self._numbers.pop(ended[0])
        try:
            return Ended(number, ray.get(ended[0]))
        except exceptions.RayTaskError as error:
            return describe_error(number, error.cause, self._workers_differ)
        except _LOSSES:
            return Ended(number, loss="its worker process died")
        except exceptions.RayError as error:
            raise EngineError(
                "The Ray cluster has gone. Start it again and give the same command: finished "
                "shards are kept."
            ) from error

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
        if self._is_ours:
            # It ends everything; Ray crashes now and then where tasks are cancelled just before.
            ray.shutdown()
            return
        for unfinished in self._numbers:
            ray.cancel(unfinished, force=True)


def _connect(address: str | None, worker_count: int | None) -> None:
    # Nobody is told of our runs.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    settings: dict[str, Any] = {"logging_level": logging.CRITICAL, "log_to_driver": False}
    settings["address"] = address or "local"
    if address is None:
        settings |= {
            "num_cpus": worker_count or count_usable_cpus(),
            "include_dashboard": False,
            # Results are a few numbers; pictures go into shards.
            "object_store_memory": _STORE_BYTES,
        }
    try:
        with _own_signals():
            ray.init(**settings)
    except (OSError, ValueError, RuntimeError, exceptions.RayError) as error:
        raise _unreachable(address, error) from error


@contextmanager
def _own_signals() -> Iterator[None]:
    """Take back what Ray does when this process is asked to end: it shows a page of addresses."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    former = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, former or signal.SIG_DFL)


def _unreachable(address: str | None, error: Exception) -> EngineError:
    if address is None:
        return EngineError(f"No Ray cluster can be started on this machine: {error}")
    return EngineError(
        f"No Ray cluster answers at {address}. Check the address, and that it was started with the "
        "same versions of Ray and Python."
    )
