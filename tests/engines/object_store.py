"""An S3 server on loopback: moto's, in a process of its own, for real."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import s3fs

from tests.waiting import wait_until

ACCESS = {
    "AWS_ACCESS_KEY_ID": "tester",
    "AWS_SECRET_ACCESS_KEY": "very-secret-key",
    "AWS_DEFAULT_REGION": "us-east-1",
}
_SERVE = "import sys; from moto.server import main; main(sys.argv[1:])"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@contextmanager
def serve_objects(log: Path = Path(os.devnull)) -> Iterator[str]:
    """Serve S3, and yield its address; each request is a line of the log."""
    port = free_port()
    command = [sys.executable, "-c", _SERVE, "-H", "127.0.0.1", "-p", str(port)]
    with log.open("wb") as requests:
        server = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=requests, env={**os.environ, **ACCESS}
        )
    try:
        wait_until(lambda: answers(port))
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait(20)


def use_objects(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    """Let this process and its children use the store as they would use Amazon's."""
    for name, value in {**ACCESS, "AWS_ENDPOINT_URL": address}.items():
        monkeypatch.setenv(name, value)
    s3fs.S3FileSystem.clear_instance_cache()
