"""Job folders of the page: what goes at once, what stays for a day, and what a restart removes."""

import os
import time
from pathlib import Path

import gradio as gr
import pytest

from archive_tools.job_folder import KEPT_S, RESULT_NAME, link_input, open_job_folder
from archive_tools.schema import NamedFile
from archive_tools.tab import build_archive_tab


@pytest.fixture
def uploads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Gradio's upload folder."""
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path / "uploads"))
    (tmp_path / "uploads").mkdir()
    return tmp_path / "uploads"


def write_job(folder: Path, age_s: float, *names: str) -> None:
    """Write what a run leaves when its server is killed."""
    (folder / "inputs").mkdir(parents=True)
    for path in (*(folder / name for name in names), folder / "inputs", folder):
        if path.suffix:
            path.write_bytes(b"left")
        os.utime(path, (time.time() - age_s,) * 2)


def build_page() -> None:
    with gr.Blocks():
        build_archive_tab()


def test_start_removes_jobs_older_than_a_day_and_nothing_else(uploads: Path) -> None:
    partial = ("dataset.zip.partial", "dataset.zip.journal", "inputs/000000.pdf")
    write_job(uploads / "archive-old", KEPT_S + 60, *partial)
    write_job(uploads / "archive-done", KEPT_S + 60, RESULT_NAME)
    write_job(uploads / "archive-fresh", KEPT_S - 60, RESULT_NAME)
    write_job(uploads / "another", KEPT_S + 60, RESULT_NAME)
    write_job(uploads / "archive-busy", KEPT_S + 60, *partial)
    os.utime(uploads / "archive-busy" / "dataset.zip.partial")
    build_page()
    left = sorted(folder.name for folder in uploads.iterdir())
    assert left == ["another", "archive-busy", "archive-fresh"]


def test_start_follows_no_link_out_of_the_upload_folder(uploads: Path, tmp_path: Path) -> None:
    write_job(tmp_path / "private", KEPT_S + 60, RESULT_NAME)
    (uploads / "archive-link").symlink_to(tmp_path / "private")
    build_page()
    assert (tmp_path / "private" / RESULT_NAME).exists()


def test_start_without_an_upload_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path / "missing"))
    build_page()


@pytest.mark.parametrize("finishes", [True, False])
def test_job_keeps_its_zip_and_never_touches_the_upload(uploads: Path, finishes: bool) -> None:
    upload = uploads / "scan.pdf"
    upload.write_bytes(b"%PDF")
    with open_job_folder() as folder:
        linked = link_input(NamedFile(upload, "Scan.pdf"), folder, 3)
        assert (linked.name, linked.path.read_bytes()) == ("Scan.pdf", b"%PDF")
        if finishes:
            (folder / RESULT_NAME).write_bytes(b"zip")
    assert upload.read_bytes() == b"%PDF"
    assert folder.exists() == finishes
    assert not finishes or [path.name for path in folder.iterdir()] == [RESULT_NAME]
