"""Sending a dataset, against a stand-in for the Hub on this machine."""

import base64
import json
import threading
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from archive_tools import hub
from archive_tools.config import DatasetFormat
from archive_tools.errors import HubError, InvalidOptionError
from tests.commands import run_command
from tests.integration.test_dataset_formats import build
from tests.json_handler import JsonHandler

TOKEN = "hf_standin"
REPOSITORY = "anna/old-plates"


class StandIn(ThreadingHTTPServer):
    """Answers as the Hub does: make a repository, plan an upload, take a commit."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.files: dict[str, bytes] = {}
        self.commits: list[str] = []
        self.created: list[dict[str, Any]] = []
        self.refuse_after = 99

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class Handler(JsonHandler, BaseHTTPRequestHandler):
    server: StandIn

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers["Authorization"] != f"Bearer {TOKEN}":
            self.answer(401, {"error": "Invalid credentials"})
        elif self.path == "/api/repos/create":
            self.server.created.append(json.loads(body))
            self.answer(200, {"url": f"{self.server.url}/datasets/{REPOSITORY}"})
        elif self.path == "/api/validate-yaml":
            self.answer(200, {"warnings": [], "errors": []})
        elif "/preupload/" in self.path:
            paths = [file["path"] for file in json.loads(body)["files"]]
            plan = [{"path": p, "uploadMode": "regular", "shouldIgnore": False} for p in paths]
            self.answer(200, {"files": plan})
        elif "/commit/" in self.path and len(self.server.commits) < self.server.refuse_after:
            self.take_commit([json.loads(line) for line in body.splitlines()])
        else:
            self.answer(403, {"error": "You are not allowed to do this"})

    def take_commit(self, lines: list[dict[str, Any]]) -> None:
        self.server.commits.append(lines[0]["value"]["summary"])
        for line in lines[1:]:
            assert line["key"] == "file"
            self.server.files[line["value"]["path"]] = base64.b64decode(line["value"]["content"])
        address = f"{self.server.url}/datasets/{REPOSITORY}/commit/1"
        self.answer(200, {"success": True, "commitOid": "1", "commitUrl": address})

    def do_GET(self) -> None:
        self.answer(404, {"error": "There is nothing here"})


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch) -> Iterator[StandIn]:
    with StandIn() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setenv("HF_ENDPOINT", server.url)
        monkeypatch.setenv("HF_TOKEN", TOKEN)
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        yield server
        server.shutdown()


@pytest.mark.parametrize("kind", [DatasetFormat.FOLDER, DatasetFormat.PARQUET])
def test_a_folder_is_sent_as_it_is(kind: DatasetFormat, stand_in: StandIn, tmp_path: Path) -> None:
    dataset = build(tmp_path, kind)
    counts: list[int] = []
    address = hub.push_dataset(dataset, REPOSITORY, counts.append)
    assert address.endswith(f"/datasets/{REPOSITORY}")
    assert stand_in.files == {
        path.relative_to(dataset).as_posix(): path.read_bytes()
        for path in dataset.rglob("*")
        if path.is_file()
    }
    assert counts[-1] == len(stand_in.files)
    (created,) = stand_in.created
    assert (created["name"], created["organization"]) == ("old-plates", "anna")
    assert created["type"] == "dataset"
    assert created["visibility"] == "private"


def test_a_zip_is_sent_as_its_files_a_few_at_a_time(
    stand_in: StandIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hub, "_FILES_PER_COMMIT", 10)
    build_zip(tmp_path)
    hub.push_dataset(tmp_path / "dataset.zip", REPOSITORY, lambda _: None)
    with zipfile.ZipFile(tmp_path / "dataset.zip") as dataset:
        assert stand_in.files == {name: dataset.read(name) for name in dataset.namelist()}
    assert stand_in.commits[:2] == ["Add files 1 to 10", "Add files 11 to 20"]


def build_zip(folder: Path) -> Path:
    build(folder, DatasetFormat.ZIP)
    return folder / "dataset.zip"


def test_a_refusal_says_what_is_there(
    stand_in: StandIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hub, "_FILES_PER_COMMIT", 10)
    stand_in.refuse_after = 1
    with pytest.raises(HubError, match=r"10 files were sent.*dataset\.zip") as raised:
        hub.push_dataset(build_zip(tmp_path), REPOSITORY, lambda _: None)
    assert TOKEN not in str(raised.value)


def test_a_wrong_token_is_refused(
    stand_in: StandIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_wrong")
    with pytest.raises(HubError, match="0 files were sent"):
        hub.push_dataset(build_zip(tmp_path), REPOSITORY, lambda _: None)
    assert stand_in.files == {}


def test_nobody_at_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    with pytest.raises(HubError, match="could not be reached"):
        hub.push_dataset(build_zip(tmp_path), REPOSITORY, lambda _: None)


@pytest.mark.parametrize("name", ["plates", "a/b/c", "/plates", "anna/"])
def test_a_wrong_name_is_said_before_the_run(name: str, stand_in: StandIn) -> None:
    with pytest.raises(InvalidOptionError, match="USER/NAME"):
        hub.check_hub(name)
    assert stand_in.created == []


def test_a_missing_token_is_said_before_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(InvalidOptionError, match="HF_TOKEN"):
        hub.check_hub(REPOSITORY)


def test_the_command_builds_and_sends(stand_in: StandIn, repository: Path, tmp_path: Path) -> None:
    out, source = tmp_path / "dataset.zip", repository / "examples" / "magazine.pdf"
    options = ["--filter", "none", "--no-finishing", "--push-to-hub", REPOSITORY, "--json"]
    ended = run_command("archive_tools", "build", source, "--out", out, *options)
    assert ended.status == 0, ended.stderr
    assert json.loads(ended.stdout)["pages_seen"] == 9
    assert "train/000001.jpg" in stand_in.files
    assert TOKEN not in ended.stderr + ended.stdout
    assert TOKEN.encode() not in b"".join(stand_in.files.values())
