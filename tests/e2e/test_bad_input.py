"""Bad files through the API: named, explained, at nobody else's cost, and the server stays up."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from gradio_client import Client, handle_file

from tests.api_calls import wait_for_answers
from tests.commands import count_pages
from tests.sample_files import (
    BAD_PDFS,
    BAD_PHOTOS,
    draw_photo,
    write_bad_pdf,
    write_bad_photo,
    write_pdf,
)
from tests.served_app import ServedApp

pytestmark = pytest.mark.e2e

# Names of library exceptions and of server folders have no place in a message for people.
LEAK = re.compile(r"Traceback|FileDataError|RuntimeError|ValueError|OSError|site-packages|/tmp")
PEAK_GROWTH_MB = 600


@pytest.fixture(scope="module")
def client(served_app: ServedApp, tmp_path_factory: pytest.TempPathFactory) -> Client:
    """A client of the served page that downloads to a folder of its own."""
    downloads = tmp_path_factory.mktemp("downloads")
    return Client(served_app.url, download_files=str(downloads), verbose=False)


@pytest.fixture(autouse=True)
def server_stays_up(served_app: ServedApp) -> Iterator[None]:
    """After each test the same server still answers and has logged no traceback."""
    before = len(served_app.read_log())
    yield
    assert served_app.is_running()
    assert "Traceback" not in served_app.read_log()[before:]


def ask(client: Client, api_name: str, **arguments: Any) -> tuple[Any, str]:
    """Return the last answer (None when refused) and everything said, as one text."""
    try:
        answer = wait_for_answers(client.submit(api_name=api_name, **arguments))[-1]
    except Exception as error:  # noqa: BLE001 - the client raises several kinds; the text counts
        return None, str(error)
    return answer, json.dumps(answer, ensure_ascii=False)


@pytest.mark.parametrize("kind", BAD_PHOTOS)
def test_bad_photo_alone_is_explained(client: Client, kind: str, tmp_path: Path) -> None:
    bad = write_bad_photo(tmp_path, kind)
    answer, said = ask(client, "/triage", photos=[handle_file(str(bad))])
    assert bad.name in said
    assert len(said) > len(bad.name) + 30
    assert answer is None or answer["level"] == "retake_photo"
    assert answer is not None or not LEAK.search(said), said


@pytest.mark.parametrize("kind", BAD_PHOTOS)
def test_good_photo_beside_a_bad_one_is_looked_at(
    client: Client, kind: str, tmp_path: Path
) -> None:
    bad, good = write_bad_photo(tmp_path, kind), draw_photo(tmp_path / "cow.jpg")
    answer, said = ask(
        client, "/triage", photos=[handle_file(str(bad)), handle_file(str(good))], signs=["fever"]
    )
    assert answer is not None, said
    assert bad.name in said
    cow = next(seen for seen in answer["photos"] if seen["name"] == "cow.jpg")
    assert sum(cow["probabilities"].values()) == pytest.approx(1, abs=0.01)
    assert answer["level"] in {"same_day", "emergency"}


@pytest.mark.parametrize("kind", BAD_PDFS)
def test_bad_pdf_alone_is_explained(client: Client, kind: str, tmp_path: Path) -> None:
    bad = write_bad_pdf(tmp_path, kind)
    answer, said = ask(client, "/build_dataset", files=[handle_file(str(bad))])
    assert bad.name in said
    assert answer is None or answer[1]["status"] == "partial"
    # The other half of an answer is where this client has put the ZIP.
    told = said if answer is None else json.dumps(answer[1])
    assert not LEAK.search(told), told


@pytest.mark.parametrize("kind", BAD_PDFS)
def test_good_pdf_beside_a_bad_one_is_built(client: Client, kind: str, tmp_path: Path) -> None:
    bad, good = (
        write_bad_pdf(tmp_path, kind),
        write_pdf(tmp_path / "good.pdf", ["engraving"], seed=7),
    )
    answer, said = ask(
        client,
        "/build_dataset",
        files=[handle_file(str(bad)), handle_file(str(good))],
        filter="sigma",
    )
    assert answer is not None, said
    out, report = answer
    assert Path(out).stat().st_size > 10_000
    assert count_pages(report)[1] >= 1
    assert report["status"] == "partial"
    assert bad.name in json.dumps(report["source_failures"] + report["page_failures"])


def test_huge_photo_does_not_cost_its_pixels(
    client: Client, served_app: ServedApp, tmp_path: Path
) -> None:
    before = served_app.measure_resident_mb()
    ask(client, "/triage", photos=[handle_file(str(write_bad_photo(tmp_path, "huge")))])
    assert served_app.measure_resident_mb() - before < PEAK_GROWTH_MB
