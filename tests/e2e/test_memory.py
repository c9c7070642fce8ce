"""What the served page keeps after its work: memory at its baseline, no file, no process."""

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest
from gradio_client import Client, handle_file

from tests.api_calls import wait_for_answers
from tests.sample_files import draw_photo, write_pdf
from tests.served_app import ServedApp, serve_app

pytestmark = pytest.mark.e2e

# The model takes 14 MB in single precision: one kept by each of six requests would be 84 MB.
TOLERANCE_MB = 40
TRIAGE_REQUESTS = 6
SETTLE_S = 20.0


@pytest.fixture(scope="module")
def quiet_app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedApp]:
    """A server of its own: nobody else's request may move its memory or its folders."""
    with serve_app(tmp_path_factory.mktemp("quiet")) as served:
        yield served


@pytest.fixture(scope="module")
def client(quiet_app: ServedApp, tmp_path_factory: pytest.TempPathFactory) -> Client:
    """A client of that server."""
    downloads = tmp_path_factory.mktemp("downloads")
    return Client(quiet_app.url, download_files=str(downloads), verbose=False)


def wait_until(holds: Callable[[], bool]) -> bool:
    """Say whether a condition comes true before the time is up."""
    deadline = time.monotonic() + SETTLE_S
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.2)
    return True


def list_files(folder: Path) -> set[str]:
    """Return the files below a folder, relative to it."""
    return {
        str((Path(place) / name).relative_to(folder))
        for place, _, names in os.walk(folder)
        for name in names
    }


def triage(client: Client, photo: Path) -> None:
    client.predict(photos=[handle_file(str(photo))], api_name="/triage")


def build_dataset(client: Client, source: Path) -> None:
    wait_for_answers(client.submit(files=[handle_file(str(source))], api_name="/build_dataset"))


def test_memory_returns_after_triage(quiet_app: ServedApp, client: Client, tmp_path: Path) -> None:
    photo = draw_photo(tmp_path / "cow.jpg", size=(2400, 1800))
    triage(client, photo)  # Loads the libraries, which stay.
    triage(client, photo)
    baseline_mb = quiet_app.measure_resident_mb()
    for _ in range(TRIAGE_REQUESTS):
        triage(client, photo)
    assert wait_until(lambda: quiet_app.measure_resident_mb() < baseline_mb + TOLERANCE_MB), (
        f"{baseline_mb:.0f} MB before, {quiet_app.measure_resident_mb():.0f} MB after"
    )


def test_memory_files_and_processes_return_after_an_archive_run(
    quiet_app: ServedApp, client: Client, tmp_path: Path
) -> None:
    source = write_pdf(tmp_path / "magazine.pdf", ["engraving", "text"] * 10)
    build_dataset(client, write_pdf(tmp_path / "warm.pdf", ["engraving"]))
    wait_until(lambda: not quiet_app.list_children())
    baseline_mb = quiet_app.measure_resident_mb()
    baseline_files = list_files(quiet_app.temp_folder)
    results_before = list_files(quiet_app.gradio_folder)

    build_dataset(client, source)

    assert wait_until(lambda: not quiet_app.list_children()), quiet_app.list_children()
    assert list_files(quiet_app.temp_folder) == baseline_files
    new = list_files(quiet_app.gradio_folder) - results_before
    # The upload, and what the job is fetched from: its record, its report and the dataset.
    assert sorted(Path(name).suffix for name in new) == [".json", ".json", ".pdf", ".zip"], new
    assert wait_until(lambda: quiet_app.measure_resident_mb() < baseline_mb + TOLERANCE_MB), (
        f"{baseline_mb:.0f} MB before, {quiet_app.measure_resident_mb():.0f} MB after"
    )


def test_workers_never_load_the_page_or_the_model(
    quiet_app: ServedApp, client: Client, tmp_path: Path
) -> None:
    source = write_pdf(tmp_path / "watched.pdf", ["engraving"] * 30, seed=300)
    job = client.submit(files=[handle_file(str(source))], api_name="/build_dataset")
    seen: set[int] = set()
    while not job.done():
        for child in quiet_app.list_children():
            mapped = list_mapped_files(child)
            seen.add(child.pid)
            for library in ("torch", "gradio", "pydantic_core", "spaces"):
                assert not [path for path in mapped if f"/{library}/" in path]
        time.sleep(0.1)
    assert job.result()[1]["pages_seen"] == 30
    assert seen, "pages are rendered outside the server's own process"


def list_mapped_files(process: psutil.Process) -> list[str]:
    """Return the files that a process has mapped, its libraries among them; none when it ended."""
    try:
        return [entry.path for entry in process.memory_maps()]
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return []


def test_cancelled_run_leaves_nothing_but_its_job(
    quiet_app: ServedApp, client: Client, tmp_path: Path
) -> None:
    source = write_pdf(tmp_path / "long.pdf", ["engraving"] * 60)
    before = list_files(quiet_app.temp_folder), list_files(quiet_app.gradio_folder)
    job = client.submit(files=[handle_file(str(source))], api_name="/build_dataset")
    assert wait_until(lambda: bool(job.outputs()))
    job.cancel()
    assert wait_until(lambda: not quiet_app.list_children()), quiet_app.list_children()
    new = list_files(quiet_app.gradio_folder) - before[1]
    folders = {Path(name).parts[0] for name in new if Path(name).suffix != ".pdf"}
    job_id = job.outputs()[0][1]["job_id"]
    assert folders == {f"archive-{job_id}"}, new
    assert list_files(quiet_app.temp_folder) == before[0]
