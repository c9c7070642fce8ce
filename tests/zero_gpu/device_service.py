"""The service that hands out ZeroGPU's devices, played by the tests on loopback.

It speaks the protocol that `spaces` 0.51.3 speaks as a client: `/schedule` gives a device or says
why not, the worker announces itself with `/allow`, the page ends with `/release`. As the real one
does, it ends workers: those that failed at once, idle ones when their device is wanted.
"""

import itertools
import json
import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import psutil

QUEUE_PING_S = 0.1
DROPPED, QUEUED = "dropped", "queued"
# /schedule's refusals: status, body, X-Approve-Result.
REFUSALS: dict[str, tuple[int, dict[str, int] | None, str | None]] = {
    "quota": (429, {"left": 3, "wait": 3600}, "quota-exceeded"),
    "runs": (429, {"left": 0, "wait": 0}, "runs-exceeded"),
    "illegal-duration": (429, {"left": 3, "wait": -1}, "illegal-duration"),
    "pending-credits": (429, {"left": 3, "wait": 1}, "pending-overquota-exceeded"),
    "503": (503, None, None),
    "401": (401, None, None),
    "500": (500, None, None),
}
# What happens on the device, chosen by its name; see `cpu_torch.py`.
DEVICES = {
    "no-cuda": "GPU-broken",
    "cuda-full": "GPU-full",
    "slow": "GPU-slow",
}


@dataclass(frozen=True, slots=True)
class Call:
    """One request that the service got.

    Attributes:
        path: `/schedule`, `/allow`, `/release` or `/startup-report`.
        query: Its parameters.
    """

    path: str
    query: dict[str, str]


@dataclass(slots=True)
class DeviceService:
    """The running service.

    Attributes:
        url: For `SPACES_ZERO_DEVICE_API_URL`.
        mode: How the next requests go: "ok", "idle" (ok, with the last worker again), a key of
            `REFUSALS` or `DEVICES`, "queue-failed", "queue-ok", "queue-ends", "queue-forever",
            "dropped", "killed", "allow-refused", "release-500" or "nonsense".
        modes_by_token: Modes of single visitors, by the token that they send.
        calls: Everything asked so far.
        streams_closed: How many queue streams ended because the page hung up.
        workers: Process ids by the token of the request that they announced themselves for.
        idle: Tokens of requests that ended well; their workers wait for more.
    """

    url: str = ""
    mode: str = "ok"
    modes_by_token: dict[str, str] = field(default_factory=dict)
    calls: list[Call] = field(default_factory=list)
    streams_closed: int = 0
    workers: dict[str, int] = field(default_factory=dict)
    idle: set[str] = field(default_factory=set)
    lock: threading.Lock = field(default_factory=threading.Lock)
    numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    def paths(self) -> list[str]:
        """Return the paths asked for so far."""
        return [call.path for call in self.calls]

    def find(self, path: str) -> list[dict[str, str]]:
        """Return the parameters of all calls of one path."""
        return [call.query for call in list(self.calls) if call.path == path]

    def forget(self) -> None:
        """Empty the record."""
        self.calls.clear()

    def live_workers(self) -> list[int]:
        """Return the process ids of workers that announced themselves and still run."""
        return [pid for pid in self.workers.values() if _is_live(pid)]

    def evict(self) -> None:
        """End the idle workers."""
        while self.idle:
            self.end_worker(self.idle.pop())

    def end_worker(self, token: str) -> None:
        """End the worker of a request, if it came to announce itself."""
        with suppress(ProcessLookupError, KeyError):
            os.kill(self.workers[token], signal.SIGTERM)


def _is_live(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


class _Connection(BaseHTTPRequestHandler):
    """One connection of the page or of a worker."""

    protocol_version = "HTTP/1.1"
    service: DeviceService

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: the record is in `calls`."""

    def do_POST(self) -> None:
        """Answer one call."""
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        address = urlsplit(self.path)
        call = Call(address.path, dict(parse_qsl(address.query)))
        with self.service.lock:
            self.service.calls.append(call)
        answer = {
            "/schedule": self._schedule,
            "/allow": self._allow,
            "/release": self._release,
            "/startup-report": lambda _: self._send(200),
        }[call.path]
        answer(call.query)

    def _schedule(self, query: dict[str, str]) -> None:
        mode = self.service.modes_by_token.get(query.get("token", ""), self.service.mode)
        if mode in REFUSALS:
            status, body, result = REFUSALS[mode]
            headers = {"X-Authenticated": "regular"} if mode == "quota" else {}
            if result is not None:
                headers["X-Approve-Result"] = result
            self._send(status, body, headers)
        elif mode == DROPPED:
            self._hang_up()
        elif mode == "nonsense":
            self._send(200, {"gpu": "perhaps"})
        elif mode.startswith("queue-"):
            self._queue(mode)
        else:
            self._send(200, self._device(mode))

    def _device(self, mode: str) -> dict[str, Any]:
        token = f"allow-{next(self.service.numbers)}"
        if mode == "idle":
            self.service.workers[token] = self.service.workers[self.service.idle.pop()]
        else:
            self.service.evict()
        name = DEVICES.get(mode, "GPU-fine")
        return {
            "idle": mode == "idle",
            "nvidiaIndex": 0,
            "nvidiaUUID": name,
            "allowToken": token,
        }

    def _allow(self, query: dict[str, str]) -> None:
        pid = int(query["pid"])
        self.service.workers[query["allowToken"]] = pid
        if self.service.mode == "killed":
            os.kill(pid, signal.SIGKILL)
        self._send(403 if self.service.mode == "allow-refused" else 200)

    def _release(self, query: dict[str, str]) -> None:
        token = query["allowToken"]
        if query.get("fail") == "true":
            self.service.end_worker(token)
        else:
            self.service.idle.add(token)
        self._send(500 if self.service.mode == "release-500" else 200)

    def _queue(self, mode: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("X-Queuing-Reason", "node")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        try:
            pings = 0
            while pings < 3 or mode == "queue-forever":
                self._send_chunk("event: ping\n\n")
                time.sleep(QUEUE_PING_S)
                pings += 1
            if mode == "queue-failed":
                self._send_chunk("event: failed\n\n")
            elif mode == "queue-ok":
                device = json.dumps(self._device(mode))
                self._send_chunk(f"event: succeeded\ndata: {device}\n\n")
            self._send_chunk("")
        except OSError:
            self.service.streams_closed += 1

    def _send_chunk(self, text: str) -> None:
        body = text.encode()
        self.wfile.write(b"%x\r\n%s\r\n" % (len(body), body))
        self.wfile.flush()

    def _send(
        self, status: int, body: dict[str, Any] | None = None, headers: dict[str, str] | None = None
    ) -> None:
        content = b"" if body is None else json.dumps(body).encode()
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def _hang_up(self) -> None:
        self.close_connection = True
        self.connection.close()


class _Server(ThreadingHTTPServer):
    """Many connections at once, all dropped at the end."""

    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Say nothing of connections that the page broke off; the record shows what was asked."""


@contextmanager
def open_device_service() -> Iterator[DeviceService]:
    """Run the service on a free port of this machine."""
    service = DeviceService()
    handler = type("_BoundConnection", (_Connection,), {"service": service})
    server = _Server(("127.0.0.1", 0), handler)
    service.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield service
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
