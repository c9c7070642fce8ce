"""The API through the real `gradio_client` and through plain HTTP, against the served page."""

import csv
import io
import json
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from gradio_client import Client, handle_file

from tests import image_fixtures
from tests.api_calls import wait_for_answers
from tests.commands import count_pages, run_command
from tests.sample_files import LION_PHOTO, draw_photo, draw_sideways_photo, write_bad_pdf, write_pdf
from tests.scan_report import LEAST_LEVELS, check_report, is_at_least
from tests.served_app import ServedApp

pytestmark = pytest.mark.e2e

# Each with its argument that takes uploads.
ENDPOINTS = (("triage", "photos"), ("build_dataset", "files"), ("preview_dataset", "files"))


@pytest.fixture(scope="module")
def client(served_app: ServedApp, tmp_path_factory: pytest.TempPathFactory) -> Client:
    """A client of the served page that downloads to a folder of its own."""
    downloads = tmp_path_factory.mktemp("downloads")
    return Client(served_app.url, download_files=str(downloads), verbose=False)


@pytest.fixture(scope="module")
def photo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A drawn photo."""
    return draw_photo(tmp_path_factory.mktemp("photo") / "cow.jpg")


def triage(client: Client, *photos: Path, **options: Any) -> dict[str, Any]:
    """Call /triage with files and return its report."""
    files = [handle_file(str(path)) for path in photos]
    report = client.predict(photos=files, api_name="/triage", **options)
    assert isinstance(report, dict)
    return report


def build_dataset(client: Client, *sources: Path, **options: Any) -> list[Any]:
    """Call /build_dataset with files and return everything that it yields."""
    files = [handle_file(str(path)) for path in sources]
    return wait_for_answers(client.submit(files=files, api_name="/build_dataset", **options))


def preview_dataset(client: Client, *sources: Path, **options: Any) -> list[Any]:
    """Call /preview_dataset with files and return everything that it yields."""
    files = [handle_file(str(path)) for path in sources]
    return wait_for_answers(client.submit(files=files, api_name="/preview_dataset", **options))


def test_the_endpoints_and_no_other_are_named(client: Client) -> None:
    named = client.view_api(return_format="dict", print_info=False)["named_endpoints"]
    assert set(named) == {"/triage", "/build_dataset", "/preview_dataset", "/fetch_result"}
    triage_names = [entry["parameter_name"] for entry in named["/triage"]["parameters"]]
    assert triage_names == ["photos", "signs", "language"]
    build_names = [entry["parameter_name"] for entry in named["/build_dataset"]["parameters"]]
    assert build_names[:6] == ["files", "filter", "min_sigma", "content", "fit", "trigger"]
    preview_names = {entry["parameter_name"] for entry in named["/preview_dataset"]["parameters"]}
    assert preview_names <= set(build_names)


def test_triage_of_one_photo(client: Client, photo: Path) -> None:
    report = triage(client, photo)
    check_report(report)
    assert [seen["name"] for seen in report["photos"]] == ["cow.jpg"]
    assert (report["photos"][0]["width"], report["photos"][0]["height"]) == (800, 600)
    assert report["signs_used"] == []


def test_heatmaps_are_absent_unless_asked_for(client: Client, photo: Path) -> None:
    assert triage(client, photo)["photos"][0]["heatmap"] is None


def test_lion_is_not_cattle(client: Client) -> None:
    report = triage(client, LION_PHOTO)
    check_report(report)
    assert (report["level"], report["abstained"]) == ("retake_photo", "not_cattle")
    assert report["photos"][0]["probabilities"]["not_cattle"] > 0.5


def test_triage_of_several_photos_keeps_their_order(
    client: Client, photo: Path, tmp_path: Path
) -> None:
    sideways = draw_sideways_photo(tmp_path / "side.jpg")
    report = triage(client, sideways, photo, LION_PHOTO)
    check_report(report)
    assert [seen["name"] for seen in report["photos"]] == ["side.jpg", "cow.jpg", "lion.jpg"]
    assert (report["photos"][0]["width"], report["photos"][0]["height"]) == (600, 800)


@pytest.mark.parametrize("sign", LEAST_LEVELS)
def test_ticked_sign_sets_a_least_level_on_an_abstention(client: Client, sign: str) -> None:
    report = triage(client, LION_PHOTO, signs=[sign])
    check_report(report)
    assert is_at_least(report["level"], LEAST_LEVELS[sign])
    assert report["signs_used"] == [sign]
    assert report["abstained"] == "not_cattle"


def test_several_animals_raises_the_level_by_one(client: Client) -> None:
    assert triage(client, LION_PHOTO, signs=["fever"])["level"] == "same_day"
    assert triage(client, LION_PHOTO, signs=["fever", "several_animals"])["level"] == "emergency"


@pytest.mark.parametrize(
    "signs",
    [["drooling"], ["mouth_sores"], ["lame", "drooling"], ["lame", "several_animals"]],
)
def test_signs_that_call_the_official_vet(client: Client, signs: list[str]) -> None:
    report = triage(client, LION_PHOTO, signs=signs)
    assert "official" in json.dumps(report["call"]).lower()
    assert "mov" in json.dumps([report["call"], report["first_steps"], report["headline"]]).lower()


@pytest.fixture(scope="module")
def english(client: Client, photo: Path) -> dict[str, Any]:
    """A report in English."""
    return triage(client, photo, signs=["down"])


@pytest.mark.parametrize("language", ["de", "fr", "ru"])
def test_report_in_other_languages(
    client: Client, photo: Path, english: dict[str, Any], language: str
) -> None:
    other = triage(client, photo, signs=["down"], language=language)
    check_report(other)
    assert (other["level"], english["level"]) == ("emergency", "emergency")
    for key in ("headline", "first_steps", "call", "disclaimer"):
        assert other[key] != english[key]


def test_unknown_sign_is_a_clear_error(client: Client, photo: Path) -> None:
    with pytest.raises(Exception, match="hiccups") as caught:
        triage(client, photo, signs=["hiccups"])
    assert "fever" in str(caught.value), "the message names what is allowed"


def test_unknown_language_is_a_clear_error(client: Client, photo: Path) -> None:
    with pytest.raises(Exception, match="tlh"):
        triage(client, photo, language="tlh")


def test_no_photo_is_a_clear_error(client: Client) -> None:
    with pytest.raises(Exception, match=r"(?i)photo"):
        triage(client)


def test_build_yields_progress_and_then_zip_and_report(client: Client, tmp_path: Path) -> None:
    source = write_pdf(tmp_path / "magazine.pdf", ["engraving", "text", "engraving", "blank"])
    yielded = build_dataset(client, source, filter="sigma", trigger="cattleprint")
    assert len(yielded) >= 2, "there is at least one yield of progress before the result"
    assert all(entry[0] is None for entry in yielded[:-1])
    out, report = yielded[-1]
    assert count_pages(report) == (4, 2, 2, 0)
    assert report["status"] == "success"
    with zipfile.ZipFile(out) as archive:
        rows = [json.loads(line) for line in archive.read("train/metadata.jsonl").splitlines()]
        assert [row["page_number"] for row in rows] == [1, 3]
        assert all(row["source_file"] == "magazine.pdf" for row in rows)
        assert all(row["text"].startswith("cattleprint") for row in rows)


def test_progress_states_page_counts(client: Client, tmp_path: Path) -> None:
    source = write_pdf(tmp_path / "counted.pdf", ["engraving", "text"] * 8)
    progress = [report for _, report in build_dataset(client, source)[:-1]]
    assert progress
    assert any("16" in json.dumps(entry) for entry in progress), progress[:3]


def fetch_result(client: Client, job_id: str, **options: Any) -> list[Any]:
    """Call /fetch_result and return everything that it yields."""
    return wait_for_answers(client.submit(job_id=job_id, api_name="/fetch_result", **options))


def test_a_result_is_fetched_by_the_id_that_came_first(client: Client, tmp_path: Path) -> None:
    source = write_pdf(tmp_path / "once.pdf", ["engraving"])
    yielded = build_dataset(client, source, filter="none")
    (job_id,) = {news["job_id"] for _, news in yielded}
    assert yielded[0][1]["state"] == "waiting"
    ((out, report),) = fetch_result(client, job_id)
    assert (report["state"], report["status"]) == ("done", "success")
    assert report == yielded[-1][1]
    assert Path(out).read_bytes() == Path(yielded[-1][0]).read_bytes()
    assert fetch_result(client, job_id.upper(), wait=False)[-1][1] == report


def test_a_job_that_is_not_there_gets_a_message(client: Client) -> None:
    for options in ({}, {"wait": False}, {"so_far": True}):
        out, news = fetch_result(client, "0" * 32, **options)[-1]
        assert (out, news["state"], news["job_id"]) == (None, "expired", "0" * 32)
        assert "Build the dataset again" in news["message"]
    for odd in ("../../etc/passwd", "", "0" * 31):
        with pytest.raises(Exception, match="32 characters"):
            fetch_result(client, odd)


def test_triage_answers_while_datasets_are_built(
    client: Client, photo: Path, tmp_path: Path
) -> None:
    kinds = ["engraving", "text"] * 6
    sources = [write_pdf(tmp_path / f"{seed}.pdf", kinds, seed=seed) for seed in (100, 200)]
    jobs = [
        client.submit(files=[handle_file(str(source))], filter="sigma", api_name="/build_dataset")
        for source in sources
    ]
    check_report(triage(client, photo))
    reports = [wait_for_answers(job)[-1][1] for job in jobs]
    assert [count_pages(report) for report in reports] == [(12, 6, 6, 0)] * 2


def test_odd_file_names(client: Client, tmp_path: Path) -> None:
    name = "Das Rind Nº 7, 1893 & Co (2).PDF"
    source = write_pdf(tmp_path / name, ["engraving"])
    out, report = build_dataset(client, source, filter="sigma")[-1]
    assert report["status"] == "success"
    with zipfile.ZipFile(out) as archive:
        row = json.loads(archive.read("train/metadata.jsonl").splitlines()[0])
        assert all(re.fullmatch(r"[\w./-]+", entry, re.A) for entry in archive.namelist())
    assert "1893" in row["source_file"]


def test_api_and_command_line_give_the_same_bytes(client: Client, tmp_path: Path) -> None:
    source, by_command = write_pdf(tmp_path / "same.pdf", ["engraving", "text"]), tmp_path / "c.zip"
    by_api = Path(build_dataset(client, source)[-1][0])
    assert run_command("archive_tools", "build", source, "--out", by_command).status == 0
    assert by_api.read_bytes() == by_command.read_bytes()


def test_one_bad_pdf_among_several(client: Client, tmp_path: Path) -> None:
    first = write_pdf(tmp_path / "first.pdf", ["engraving", "blank"])
    locked = write_bad_pdf(tmp_path, "encrypted")
    last = write_pdf(tmp_path / "last.pdf", ["text", "engraving"], seed=9)
    out, report = build_dataset(client, first, locked, last, filter="sigma")[-1]
    assert count_pages(report) == (4, 2, 2, 0)
    assert report["status"] == "partial"
    assert locked.name in json.dumps(report["source_failures"])
    with zipfile.ZipFile(out) as archive:
        pages = csv.DictReader(io.StringIO(archive.read("manifest/pages.csv").decode()))
        assert [page["file"] for page in pages] == [
            "first.pdf",
            "first.pdf",
            "last.pdf",
            "last.pdf",
        ]


def test_images_and_comic_books_are_sources(client: Client, tmp_path: Path) -> None:
    image, comic = tmp_path / "plate.png", tmp_path / "comic.cbz"
    image.write_bytes(image_fixtures.page_image("PNG"))
    comic.write_bytes(image_fixtures.comic_book({"1.jpg": image_fixtures.page_image(seed=1)}))
    _, report = build_dataset(client, image, comic, filter="none")[-1]
    assert count_pages(report) == (2, 2, 0, 0)
    assert [document["file"] for document in report["dataset"]["documents"]] == [
        "plate.png",
        "comic.cbz",
    ]


def test_illustrations_are_cut_out_of_the_pages_that_auto_keeps(client: Client) -> None:
    source = Path(__file__).parents[2] / "examples/magazine.pdf"
    out, report = build_dataset(client, source, filter="auto", content="regions")[-1]
    assert count_pages(report)[0] == 9
    with zipfile.ZipFile(out) as archive:
        rows = archive.read("train/metadata.jsonl").decode().splitlines()
    boxes = [(row["bbox"], row["page_width"], row["page_height"]) for row in map(json.loads, rows)]
    # None is a whole page, and together they are more than a page or two.
    assert len(boxes) >= 5
    assert all(box != [0, 0, width, height] for box, width, height in boxes)


def test_preview_decides_as_the_build_does(
    client: Client, tmp_path: Path, served_app: ServedApp
) -> None:
    magazine = Path(__file__).parents[2] / "examples/magazine.pdf"
    locked = write_bad_pdf(tmp_path, "encrypted")
    options = {"filter": "auto", "min_score": 0.3}
    before = set(served_app.gradio_folder.glob("archive-*"))
    yielded = preview_dataset(client, magazine, locked, **options)
    assert all(entry[0] is None for entry in yielded[:-1])
    table, report = yielded[-1]
    assert count_pages(report) == (9, 4, 5, 0)
    assert [failure["name"] for failure in report["source_failures"]] == [locked.name]
    for page in report["pages"]:
        assert (page["decision"] == "kept") == (page["score"] >= 0.3)
        assert bool(page["illustrations"]) == (page["score"] > 0)
    thresholds = report["thresholds"]
    kept_at = dict(zip(thresholds["values"], thresholds["pages_kept"], strict=True))
    assert (kept_at[0.0], kept_at[0.3], kept_at[1.0]) == (9, 4, 0)
    assert sum(report["histogram"]["pages"]) == 9
    with Path(table).open(encoding="utf-8", newline="") as rows:
        decisions = [row["decision"] for row in csv.DictReader(rows)]
    assert decisions == [page["decision"] for page in report["pages"]]
    out, _ = build_dataset(client, magazine, locked, **options)[-1]
    with zipfile.ZipFile(out) as archive:
        pages = csv.DictReader(io.StringIO(archive.read("manifest/pages.csv").decode()))
        assert [page["decision"] for page in pages] == decisions
    # Of the preview only what was handed out is left, and of the build no input.
    made = set(served_app.gradio_folder.glob("archive-*")) - before
    left = sorted(path.name for job in made for path in job.iterdir())
    assert left == ["dataset.zip", "job.json", "pages.csv", "report.json"]


def test_preview_of_nothing_usable_says_why(client: Client, tmp_path: Path) -> None:
    with pytest.raises(Exception, match=r"locked\.pdf.*password"):
        preview_dataset(client, write_bad_pdf(tmp_path, "encrypted"))


@pytest.mark.parametrize(
    "options",
    [
        {"filter": "magic"},
        {"min_sigma": 900},
        {"min_score": 1.5},
        {"content": "poems"},
        {"fit": "origami"},
    ],
    ids=str,
)
def test_wrong_option_is_a_clear_error(
    client: Client, tmp_path: Path, options: dict[str, Any]
) -> None:
    source = write_pdf(tmp_path / "scan.pdf", ["engraving"])
    for call_endpoint in (build_dataset, preview_dataset):
        with pytest.raises(Exception, match=str(next(iter(options.values())))):
            call_endpoint(client, source, **options)


def test_no_file_is_a_clear_error(client: Client) -> None:
    with pytest.raises(Exception, match=r"(?i)pdf|file"):
        build_dataset(client)


def upload(served: ServedApp, path: Path) -> dict[str, Any]:
    """Upload a file as curl would and return what a call sends for it."""
    with path.open("rb") as stream:
        answer = httpx.post(
            f"{served.url}/gradio_api/upload", files={"files": (path.name, stream)}, timeout=60
        )
    answer.raise_for_status()
    return {
        "path": answer.json()[0],
        "orig_name": path.name,
        "meta": {"_type": "gradio.FileData"},
    }


def call(served: ServedApp, name: str, arguments: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Post a call with named arguments and yield the events of its stream, as curl would."""
    address = f"{served.url}/gradio_api/call/v2/{name}"
    event_id = httpx.post(address, json=arguments, timeout=60).json()["event_id"]
    with httpx.stream("GET", f"{address}/{event_id}", timeout=120) as stream:
        event = ""
        for line in stream.iter_lines():
            if line.startswith("event: "):
                event = line.removeprefix("event: ")
            elif line.startswith("data: "):
                yield event, json.loads(line.removeprefix("data: "))


def test_triage_over_plain_http(served_app: ServedApp, photo: Path) -> None:
    arguments = {"photos": [upload(served_app, photo)], "signs": ["down"]}
    events = list(call(served_app, "triage", arguments))
    assert events[-1][0] == "complete"
    report = events[-1][1][0]
    check_report(report)
    assert report["level"] == "emergency"
    assert [seen["name"] for seen in report["photos"]] == ["cow.jpg"]


def test_build_over_plain_http(served_app: ServedApp, tmp_path: Path) -> None:
    source = write_pdf(tmp_path / "plain.pdf", ["engraving", "blank"])
    events = list(
        call(
            served_app, "build_dataset", {"files": [upload(served_app, source)], "filter": "sigma"}
        )
    )
    assert events[-1][0] == "complete", events[-1]
    dataset, report = events[-1][1][0]
    assert count_pages(report) == (2, 1, 1, 0)
    answer = httpx.get(f"{served_app.url}/gradio_api/file={dataset['path']}", timeout=60)
    assert answer.status_code == 200
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        assert archive.testzip() is None


def test_server_paths_cannot_be_forged(served_app: ServedApp) -> None:
    forged = {"path": "/etc/passwd", "meta": {"_type": "gradio.FileData"}}
    for name, argument in ENDPOINTS:
        events = list(call(served_app, name, {argument: [forged]}))
        assert events[-1][0] == "error"
        assert "uploaded here" in json.dumps(events), "a message, not null"
        assert "root:" not in json.dumps(events)


@pytest.mark.parametrize(
    "entry",
    ["outside", "missing", "through a link", "text", 7, None, {"path": 7}, {}],
    ids=["outside", "missing", "link", "text", "number", "null", "odd-path", "no-path"],
)
def test_a_file_that_was_not_uploaded_is_refused_alike(
    served_app: ServedApp, tmp_path: Path, entry: Any
) -> None:
    """Without the mark of an uploaded file Gradio passes any path on: the handlers must not."""
    outside = write_pdf(tmp_path / "outside.pdf", ["engraving"])
    uploaded = Path(upload(served_app, outside)["path"])
    link = uploaded.with_name("link.pdf")
    link.unlink(missing_ok=True)
    link.symlink_to(outside)
    paths = {"outside": outside, "missing": tmp_path / "none.pdf", "through a link": link}
    if isinstance(entry, str) and entry in paths:
        entry = {"path": str(paths[entry])}
    for name, argument in ENDPOINTS:
        events = list(call(served_app, name, {argument: [entry]}))
        assert events[-1][0] == "error"
        assert "uploaded here" in json.dumps(events[-1][1])


@pytest.mark.parametrize("odd", [{"min_sigma": "wide"}, {"min_sigma": None}, {"fit": 3}])
def test_an_odd_option_gets_a_message(
    served_app: ServedApp, tmp_path: Path, odd: dict[str, Any]
) -> None:
    source = write_pdf(tmp_path / "plain.pdf", ["engraving"])
    arguments = {"files": [upload(served_app, source)]} | odd
    events = list(call(served_app, "build_dataset", arguments))
    assert events[-1][0] == "error"
    assert next(iter(odd)) in json.dumps(events[-1][1])
