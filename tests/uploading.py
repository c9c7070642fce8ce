"""Uploads of any size, and one that breaks off; what they take on the disk meanwhile."""

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import httpx

from tests.served_app import ServedApp
from tests.waiting import wait_until

PIECE = os.urandom(2**20)
HEAD = (
    b"--edge\r\nContent-Disposition: form-data; name=files; filename=large.pdf\r\n"
    b"Content-Type: application/pdf\r\n\r\n"
)
FORM_TYPE = "multipart/form-data; boundary=edge"


def upload_large(served: ServedApp, size_mb: int) -> float:
    """Upload so many MiB as one file; returns the most MiB that it took on the disk."""
    before_mb, disk_mb = measure_disk_mb(served.gradio_folder), [0.0]

    def iter_pieces() -> Iterator[bytes]:
        yield HEAD
        for _ in range(size_mb):
            yield PIECE
            disk_mb.append(measure_disk_mb(served.gradio_folder))
        yield b"\r\n--edge--\r\n"

    answer = httpx.post(
        served.url + "/gradio_api/upload",
        content=iter_pieces(),
        headers={"Content-Type": FORM_TYPE},
        timeout=600,
    )
    (stored,) = answer.raise_for_status().json()
    disk_mb.append(measure_disk_mb(served.gradio_folder))
    assert Path(stored).stat().st_size == size_mb * 2**20
    Path(stored).unlink()
    return max(disk_mb) - before_mb


def break_off(served: ServedApp) -> Path:
    """Upload a part of a file and go; returns what lies on the disk of it."""
    before = set(served.gradio_folder.glob("tmp*"))

    def find_staged() -> list[Path]:
        added = set(served.gradio_folder.glob("tmp*")) - before
        return [path for path in added if path.stat().st_size]

    host, port = served.url.removeprefix("http://").split(":")
    opening = (
        "POST /gradio_api/upload HTTP/1.1\r\nHost: here\r\nContent-Length: 99999999\r\n"
        f"Content-Type: {FORM_TYPE}\r\n\r\n"
    )
    with socket.create_connection((host, int(port))) as connection:
        connection.sendall(opening.encode() + HEAD + PIECE)
        assert wait_until(lambda: bool(find_staged()))
    (staged,) = find_staged()
    return staged


def measure_disk_mb(folder: Path) -> float:
    """Return what the files of a folder take on the disk, each once however many names it has."""
    sizes = {}
    for path in folder.rglob("*"):
        try:
            status = path.lstat()
        except FileNotFoundError:
            continue  # it has just been renamed
        sizes[status.st_ino] = status.st_blocks * 512
    return sum(sizes.values()) / 2**20
