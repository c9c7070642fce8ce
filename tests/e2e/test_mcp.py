"""The tools of the Model Context Protocol, through the protocol's own client."""

import asyncio
import base64
import io
import json
import zipfile
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import httpx
import pytest
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CallToolResult

from archive_tools.config import Content, Fit, PageFilter
from tests.commands import count_pages
from tests.sample_files import LION_PHOTO, draw_photo
from tests.scan_report import check_report
from tests.served_app import REPOSITORY, ServedApp
from vetscanner.schema import Language, TickedSign

pytestmark = pytest.mark.e2e

MAGAZINE = REPOSITORY / "examples/magazine.pdf"


def converse(served: ServedApp, talk: Callable[[ClientSession], Coroutine[Any, Any, Any]]) -> Any:
    """Connect as an MCP client does, and return what was found out."""

    async def connect() -> Any:
        address = f"{served.url}/gradio_api/mcp/"
        async with (
            streamable_http_client(address) as (reading, writing, _),
            ClientSession(reading, writing) as session,
        ):
            await session.initialize()
            return await talk(session)

    return asyncio.run(connect())


def call_tool(served: ServedApp, name: str, arguments: dict[str, Any]) -> CallToolResult:
    """Call one tool."""
    return converse(served, lambda session: session.call_tool(name, arguments))


def as_data(path: Path) -> str:
    return f"data:image/jpeg;base64,{base64.b64encode(path.read_bytes()).decode()}"


def upload(served: ServedApp, path: Path) -> str:
    """Upload a file and return its address, as Gradio's own upload tool for MCP clients does."""
    with path.open("rb") as file:
        answer = httpx.post(f"{served.url}/gradio_api/upload", files={"files": file}, timeout=60)
    return f"{served.url}/gradio_api/file={answer.json()[0]}"


def test_tools_say_what_they_take(served_app: ServedApp) -> None:
    listed = converse(served_app, lambda session: session.list_tools())
    tools = {tool.name: tool for tool in listed.tools}
    assert set(tools) >= {"triage", "build_dataset", "preview_dataset"}
    triage = tools["triage"].inputSchema["properties"]
    assert triage["signs"]["items"]["enum"] == list(TickedSign)
    assert triage["language"]["enum"] == list(Language)
    for name in ("build_dataset", "preview_dataset"):
        options = tools[name].inputSchema["properties"]
        for option, kind in (("filter", PageFilter), ("content", Content), ("fit", Fit)):
            assert set(options[option]["enum"]) == set(kind)
    # Gradio takes the first line of each argument alone: none may break off.
    for tool in tools.values():
        for option in tool.inputSchema["properties"].values():
            assert option["description"].endswith(".")


def test_a_photo_inside_the_call_is_triaged(served_app: ServedApp, tmp_path: Path) -> None:
    photo = draw_photo(tmp_path / "cow.jpg")
    answer = call_tool(served_app, "triage", {"photos": [as_data(photo)], "signs": ["down"]})
    assert not answer.isError
    (text,) = [entry.text for entry in answer.content]
    report = json.loads(text)
    check_report(report)
    assert report["level"] == "emergency"


def test_a_dataset_is_built_and_fetched(served_app: ServedApp) -> None:
    address = upload(served_app, MAGAZINE)
    answer = call_tool(served_app, "build_dataset", {"files": [address], "trigger": "oldplate"})
    assert not answer.isError
    where, told = [entry.text for entry in answer.content]
    assert count_pages(json.loads(told))[0] == 9
    fetched = httpx.get(where, timeout=60)
    with zipfile.ZipFile(io.BytesIO(fetched.content)) as archive:
        assert b"oldplate" in archive.read("train/metadata.jsonl")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"photos": ["http://169.254.169.254/latest/meta-data"]}, "not fetched"),
        ({"photos": ["file:///etc/passwd"]}, "not uploaded here"),
        ({"photos": ["/etc/passwd"]}, "not uploaded here"),
        ({"photos": [], "signs": ["hiccups"]}, "'fever'"),
        ({"photos": [], "signs": []}, "photo"),
        ({"signs": []}, "'photos' is a required property"),
        ({"photos": "x"}, "array"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_refusal_says_what_to_do(
    served_app: ServedApp, arguments: dict[str, Any], said: str
) -> None:
    answer = call_tool(served_app, "triage", arguments)
    assert answer.isError
    assert said in answer.content[0].text
    assert str(served_app.gradio_folder) not in answer.content[0].text


def test_what_the_photo_shows_is_the_same_over_mcp_and_http(served_app: ServedApp) -> None:
    answer = call_tool(served_app, "triage", {"photos": [upload(served_app, LION_PHOTO)]})
    report = json.loads(answer.content[0].text)
    assert (report["level"], report["abstained"]) == ("retake_photo", "not_cattle")
    assert report["photos"][0]["name"] == "lion.jpg"
