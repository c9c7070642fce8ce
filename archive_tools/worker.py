"""One worker process: `python -m archive_tools.worker FD` works on pages until its pipe closes.

It is started with the number of an inherited socket. It first receives the DatasetConfig and the
WorkerLimits, says WorkerReady, and then answers each task with one reply, in order. Whatever a
hostile file does happens here; the process that started it only reads replies.
"""

import ctypes
import os
import re
import signal
import sys
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING

from archive_tools.config import DatasetConfig, WorkerLimits
from archive_tools.quick_loading import quick_loading
from archive_tools.schema import Task, WorkerReady

if TYPE_CHECKING:
    from archive_tools.task_runner import TaskRunner

MB = 2**20
# The parent stops a page that takes too long; the alarm serves a worker whose parent was killed.
ALARM_GRACE_S = 5.0
PR_SET_PDEATHSIG = 1


def serve(connection: Connection, make_runner: "type[TaskRunner]") -> None:
    """Answer tasks until the other end closes.

    Args:
        connection: The worker's end of the pipe.
        make_runner: Makes what works on them.
    """
    config: DatasetConfig = connection.recv()
    limits: WorkerLimits = connection.recv()
    os.nice(limits.niceness)
    runner = make_runner(config, limits)
    _limit_memory(limits.page_memory_mb)
    connection.send(WorkerReady())
    while True:
        task: Task = connection.recv()
        signal.setitimer(signal.ITIMER_REAL, limits.time_s(task) + ALARM_GRACE_S)
        reply = runner.run(task)
        # Off before sending: a parent that is slow to read is no fault of the page.
        signal.setitimer(signal.ITIMER_REAL, 0)
        connection.send(reply)


def main(arguments: list[str]) -> None:
    """Run the worker.

    Args:
        arguments: The number of the inherited socket, and "tied" where this process is to be
            killed together with the thread that started it.
    """
    if "tied" in arguments[1:]:
        _die_with_parent()
    # While this process can still be heard: a package may be missing.
    with quick_loading():
        from archive_tools.task_runner import TaskRunner
    connection = Connection(int(arguments[0]))
    _silence()
    try:
        serve(connection, TaskRunner)
    except (EOFError, OSError):
        # The parent has gone; the documents close with this process.
        os._exit(0)


def _die_with_parent() -> None:
    """Ask Linux to kill this process when the thread that started it ends."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def _silence() -> None:
    """Send what C libraries print nowhere: the parent owns the terminal."""
    sink = os.open(os.devnull, os.O_WRONLY)
    os.dup2(sink, 1)
    os.dup2(sink, 2)
    os.close(sink)


def _limit_memory(page_memory_mb: int) -> None:
    """Let this process take no more than so much above what it holds now."""
    if sys.platform != "linux":
        return
    import resource

    status = Path("/proc/self/status").read_text(encoding="ascii")
    stated = re.search(r"VmData:\s+(\d+) kB", status)
    if stated is None:
        return
    # RLIMIT_DATA and not RLIMIT_AS: a file that is mapped costs no memory.
    ceiling = int(stated[1]) * 1024 + page_memory_mb * MB
    resource.setrlimit(resource.RLIMIT_DATA, (ceiling, ceiling))


if __name__ == "__main__":
    main(sys.argv[1:])
