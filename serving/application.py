"""What `demo.launch()` is given so that its server has all of this package."""

import os
import tempfile
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import gradio as gr
from gradio.utils import get_upload_folder
from starlette.middleware import Middleware

from serving.disk_room import DiskRoom
from serving.headers import SecurityHeaders
from serving.health import health_route
from serving.janitor import run_janitor
from serving.request_log import log_requests, start_logging

_UPLOADS_VARIABLE: Final = "GRADIO_TEMP_DIR"


def use_own_upload_folder() -> None:
    """Keep uploads apart from those of other Gradio apps; call it before the page is built.

    The janitor clears the folder, and Gradio's own belongs to all apps of a machine. What the
    owner has set stays.
    """
    if not os.environ.get(_UPLOADS_VARIABLE):
        owner = os.getuid() if hasattr(os, "getuid") else 0  # Windows has none
        folder = Path(tempfile.gettempdir()) / f"vet-scanner-and-archive-tools-{owner}"
        folder.mkdir(mode=0o700, exist_ok=True)
        os.environ[_UPLOADS_VARIABLE] = str(folder)


def app_settings(
    demo: gr.Blocks, guard: Mapping[str, Any], *rounds: Callable[[], None]
) -> dict[str, Any]:
    """Return the `app_kwargs` of `demo.launch()`, and log the requests of the page.

    Args:
        demo: The page with all its endpoints.
        guard: Settings that check each request; what it refuses has the headers as well.
        rounds: What the janitor calls in each of its rounds as well.
    """
    folder = Path(get_upload_folder())
    log_requests(demo)

    @asynccontextmanager
    async def lifespan(_: object) -> AsyncIterator[None]:
        # Here and not earlier: uvicorn has set up its own by now.
        start_logging()
        with run_janitor(folder, *rounds):
            yield

    is_space = bool(os.environ.get("SPACE_ID"))
    return {
        **guard,
        "lifespan": lifespan,
        "routes": [health_route(demo)],
        "middleware": [
            Middleware(SecurityHeaders, is_space=is_space),
            Middleware(DiskRoom, folder=folder),
            *guard.get("middleware", ()),
        ],
    }
