"""Uploads are refused while there is room for the jobs that run, not once the disk is full."""

from pathlib import Path
from typing import Final

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from serving.free_disk import RESERVED_DISK_BYTES, has_room

_FULL = (
    "The server's disk is too full for this upload. Try again in an hour or with fewer files, or "
    "use the command line, which reads files where they lie."
)
# As much as is read between two looks at the disk; the reserve bears that of many uploads.
_LOOK_EVERY_BYTES: Final = 4 * 2**20


class _DiskFullError(Exception):
    """There is no more room for an upload that is being read."""


class DiskRoom:
    """ASGI middleware that refuses uploads which would fill the disk.

    It looks before an upload is read, and every few MB of it: others may come in at the same time,
    and not every upload states its length.
    """

    def __init__(
        self, app: ASGIApp, folder: Path, reserved_bytes: int = RESERVED_DISK_BYTES
    ) -> None:
        """Wrap an application.

        Args:
            app: What answers.
            folder: Where uploads go; it may not exist yet, its parent does.
            reserved_bytes: What an upload must leave free.
        """
        self._app = app
        self._folder = folder
        self._reserved_bytes = reserved_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        is_upload = scope["type"] == "http" and scope["path"].endswith("/gradio_api/upload")
        if not is_upload:
            await self._app(scope, receive, send)
            return
        try:
            # One that does not state its length counts as empty here.
            stated = Headers(scope=scope).get("content-length", "")
            self._check(int(stated) if stated.isdecimal() else 0)
            await self._app(scope, self._looking(receive), send)
        except _DiskFullError:
            # Gradio answers once it has read all of an upload, so nothing has been sent yet.
            await PlainTextResponse(_FULL, status_code=507)(scope, receive, send)

    def _looking(self, receive: Receive) -> Receive:
        unlooked = 0

        async def receive_and_look() -> Message:
            nonlocal unlooked
            message = await receive()
            unlooked += len(message.get("body", b""))
            if unlooked >= _LOOK_EVERY_BYTES:
                self._check(_LOOK_EVERY_BYTES)
                unlooked = 0
            return message

        return receive_and_look

    def _check(self, size: int) -> None:
        if not has_room(self._folder, size, self._reserved_bytes):
            raise _DiskFullError
