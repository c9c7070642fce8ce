"""The page, served for tests: `python app.py` from a checkout in a process group of its own."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import psutil
import pytest

REPOSITORY = Path(__file__).resolve().parents[1]
START_LIMIT_S = 240.0
STOP_LIMIT_S = 10.0


@dataclass(frozen=True, slots=True)
class ServedApp:
    """A running page.

    Attributes:
        url: Root address without a slash at its end.
        pid: Process id of the server, which leads its own process group.
        temp_folder: Its TMPDIR.
        gradio_folder: Its GRADIO_TEMP_DIR: uploads and results.
        log_path: What it printed, both streams.
    """

    url: str
    pid: int
    temp_folder: Path
    gradio_folder: Path
    log_path: Path

    def read_log(self) -> str:
        """Return everything that the server has printed so far."""
        return self.log_path.read_text(encoding="utf-8", errors="replace")

    def is_running(self) -> bool:
        """Say whether the server's process is alive and answers."""
        return psutil.pid_exists(self.pid) and httpx.get(self.url, timeout=30).status_code == 200

    def list_children(self) -> list[psutil.Process]:
        """Return the live descendants of the server."""
        found = psutil.Process(self.pid).children(recursive=True)
        return [child for child in found if child.status() != psutil.STATUS_ZOMBIE]

    def measure_resident_mb(self) -> float:
        """Return the resident set of the server and its descendants in MiB."""
        total = psutil.Process(self.pid).memory_info().rss
        for child in self.list_children():
            try:
                total += child.memory_info().rss
            except psutil.NoSuchProcess:
                continue
        return total / 2**20


def find_free_port() -> int:
    """Return a TCP port of this machine that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def serve_app(
    work_folder: Path,
    *,
    environment: Mapping[str, str] | None = None,
    checkout: Path = REPOSITORY,
    command: Sequence[str] = ("app.py",),
) -> Iterator[ServedApp]:
    """Start the page of `checkout`, wait until it answers, stop it and its children at the end.

    Args:
        work_folder: Where the server's temporary folders and its log go.
        environment: Variables set in addition to those of this process.
        checkout: The folder that holds `app.py`.
        command: What Python runs there.

    Yields:
        The running page.

    Raises:
        RuntimeError: The server ended or did not answer in time; the message holds its log.
    """
    temp_folder, gradio_folder = work_folder / "tmp", work_folder / "gradio"
    temp_folder.mkdir(parents=True)
    gradio_folder.mkdir()
    port = find_free_port()
    variables = {
        **os.environ,
        "GRADIO_SERVER_NAME": "127.0.0.1",
        "GRADIO_SERVER_PORT": str(port),
        "GRADIO_ANALYTICS_ENABLED": "False",
        "GRADIO_TEMP_DIR": str(gradio_folder),
        "HF_HUB_OFFLINE": "1",
        "PYTHONUNBUFFERED": "1",
        "TMPDIR": str(temp_folder),
        **(environment or {}),
    }
    log_path = work_folder / "server.log"
    with log_path.open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, *command],
            cwd=checkout,
            env=variables,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    served = ServedApp(
        f"http://127.0.0.1:{port}", process.pid, temp_folder, gradio_folder, log_path
    )
    try:
        _wait_until_serving(served, process)
        yield served
    finally:
        _stop(process)


def _wait_until_serving(served: ServedApp, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + START_LIMIT_S
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise RuntimeError(f"app.py ended with {process.returncode}:\n{served.read_log()}")
        try:
            if httpx.get(served.url, timeout=30).status_code == 200:
                return
        except httpx.HTTPError:
            pass
        time.sleep(0.2)
    raise RuntimeError(f"app.py did not answer in {START_LIMIT_S:.0f} s:\n{served.read_log()}")


def _stop(process: subprocess.Popen[bytes]) -> None:
    """End the server's group, and descendants that left it, first gently and then for good."""
    children = _list_descendants(process.pid)
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
        except ProcessLookupError:
            break
        try:
            process.wait(STOP_LIMIT_S)
        except subprocess.TimeoutExpired:
            continue
    process.wait()
    for child in children:
        if child.is_running():
            child.kill()


def _list_descendants(pid: int) -> list[psutil.Process]:
    try:
        return psutil.Process(pid).children(recursive=True)
    except psutil.NoSuchProcess:
        return []


@pytest.fixture(scope="session")
def served_app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedApp]:
    """The page of this checkout, one for the whole session."""
    with serve_app(tmp_path_factory.mktemp("served")) as served:
        yield served
