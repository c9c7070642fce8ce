"""Job folders of the page: what goes at once, what waits and for how long, what makes room."""

import fcntl
import os
import re
import time
from pathlib import Path

import gradio as gr
import pytest
from gradio.route_utils import delete_files_created_by_app

from archive_tools import job_folder
from archive_tools.config import Content, DatasetConfig, Finishing, PageFilter, Spreads
from archive_tools.errors import DatasetWriteError, InvalidOptionError
from archive_tools.job_folder import (
    KEPT_S,
    RESULT_NAME,
    SAFE_FINISHED_S,
    SAFE_S,
    create_job,
    find_job,
    link_input,
    open_job_folder,
    remove_old_jobs,
)
from archive_tools.preview import TABLE_NAME
from archive_tools.run_report import PageFailure, RunReport
from archive_tools.schema import NamedFile, PageCounts, RunStatus, SourceFailure
from archive_tools.tab import build_archive_tab
from serving.limits import MAX_QUEUE


@pytest.fixture
def uploads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Gradio's upload folder."""
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path / "uploads"))
    (tmp_path / "uploads").mkdir()
    return tmp_path / "uploads"


@pytest.fixture
def upload(uploads: Path) -> NamedFile:
    """An upload whose name is no valid Unicode."""
    path = uploads / "scan.pdf"
    path.write_bytes(b"%PDF" + bytes(1000))
    return NamedFile(path, "Scan \udce4.pdf")


def write_job(folder: Path, age_s: float, *names: str) -> None:
    """Write what a run leaves when its server is killed."""
    (folder / "inputs").mkdir(parents=True)
    for name in names:
        (folder / name).write_bytes(b"left")
    for path in (folder, *folder.rglob("*")):
        os.utime(path, (time.time() - age_s,) * 2)


def build_page() -> None:
    with gr.Blocks() as demo:
        build_archive_tab(demo, gr.Dropdown())


def list_names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_start_removes_jobs_older_than_a_day_and_nothing_else(uploads: Path) -> None:
    partial = ("dataset.zip.partial", "dataset.zip.journal", "inputs/000000.pdf")
    write_job(uploads / "archive-old", KEPT_S + 60, *partial)
    write_job(uploads / "archive-done", KEPT_S + 60, RESULT_NAME)
    write_job(uploads / "archive-fresh", KEPT_S - 60, RESULT_NAME)
    write_job(uploads / "another", KEPT_S + 60, RESULT_NAME)
    write_job(uploads / "archive-busy", KEPT_S + 60, *partial)
    os.utime(uploads / "archive-busy" / "dataset.zip.partial")
    build_page()
    assert list_names(uploads) == ["another", "archive-busy", "archive-fresh"]


def test_start_follows_no_link_out_of_the_upload_folder(uploads: Path, tmp_path: Path) -> None:
    write_job(tmp_path / "private", KEPT_S + 60, RESULT_NAME)
    (uploads / "archive-link").symlink_to(tmp_path / "private")
    build_page()
    assert (tmp_path / "private" / RESULT_NAME).exists()


def test_start_without_an_upload_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path / "missing"))
    build_page()


@pytest.mark.parametrize("finishes", [True, False])
def test_a_preview_keeps_its_table_and_never_touches_the_upload(
    upload: NamedFile, finishes: bool
) -> None:
    with open_job_folder(TABLE_NAME) as folder:
        linked = link_input(upload, folder, 3)
        assert (linked.name, linked.path.read_bytes()[:4]) == (upload.name, b"%PDF")
        if finishes:
            (folder / TABLE_NAME).write_bytes(b"table")
    assert upload.path.read_bytes()[:4] == b"%PDF"
    assert folder.exists() == finishes
    assert not finishes or list_names(folder) == [TABLE_NAME]


def test_a_job_is_found_again_with_everything_but_its_password(upload: NamedFile) -> None:
    config = DatasetConfig(
        filter=PageFilter.SIGMA,
        content=Content.REGIONS,
        spreads=Spreads.KEEP,
        finishing=Finishing(descreen=True),
        password="open sesame",
        hide_layers=("Notes", "Ä"),
    )
    made = create_job([upload], config)
    found = find_job(f" {made.id.upper()}\n")
    assert re.fullmatch(r"[0-9a-f]{32}", made.id)
    assert found.exists
    assert found.needs_password
    assert found.read_config("open sesame") == config
    assert [(file.name, file.path.read_bytes()[:4]) for file in found.list_files()] == [
        (upload.name, b"%PDF")
    ]
    stored = b"".join(path.read_bytes() for path in made.folder.rglob("*") if path.is_file())
    assert b"sesame" not in stored


def test_a_report_is_found_again_and_the_inputs_go(upload: NamedFile) -> None:
    job = create_job([upload], DatasetConfig())
    assert job.read_report() is None
    report = RunReport(
        status=RunStatus.PARTIAL,
        out=job.result_path,
        pages=PageCounts(5, 4, 1),
        file_count=1,
        source_failures=(SourceFailure(upload.name, "no pages"),),
        source_failure_count=1,
        page_failures=(PageFailure("a.pdf", 3, "broken"),),
        elapsed_s=2.5,
        dataset={"counts": {"images": 5}},
        resumed_count=6,
    )
    job.record_report(report)
    assert find_job(job.id).read_report() == report
    assert list_names(job.folder) == ["job.json", "report.json"]
    assert upload.path.exists()


@pytest.mark.parametrize(
    "job_id",
    ["", "archive", "../../etc/passwd", "0" * 31, "0" * 33, "g" * 32, "0" * 31 + "/", None, 7, {}],
    ids=str,
)
def test_what_is_no_id_leads_to_no_folder(job_id: object) -> None:
    with pytest.raises(InvalidOptionError, match="32 characters"):
        find_job(job_id)


def test_the_oldest_make_room_but_not_one_at_work(
    uploads: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(6):
        write_job(uploads / f"archive-{number}", SAFE_S + 60.0 * number, "dataset.zip.journal")
    monkeypatch.setattr(job_folder, "MOST_JOBS", 4)
    with (uploads / "archive-5" / "dataset.zip.journal").open("rb") as journal:
        fcntl.flock(journal, fcntl.LOCK_EX)
        remove_old_jobs()
    assert list_names(uploads) == ["archive-0", "archive-1", "archive-2", "archive-5"]


def test_many_new_jobs_push_out_nobody_and_are_refused(
    upload: NamedFile, uploads: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job_folder, "MOST_JOBS", 4)
    write_job(uploads / "archive-hour", SAFE_S + 60, RESULT_NAME)
    write_job(uploads / "archive-young", SAFE_S - 60, "dataset.zip.journal")
    made = [create_job([upload], DatasetConfig()) for _ in range(3)]
    with pytest.raises(DatasetWriteError, match="or in an hour"):
        create_job([upload], DatasetConfig())
    assert all(job.exists for job in made)
    assert (uploads / "archive-young").exists()
    assert not (uploads / "archive-hour").exists()


def test_many_finished_jobs_keep_no_new_one_out(
    upload: NamedFile, uploads: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job_folder, "MOST_JOBS", 6)
    finished = (RESULT_NAME, "report.json", "job.json")
    write_job(uploads / "archive-oldest", SAFE_FINISHED_S + 90, *finished)
    write_job(uploads / f"archive-{'0' * 32}", SAFE_FINISHED_S + 80, *finished)
    write_job(uploads / "archive-downloaded", SAFE_FINISHED_S + 70, *finished)
    write_job(uploads / "archive-unfinished", SAFE_FINISHED_S + 60, "dataset.zip.journal")
    write_job(uploads / "archive-next", SAFE_FINISHED_S + 50, *finished)
    write_job(uploads / "archive-young", SAFE_FINISHED_S - 60, *finished)
    find_job("0" * 32).note_fetch()
    with (uploads / "archive-downloaded" / RESULT_NAME).open("rb"):
        made = [create_job([upload], DatasetConfig()) for _ in range(2)]
        with pytest.raises(DatasetWriteError, match="Try again in ten minutes"):
            create_job([upload], DatasetConfig())
    gone = {"archive-oldest", "archive-next"}
    assert not gone & set(list_names(uploads))
    assert all(job.exists for job in made)
    # Once the download has ended its job may go.
    create_job([upload], DatasetConfig())
    assert not (uploads / "archive-downloaded").exists()
    assert find_job("0" * 32).result_path.exists()


def test_a_fetched_result_is_not_kept_for_longer_than_a_day(upload: NamedFile) -> None:
    job = create_job([upload], DatasetConfig())
    job.result_path.write_bytes(b"dataset")
    for path in (*job.folder.rglob("*"), job.folder):
        os.utime(path, (time.time() - KEPT_S - 60,) * 2)
    job.note_fetch()
    remove_old_jobs()
    assert not job.exists


def test_there_is_room_for_more_jobs_than_may_wait() -> None:
    assert job_folder.MOST_JOBS > MAX_QUEUE


def test_a_preview_at_work_makes_no_room(uploads: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job_folder, "MOST_JOBS", 1)
    with open_job_folder(TABLE_NAME) as folder:
        for path in (*folder.iterdir(), folder):
            os.utime(path, (time.time() - KEPT_S - 60,) * 2)
        write_job(uploads / "archive-newer", SAFE_S + 60, RESULT_NAME)
        remove_old_jobs()
        assert folder.exists()


def test_a_job_that_is_too_large_is_refused_at_once(
    upload: NamedFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job_folder, "MOST_BYTES", 1_500)
    job = create_job([upload], DatasetConfig())
    with pytest.raises(DatasetWriteError, match="larger than"):
        create_job([upload, upload], DatasetConfig())
    assert job.exists
    # One that has grown since, and still waits for its turn.
    monkeypatch.setattr(job_folder, "MOST_BYTES", 500)
    for path in (*job.folder.rglob("*"), job.folder):
        os.utime(path, (time.time() - SAFE_S - 60,) * 2)
    remove_old_jobs()
    assert job.exists


def test_a_folder_that_vanishes_meanwhile_is_no_error(
    uploads: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_job(uploads / "archive-left", 60.0, RESULT_NAME)
    scandir = os.scandir

    def scan_too_late(path: str | Path) -> object:
        if Path(path).name == "inputs":
            Path(path).rmdir()
        return scandir(path)

    with monkeypatch.context() as patch:
        patch.setattr(os, "scandir", scan_too_late)
        remove_old_jobs()
    assert list_names(uploads / "archive-left") == [RESULT_NAME]


def test_gradio_spares_results_that_it_has_handed_out(upload: NamedFile) -> None:
    with gr.Blocks() as demo:
        build_archive_tab(demo, gr.Dropdown())
    job = create_job([upload], DatasetConfig())
    job.result_path.write_bytes(b"dataset")
    (output,) = [
        one for one in demo.blocks.values() if getattr(one, "elem_id", "") == "dataset-output"
    ]
    for path in (job.result_path, upload.path):
        output.move_resource_to_block_cache(path)
    delete_files_created_by_app(demo, age=None)
    assert job.result_path.exists()
    assert not upload.path.exists()


def test_large_jobs_make_room_sooner(uploads: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(4):
        write_job(uploads / f"archive-{number}", SAFE_S + 60.0 * number, "inputs/000000.pdf")
        os.truncate(uploads / f"archive-{number}" / "inputs" / "000000.pdf", 40_000)
    monkeypatch.setattr(job_folder, "MOST_BYTES", 100_000)
    remove_old_jobs()
    assert list_names(uploads) == ["archive-0", "archive-1"]
