"""Jobs that outlive their visitor: taken up again, finished early, explained when they expire."""

import json
import zipfile
from collections.abc import Callable
from itertools import takewhile
from pathlib import Path

import pytest

from archive_tools.config import DatasetConfig, PageFilter
from archive_tools.errors import EncryptedPdfError, InvalidOptionError
from archive_tools.fetch_tab import begin_job
from archive_tools.job_folder import Job
from archive_tools.job_run import TURN, JobNews, JobState, finish_early, follow_job, look_at_job
from archive_tools.report_html import failure_lines
from archive_tools.schema import NamedFile, RunStatus
from tests import image_fixtures
from tests.sample_files import write_bad_pdf, write_pdf
from tests.worker_processes import list_workers

CONFIG = DatasetConfig(filter=PageFilter.NONE, trigger="plate")
PAGES = 5


@pytest.fixture(autouse=True)
def uploads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Gradio's upload folder."""
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path / "uploads"))
    # One worker is enough here, and starting them is most of the work.
    monkeypatch.setattr("archive_tools.workers.count_usable_cpus", lambda: 1)
    (tmp_path / "uploads").mkdir()
    return tmp_path / "uploads"


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[NamedFile]:
    """Two files, five pages."""
    folder = tmp_path_factory.mktemp("files")
    book = write_pdf(folder / "book.pdf", ["engraving", "blank"] * 2)
    plate = folder / "plate.png"
    plate.write_bytes(image_fixtures.page_image("PNG"))
    return [NamedFile(plate, "plate.png"), NamedFile(book, "Old book.pdf")]


@pytest.fixture
def begin(files: list[NamedFile]) -> Callable[[], Job]:
    """Begins the same run each time."""
    return lambda: begin_job(files, CONFIG)


def finish(job: Job) -> JobNews:
    """Follow a job to its end."""
    *_, last = follow_job(job)
    return last


def stop_after(job: Job, count: int) -> None:
    """Follow a job until so many pages are done, and leave, as a lost visitor does."""
    steps = follow_job(job)
    list(takewhile(lambda news: not news.progress or news.progress.pages.seen < count, steps))
    assert look_at_job(job).state is JobState.RUNNING
    steps.close()
    assert look_at_job(job).state is JobState.STOPPED
    assert list_workers() == []


def test_a_stopped_run_is_taken_up_by_its_id_to_the_same_bytes(
    begin: Callable[[], Job], monkeypatch: pytest.MonkeyPatch
) -> None:
    # Progress after each page, so that there is a page to stop at.
    monkeypatch.setattr("archive_tools.pipeline.PROGRESS_EVERY_S", 0)
    whole = begin()
    assert finish(whole).state is JobState.DONE
    job = begin()
    stop_after(job, 2)
    news = finish(job)
    assert news.state is JobState.DONE
    assert news.report is not None
    assert news.report.pages.seen == PAGES
    assert news.report.resumed_count >= 2
    assert job.result_path.read_bytes() == whole.result_path.read_bytes()
    assert finish(Job(job.id)) == news, "it can be fetched as often as one likes"


def test_others_hear_how_far_a_run_is_and_wait_for_their_turn(files: list[NamedFile]) -> None:
    job, other = begin_job(files[:1], CONFIG), begin_job(files[:1], CONFIG)
    steps = follow_job(job)
    first = next(steps)
    assert (first.state, first.progress is not None) == (JobState.RUNNING, True)
    watching = follow_job(job)
    assert next(watching).state is JobState.RUNNING
    waiting = follow_job(other)
    assert next(waiting).state is JobState.WAITING
    list(steps)
    assert [news.state for news in watching] == [JobState.DONE]
    assert [news.state for news in waiting][-1] is JobState.DONE
    assert TURN.news is None


def test_a_run_can_be_finished_early_with_what_is_done(
    begin: Callable[[], Job], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("archive_tools.pipeline.PROGRESS_EVERY_S", 0)
    job = begin()
    assert [news.state for news in finish_early(job)] == [JobState.STOPPED], "nothing is done yet"
    stop_after(job, 2)
    *_, news = finish_early(job)
    assert (news.state, news.report is not None) == (JobState.DONE, True)
    assert news.report
    assert 2 <= news.report.pages.seen < PAGES
    with zipfile.ZipFile(job.result_path) as archive:
        assert archive.testzip() is None
        report = json.loads(archive.read("manifest/report.json"))
        rows = archive.read("train/metadata.jsonl").splitlines()
        listed = archive.read("manifest/pages.csv").splitlines()[1:]
    assert (report["status"], report["stopped_early"]) == ("partial", True)
    assert len(rows) == news.report.pages.kept == report["counts"]["kept"]
    assert len(listed) == news.report.pages.seen
    assert [one.state for one in follow_job(job)] == [JobState.DONE], "the others are given up"


def test_a_run_without_anything_usable_stays_failed(tmp_path: Path) -> None:
    locked = write_bad_pdf(tmp_path, "encrypted")
    job = begin_job([NamedFile(locked, "locked.pdf")], CONFIG)
    news = finish(job)
    assert news.state is JobState.FAILED
    assert "locked.pdf" in news.message
    assert "password" in news.message
    assert look_at_job(job).to_json()["message"] == news.message


def test_a_password_has_to_be_given_again(tmp_path: Path) -> None:
    locked = write_bad_pdf(tmp_path, "encrypted")
    config = DatasetConfig(filter=PageFilter.NONE, password="wrong")
    job = begin_job([NamedFile(locked, "locked.pdf")], config)
    with pytest.raises(InvalidOptionError, match="Give it again"):
        finish(job)
    assert look_at_job(job).state is JobState.STOPPED


def test_a_wrong_password_may_be_given_again(tmp_path: Path) -> None:
    locked = write_bad_pdf(tmp_path, "encrypted")
    config = DatasetConfig(filter=PageFilter.NONE, password="wrong")
    job = begin_job([NamedFile(locked, "locked.pdf")], config)
    with pytest.raises(EncryptedPdfError, match=r"locked\.pdf .* The files are kept"):
        list(follow_job(job, "wrong"))
    assert look_at_job(job).state is JobState.STOPPED
    assert TURN.news is None
    *_, news = follow_job(job, "sesame")
    assert news.state is JobState.DONE


def test_a_wrong_password_among_usable_files_names_its_file_and_the_remedy(tmp_path: Path) -> None:
    locked = write_bad_pdf(tmp_path, "encrypted")
    usable = write_pdf(tmp_path / "open.pdf", ["engraving"])
    config = DatasetConfig(filter=PageFilter.NONE, password="wrong")
    files = [NamedFile(locked, "locked.pdf"), NamedFile(usable, "open.pdf")]
    *_, news = follow_job(begin_job(files, config), "wrong")
    assert news.state is JobState.DONE
    assert news.report is not None
    assert news.report.status is RunStatus.PARTIAL
    (line,) = failure_lines(news.report)
    assert line.startswith("locked.pdf is encrypted")
    assert "Give the right one and build again" in line
    for language in ("de", "fr", "ru"):
        (told,) = failure_lines(news.report, language)
        assert "locked.pdf" in told
        assert "Give" not in told
        assert "wrong" not in told


def test_cancel_waits_for_nobody_where_nothing_is_to_be_kept(begin: Callable[[], Job]) -> None:
    waiting, ended = begin(), begin()
    assert finish(ended).state is JobState.DONE
    with TURN._lock:  # somebody else's run
        assert [news.state for news in finish_early(waiting)] == [JobState.STOPPED]
        assert [news.state for news in finish_early(ended)] == [JobState.DONE]
    ended.result_path.unlink()
    assert look_at_job(ended).state is JobState.EXPIRED, "its address would lead nowhere"


def test_an_expired_job_says_so(uploads: Path) -> None:
    news = finish(Job("0" * 32))
    assert news.state is JobState.EXPIRED
    assert "Build the dataset again" in news.to_json()["message"]
    assert list(uploads.iterdir()) == []
