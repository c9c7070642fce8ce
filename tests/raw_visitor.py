"""A visitor who speaks to the queue as the page's JavaScript does, and can leave in the middle."""

import json
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import httpx

LIMIT_S = 240.0


class RawVisitor:
    """One browser session; close it to leave."""

    def __init__(self, url: str, headers: Mapping[str, str] | None = None) -> None:
        """Open the session.

        Args:
            url: Root address of the page.
            headers: Sent with every request.
        """
        self._client = httpx.Client(base_url=url, headers=dict(headers or {}), timeout=LIMIT_S)
        self._endpoints: dict[str, int] = {}
        self._parameters: dict[str, Any] = {}
        self._stream: httpx.Response | None = None
        self.messages: list[dict[str, Any]] = []
        self.start_session()

    def __enter__(self) -> "RawVisitor":
        """Return the visitor itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Leave."""
        self.close()

    def start_session(self) -> None:
        """Go on as another visitor, over the same connection."""
        self._session = uuid.uuid4().hex

    def upload(self, path: Path) -> dict[str, Any]:
        """Send a file and return what stands for it in a request."""
        with path.open("rb") as file:
            answer = self._client.post("/gradio_api/upload", files={"files": (path.name, file)})
        (stored,) = answer.raise_for_status().json()
        return {"path": stored, "orig_name": path.name, "meta": {"_type": "gradio.FileData"}}

    def ask(self, api_name: str, *inputs: object) -> None:
        """Join the queue of an endpoint and listen; inputs left out have their defaults."""
        if not self._endpoints:
            listed = self._client.get("/config").raise_for_status().json()["dependencies"]
            self._endpoints = {entry["api_name"]: entry["id"] for entry in listed}
            about = self._client.get("/gradio_api/info").raise_for_status().json()
            self._parameters = about["named_endpoints"]
        number = self._endpoints[api_name]
        others = self._parameters[f"/{api_name}"]["parameters"][len(inputs) :]
        values = [*inputs, *(parameter["parameter_default"] for parameter in others)]
        request = {"data": values, "fn_index": number, "session_hash": self._session}
        self._client.post("/gradio_api/queue/join", json=request).raise_for_status()
        listening = self._client.build_request(
            "GET", "/gradio_api/queue/data", params={"session_hash": self._session}
        )
        self._stream = self._client.send(listening, stream=True)

    def iter_messages(self) -> Iterator[dict[str, Any]]:
        """Yield what the page sends until the request is done; `messages` keeps it."""
        assert self._stream is not None
        for line in self._stream.iter_lines():
            if line.startswith("data:"):
                message = json.loads(line[5:])
                self.messages.append(message)
                yield message
                if message["msg"] == "process_completed":
                    return

    def wait_for_answer(self) -> dict[str, Any]:
        """Return the last message of the request."""
        *_, last = self.iter_messages()
        return last

    def close(self) -> None:
        """Leave, whatever is going on."""
        if self._stream is not None:
            self._stream.close()
        self._client.close()
