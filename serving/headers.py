"""Response headers that keep the page in its place, and uploads from acting as pages.

Pure ASGI: a response passes through piece by piece, so that streams of events stay streams.
"""

from typing import Final

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_FRAMED_BY: Final = "'self' https://huggingface.co https://*.huggingface.co https://*.hf.space"

# Gradio's page needs inline scripts (its settings), inline styles and `new Function` (for `js=`).
# What is forbidden all the same: any other server, plug-ins, a foreign base or form target.
_PAGE_POLICY: Final = {
    "default-src": "'self'",
    "script-src": "'self' 'unsafe-inline' 'unsafe-eval' blob:",
    "style-src": "'self' 'unsafe-inline'",
    "img-src": "'self' data: blob:",
    "media-src": "'self' data: blob:",
    "font-src": "'self' data:",
    "connect-src": "'self' data: blob:",
    "worker-src": "'self' blob:",
    "frame-src": "'self' data: blob:",
    "object-src": "'none'",
    "base-uri": "'self'",
    "form-action": "'self'",
    "frame-ancestors": _FRAMED_BY,
}

# Opened at its own address, a Space shows Hugging Face's header, which asks and shows pictures.
_SPACE_SOURCES: Final = " https://huggingface.co https://*.huggingface.co"

_EVERYWHERE: Final = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Permissions-Policy": "camera=(self), microphone=(), geolocation=(), payment=(), usb=(), "
    "display-capture=()",
    "Cross-Origin-Opener-Policy": "same-origin-allow-popups",
}

# Whatever a file holds, opened by itself it is no page of ours. A picture in `<img>` still shows.
_FILES: Final = {
    "Content-Security-Policy": "default-src 'none'; sandbox; frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
}
# Of a part of a file (a resumed download), Gradio's answer also repeats the request's own headers,
# cookies and tokens among them.
_OF_FILES: Final = frozenset(
    {
        "accept-ranges",
        "content-disposition",
        "content-length",
        "content-range",
        "content-type",
        "etag",
        "last-modified",
    }
)
_FILE_PATHS: Final = ("/gradio_api/file=", "/gradio_api/file/")


def page_policy(is_space: bool) -> str:
    """Return the content security policy of the page.

    Args:
        is_space: Whether Hugging Face serves it, whose header asks Hugging Face's servers.
    """
    sources = dict(_PAGE_POLICY)
    if is_space:
        sources["img-src"] += _SPACE_SOURCES
        sources["connect-src"] += _SPACE_SOURCES
    return "; ".join(f"{name} {allowed}" for name, allowed in sources.items())


class SecurityHeaders:
    """ASGI middleware that sets the headers of every response."""

    def __init__(self, app: ASGIApp, is_space: bool = False) -> None:
        """Wrap an application.

        Args:
            app: What answers.
            is_space: Whether Hugging Face serves the page.
        """
        self._app = app
        self._page = {**_EVERYWHERE, "Content-Security-Policy": page_policy(is_space)}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        is_file = any(part in scope["path"] for part in _FILE_PATHS)

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._set_headers(MutableHeaders(scope=message), is_file)
            await send(message)

        await self._app(scope, receive, send_with_headers)

    def _set_headers(self, headers: MutableHeaders, is_file: bool) -> None:
        if is_file:
            for name in set(headers.keys()) - _OF_FILES:
                del headers[name]
            shown = headers.get("content-disposition", "attachment")
            # At the start alone: the word may stand in the file's name as well.
            if shown.startswith("inline"):
                shown = "attachment" + shown.removeprefix("inline")
            headers["content-disposition"] = shown
        headers.update(self._page | _FILES if is_file else self._page)
