"""`python -m archive_tools` judged from outside: its ZIP, its streams and its exit status."""

import csv
import hashlib
import io
import json
import os
import re
import signal
import subprocess
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path

import cv2
import numpy as np
import pymupdf
import pytest
import yaml
from PIL import Image

from tests.commands import REPOSITORY, CommandResult, build_command, count_pages, run_command
from tests.sample_files import (
    DOCUMENT_AUTHOR,
    DOCUMENT_TITLE,
    write_pdf,
)

FIRST_PAGES = ["engraving", "text", "engraving", "blank", "faint", "firm"]
SECOND_PAGES = ["blank", "engraving", "text"]
SIGMA = ["--filter", "sigma"]
PAGE_COLUMNS = [
    "file",
    "sha256",
    "page_number",
    "width",
    "height",
    "sigma",
    "score",
    "decision",
    "reason",
    "regions",
    "traits",
]
ROW_KEYS = {
    "file_name",
    "text",
    "width",
    "height",
    "source_file",
    "source_sha256",
    "page_number",
    "bbox",
    "part",
    "sigma",
    "score",
    "phash",
}


@pytest.fixture(scope="module")
def scans(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two small scanned magazines."""
    folder = tmp_path_factory.mktemp("scans")
    write_pdf(folder / "Cattle Keeper 1893.pdf", FIRST_PAGES, seed=1)
    write_pdf(folder / "dairy.pdf", SECOND_PAGES, seed=40)
    return folder


@pytest.fixture(scope="module")
def build(scans: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[CommandResult, Path]:
    """One run over both magazines with one worker."""
    out = tmp_path_factory.mktemp("build") / "dataset.zip"
    options = ["--filter", "sigma", "--workers", "1", "--json"]
    ended = run_command("archive_tools", "build", *sorted(scans.iterdir()), "--out", out, *options)
    assert ended.status == 0, ended.stderr
    return ended, out


@pytest.fixture
def archive(build: tuple[CommandResult, Path]) -> Iterator[zipfile.ZipFile]:
    """The finished ZIP, opened."""
    with zipfile.ZipFile(build[1]) as opened:
        yield opened


def read_pages(archive: zipfile.ZipFile) -> list[dict[str, str]]:
    """Return the rows of the manifest."""
    text = archive.read("manifest/pages.csv").decode("utf-8")
    return list(csv.DictReader(io.StringIO(text)))


def read_rows(archive: zipfile.ZipFile) -> list[dict[str, object]]:
    """Return the rows of the training metadata."""
    return [json.loads(line) for line in archive.read("train/metadata.jsonl").splitlines()]


def measure_sigmas(path: Path) -> list[float]:
    """Return `gray.std()` of each page at 2x, as the article computes it."""
    sigmas = []
    with pymupdf.open(path) as document:
        for page in document:
            pixmap = page.get_pixmap(matrix=pymupdf.Matrix(2, 2))
            pixels = np.frombuffer(pixmap.samples, np.uint8).reshape(pixmap.h, pixmap.w, pixmap.n)
            sigmas.append(float(cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY).std()))
    return sigmas


def test_json_report_is_all_of_standard_output(build: tuple[CommandResult, Path]) -> None:
    ended, _ = build
    report = ended.read_json()
    assert count_pages(report) == (9, 4, 5, 0)
    assert report["status"] == "success"


def test_progress_stands_on_standard_error(build: tuple[CommandResult, Path]) -> None:
    assert re.search(r"\d", build[0].stderr)
    assert "Traceback" not in build[0].stderr


def test_report_states_the_reduction(build: tuple[CommandResult, Path]) -> None:
    assert build[0].read_json()["reduction_percent"] == pytest.approx(100 * 5 / 9, abs=0.1)


def test_human_report_names_every_count(scans: Path, tmp_path: Path) -> None:
    out = tmp_path / "d.zip"
    ended = run_command("archive_tools", "build", scans / "dairy.pdf", "--out", out)
    assert ended.status == 0
    for word in ("kept", "dropped", "failed", "%"):
        assert word in ended.stdout
    with pytest.raises(json.JSONDecodeError):
        ended.read_json()


def test_layout_of_the_zip(archive: zipfile.ZipFile) -> None:
    names = archive.namelist()
    assert len(names) == len(set(names))
    assert {
        "README.md",
        "train/metadata.jsonl",
        "manifest/pages.csv",
        "manifest/report.json",
    } <= set(names)
    assert sum(name.startswith("configs/") for name in names) >= 4
    for name in names:
        assert name.split("/")[0] in {"README.md", "train", "manifest", "configs"}
    stems = [Path(name).stem for name in names if name.endswith(".jpg")]
    assert len(stems) == 4
    for stem in stems:
        assert re.fullmatch("[a-z0-9_-]+", stem)
        assert f"train/{stem}.txt" in names


def test_entries_are_stored_with_one_fixed_time(archive: zipfile.ZipFile) -> None:
    entries = archive.infolist()
    assert {entry.compress_type for entry in entries} == {zipfile.ZIP_STORED}
    assert len({entry.date_time for entry in entries}) == 1
    assert archive.testzip() is None


def test_images_are_square_rgb_jpegs_of_quality_92(archive: zipfile.ZipFile) -> None:
    sample = io.BytesIO()
    Image.new("RGB", (16, 16)).save(sample, "JPEG", quality=92)
    wanted_tables = Image.open(sample).quantization
    for name in archive.namelist():
        if not name.endswith(".jpg"):
            continue
        with Image.open(io.BytesIO(archive.read(name))) as picture:
            picture.load()
            assert (picture.format, picture.mode, picture.size) == ("JPEG", "RGB", (1024, 1024))
            assert picture.quantization == wanted_tables
            assert not picture.getexif()


def test_padding_has_the_colour_of_the_paper(archive: zipfile.ZipFile) -> None:
    first = read_rows(archive)[0]
    with Image.open(io.BytesIO(archive.read(f"train/{first['file_name']}"))) as picture:
        # The page is 729 of 1024 pixels wide, its margin 52 on each side.
        margin = np.asarray(picture.crop((150, 300, 190, 700)), dtype=float).mean(axis=(0, 1))
        for x0 in (2, 1010):
            padding = np.asarray(picture.crop((x0, 300, x0 + 12, 700)), dtype=float)
            assert padding.mean(axis=(0, 1)) == pytest.approx(margin, abs=8)
        assert margin.min() > 150


def test_metadata_rows_describe_their_images(archive: zipfile.ZipFile) -> None:
    rows = read_rows(archive)
    assert [(row["source_file"], row["page_number"]) for row in rows] == [
        ("Cattle Keeper 1893.pdf", 1),
        ("Cattle Keeper 1893.pdf", 3),
        ("Cattle Keeper 1893.pdf", 6),
        ("dairy.pdf", 2),
    ]
    for row in rows:
        assert set(row) >= ROW_KEYS
        assert f"train/{row['file_name']}" in archive.namelist()
        assert (row["width"], row["height"]) == (1024, 1024)
        assert {DOCUMENT_TITLE, DOCUMENT_AUTHOR} <= set(map(str, row.values()))
        assert any("1893" in str(value) for key, value in row.items() if key != "source_file")
        caption = archive.read(f"train/{Path(str(row['file_name'])).stem}.txt").decode()
        assert caption.strip() == row["text"]


def test_manifest_lists_every_page_once(archive: zipfile.ZipFile) -> None:
    pages = read_pages(archive)
    assert list(pages[0]) == PAGE_COLUMNS
    assert [(page["file"], int(page["page_number"])) for page in pages] == [
        *(("Cattle Keeper 1893.pdf", number) for number in range(1, 7)),
        *(("dairy.pdf", number) for number in range(1, 4)),
    ]
    assert {page["decision"] for page in pages} <= {"kept", "dropped", "failed"}
    assert all(page["reason"] for page in pages)
    assert {(page["width"], page["height"]) for page in pages} == {("840", "1180")}


def test_pages_add_up(archive: zipfile.ZipFile, build: tuple[CommandResult, Path]) -> None:
    seen, kept, dropped, failed = count_pages(build[0].read_json())
    decisions = [page["decision"] for page in read_pages(archive)]
    assert kept + dropped + failed == seen == len(decisions)
    assert decisions.count("kept") == kept
    assert decisions.count("dropped") == dropped


def test_sigma_and_decision_equal_an_independent_computation(
    archive: zipfile.ZipFile, scans: Path
) -> None:
    sigmas = [sigma for path in sorted(scans.iterdir()) for sigma in measure_sigmas(path)]
    for page, sigma in zip(read_pages(archive), sigmas, strict=True):
        assert float(page["sigma"]) == pytest.approx(sigma, abs=0.3)
        assert page["decision"] == ("kept" if sigma > 45 else "dropped")


def test_report_in_the_zip_tells_nothing_of_the_machine(
    archive: zipfile.ZipFile, scans: Path
) -> None:
    text = archive.read("manifest/report.json").decode()
    assert str(scans) not in text
    assert not re.search(r"workers|_s\"|seconds|elapsed|hostname", text)
    assert json.loads(text)["status"] == "success"


def test_dataset_card_names_its_data_files(archive: zipfile.ZipFile) -> None:
    header = archive.read("README.md").decode().split("---")[1]
    card = yaml.safe_load(header)
    data_files = [entry for config in card["configs"] for entry in config["data_files"]]
    assert any(entry["split"] == "train" for entry in data_files)
    assert "license" in card
    assert card["tags"]


def test_workers_do_not_change_the_bytes(
    build: tuple[CommandResult, Path], scans: Path, tmp_path: Path
) -> None:
    again = tmp_path / "again.zip"
    options = ["--filter", "sigma", "--workers", "2"]
    ended = run_command(
        "archive_tools", "build", *sorted(scans.iterdir()), "--out", again, *options
    )
    assert ended.status == 0, ended.stderr
    assert again.read_bytes() == build[1].read_bytes()


def test_nothing_else_is_left_beside_the_zip(build: tuple[CommandResult, Path]) -> None:
    assert [path.name for path in build[1].parent.iterdir()] == ["dataset.zip"]


def test_a_folder_is_a_source(scans: Path, tmp_path: Path) -> None:
    out = tmp_path / "folder.zip"
    ended = run_command(
        "archive_tools", "build", scans, "--out", out, "--filter", "sigma", "--json"
    )
    assert ended.status == 0, ended.stderr
    assert count_pages(ended.read_json()) == (9, 4, 5, 0)


def test_two_files_of_one_name_stay_apart(tmp_path: Path) -> None:
    sources = []
    for seed, folder in ((500, "january"), (600, "february")):
        (tmp_path / folder).mkdir()
        sources.append(write_pdf(tmp_path / folder / "scan.pdf", ["engraving"] * 2, seed=seed))
    out = tmp_path / "d.zip"
    ended = run_command("archive_tools", "build", *sources, "--out", out, *SIGMA, "--json")
    assert count_pages(ended.read_json()) == (4, 4, 0, 0)
    with zipfile.ZipFile(out) as archive:
        rows = read_rows(archive)
        assert len({row["file_name"] for row in rows}) == 4
        assert [row["source_sha256"] for row in rows] == [
            hashlib.sha256(source.read_bytes()).hexdigest() for source in sources for _ in range(2)
        ]
        assert len(read_pages(archive)) == 4


def test_filter_none_with_trigger_and_crop(scans: Path, tmp_path: Path) -> None:
    out = tmp_path / "all.zip"
    options = ["--filter", "none", "--trigger", "cattleprint", "--fit", "crop", "--json"]
    ended = run_command("archive_tools", "build", scans / "dairy.pdf", "--out", out, *options)
    assert ended.status == 0, ended.stderr
    with zipfile.ZipFile(out) as archive:
        rows = read_rows(archive)
        assert len(rows) == 3
        assert all(str(row["text"]).startswith("cattleprint") for row in rows)
        first = io.BytesIO(archive.read(f"train/{rows[0]['file_name']}"))
        assert Image.open(first).size == (1024, 1024)


def test_min_sigma_moves_the_decision(scans: Path, tmp_path: Path) -> None:
    out = tmp_path / "strict.zip"
    first = scans / "Cattle Keeper 1893.pdf"
    options = [*SIGMA, "--min-sigma", "60", "--json"]
    ended = run_command("archive_tools", "build", first, "--out", out, *options)
    assert ended.status == 0, ended.stderr
    assert count_pages(ended.read_json()) == (6, 2, 4, 0)


def test_score_lists_every_page(scans: Path, tmp_path: Path) -> None:
    out = tmp_path / "pages.csv"
    to_file = run_command("archive_tools", "score", *sorted(scans.iterdir()), "--out", out)
    to_stream = run_command("archive_tools", "score", *sorted(scans.iterdir()))
    assert (to_file.status, to_stream.status) == (0, 0), to_file.stderr + to_stream.stderr
    sigmas = [sigma for path in sorted(scans.iterdir()) for sigma in measure_sigmas(path)]
    for text in (out.read_text(encoding="utf-8"), to_stream.stdout):
        pages = list(csv.DictReader(io.StringIO(text)))
        assert [int(page["page_number"]) for page in pages] == [1, 2, 3, 4, 5, 6, 1, 2, 3]
        assert [float(page["sigma"]) for page in pages] == pytest.approx(sigmas, abs=0.3)


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["build"],
        ["build", "missing.pdf", "--out", "OUT"],
        ["build", "SCAN"],
        ["build", "SCAN", "--out", "OUT", "--min-sigma", "900"],
        ["build", "SCAN", "--out", "OUT", "--filter", "magic"],
        ["build", "SCAN", "--out", "OUT", "--no-such-option"],
    ],
)
def test_wrong_usage_ends_with_two(arguments: list[str], scans: Path, tmp_path: Path) -> None:
    places = {"SCAN": str(scans / "dairy.pdf"), "OUT": str(tmp_path / "out.zip")}
    ended = run_command("archive_tools", *(places.get(word, word) for word in arguments))
    assert ended.status == 2
    assert ended.stderr.strip()
    assert "Traceback" not in ended.stderr
    assert list(tmp_path.iterdir()) == []


def test_resume_after_a_kill_ends_in_the_same_bytes(tmp_path: Path) -> None:
    source = write_pdf(tmp_path / "long.pdf", ["engraving", "text", "engraving"] * 10, seed=7)
    whole, cut = tmp_path / "whole" / "d.zip", tmp_path / "cut" / "d.zip"
    for folder in (whole.parent, cut.parent):
        folder.mkdir()
    assert run_command("archive_tools", "build", source, "--out", whole, *SIGMA).status == 0

    _kill_in_the_middle(source, cut)
    assert not cut.exists()

    ended = run_command("archive_tools", "build", source, "--out", cut, "--resume", *SIGMA)
    assert ended.status == 0, ended.stderr
    assert cut.read_bytes() == whole.read_bytes()
    assert [path.name for path in cut.parent.iterdir()] == ["d.zip"]


def _kill_in_the_middle(source: Path, out: Path) -> None:
    """Start a build and kill its whole process group once it has begun to write."""
    options = [*SIGMA, "--workers", "1"]
    command = build_command("archive_tools", "build", source, "--out", out, *options)
    process = subprocess.Popen(
        command,
        cwd=REPOSITORY,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    deadline = time.monotonic() + 120
    while sum(path.stat().st_size for path in out.parent.iterdir()) < 1_000_000:
        assert process.poll() is None, "the run ended before it could be killed"
        assert time.monotonic() < deadline, "the run wrote nothing"
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
