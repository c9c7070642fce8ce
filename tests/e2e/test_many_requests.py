"""Many visitors: all are answered, memory comes back, nobody blocks anybody, leaving frees all.

`make bench` runs the bursts at full size (`benchmarks/bench_requests.py`).
"""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pymupdf
import pytest

from tests.mixed_load import MixedLoad, Plan
from tests.raw_visitor import RawVisitor
from tests.request_bursts import (
    KEPT_LIMIT_MB,
    WARM_UP_AT_ONCE,
    WARM_UP_REQUESTS,
    Holdings,
    measure,
    run_burst,
    settle,
)
from tests.sample_files import draw_photo, write_pdf
from tests.served_app import ServedApp, serve_app
from tests.waiting import wait_until

pytestmark = pytest.mark.e2e

# Two requests at work, each with the bundled model, its buffers and a photo. A model for each of
# 20 visitors at once would be several times that.
PEAK_LIMIT_MB = 250.0
SEQUENTIAL, AT_ONCE = 30, 20
# Gradio keeps up to 40 threads of its own for a while when many ask at once; one thread or file
# left by each of 30 requests in a row would show.
MORE_THREADS = {1: 8, AT_ONCE: 45}
MORE_FILES = 8
PAGES = 100
# Ten seconds of what `benchmarks/bench_load.py` does for a minute with 30 visitors.
MIXED = Plan(duration_s=10.0, triage_visitors=8, every_s=5.0, archive_visitors=2)
# Gradio keeps 0.1 MB for each session, and app.py lets it keep 128: so many are kept when memory
# is first measured. At Gradio's own capacity the others would leave 30 MB behind.
FIRST_SESSIONS, MORE_SESSIONS = 130, 300
SESSIONS_LIMIT_MB = 15.0
# One run that is left in the middle leaves 0.2 MB, its session; whatever a run holds is more.
LEFT_LIMIT_MB = 10.0


@pytest.fixture(scope="module")
def own_app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedApp]:
    """A server that nobody else asks, and that has not imported PyTorch to show its page."""
    with serve_app(tmp_path_factory.mktemp("many")) as served:
        assert not maps_torch(served.pid), "torch was imported before there was a photo"
        yield served


@pytest.fixture(scope="module")
def photo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A photo of ordinary size."""
    return draw_photo(tmp_path_factory.mktemp("photos") / "cow.jpg", size=(1600, 1200))


@pytest.fixture(scope="module")
def long_pdf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A PDF of many pages, all alike."""
    folder = tmp_path_factory.mktemp("pdfs")
    with (
        pymupdf.open(write_pdf(folder / "page.pdf", ["engraving"])) as page,
        pymupdf.open() as book,
    ):
        for _ in range(PAGES):
            book.insert_pdf(page)
        book.save(folder / "long.pdf")
    return folder / "long.pdf"


def maps_torch(pid: int) -> bool:
    """Say whether a process has torch's libraries in its address space."""
    return "libtorch" in Path(f"/proc/{pid}/maps").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def warm(own_app: ServedApp, photo: Path, tmp_path_factory: pytest.TempPathFactory) -> Holdings:
    """What the server holds once each kind of request has come and Gradio keeps all its sessions.

    So what is imported once, PyTorch above all, counts as no request's leak.
    """
    assert run_burst(own_app, photo, WARM_UP_REQUESTS, WARM_UP_AT_ONCE).failed == 0
    assert maps_torch(own_app.pid)
    pdf = write_pdf(tmp_path_factory.mktemp("warm") / "magazine.pdf", ["engraving", "text"])
    with RawVisitor(own_app.url) as visitor:
        for api_name in ("build_dataset", "preview_dataset"):
            visitor.ask(api_name, [visitor.upload(pdf)])
            assert visitor.wait_for_answer()["success"]
        come_and_go(visitor, FIRST_SESSIONS)
    remove_jobs(own_app)
    return measure(own_app)


def remove_jobs(own_app: ServedApp) -> None:
    """Remove what waits to be fetched."""
    for job in own_app.gradio_folder.glob("archive-*"):
        shutil.rmtree(job)


def come_and_go(visitor: RawVisitor, count: int) -> None:
    """Ask for a triage without a photo in each of many sessions."""
    for _ in range(count):
        visitor.start_session()
        visitor.ask("triage", [], ["fever"], "en")
        assert visitor.wait_for_answer()["success"]


@pytest.mark.parametrize(("count", "at_once"), [(SEQUENTIAL, 1), (AT_ONCE, AT_ONCE)])
def test_all_are_answered_and_memory_comes_back(
    own_app: ServedApp, warm: Holdings, photo: Path, count: int, at_once: int
) -> None:
    burst = run_burst(own_app, photo, count, at_once)
    assert burst.failed == 0
    assert burst.places_told == count
    assert burst.peak_mb < warm.resident_mb + PEAK_LIMIT_MB
    after = settle(own_app, lambda now: now.resident_mb < warm.resident_mb + KEPT_LIMIT_MB)
    assert after.resident_mb < warm.resident_mb + KEPT_LIMIT_MB
    assert after.threads <= warm.threads + MORE_THREADS[at_once]
    assert after.files <= warm.files + MORE_FILES
    assert own_app.list_children() == []


@pytest.mark.usefixtures("warm")
def test_visitors_who_have_left_leave_nothing_behind(own_app: ServedApp) -> None:
    before = measure(own_app)
    with RawVisitor(own_app.url) as visitor:
        come_and_go(visitor, MORE_SESSIONS)
    after = settle(own_app, lambda now: now.resident_mb < before.resident_mb + SESSIONS_LIMIT_MB)
    assert after.resident_mb < before.resident_mb + SESSIONS_LIMIT_MB


def test_both_tools_at_once_lose_nobody(
    own_app: ServedApp, warm: Holdings, photo: Path, tmp_path: Path
) -> None:
    pdf = write_pdf(tmp_path / "magazine.pdf", ["engraving", "text"] * 10)
    outcome = MixedLoad(own_app, MIXED, photo, pdf).run()
    assert outcome.failed == []
    assert len(outcome.latencies_s) >= MIXED.triage_visitors
    assert outcome.jobs >= MIXED.archive_visitors
    assert outcome.beside_a_job > 0, "the triages waited for the archive runs"
    assert wait_until(lambda: own_app.list_children() == []), own_app.list_children()
    remove_jobs(own_app)
    after = settle(own_app, lambda now: now.resident_mb < warm.resident_mb + KEPT_LIMIT_MB)
    assert after.resident_mb < warm.resident_mb + KEPT_LIMIT_MB


@pytest.mark.usefixtures("warm")
@pytest.mark.parametrize("api_name", ["triage", "build_dataset", "preview_dataset"])
def test_a_client_that_disappears_frees_everything(
    own_app: ServedApp, photo: Path, long_pdf: Path, api_name: str
) -> None:
    source = photo if api_name == "triage" else long_pdf
    remove_jobs(own_app)  # of the tests before
    before = measure(own_app)
    with RawVisitor(own_app.url) as visitor:
        visitor.ask(api_name, [visitor.upload(source)])
        working = {"process_starts", "process_generating"}
        messages = visitor.iter_messages()  # kept: whoever drops it has left already
        next(message for message in messages if message["msg"] in working)
        # A triage works in the server itself, an archive run in workers.
        assert api_name == "triage" or wait_until(lambda: own_app.list_children() != [])
    assert wait_until(lambda: own_app.list_children() == []), own_app.list_children()
    # The job of a build waits to be fetched by its id; it is nothing but files, and expires.
    left = int(api_name == "build_dataset")
    assert wait_until(lambda: len(list(own_app.gradio_folder.glob("archive-*"))) == left)
    remove_jobs(own_app)
    after = settle(own_app, lambda now: now.resident_mb < before.resident_mb + LEFT_LIMIT_MB)
    assert after.resident_mb < before.resident_mb + LEFT_LIMIT_MB
    assert wait_until(lambda: measure(own_app).files <= before.files + MORE_FILES)
    assert run_burst(own_app, photo, 2, 2).failed == 0
