"""Hostile requests, names and files over HTTP: refused in words, at nobody's cost, nothing let out.

Each case is one request to the same server. After each the log holds no traceback; at the end no
process is left, nobody was called, and a good photo is triaged as before.
"""

import json
import re
import socket
from collections.abc import Container, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests import hostile_files
from tests.commands import count_pages
from tests.sample_files import draw_photo
from tests.scan_report import check_report
from tests.served_app import REPOSITORY, ServedApp
from tests.waiting import wait_until

pytestmark = pytest.mark.e2e

LIMIT_S = 240.0
MARK = {"_type": "gradio.FileData"}
JSON_HEADERS = {"content-type": "application/json"}
TRAP = "TRAP"
"""Stands in the cases for the address of a listening socket."""

ENDPOINTS = {"triage": "photos", "build_dataset": "files", "preview_dataset": "files"}
UNSEEN = re.compile(r"[\x00-\x1f\x7f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


@dataclass(frozen=True, slots=True)
class Visitor:
    """Somebody without good intentions.

    Attributes:
        served: The server.
        trap: Address of a socket that nobody should call.
    """

    served: ServedApp
    trap: str

    def request(self, method: str, path: str, **options: Any) -> httpx.Response:
        """Send one request over a connection of its own."""
        with httpx.Client(timeout=LIMIT_S) as client:
            answer = client.request(method, self.served.url + path, **options)
        self.check(answer.text)
        return answer

    def call(self, endpoint: str, arguments: object) -> tuple[str, Any]:
        """Call an endpoint and return its last event, or ("refused", what it says)."""
        body = json.dumps(arguments).replace(TRAP, self.trap)
        path = f"/gradio_api/call/v2/{endpoint}"
        asked = self.request("POST", path, content=body, headers=JSON_HEADERS)
        if asked.status_code != 200:
            assert 400 <= asked.status_code < 500
            return "refused", asked.json()["detail"]
        answer = self.request("GET", f"{path}/{asked.json()['event_id']}")
        kind, told = answer.text.strip().split("\n\n")[-1].split("\n", 1)
        return kind.removeprefix("event: "), json.loads(told.removeprefix("data: "))

    def upload(self, name: str, content: bytes) -> httpx.Response:
        """Upload a file under exactly this name, however odd."""
        head = f'--x\r\nContent-Disposition: form-data; name="files"; filename="{name}"\r\n\r\n'
        body = head.encode() + content + b"\r\n--x--\r\n"
        headers = {"content-type": "multipart/form-data; boundary=x"}
        with httpx.Client(timeout=LIMIT_S) as client:
            path = f"{self.served.url}/gradio_api/upload"
            return client.post(path, content=body, headers=headers)

    def send(self, name: str, content: bytes) -> dict[str, Any]:
        """Upload a file and return what a call says of it."""
        (path,) = self.upload("file", content).json()
        return {"path": path, "orig_name": name, "meta": MARK}

    def check(self, text: str) -> None:
        """No answer tells of the inside of the server."""
        for secret in (str(REPOSITORY), "Traceback", "site-packages", 'File "', "root:x:"):
            assert secret not in text


@pytest.fixture(scope="module")
def trap() -> Iterator[socket.socket]:
    """A socket that counts who calls: nobody should."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.setblocking(False)
        yield listening


@pytest.fixture(scope="module")
def visitor(served_app: ServedApp, trap: socket.socket) -> Visitor:
    return Visitor(served_app, f"http://127.0.0.1:{trap.getsockname()[1]}")


@pytest.fixture(autouse=True)
def the_log_stays_clean(served_app: ServedApp) -> Iterator[None]:
    """Nothing goes wrong on the server without its having foreseen it."""
    before = len(served_app.read_log())
    yield
    assert "Traceback" not in served_app.read_log()[before:]


# --- files that a call names -------------------------------------------------------------------

FOREIGN = {
    "absolute": "/etc/passwd",
    "relative": "../../../../etc/passwd",
    "of the program": str(REPOSITORY / "app.py"),
    "settings": ".env",
    "process": "/proc/self/environ",
    "nul": "a\0b",
    "long": "x" * 100_000,
    "empty": "",
    "number": 7,
    "null": None,
    "list": ["/etc/passwd"],
    "address here": f"{TRAP}/x.jpg",
    "metadata address": "http://169.254.169.254/latest/meta-data/",
    "public address": "http://203.0.113.7/x.jpg",
    "other scheme": "file:///etc/passwd",
    "address of a file here": f"{TRAP}/gradio_api/file=/etc/passwd",
    "half an address": "https://[",
    "bad base64": "data:image/png;base64,###",
}


@pytest.mark.parametrize("endpoint", ENDPOINTS)
@pytest.mark.parametrize("place", FOREIGN)
def test_no_file_but_an_upload_is_read(visitor: Visitor, endpoint: str, place: str) -> None:
    entries = [
        {"path": FOREIGN[place], "meta": MARK},
        {"path": FOREIGN[place]},
        {"path": FOREIGN[place], "url": f"{TRAP}/x.jpg", "meta": MARK, "is_stream": True},
        FOREIGN[place],
    ]
    # All endpoints share the check; each is asked once.
    for entry in entries if endpoint == "triage" else entries[:1]:
        kind, told = visitor.call(endpoint, {ENDPOINTS[endpoint]: [entry]})
        assert kind == "error"
        assert re.search("not uploaded here|is not valid base64", told["error"])
        assert "/gradio_api/upload" in told["error"] or "Encode the file again" in told["error"]


@pytest.mark.parametrize("argument", ["signs", "language", "trigger", "password", "fit", "filter"])
def test_no_other_argument_names_a_file(visitor: Visitor, argument: str) -> None:
    for value in ({"path": "/etc/passwd", "meta": MARK}, [[{"path": f"{TRAP}/x", "meta": MARK}]]):
        is_triage = argument in ("signs", "language")
        endpoint, files = ("triage", "photos") if is_triage else ("build_dataset", "files")
        kind, told = visitor.call(endpoint, {files: [], argument: value})
        assert kind == "error"
        assert argument in told["error"]


# --- values of the wrong kind ------------------------------------------------------------------

WRONG = {
    "null": None,
    "true": True,
    "object": {"a": 1},
    "number": -1e308,
    "infinity": float("inf"),
    "nothing": float("nan"),
    "list": [[]],
    "long list": ["fever"] * 5_000,
    "megabytes": "x" * 10_000_000,
    "deep": json.loads("[" * 200 + "]" * 200),
    "surrogate": "\ud800",
    "nul": "\0",
}
TAKEN = {
    ("signs", "null"), ("trigger", "null"), ("password", "null"), ("dedupe", "true"),
    ("finishing", "true"),
}  # fmt: skip
"""What is no mistake: the page sends null for an empty box."""


@pytest.mark.parametrize("argument", ["signs", "language"])
@pytest.mark.parametrize("kind", WRONG)
def test_a_wrong_value_of_triage_is_refused(visitor: Visitor, argument: str, kind: str) -> None:
    event, told = visitor.call("triage", {"photos": [], argument: WRONG[kind]})
    assert event == "error"
    assert len(told["error"]) in range(20, 3_000)
    assert argument in told["error"] or argument[:-1] in told["error"] or "photo" in told["error"]


OPTIONS = ("filter", "content", "fit", "min_sigma", "min_score", "dedupe", "finishing", "trigger")


@pytest.mark.parametrize("kind", WRONG)
def test_a_wrong_option_of_a_dataset_is_refused(visitor: Visitor, kind: str) -> None:
    for option in OPTIONS if kind != "megabytes" else ("filter", "trigger"):
        event, told = visitor.call("build_dataset", {"files": [], option: WRONG[kind]})
        assert event == "error"
        assert len(told["error"]) in range(20, 3_000)
        if (option, kind) not in TAKEN:
            assert option in told["error"] or option == "trigger"


@pytest.mark.parametrize(
    "job", ["../../etc/passwd", "", "x" * 10_000, None, 7, {"path": "/"}, "\0"]
)
def test_no_job_but_one_by_its_id_is_fetched(visitor: Visitor, job: object) -> None:
    event, told = visitor.call("fetch_result", {"job_id": job})
    assert event == "error" or told[0][1]["state"] == "expired"
    assert "passwd" not in json.dumps(told) or job == "../../etc/passwd"


# --- names -------------------------------------------------------------------------------------

NAMES = {
    "html": "<img src=x onerror=alert(1)>.jpg",
    "up": "../../../../tmp/cow.jpg",
    "absolute": "/etc/cow.jpg",
    "formula": "=HYPERLINK(1).jpg",
    "long": "a" * 251 + ".jpg",
    "too long": "b" * 5_000 + ".jpg",
    "nul": "a\0b.jpg",
    "newline": "a\r\nX-Header: 1.jpg",
    "right to left": "cow\u202egpj.exe",
    "isolate": "\u2066cow\u2069.jpg",
    "emoji": "🐄.jpg",
    "device": "CON",
    "hidden": ".env",
    "dots": "..",
    "spaces": "   ",
    "template": "{0.__class__}${7*7}.jpg",
    "shell": "$(touch owned);`id`.jpg",
}


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
def test_a_name_is_only_a_name(visitor: Visitor, name: str) -> None:
    (by_name,) = [visitor.upload(name.replace("\r\n", "\n"), b"no photo")]
    folder = visitor.served.gradio_folder
    if by_name.status_code == 200:
        for path in map(Path, by_name.json()):
            assert path.is_file()
            assert path.resolve().parent.parent == folder.resolve()
    else:
        assert by_name.status_code in (400, 413)
    sent = visitor.send(name, b"no photo")
    kind, told = visitor.call("triage", {"photos": [sent], "signs": ["fever"]})
    assert kind == "complete"
    shown = told[0]["photo_errors"][0]["name"]
    assert shown
    assert len(shown) <= 255
    assert not UNSEEN.search(json.dumps(told, ensure_ascii=False))


# --- routes ------------------------------------------------------------------------------------

READ = "GET"
REFUSED = range(400, 500)
ROUTES: dict[str, tuple[str, str, dict[str, Any], Container[int]]] = {
    **{
        f"file {place}": (READ, f"/gradio_api/file={place}", {}, REFUSED)
        for place in (
            "/etc/passwd", "app.py", ".env", "..%2f..%2fetc/passwd", "/proc/self/environ", "%00",
            f"{TRAP}/x", "http:/127.0.0.1/", "https://203.0.113.7/", "/", "", "//etc/passwd",
        )
    },
    "old file route": (READ, f"/gradio_api/file/{TRAP}/x", {}, REFUSED),
    "proxy": (READ, f"/gradio_api/proxy={TRAP}/x", {}, REFUSED),
    "static": (READ, "/static/..%2f..%2froutes.py", {}, REFUSED),
    "assets": (READ, "/assets/..%2f..%2froutes.py", {}, REFUSED),
    "component": (READ, "/gradio_api/custom_component/x/client/..%2f/y", {}, REFUSED),
    "unknown event": (READ, "/gradio_api/call/triage/0123", {}, {404}),
    "unknown event of v2": (READ, "/gradio_api/call/v2/triage/%00", {}, {404}),
    "unknown session": (READ, "/gradio_api/queue/data?session_hash=x", {}, {200}),
    "no session": (READ, "/gradio_api/queue/data", {}, {422}),
    "vibe editor": ("POST", "/gradio_api/vibe-edit", {"json": {"prompt": "x"}}, {403}),
    "ffmpeg": ("POST", "/gradio_api/process_recording", {"files": {"video": b"x"}}, {403}),
    "run history": ("POST", "/gradio_api/run-history/connect", {"json": {}}, {403}),
    "beside the queue": (
        "POST", "/gradio_api/run/triage", {"json": {"data": [[], ["fever"], "en"]}}, {404},
    ),
    "unknown endpoint": ("POST", "/gradio_api/call/v2/nothing", {"json": {}}, {404}),
    "unknown of v1": ("POST", "/gradio_api/call/nothing", {"json": {"data": []}}, {404}),
    "unknown number": (
        "POST", "/gradio_api/queue/join",
        {"json": {"data": [], "session_hash": "x", "fn_index": -1}}, {404},
    ),
    "component server": (
        "POST", "/gradio_api/component_server",
        {"json": {"data": 1, "component_id": 9999, "session_hash": "x", "fn_name": "__init__"}},
        {404},
    ),
    "missing argument": ("POST", "/gradio_api/call/v2/triage", {"json": {}}, {422}),
    "unknown argument": (
        "POST", "/gradio_api/call/v2/triage", {"json": {"photos": [], "x": 1}}, {422},
    ),
    "broken JSON": (
        "POST", "/gradio_api/call/v2/triage", {"content": b'{"a":', "headers": JSON_HEADERS},
        range(400, 423),
    ),
    "a list": ("POST", "/gradio_api/call/v2/triage", {"json": []}, {422}),
    "endless nesting": (
        "POST", "/gradio_api/call/v2/triage",
        {"content": b"[" * 200_000, "headers": JSON_HEADERS}, range(400, 423),
    ),
    "too large a call": (
        "POST", "/gradio_api/call/v2/triage",
        {"content": b" " * (33 * 2**20), "headers": JSON_HEADERS}, {413},
    ),
    "too large, without telling": (
        "POST", "/gradio_api/call/v2/triage",
        {"content": iter([b" " * 2**20] * 33), "headers": JSON_HEADERS}, {413},
    ),
    "other method": ("DELETE", "/gradio_api/call/v2/triage", {}, {405}),
    "upload of nothing": ("POST", "/gradio_api/upload", {}, {400}),
    "upload of JSON": ("POST", "/gradio_api/upload", {"json": {}}, {400}),
    "upload without a name": (
        "POST", "/gradio_api/upload", {"files": {"files": ("", b"x")}}, range(200, 401),
    ),
    "upload without boundary": (
        "POST", "/gradio_api/upload",
        {"content": b"--x", "headers": {"content-type": "multipart/form-data"}}, {400},
    ),
}  # fmt: skip


@pytest.mark.parametrize("route", ROUTES)
def test_a_route_gives_nothing_away(visitor: Visitor, route: str) -> None:
    method, path, options, statuses = ROUTES[route]
    answer = visitor.request(method, path.replace(TRAP, visitor.trap), **options)
    assert answer.status_code in statuses
    assert "Internal Server Error" not in answer.text


def test_the_job_of_another_is_not_listed(visitor: Visitor) -> None:
    folder = visitor.served.gradio_folder
    for path in (folder, folder / "archive-" / "dataset.zip", *folder.glob("archive-*")):
        assert visitor.request("GET", f"/gradio_api/file={path}").status_code in (403, 404)


# --- what files hold ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", hostile_files.PHOTOS)
def test_a_hostile_photo_costs_only_itself(visitor: Visitor, name: str) -> None:
    content = hostile_files.PHOTOS[name](visitor.trap)
    sent = visitor.send(name, content)
    kind, told = visitor.call("triage", {"photos": [sent], "signs": ["fever"]})
    assert kind == "complete"
    (said,) = told[0]["photo_errors"]
    assert said["name"] == name
    assert name in said["message"]
    assert told[0]["level"] == "same_day"


@pytest.fixture(scope="module")
def hostile_build(visitor: Visitor) -> str:
    """What a run over all hostile sources and the good magazine tells, as text."""
    sources = {name: make(visitor.trap) for name, make in hostile_files.ARCHIVES.items()}
    sources["magazine.pdf"] = (REPOSITORY / "examples/magazine.pdf").read_bytes()
    files = [visitor.send(name, content) for name, content in sources.items()]
    kind, told = visitor.call("build_dataset", {"files": files, "filter": "none"})
    assert kind == "complete"
    (_, report) = told[0]
    assert report["status"] == "partial"
    assert count_pages(report)[1] >= 9
    return json.dumps(report)


@pytest.mark.parametrize("name", hostile_files.ARCHIVES)
def test_a_hostile_source_is_used_or_named(hostile_build: str, name: str) -> None:
    assert name in hostile_build


def test_nothing_was_written_or_read_outside(hostile_build: str, visitor: Visitor) -> None:
    assert "root:x:" not in hostile_build
    around = visitor.served.gradio_folder.parent
    for found in ("slipped.pdf", "slipped.jpg", "owned", "owned.sh"):
        assert not list(around.rglob(found))
        assert not list(REPOSITORY.glob(found))


def test_nobody_was_called_and_nothing_is_left(visitor: Visitor, trap: socket.socket) -> None:
    """Last: what all the cases together have left."""
    with suppress(BlockingIOError):
        connection, _ = trap.accept()
        connection.close()
        raise AssertionError("the server has called an address that a visitor gave")
    assert wait_until(lambda: visitor.served.list_children() == [])


def test_a_good_photo_is_triaged_after_all(visitor: Visitor, tmp_path: Path) -> None:
    sent = visitor.send("cow.jpg", draw_photo(tmp_path / "cow.jpg").read_bytes())
    kind, told = visitor.call("triage", {"photos": [sent]})
    assert kind == "complete"
    check_report(told[0])
