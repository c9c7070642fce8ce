"""What is checked of every request before a tool sees it, and how a refusal is put.

Gradio answers some wrong calls with a bare 500, with `{"error": null}` or by hanging up, and offers
every visitor routes that fetch addresses or run programs. Here each gets a message or is closed.
"""

import json
import logging
import re
from typing import Any

import gradio as gr
from fastapi import HTTPException, Request
from gradio.block_function import BlockFunction
from gradio.route_utils import FnIndexInferError
from gradio.server_messages import UnexpectedErrorMessage
from gradio.state_holder import SessionState
from gradio.utils import get_function_params
from starlette.middleware import Middleware
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from serving.request_log import request_number, unexpected_error
from serving.uploads import NotUploadedError, settle_files

MAX_BODY_BYTES = 32 * 2**20
"""A call's own size, files sent inside it included; uploads have their own limit."""

# Characters of a refusal: it quotes what the caller sent, which may be megabytes.
_MAX_MESSAGE = 2_000
_UNFORESEEN = (
    "Something went wrong on the server, and its log says what. Try again; if it fails again, "
    "try fewer or other files, or tell the owner of this page."
)
_UNKNOWN_EVENT = (
    "No request is known by that id: it never was one, its answer was fetched already, or the "
    "server has restarted. Make the call again."
)
_TOO_LARGE = (
    f"A call may have {MAX_BODY_BYTES // 2**20} MB, files sent inside it included. Send larger "
    "files to /gradio_api/upload first."
)
_LOG = logging.getLogger(__name__)

_UPLOAD_ROUTE = "/gradio_api/upload"
# They fetch what a visitor names, run ffmpeg on it, or belong to Gradio's own editor.
_CLOSED = re.compile(r"/gradio_api/(file[=/]https?:|proxy=|process_recording|run-history|vibe-)")
_CALL = re.compile(r"/gradio_api/call/(?:v2/)?(?P<name>[^/]+)/?$")
_RESULT = re.compile(r"/gradio_api/call/(?:v2/)?[^/]+/(?P<event>[^/]+)$")
_STREAM_ROUTE = "/gradio_api/queue/data"
# What Gradio's own check of a call's arguments says; its other errors are none of the caller's.
_MISSING = re.compile(r"No value provided for required argument: (?P<name>.*)", re.S)
_UNKNOWN = re.compile(r"Parameter `(?P<name>.*)` is not a valid key-word argument", re.S)


class GuardedBlocks(gr.Blocks):
    """A page whose inputs name no file but uploads here, and whose refusals have words."""

    async def preprocess_data(
        self,
        block_fn: BlockFunction,
        inputs: list[Any],
        state: SessionState | None,
        explicit_call: bool = False,
    ) -> list[Any]:
        """Check what was sent before Gradio acts on it; see `gr.Blocks`.

        Raises:
            gr.Error: Arguments are missing, or a file was not uploaded here.
        """
        names = _argument_names(block_fn)
        if len(inputs) < len(block_fn.inputs):
            raise gr.Error(
                f"/{block_fn.api_name} was given {len(inputs)} arguments instead of "
                f"{len(block_fn.inputs)}: {', '.join(names)}.",
                print_exception=False,
            )
        try:
            settled = [
                settle_files(value, names[number] if number < len(names) else "an input")
                for number, value in enumerate(inputs)
            ]
        except NotUploadedError as error:
            raise gr.Error(str(error), print_exception=False) from error
        taken: list[Any] = await super().preprocess_data(block_fn, settled, state, explicit_call)
        return taken

    async def process_api(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """Run an endpoint; see `gr.Blocks`.

        Raises:
            gr.Error: Whatever went wrong, in words; what nobody foresaw stands in the log.
        """
        try:
            return await super().process_api(*args, **kwargs)
        except gr.Error as error:
            error.message = _shortened(str(error.message))
            raise
        except Exception as error:
            number = request_number()
            _LOG.exception("Request %s failed", number)
            raise unexpected_error(number) from error


class RequestGate:
    """ASGI middleware: closes routes, bounds bodies, and answers for events nobody knows."""

    def __init__(self, app: ASGIApp, page: gr.Blocks) -> None:
        """Stand before a page.

        Args:
            app: Gradio's application.
            page: What it serves.
        """
        self._app, self._page = app, page

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse a request or pass it on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        refusal = self._refuse(scope)
        if refusal is not None:
            await refusal(scope, receive, send)
        elif scope["path"].rstrip("/") == _UPLOAD_ROUTE:
            await self._app(scope, receive, send)
        else:
            await self._app(scope, _bounded(receive), send)

    def _refuse(self, scope: Scope) -> Response | None:
        request = Request(scope)
        path = scope["path"]
        if _CLOSED.match(path):
            return _refusal(403, "This server fetches no addresses and offers nothing here.")
        length = request.headers.get("content-length", "")
        if length.isdecimal() and int(length) > MAX_BODY_BYTES and path != _UPLOAD_ROUTE:
            return _refusal(413, _TOO_LARGE)
        if scope["method"] != "GET":
            return None
        if path == _STREAM_ROUTE:
            return self._refuse_stream(request.query_params.get("session_hash"))
        found = _RESULT.match(path)
        if found and not self._knows_event(found["event"]):
            return _refusal(404, _UNKNOWN_EVENT)
        return None

    def _refuse_stream(self, session: str | None) -> Response | None:
        """Tell a page whose session is gone as Gradio does, but without breaking the stream off."""
        if session is None or session in self._page._queue.pending_messages_per_session:
            return None
        message = UnexpectedErrorMessage(message=_UNKNOWN_EVENT, session_not_found=True)
        return PlainTextResponse(
            f"data: {json.dumps(message.model_dump())}\n\n", media_type="text/event-stream"
        )

    def _knows_event(self, event: str) -> bool:
        queue = self._page._queue
        return (
            event in queue.event_ids_to_events
            or event in queue.pending_messages_per_session
            or any(event in events for events in queue.pending_event_ids_session.values())
        )


def guard_settings(page: gr.Blocks) -> dict[str, Any]:
    """Return what `launch(app_kwargs=...)` takes so that every request is checked.

    Args:
        page: What is launched.
    """

    async def explain(request: Request, error: Exception) -> Response:
        return _explain(request.url.path, error, _public_endpoints(page))

    return {
        "middleware": [Middleware(RequestGate, page=page)],
        "exception_handlers": dict.fromkeys((KeyError, TypeError, FnIndexInferError), explain)
        | {Exception: _answer_unforeseen},
    }


def _explain(path: str, error: Exception, endpoints: dict[str, list[str]]) -> Response:
    """Answer a call that Gradio's routes fell over."""
    if path.rstrip("/") == _UPLOAD_ROUTE:
        return _refusal(400, "Send multipart/form-data with each file in a field named files.")
    found = _CALL.match(path)
    if found is None:
        return _refusal(404, "Nothing on this server has that name or number.")
    name = f"/{found['name']}"
    if name not in endpoints:
        there_are = ", ".join(endpoints)
        return _refusal(404, f"There is no endpoint {_shortened(name)}. There are: {there_are}.")
    return _refusal(
        422, f"{_wrong_argument(str(error))} {name} takes: {', '.join(endpoints[name])}."
    )


def _wrong_argument(said: str) -> str:
    if missing := _MISSING.match(said):
        return f"The argument {missing['name']} is missing."
    if unknown := _UNKNOWN.match(said):
        return f"There is no argument {_shortened(unknown['name'])}."
    return "The arguments cannot be understood."


async def _answer_unforeseen(_: Request, error: Exception) -> Response:
    """Answer with words what the server logs as an error."""
    del error
    return _refusal(500, _UNFORESEEN)


def _public_endpoints(page: gr.Blocks) -> dict[str, list[str]]:
    """Return the arguments of each endpoint by its name."""
    named = page.get_api_info()["named_endpoints"]
    return {
        name: [parameter["parameter_name"] for parameter in endpoint["parameters"]]
        for name, endpoint in named.items()
    }


def _argument_names(block_fn: BlockFunction) -> list[str]:
    return [] if block_fn.fn is None else [name for name, *_ in get_function_params(block_fn.fn)]


def _bounded(receive: Receive) -> Receive:
    """Return a `receive` that stops at the limit: a body may come without telling its length."""
    taken = 0

    async def receive_bounded() -> Message:
        nonlocal taken
        message = await receive()
        taken += len(message.get("body", b""))
        if taken > MAX_BODY_BYTES:
            raise HTTPException(413, _TOO_LARGE)
        return message

    return receive_bounded


def _shortened(text: str) -> str:
    """Leave out the middle of what is too long: what to do stands at the end."""
    if len(text) <= _MAX_MESSAGE:
        return text
    return f"{text[: _MAX_MESSAGE // 2]} [...] {text[-_MAX_MESSAGE // 2 :]}"


def _refusal(status: int, message: str) -> Response:
    return JSONResponse({"detail": message}, status)
