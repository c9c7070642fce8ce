"""A stand-in for the Hub on loopback: repository info, trees, ranges of files, and commits."""

import base64
import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from tests.json_handler import JsonHandler

REPOSITORY = "anna/old-scans"
TOKEN = "hf_standin"
_INFO = f"/api/datasets/{REPOSITORY}"
_FILES = f"/datasets/{REPOSITORY}/resolve/main/"


@dataclass
class Hub:
    """A dataset repository, and what was asked for."""

    address: str
    files: dict[str, bytes] = field(default_factory=dict)
    reads: list[str] = field(default_factory=list)
    listed: list[str] = field(default_factory=list)


class Handler(JsonHandler, BaseHTTPRequestHandler):
    """Answers as the Hub does."""

    hub: Hub

    def do_GET(self) -> None:
        parts, hub = urlsplit(self.path), self.hub
        path = unquote(parts.path)
        if self.headers["Authorization"] != f"Bearer {TOKEN}":
            self.answer(401, {"error": "Invalid credentials"})
        elif path.startswith(f"{_INFO}/tree/main"):
            folder = path.removeprefix(f"{_INFO}/tree/main").strip("/")
            hub.listed.append(folder)
            self.answer(200, _list(hub, folder, "recursive=true" in parts.query.lower()))
        elif path in (_INFO, f"{_INFO}/revision/main"):
            self.answer(200, {"id": REPOSITORY, "sha": 40 * "0", "siblings": []})
        elif path.startswith(_FILES) and path.removeprefix(_FILES) in hub.files:
            _hand_out(self, hub, path.removeprefix(_FILES))
        else:
            self.answer(404, {"error": "There is nothing here"})

    def do_POST(self) -> None:
        body, hub = self.rfile.read(int(self.headers["Content-Length"])), self.hub
        if "/paths-info/" in self.path:
            wanted = parse_qs(body.decode()).get("paths", []) or json.loads(body)["paths"]
            self.answer(200, [_describe(hub, path) for path in wanted if path in hub.files])
        elif "/preupload/" in self.path:
            paths = [file["path"] for file in json.loads(body)["files"]]
            plan = [{"path": one, "uploadMode": "regular", "shouldIgnore": False} for one in paths]
            self.answer(200, {"files": plan})
        elif "/commit/" in self.path:
            for line in map(json.loads, body.splitlines()[1:]):
                hub.files[line["value"]["path"]] = base64.b64decode(line["value"]["content"])
            place = f"{hub.address}/datasets/{REPOSITORY}/commit/1"
            self.answer(200, {"success": True, "commitOid": "1", "commitUrl": place})
        else:
            self.answer(404, {"error": "There is nothing here"})


@contextmanager
def serve_hub() -> Iterator[Hub]:
    """Serve a repository until the end of the block."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Handler.hub = Hub(f"http://127.0.0.1:{server.server_address[1]}")
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield Handler.hub
        server.shutdown()
        thread.join()


def _describe(hub: Hub, path: str) -> dict[str, Any]:
    content = hub.files[path]
    oid = hashlib.sha1(content, usedforsecurity=False).hexdigest()
    return {"type": "file", "oid": oid, "size": len(content), "path": path}


def _list(hub: Hub, folder: str, recursive: bool) -> list[dict[str, Any]]:
    prefix = f"{folder}/" if folder else ""
    below = sorted(path for path in hub.files if path.startswith(prefix))
    folders: dict[str, dict[str, Any]] = {}
    listed = []
    for path in below:
        names = path.removeprefix(prefix).split("/")
        for depth in range(1, len(names)):
            if recursive or depth == 1:
                name = prefix + "/".join(names[:depth])
                folders[name] = {"type": "directory", "oid": 40 * "1", "size": 0, "path": name}
        if recursive or len(names) == 1:
            listed.append(_describe(hub, path))
    return [*folders.values(), *listed]


def _hand_out(asked: BaseHTTPRequestHandler, hub: Hub, path: str) -> None:
    hub.reads.append(path)
    content = hub.files[path]
    first, _, last = asked.headers.get("Range", "").removeprefix("bytes=").partition("-")
    piece = content[int(first or 0) : int(last or len(content)) + 1]
    asked.send_response(206 if first else 200)
    asked.send_header("Content-Length", str(len(piece)))
    asked.end_headers()
    asked.wfile.write(piece)
