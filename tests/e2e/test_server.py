"""The served page as a server: health, headers, log, uploads on the disk."""

import json
import re
import time
from pathlib import Path

import httpx
import pytest

from serving.janitor import STALLED_S, sweep
from tests.raw_visitor import RawVisitor
from tests.request_bursts import PeakMemory, measure_own_mb
from tests.sample_files import draw_photo
from tests.served_app import ServedApp
from tests.uploading import break_off, upload_large
from tests.waiting import wait_until

pytestmark = pytest.mark.e2e

UPLOAD_MB = 64
# A part of the upload is in the pipes of the server; a copy of it in memory would be 64.
GROWTH_LIMIT_MB = 16.0


def test_health_is_told(served_app: ServedApp) -> None:
    answer = httpx.get(served_app.url + "/healthz")
    assert answer.status_code == 200
    assert answer.headers["cache-control"] == "no-store"
    health = answer.json()
    assert health["status"] == "ok"
    assert re.fullmatch(r"\d+\.\d+\.\d+", health["version"])
    assert health["model"]["id"]
    assert health["device"] == "cpu"
    assert health["queue"].keys() == {"triage", "archive", "fetch", "cancel"}
    assert health["uptime_s"] >= 0
    assert httpx.head(served_app.url + "/healthz").status_code == 200


def test_the_start_tells_where_the_page_is_and_advises_nothing(served_app: ServedApp) -> None:
    told = f"The page is served at {served_app.url}/ (Ctrl-C ends it)."
    # The page answers a moment before it is told.
    assert wait_until(lambda: told in served_app.read_log())
    assert "public link" not in served_app.read_log()


@pytest.mark.parametrize("path", ["/", "/config", "/healthz", "/no-such-page"])
def test_every_answer_has_the_headers(served_app: ServedApp, path: str) -> None:
    headers = httpx.get(served_app.url + path).headers
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "same-origin"
    assert "camera=(self)" in headers["permissions-policy"]
    assert "frame-ancestors 'self' https://huggingface.co" in headers["content-security-policy"]
    assert "x-frame-options" not in headers


def test_upload_comes_back_as_a_download(served_app: ServedApp, tmp_path: Path) -> None:
    photo = draw_photo(tmp_path / "cow.jpg")
    with RawVisitor(served_app.url) as visitor:
        stored = visitor.upload(photo)["path"]
    address = f"{served_app.url}/gradio_api/file={stored}"
    whole = httpx.get(address)
    part = httpx.get(address, headers={"Range": "bytes=0-9", "X-IP-Token": "secret"})
    assert whole.content == photo.read_bytes()
    assert (part.status_code, part.content) == (206, whole.content[:10])
    assert "secret" not in str(part.headers)
    for answer in (whole, part):
        assert answer.headers["content-disposition"].startswith("attachment")
        assert "sandbox" in answer.headers["content-security-policy"]


def test_requests_are_logged_by_number_without_names(served_app: ServedApp, tmp_path: Path) -> None:
    before = len(served_app.read_log())
    bad = tmp_path / "bauer-huber.jpg"
    bad.write_bytes(b"no photo")
    with RawVisitor(served_app.url) as visitor:
        visitor.ask("triage", [visitor.upload(bad)], ["fever"], "en")
        event = visitor.wait_for_answer()["event_id"]
        visitor.ask("triage", [], ["no such sign"], "en")
        visitor.wait_for_answer()
    added = served_app.read_log()[before:]
    lines = [json.loads(line) for line in added.splitlines() if line.startswith("{")]
    asked = [line for line in lines if line.get("endpoint") == "triage"]
    assert [line["outcome"] for line in asked] == ["answered", "refused"]
    assert event.startswith(asked[0]["request"])
    assert "huber" not in added
    assert "no such sign" not in added


def test_large_upload_takes_one_copy_on_the_disk_and_no_memory(served_app: ServedApp) -> None:
    own_mb = measure_own_mb(served_app)
    with PeakMemory(served_app) as memory:
        disk_mb = upload_large(served_app, UPLOAD_MB)
    assert UPLOAD_MB <= disk_mb < UPLOAD_MB + 1
    assert memory.peak_mb < own_mb + GROWTH_LIMIT_MB


def test_upload_that_breaks_off_leaves_nothing_after_the_next_round(served_app: ServedApp) -> None:
    staged = break_off(served_app)
    sweep(served_app.gradio_folder, time.time())
    assert staged.exists(), "it might have gone on"
    sweep(served_app.gradio_folder, time.time() + STALLED_S + 1)
    assert not staged.exists()
