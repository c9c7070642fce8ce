"""Uploads are refused while there is room for the jobs that run, not once the disk is full."""

import shutil
from pathlib import Path

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from serving.limits import RESERVED_DISK_BYTES

_FULL = (
    "The server's disk is too full for this upload. Try again in an hour or with fewer files, or "
    "use the command line, which reads files where they lie."
)


class DiskRoom:
    """ASGI middleware that refuses uploads which would fill the disk, before they are read."""

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
        if is_upload and not self._has_room_for(Headers(scope=scope)):
            await PlainTextResponse(_FULL, status_code=507)(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    def _has_room_for(self, headers: Headers) -> bool:
        """Whether an upload fits; one that does not state its length counts as empty."""
        stated = headers.get("content-length", "")
        size = int(stated) if stated.isdecimal() else 0
        folder = self._folder if self._folder.exists() else self._folder.parent
        return shutil.disk_usage(folder).free - size >= self._reserved_bytes
