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

from archive_tools.config import DatasetConfig, WorkerLimits
from archive_tools.errors import ArchiveToolsError
from archive_tools.extraction import PageExtractor
from archive_tools.open_documents import hash_document, probe_document
from archive_tools.schema import (
    HashResult,
    HashTask,
    ProbeResult,
    ProbeTask,
    Reply,
    Task,
    WorkerReady,
    failed_reply,
)

MB = 2**20
MAX_REASON_CHARS = 200
DAMAGED = (
    "the file is damaged here. If it opens in a PDF viewer, print it to a new PDF; else copy or "
    "upload it again"
)
# The parent stops a page that takes too long; the alarm serves a worker whose parent was killed.
ALARM_GRACE_S = 5.0
PR_SET_PDEATHSIG = 1


class TaskRunner:
    """Works on tasks and never raises: what goes wrong with a file becomes its reply."""

    def __init__(self, config: DatasetConfig, limits: WorkerLimits) -> None:
        """Prepare for tasks; nothing is opened yet.

        Args:
            config: Options of the run.
            limits: What one page may cost; here only for the words of a refusal.
        """
        self._config = config
        self._limits = limits
        self._extractor = PageExtractor(config, limits)

    def run(self, task: Task) -> Reply:
        """Work on one task.

        Args:
            task: A page to be extracted, or a file to be opened or hashed.

        Returns:
            The outcome; failed with a plain reason where the work raised.
        """
        # Any error at all: a page that fails costs itself, and the run goes on.
        try:
            if isinstance(task, ProbeTask):
                return self._probe(task.path)
            if isinstance(task, HashTask):
                return HashResult(hash_document(task.path))
            return self._extractor.extract(task)
        except Exception as error:  # noqa: BLE001
            return failed_reply(task, self._reason(error, task.path))

    def close(self) -> None:
        """Close the document that is still open."""
        self._extractor.close()

    def _probe(self, path: Path) -> ProbeResult:
        """Open a file."""
        return ProbeResult(*probe_document(path, self._config))

    def _reason(self, error: Exception, path: Path) -> str:
        """Say in a few words what went wrong; the same words wherever the file lies."""
        text = " ".join(str(error).split())
        if path.name:  # the folder "." has none, and each dot would go
            text = text.replace(str(path), path.name)
        if isinstance(error, MemoryError) or re.search(r"malloc|insufficient memory", text, re.I):
            return f"needs more than the {self._limits.page_memory_mb} MB of memory it may take"
        if isinstance(error, ArchiveToolsError):
            return text
        if isinstance(error, RuntimeError):
            # MuPDF's own; its words ("code=7: bad xref") help nobody.
            return DAMAGED
        return f"an unexpected error, please report it: {type(error).__name__}: {text}"[
            :MAX_REASON_CHARS
        ]


def serve(connection: Connection) -> None:
    """Answer tasks until the other end closes.

    Args:
        connection: The worker's end of the pipe.
    """
    config: DatasetConfig = connection.recv()
    limits: WorkerLimits = connection.recv()
    os.nice(limits.niceness)
    runner = TaskRunner(config, limits)
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
    connection = Connection(int(arguments[0]))
    _silence()
    try:
        serve(connection)
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
