"""A stand-in for the Hugging Face Hub on this machine: lists and serves the files of one folder."""

import hashlib
import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

COMMIT = "c0ffee" * 6 + "abcd"


class StandIn(ThreadingHTTPServer):
    """Answers for one repository; notes what is fetched."""

    def __init__(self, folder: Path, repository: str) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.folder = folder
        self.repository = repository
        self.asked = 0
        self.fetched: list[str] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class Handler(BaseHTTPRequestHandler):
    server: StandIn

    def do_HEAD(self) -> None:
        self.answer(with_body=False)

    def do_GET(self) -> None:
        self.answer(with_body=True)

    def answer(self, with_body: bool) -> None:
        self.server.asked += 1
        path = urlsplit(self.path).path
        repository = self.server.repository
        about, files = f"/api/models/{repository}", f"/{repository}/resolve/"
        if path.startswith(f"{about}/tree/"):
            self.send(json.dumps(self.list_tree()).encode(), with_body)
        elif path.startswith(about):
            told = {"id": repository, "sha": COMMIT, "siblings": self.list_siblings()}
            self.send(json.dumps(told).encode(), with_body)
        elif path.startswith(files):
            self.send_file(path.removeprefix(files).partition("/")[2], with_body)
        else:
            self.send(b'{"error": "Repository not found"}', with_body, 404, "RepoNotFound")

    def list_siblings(self) -> list[dict[str, object]]:
        return [{"rfilename": one["path"], "size": one["size"]} for one in self.list_tree()]

    def list_tree(self) -> list[dict[str, object]]:
        found = sorted(path for path in self.server.folder.rglob("*") if path.is_file())
        return [
            {
                "type": "file",
                "path": path.relative_to(self.server.folder).as_posix(),
                "size": path.stat().st_size,
                "oid": hashlib.sha1(path.read_bytes()).hexdigest(),
            }
            for path in found
        ]

    def send_file(self, name: str, with_body: bool) -> None:
        path = self.server.folder / name
        if not path.is_file():
            self.send(b"", with_body, 404, "EntryNotFound")
            return
        if with_body:
            self.server.fetched.append(name)
        self.send(path.read_bytes(), with_body)

    def send(self, content: bytes, with_body: bool, status: int = 200, error: str = "") -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("ETag", f'"{hashlib.sha1(content).hexdigest()}"')
        self.send_header("X-Repo-Commit", COMMIT)
        if error:
            self.send_header("X-Error-Code", error)
        self.end_headers()
        if with_body:
            self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Say nothing."""
