"""Headers, health and the refusal of uploads, each by itself."""

import asyncio
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from threading import Event
from types import SimpleNamespace

import gradio as gr
import httpx
import pytest
from gradio.events import api
from gradio_client import Client
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.testclient import TestClient
from starlette.types import Message, Receive, Scope, Send

from serving.disk_room import DiskRoom
from serving.headers import SecurityHeaders, page_policy
from serving.health import describe_health, name_device, name_model
from tests.served_app import find_free_port
from tests.waiting import LIMIT_S, wait_until


def test_space_may_ask_its_own_site_and_nobody_else() -> None:
    at_home, on_space = page_policy(is_space=False), page_policy(is_space=True)
    assert "connect-src 'self' data: blob:;" in at_home
    assert "connect-src 'self' data: blob: https://huggingface.co" in on_space
    for policy in (at_home, on_space):
        assert "frame-ancestors 'self' https://huggingface.co" in policy
        assert "https://*.hf.space" in policy
        assert "object-src 'none'" in policy
        assert "*;" not in policy.replace("https://*.hf.space", "")


def test_stream_passes_piece_by_piece() -> None:
    sent: list[Message] = []

    async def stream(_scope: Scope, _receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        for piece in (b"one", b"two"):
            await send({"type": "http.response.body", "body": piece, "more_body": True})
            assert sent[-1]["body"] == piece, "a piece was held back"

    async def receive() -> Message:
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        sent.append(message)

    scope = {"type": "http", "path": "/gradio_api/queue/data"}
    asyncio.run(SecurityHeaders(stream)(scope, receive, send))
    assert b"content-security-policy" in dict(sent[0]["headers"])


def test_file_is_a_download_and_no_header_of_the_request_comes_back() -> None:
    def answer(_: Request) -> Response:
        echoed = {"Cookie": "secret", "X-IP-Token": "secret", "Content-Disposition": "inline"}
        return Response(b"<script>", 206, headers=echoed, media_type="text/html")

    app = Starlette(routes=[Route("/gradio_api/file={path:path}", answer)])
    headers = TestClient(SecurityHeaders(app)).get("/gradio_api/file=a/b.html").headers
    assert "secret" not in str(headers)
    assert headers["content-disposition"] == "attachment"
    assert headers["content-type"].startswith("text/html")
    assert headers["x-content-type-options"] == "nosniff"
    assert "sandbox" in headers["content-security-policy"]


@pytest.mark.parametrize(
    ("sent", "answered"),
    [
        ('inline; filename="inline skates.zip"', 'attachment; filename="inline skates.zip"'),
        ('attachment; filename="inline skates.zip"', 'attachment; filename="inline skates.zip"'),
    ],
)
def test_name_of_a_download_stays_as_it_is(sent: str, answered: str) -> None:
    def answer(_: Request) -> Response:
        return Response(b"zip", headers={"Content-Disposition": sent})

    app = Starlette(routes=[Route("/gradio_api/file={path:path}", answer)])
    headers = TestClient(SecurityHeaders(app)).get("/gradio_api/file=a/b.zip").headers
    assert headers["content-disposition"] == answered


@pytest.mark.parametrize(("reserved", "status"), [(0, 200), (2**60, 507)])
def test_upload_is_refused_where_the_disk_is_full(
    tmp_path: Path, reserved: int, status: int
) -> None:
    app = Starlette(
        routes=[
            Route("/gradio_api/upload", lambda _: PlainTextResponse("ok"), methods=["POST"]),
            Route("/config", lambda _: PlainTextResponse("ok")),
        ]
    )
    client = TestClient(DiskRoom(app, tmp_path / "uploads", reserved))
    answer = client.post("/gradio_api/upload", content=b"photo")
    assert answer.status_code == status
    assert ("disk is too full" in answer.text) == (status == 507)
    assert client.get("/config").status_code == 200


def test_upload_counts_with_the_size_that_it_states(tmp_path: Path) -> None:
    upload = Route("/gradio_api/upload", lambda _: PlainTextResponse("ok"), methods=["POST"])
    client = TestClient(DiskRoom(Starlette(routes=[upload]), tmp_path, reserved_bytes=0))
    stated = {"Content-Length": str(2**60)}
    assert client.post("/gradio_api/upload", content=b"", headers=stated).status_code == 507


def test_upload_is_broken_off_once_the_disk_is_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stored = 0

    async def store(request: Request) -> Response:
        nonlocal stored
        async for piece in request.stream():
            stored += len(piece)
        return PlainTextResponse("ok")

    async def send_upload(client: httpx.AsyncClient) -> httpx.Response:
        async def pieces() -> AsyncIterator[bytes]:  # sent without a stated length
            for _ in range(64):
                yield bytes(2**20)
                await asyncio.sleep(0)

        return await client.post("/gradio_api/upload", content=pieces())

    async def send_two() -> list[httpx.Response]:
        app = Starlette(
            routes=[Route("/gradio_api/upload", store, methods=["POST"])],
            middleware=[Middleware(DiskRoom, folder=tmp_path, reserved_bytes=0)],
        )
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://here") as client:
            return await asyncio.gather(send_upload(client), send_upload(client))

    size = 20 * 2**20
    monkeypatch.setattr(
        "serving.free_disk.shutil.disk_usage", lambda _: SimpleNamespace(free=size - stored)
    )
    for answer in asyncio.run(send_two()):
        assert answer.status_code == 507
        assert "disk is too full" in answer.text
    assert 0 < stored <= size + 2 * 4 * 2**20, "more than the two may read between two looks"


@pytest.mark.parametrize(
    ("asked", "named"),
    [
        ("owner/cows@" + "ab" * 20, {"id": "owner/cows", "revision": "ab" * 20}),
        ("owner/cows", None),
        ("/no/such/folder", None),
    ],
)
def test_model_is_named_without_fetching_it(asked: str, named: dict[str, str] | None) -> None:
    assert name_model(asked) == named


def test_bundled_model_is_named() -> None:
    model = name_model("")
    assert model
    assert model["id"]
    assert len(model["revision"]) == 12


def test_health_of_a_page_without_those_queues() -> None:
    with gr.Blocks() as page:
        gr.Button("Go")
    health = describe_health(page)
    assert health["status"] == "ok"
    assert health["queue"]["triage"] == {"waiting": 0, "working": 0}


def test_requests_that_work_and_wait_are_counted() -> None:
    goes_on = Event()

    def hold() -> bool:
        return goes_on.wait(LIMIT_S)

    queues = ["triage", "archive", "fetch", "cancel"]
    with gr.Blocks() as page:
        for name in queues:
            api(hold, api_name=name, concurrency_id=name, concurrency_limit=1)
    _, url, _ = page.launch(prevent_thread_lock=True, quiet=True, server_port=find_free_port())
    try:
        client = Client(url, verbose=False)
        jobs = [client.submit(api_name=f"/{name}") for name in queues * 2]
        held = {name: {"waiting": 1, "working": 1} for name in queues}
        assert wait_until(lambda: describe_health(page)["queue"] == held)
        goes_on.set()
        assert all(job.result(LIMIT_S) for job in jobs)
        idle = {name: {"waiting": 0, "working": 0} for name in queues}
        assert wait_until(lambda: describe_health(page)["queue"] == idle)
    finally:
        goes_on.set()
        page.close()


def test_owner_whose_model_cannot_be_read_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VETSCANNER_MODEL", "/no/such/folder")
    with gr.Blocks() as page:
        gr.Button("Go")
    assert describe_health(page)["status"] == "no model"


def test_device_on_zero_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPACES_ZERO_GPU", "true")
    assert name_device() == "zerogpu"


def test_device_is_told_in_the_middle_of_an_import(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", type(sys)("torch"))
    assert name_device() in {"cpu", "gpu"}
