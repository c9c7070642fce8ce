"""`/healthz`: what runs here and how much it has to do; cheap, and without personal data."""

import os
import sys
import time
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import gradio as gr
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from vetscanner import __version__
from vetscanner.errors import ModelLoadError
from vetscanner.gpu import is_zero_gpu
from vetscanner.model_specs import resolve_spec
from vetscanner.tab import MODEL_VARIABLE

PATH: Final = "/healthz"
_STARTED_S = time.monotonic()
# The queues of the two tools, by Gradio's name for them; runs that are fetched work as well.
_QUEUES: Final = ("triage", "archive", "fetch", "cancel")
_NVIDIA_DEVICE = Path("/dev/nvidiactl")


def health_route(demo: gr.Blocks) -> Route:
    """Return the route that answers `GET /healthz`.

    Args:
        demo: The page whose queues are told.
    """

    async def answer(_: Request) -> JSONResponse:
        health = describe_health(demo)
        status = 200 if health["status"] == "ok" else 503
        return JSONResponse(health, status, headers={"Cache-Control": "no-store"})

    return Route(PATH, answer, methods=["GET"])


def describe_health(demo: gr.Blocks) -> dict[str, Any]:
    """Return the state of the server.

    Keys: `status` ("ok", or "no model" where the owner's cannot be read), `version`, `model`
    {`id`, `revision`}, `device` ("zerogpu", "gpu" or "cpu": where the next photo is looked at),
    `queue` (by queue: requests `waiting` and `working`), `uptime_s`.

    Args:
        demo: The page whose queues are told.
    """
    model = name_model(os.environ.get(MODEL_VARIABLE, "").strip())
    return {
        "status": "ok" if model else "no model",
        "version": __version__,
        "model": model,
        "device": name_device(),
        "queue": {name: _count(demo, name) for name in _QUEUES},
        "uptime_s": round(time.monotonic() - _STARTED_S),
    }


@lru_cache(maxsize=1)
def name_model(asked: str) -> dict[str, str] | None:
    """Return the name and revision of the page's model without fetching it; None if unreadable.

    Args:
        asked: The owner's setting; empty for the bundled model.
    """
    repository, _, revision = asked.partition("@")
    if revision and not Path(asked).is_dir():
        return {"id": repository, "revision": revision}
    try:
        spec = resolve_spec(asked)
    except ModelLoadError:
        return None
    return {"id": spec.model_id, "revision": spec.revision}


def name_device() -> str:
    """Say where the next photo is looked at; never loads PyTorch to find out."""
    if is_zero_gpu():
        return "zerogpu"
    # In the middle of its import it lacks them.
    cuda = getattr(sys.modules.get("torch"), "cuda", None)
    has_gpu = getattr(cuda, "is_available", _NVIDIA_DEVICE.exists)()
    return "gpu" if has_gpu else "cpu"


def _count(demo: gr.Blocks, name: str) -> dict[str, int]:
    queue = demo._queue.event_queue_per_concurrency_id.get(name)
    if queue is None:
        return {"waiting": 0, "working": 0}
    return {"waiting": len(queue.queue), "working": queue.current_concurrency}
