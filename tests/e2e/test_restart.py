"""A server that is killed in the middle of a job: the next one finishes it by its id."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from gradio_client import Client

from tests.api_calls import wait_for_answers
from tests.commands import run_command
from tests.raw_visitor import RawVisitor
from tests.sample_files import write_pdf
from tests.served_app import serve_app
from tests.waiting import wait_until

pytestmark = pytest.mark.e2e

PAGES = 12


def read_job_id(messages: Iterator[dict[str, Any]]) -> str:
    """Return the id that the first answer has; those after it are told as what has changed."""
    first = next(message for message in messages if message["msg"] == "process_generating")
    ((_, news),) = first["output"]["data"]
    return str(news["job_id"])


def test_a_job_survives_the_end_of_its_server(tmp_path: Path) -> None:
    source = write_pdf(tmp_path / "book.pdf", ["engraving", "text"] * (PAGES // 2))
    with serve_app(tmp_path / "first") as first, RawVisitor(first.url) as visitor:
        visitor.ask("build_dataset", [visitor.upload(source)])
        messages = visitor.iter_messages()  # dropped, it would hang up
        job_id = read_job_id(messages)
        job = first.gradio_folder / f"archive-{job_id}"
        journal = job / "dataset.zip.journal"
        assert wait_until(lambda: journal.exists() and b"PageDone" in journal.read_bytes())
        os.kill(first.pid, signal.SIGKILL)
    assert 1 <= journal.read_bytes().count(b"PageDone") < PAGES
    assert not (job / "dataset.zip").exists()
    kept = {"GRADIO_TEMP_DIR": str(first.gradio_folder)}
    with serve_app(tmp_path / "second", environment=kept) as second:
        client = Client(second.url, verbose=False, download_files=str(tmp_path))
        looked = client.predict(job_id, wait=False, api_name="/fetch_result")
        fetched = wait_for_answers(client.submit(job_id, api_name="/fetch_result"))
    assert looked[1]["state"] == "stopped"
    dataset, report = fetched[-1]
    assert (report["state"], report["pages_seen"]) == ("done", PAGES)
    assert report["pages_resumed"] >= 1
    undisturbed = tmp_path / "undisturbed.zip"
    assert run_command("archive_tools", "build", source, "--out", undisturbed).status == 0
    assert Path(dataset).read_bytes() == undisturbed.read_bytes()
