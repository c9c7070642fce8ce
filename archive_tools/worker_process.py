"""The parent's side of one worker: start it, give it tasks, read its replies, end it."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from dataclasses import dataclass
from multiprocessing import Pipe
from pathlib import Path

from archive_tools.config import DatasetConfig, WorkerLimits
from archive_tools.errors import WorkerStartError
from archive_tools.schema import Reply, Task, WorkerReady, failed_reply

START_TIME_S = 120.0
REAP_TIME_S = 5.0
PACKAGE_PARENT = Path(__file__).resolve().parents[1]


@dataclass(slots=True)
class Ticket:
    """A task on its way through the pool.

    Attributes:
        task: What is to be done.
        reply: The outcome once it is there.
        crashes: How many workers died over it.
    """

    task: Task
    reply: Reply | None = None
    crashes: int = 0

    def fail(self, reason: str) -> None:
        """Answer it in place of a worker that cannot any more."""
        self.reply = failed_reply(self.task, reason)


class WorkerProcess:
    """One worker with its pipe and the tickets that it has been given.

    Attributes:
        tickets: What it works on (the first) and what waits in its pipe.
    """

    def __init__(self, config: DatasetConfig, limits: WorkerLimits) -> None:
        """Start the process; it takes tasks at once, although it needs a moment to be ready.

        Args:
            config: Options of the run, sent over the pipe: a password shows in no process list.
            limits: What one page may cost.

        Raises:
            WorkerStartError: The system allows no further process.
        """
        self.tickets: deque[Ticket] = deque()
        self._limits = limits
        self._is_ready = False
        self._deadline_s = time.monotonic() + START_TIME_S
        self.connection, far_end = Pipe()
        try:
            self._process = _start(far_end.fileno())
        except OSError as error:
            self.connection.close()
            raise WorkerStartError(
                f"A worker process could not start: {error.strerror}. Close other programs, or "
                "give a smaller number of --workers."
            ) from error
        finally:
            far_end.close()
        self._send(config)
        self._send(limits)

    def give(self, ticket: Ticket) -> None:
        """Queue a ticket at this worker."""
        self.tickets.append(ticket)
        if len(self.tickets) == 1 and self._is_ready:
            self._restart_clock()
        self._send(ticket.task)

    def read(self) -> bool:
        """Take what has arrived; the pipe must be readable.

        Returns:
            False when the worker has died.
        """
        try:
            message: WorkerReady | Reply = self.connection.recv()
        except (EOFError, OSError):
            return False
        if isinstance(message, WorkerReady):
            self._is_ready = True
        else:
            self.tickets.popleft().reply = message
        self._restart_clock()
        return True

    @property
    def time_left_s(self) -> float:
        """Seconds until the current page (or the start) has taken too long; infinite when idle."""
        if self._is_ready and not self.tickets:
            return float("inf")
        return self._deadline_s - time.monotonic()

    def end(self) -> int:
        """Kill the process and reap it.

        Returns:
            Its exit status, negative for the signal that ended it.
        """
        self._process.kill()
        self.connection.close()
        try:
            return self._process.wait(REAP_TIME_S)
        except subprocess.TimeoutExpired:
            # It hangs in the kernel, on a dead network disk for example, and dies when let go.
            return -signal.SIGKILL

    @property
    def is_ready(self) -> bool:
        """Whether it has started and takes tasks."""
        return self._is_ready

    def wait_dead(self, *, may_start_again: bool) -> str:
        """Reap a process that has closed its pipe.

        Args:
            may_start_again: Whether one that was killed while it started may be replaced: somebody
                outside did that (the system, short of memory), and another try may end otherwise.

        Returns:
            How it ended, for people.

        Raises:
            WorkerStartError: It could not start, and another try would end likewise.
        """
        try:
            status = self._process.wait(REAP_TIME_S)
        except subprocess.TimeoutExpired:
            status = self.end()
        self.connection.close()
        is_killed = status == -signal.SIGKILL
        if not (self._is_ready or (is_killed and may_start_again)):
            raise WorkerStartError(
                f"A worker process could not start ({describe_exit(status)}). Check that the "
                "packages in requirements.txt are installed, or run with --workers 0."
            )
        return describe_exit(status)

    def _restart_clock(self) -> None:
        """Give the ticket that is now first its full time."""
        if self.tickets:
            self._deadline_s = time.monotonic() + self._limits.time_s(self.tickets[0].task)

    def _send(self, message: DatasetConfig | WorkerLimits | Task) -> None:
        """Send a small message; a worker that has died is noticed when it is read."""
        try:
            self.connection.send(message)
        except OSError:
            return


def describe_exit(status: int) -> str:
    """Say how a process ended: the signal's name, or the exit status."""
    if status >= 0:
        return f"exit status {status}"
    if status == -signal.SIGABRT:
        # What PDFium does when it is given no more memory.
        return "SIGABRT; it may have needed more memory than it may take"
    try:
        return signal.Signals(-status).name
    except ValueError:
        return f"signal {-status}"


def _start(socket_number: int) -> subprocess.Popen[bytes]:
    """Start a worker that inherits one socket and nothing else of ours."""
    command = [sys.executable, "-m", "archive_tools.worker", str(socket_number)]
    # The kernel's tie is to the starting thread, and a web server's threads come and go.
    if threading.current_thread() is threading.main_thread():
        command.append("tied")
    return subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        pass_fds=[socket_number],
        env=_environment(),
        # A group of its own: Ctrl-C goes to us, and we end the workers in order.
        process_group=0,
    )


def _environment() -> dict[str, str]:
    """Return the environment of a worker."""
    search_path = [str(PACKAGE_PARENT), os.environ.get("PYTHONPATH", "")]
    return os.environ | {
        "PYTHONPATH": os.pathsep.join(filter(None, search_path)),
        # Modules in the current folder must not stand in for ours.
        "PYTHONSAFEPATH": "1",
        # Pages are spread over processes; more threads would only compete (and reserve memory).
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "OPENCV_FOR_THREADS_NUM": "1",
    }
