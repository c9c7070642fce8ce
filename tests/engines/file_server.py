"""A web server on loopback that hands out files, with range requests, and with faults on demand."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Offer:
    """A file and how it is handed out.

    Attributes:
        content: The file.
        etag: Its version; without one nothing can be gone on with.
        breaks: After so many bytes each of the next answers breaks off.
        claimed_bytes: The size that is claimed, where it is not the real one.
        statuses: What the next requests are answered before the file is handed out.
        moved_to: Where a request is sent on to.
        next_version: Replaces the file once an answer has broken off.
        modified: When it was changed, in the words of HTTP.
    """

    content: bytes = b""
    etag: str = '"v1"'
    breaks: list[int] = field(default_factory=list)
    claimed_bytes: int | None = None
    statuses: list[int] = field(default_factory=list)
    moved_to: str = ""
    next_version: "Offer | None" = None
    modified: str = ""


@dataclass
class FileServer:
    """What is offered by path, and what was asked for: with the range, and by HEAD."""

    address: str
    offers: dict[str, Offer] = field(default_factory=dict)
    requests: list[tuple[str, str]] = field(default_factory=list)
    looked_at: list[str] = field(default_factory=list)
    on_request: Callable[[], None] = lambda: None


@contextmanager
def serve_files() -> Iterator[FileServer]:
    """Serve files until the end of the block."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = self.path.partition("?")[0].lstrip("/")
            served.requests.append((path, self.headers.get("Range", "")))
            served.on_request()
            _answer(self, served.offers.get(path), served.offers, path)

        def do_HEAD(self) -> None:
            path = self.path.partition("?")[0].lstrip("/")
            served.looked_at.append(path)
            offer = served.offers.get(path)
            _send(self, 200 if offer else 404, _describe(offer) if offer else {})

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    served = FileServer(f"http://127.0.0.1:{server.server_address[1]}")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield served
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _answer(
    asked: BaseHTTPRequestHandler, offer: Offer | None, offers: dict[str, Offer], path: str
) -> None:
    if offer is None or offer.statuses:
        _send(asked, offer.statuses.pop(0) if offer else 404, {"Content-Length": "0"})
        return
    if offer.moved_to:
        _send(asked, 302, {"Location": offer.moved_to, "Content-Length": "0"})
        return
    start = 0
    if offer.etag and asked.headers.get("If-Range") == offer.etag:
        start = int(asked.headers["Range"].removeprefix("bytes=").rstrip("-"))
    rest = offer.content[start:]
    headers = {**_describe(offer), "Content-Length": str(offer.claimed_bytes or len(rest))}
    if start:
        headers["Content-Range"] = f"bytes {start}-{len(offer.content) - 1}/{len(offer.content)}"
    _send(asked, 206 if start else 200, headers)
    if offer.breaks:
        asked.wfile.write(rest[: offer.breaks.pop(0)])
        offers[path] = offer.next_version or offer
    else:
        asked.wfile.write(rest)
    asked.close_connection = True


def _describe(offer: Offer) -> dict[str, str]:
    named = {"ETag": offer.etag, "Last-Modified": offer.modified}
    size = str(offer.claimed_bytes or len(offer.content))
    return {"Content-Length": size, **{name: value for name, value in named.items() if value}}


def _send(asked: BaseHTTPRequestHandler, status: int, headers: dict[str, str]) -> None:
    asked.send_response(status)
    for name, value in headers.items():
        asked.send_header(name, value)
    asked.end_headers()
