"""The log: one JSON object a line, with what an owner needs and nothing of what a visitor sent."""

import inspect
import json
import logging
from collections.abc import Iterator
from typing import Any

import gradio as gr
import pytest

from serving.request_log import JsonLines, logged

SECRET = "Bauer Huber, IMG_4711.jpg"


def read_lines(caplog: pytest.LogCaptureFixture) -> list[dict[str, Any]]:
    lines = [JsonLines().format(record) for record in caplog.records]
    assert not any("\n" in line for line in lines)
    return [json.loads(line) for line in lines]


@pytest.fixture(autouse=True)
def all_records(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)


def test_answer_is_logged_with_its_device(caplog: pytest.LogCaptureFixture) -> None:
    def triage(name: str) -> dict[str, str]:
        return {"device": "cpu", "level": name}

    assert logged(triage, "triage")(SECRET) == {"device": "cpu", "level": SECRET}
    (line,) = read_lines(caplog)
    assert line["endpoint"] == "triage"
    assert line["outcome"] == "answered"
    assert line["device"] == "cpu"
    assert line["duration_s"] >= 0
    assert len(line["request"]) == 12
    assert SECRET not in json.dumps(line)


def test_refusal_keeps_its_words_for_the_visitor(caplog: pytest.LogCaptureFixture) -> None:
    def refuse() -> None:
        raise gr.Error(f"{SECRET} cannot be read")

    with pytest.raises(gr.Error, match="cannot be read"):
        logged(refuse, "triage")()
    (line,) = read_lines(caplog)
    assert line["outcome"] == "refused"
    assert SECRET not in json.dumps(line)


def test_unexpected_error_gives_the_visitor_a_number(caplog: pytest.LogCaptureFixture) -> None:
    def fail() -> None:
        raise KeyError(SECRET)

    with pytest.raises(gr.Error) as caught:
        logged(fail, "build_dataset")()
    (line,) = read_lines(caplog)
    assert line["level"] == "error"
    assert line["outcome"] == "failed"
    assert line["error"] == "KeyError"
    assert line["where"][-1].startswith("tests/unit/test_request_log.py:")
    assert line["request"] in caught.value.message
    assert SECRET not in json.dumps(line) + caught.value.message
    assert not caught.value.print_exception


def count(steps: list[str]) -> Iterator[int]:
    """Count; notes in `steps` that it was closed."""
    try:
        yield 1
        yield 2
    finally:
        steps.append("closed")


def test_steps_pass_through_and_are_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    steps: list[str] = []
    assert list(logged(count, "build_dataset")(steps)) == [1, 2]
    assert [line["outcome"] for line in read_lines(caplog)] == ["answered"]


def test_visitor_who_leaves_closes_the_work_first(caplog: pytest.LogCaptureFixture) -> None:
    steps: list[str] = []
    running = logged(count, "build_dataset")(steps)
    next(running)
    running.close()
    assert steps == ["closed"]
    assert [line["outcome"] for line in read_lines(caplog)] == ["left"]


def test_gradio_still_sees_the_handler_itself() -> None:
    wrapped = logged(count, "build_dataset")
    assert inspect.isgeneratorfunction(wrapped)
    assert inspect.signature(wrapped) == inspect.signature(count)
    assert wrapped.__doc__ == count.__doc__


def test_errors_of_others_are_told_without_their_words(caplog: pytest.LogCaptureFixture) -> None:
    try:
        raise OSError(SECRET)
    except OSError:
        logging.getLogger("uvicorn.error").exception("Exception in ASGI application")
    (line,) = read_lines(caplog)
    assert line["message"] == "Exception in ASGI application"
    assert line["error"] == "OSError"
    assert SECRET not in json.dumps(line)
