"""What spreads tasks over processes or machines, behind one small interface.

An engine only carries tasks to workers and tells how each ended. What that means (again, in halves,
given up) is the same for all of them and decided in `dispatch`.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from types import TracebackType
from typing import Protocol, Self

from archive_tools.errors import (
    ArchiveToolsError,
    DatasetWriteError,
    InvalidOptionError,
    SourceUnreachableError,
    UnfitWorkerError,
)
from archive_tools.scale.tasks import Result, Task

Work = Callable[[Task], Result]
"""What a worker does with a task; it must be importable on every machine."""

# While its next task is on the way, a worker has one at hand.
TASKS_PER_WORKER = 2
_UNFIT_REST_S = 5.0


class EngineKind(StrEnum):
    """The engines."""

    PROCESSES = "processes"
    DASK = "dask"
    RAY = "ray"


@dataclass(frozen=True, slots=True)
class EngineOptions:
    """Which engine, and how it is reached.

    Attributes:
        kind: The engine.
        address: Of a running cluster; None starts one on this machine.
        workers: Worker processes on this machine; None follows the CPUs.
    """

    kind: EngineKind = EngineKind.PROCESSES
    address: str | None = None
    workers: int | None = None

    def __post_init__(self) -> None:
        """Check the values.

        Raises:
            InvalidOptionError: A value cannot work.
        """
        if self.workers is not None and not 1 <= self.workers <= 256:
            raise InvalidOptionError(f"workers is {self.workers}. Choose 1 to 256.")
        if self.address and self.kind is EngineKind.PROCESSES:
            raise InvalidOptionError(
                "The engine processes works on this machine alone. Leave the address out, or "
                "choose dask or ray."
            )


@dataclass(frozen=True, slots=True)
class Ended:
    """How a task ended: with a result, lost with its worker, or with an error.

    Attributes:
        number: What it was submitted as.
        result: What came of it.
        loss: How its worker was lost; empty where it was not.
        error: What the task raised, in words; empty where it raised nothing.
        is_final: Whether another try would end likewise.
        is_unfit: Whether its worker can do no task at all, but another may.
    """

    number: int
    result: Result | None = None
    loss: str = ""
    error: str = ""
    is_final: bool = False
    is_unfit: bool = False


class Engine(Protocol):
    """Carries tasks to workers; a `with` block ends all that it started."""

    @property
    def in_flight_limit(self) -> int:
        """How many tasks keep every worker busy."""

    def submit(self, number: int, task: Task) -> None:
        """Hand a task in.

        Raises:
            EngineError: The engine was lost.
        """

    def next_ended(self, timeout_s: float) -> Ended | None:
        """Wait for the next task that ends, in any order.

        Returns:
            None when the time was over before.

        Raises:
            EngineError: The engine was lost.
        """

    def __enter__(self) -> Self:
        """Return the engine."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """End everything."""


def describe_error(number: int, error: BaseException, workers_differ: bool = False) -> Ended:
    """Return how a task ended that raised.

    Args:
        number: What it was submitted as.
        error: What it raised; our own errors say the same at every try, but for those of a store or
            a server.
        workers_differ: Whether what one worker cannot do another may.
    """
    if isinstance(error, UnfitWorkerError):
        return Ended(number, error=str(error), is_final=not workers_differ, is_unfit=workers_differ)
    if isinstance(error, DatasetWriteError | SourceUnreachableError):
        return Ended(number, error=str(error))
    if isinstance(error, ArchiveToolsError):
        return Ended(number, error=str(error), is_final=True)
    return Ended(number, error=f"{type(error).__name__}: {error}")


def work_unless_unfit(work: Work, task: Task) -> Result:
    """Work on a task; a worker that can do none rests, lest it take all of them at once.

    Args:
        work: What is done with it.
        task: The task.

    Raises:
        UnfitWorkerError: This machine can do no task at all.
    """
    try:
        return work(task)
    except UnfitWorkerError:
        time.sleep(_UNFIT_REST_S)
        raise
