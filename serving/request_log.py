"""The server's log: one JSON object a line on standard error, without personal data.

A request is logged by its endpoint, a number, its duration, its outcome and the device that
answered. Never what a visitor sent: no file names, texts or addresses. So of an unexpected
exception its class and the lines of code are logged and not its words, which may hold a file name.
"""

import inspect
import json
import logging
import sys
import time
import traceback
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import wraps
from pathlib import Path
from typing import Any, Final

import gradio as gr
from gradio.context import LocalContext

_LOG = logging.getLogger(__name__)
_FIELDS: Final = "fields"
_ID_LENGTH = 12
_ROOT = Path(__file__).resolve().parents[1]


class JsonLines(logging.Formatter):
    """Writes a record as one JSON object on one line."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        line: dict[str, Any] = {
            "time": time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
            + f".{int(record.msecs):03d}Z",
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **getattr(record, _FIELDS, {}),
        }
        if record.exc_info and record.exc_info[1] is not None:
            line |= describe_error(record.exc_info[1])
        return json.dumps(line, ensure_ascii=False)


def start_logging() -> None:
    """Send every record of this process to standard error, one JSON object a line."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)
    logging.getLogger("serving").setLevel(logging.INFO)
    logging.captureWarnings(True)
    # Uvicorn brings handlers of its own, which write tracebacks in full.
    for name in ("uvicorn", "uvicorn.error", "uvicorn.access"):
        logging.getLogger(name).handlers.clear()
        logging.getLogger(name).propagate = True


def describe_error(error: BaseException) -> dict[str, Any]:
    """Return the class of an exception and where it was raised, innermost last, without its words.

    Args:
        error: The exception.
    """
    frames = traceback.extract_tb(error.__traceback__)
    return {
        "error": type(error).__name__,
        "where": [f"{_short_path(frame.filename)}:{frame.lineno}" for frame in frames],
    }


def log_requests(demo: gr.Blocks) -> None:
    """Log every queued request of a page; one that fails unexpectedly tells its visitor a number.

    Args:
        demo: The page, with all its endpoints.
    """
    for call in demo.fns.values():
        if call.fn is not None and call.queue is not False:
            call.fn = logged(call.fn, str(call.api_name or call.name))


def logged(work: Callable[..., Any], endpoint: str) -> Callable[..., Any]:
    """Return a handler that logs its requests.

    Args:
        work: A function or generator function, called in the thread of a Gradio request.
        endpoint: Its name in the log.
    """
    if inspect.isgeneratorfunction(work):

        @wraps(work)
        def iterate(*args: Any, **kwargs: Any) -> Iterator[Any]:
            with _recorded(endpoint) as fields, closing(work(*args, **kwargs)) as steps:
                for step in steps:
                    _note_device(fields, step)
                    yield step

        return iterate

    @wraps(work)
    def answer(*args: Any, **kwargs: Any) -> Any:
        with _recorded(endpoint) as fields:
            result = work(*args, **kwargs)
            _note_device(fields, result)
            return result

    return answer


@contextmanager
def _recorded(endpoint: str) -> Iterator[dict[str, Any]]:
    """Log one request at its end; what the block adds to the fields is logged as well."""
    number = request_number()
    fields: dict[str, Any] = {"request": number, "endpoint": endpoint, "outcome": "answered"}
    start_s = time.monotonic()
    try:
        yield fields
    except GeneratorExit:
        fields["outcome"] = "left"
        raise
    except gr.Error:
        fields["outcome"] = "refused"
        raise
    except Exception as error:  # noqa: BLE001 - what a visitor hears of any other is its number
        fields |= {"outcome": "failed", **describe_error(error)}
        raise unexpected_error(number) from None
    finally:
        fields["duration_s"] = round(time.monotonic() - start_s, 3)
        level = logging.ERROR if fields["outcome"] == "failed" else logging.INFO
        _LOG.log(level, "request", extra={_FIELDS: fields})


def request_number() -> str:
    """Return the start of Gradio's number of the event, which its visitor knows as well."""
    return (LocalContext.event_id.get(None) or uuid.uuid4().hex)[:_ID_LENGTH]


def unexpected_error(number: str) -> gr.Error:
    """Return what a visitor hears of an error that nobody foresaw.

    Args:
        number: The number under which it stands in the log.
    """
    message = (
        "Something went wrong on the server. Please try again; if it happens again, report it "
        f"and quote this number: {number}."
    )
    return gr.Error(message, title="Unexpected error", print_exception=False)


def _note_device(fields: dict[str, Any], result: object) -> None:
    """Take the device from a report, if a result holds one."""
    for part in result if isinstance(result, tuple) else (result,):
        if isinstance(part, dict) and "device" in part:
            fields["device"] = part["device"]


def _short_path(name: str) -> str:
    """Return a path of code below this checkout or its packages; it names no folder of a person."""
    path = Path(name)
    if path.is_relative_to(_ROOT) and "site-packages" not in path.parts:
        return path.relative_to(_ROOT).as_posix()
    return "/".join(path.parts[-2:])
