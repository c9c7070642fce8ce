"""Following a job to its end: whoever knows its id waits for it, or finishes it.

A visitor who leaves stops the run at its next page; the journal stays, and whoever comes back with
the id goes on from there, to the same bytes.
"""

import threading
import time
from collections.abc import Generator
from contextlib import closing
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from archive_tools.config import ON_THE_PAGE, RunOptions
from archive_tools.errors import (
    ANOTHER_PASSWORD,
    WRONG_PASSWORD,
    EncryptedPdfError,
    InvalidOptionError,
)
from archive_tools.job_folder import KEPT_S, Job
from archive_tools.journal import has_kept_page
from archive_tools.pipeline import build_dataset
from archive_tools.report_html import nothing_usable
from archive_tools.run_report import PageFailure, Progress, RunReport
from archive_tools.schema import RunStatus, SourceFailure
from archive_tools.writer import journal_path, open_dataset_writer

TICK_S = 0.5
"""Seconds between two news of a job that another request is at work on."""


class JobState(StrEnum):
    """Where a job stands."""

    WAITING = "waiting"  # for the run of another visitor to end
    RUNNING = "running"
    STOPPED = "stopped"  # unfinished, and nobody is at work on it
    DONE = "done"
    FAILED = "failed"
    EXPIRED = "expired"


_FINAL = frozenset({JobState.DONE, JobState.FAILED, JobState.EXPIRED})


@dataclass(frozen=True, slots=True)
class JobNews:
    """What is known of a job at this moment.

    Attributes:
        job_id: The job.
        state: Where it stands.
        progress: How far its run is, while one is at work.
        report: How its run ended, once it has.
    """

    job_id: str
    state: JobState
    progress: Progress | None = None
    report: RunReport | None = None

    @property
    def message(self) -> str:
        """What to do, where there is no dataset to come."""
        if self.state is JobState.EXPIRED:
            return (
                f"There is no job {self.job_id}: the id is wrong, or it has expired. A job waits "
                f"for {KEPT_S // 3600} hours at most, less where room is short or the server "
                "loses its disk. Build the dataset again."
            )
        if self.state is JobState.FAILED and self.report is not None:
            return nothing_usable(self.report)
        if self.state is JobState.STOPPED:
            return "The run was stopped before its end. Ask with wait=true to finish it."
        return ""

    def to_json(self) -> dict[str, Any]:
        """Return it as plain values."""
        told: dict[str, Any] = {"job_id": self.job_id, "state": self.state.value}
        if self.message:
            told["message"] = self.message
        for part in (self.progress, self.report):
            told |= part.to_json() if part is not None else {}
        return told


class _Turn:
    """Whose turn it is: a run uses all cores, so the server has one at a time."""

    def __init__(self) -> None:
        self.news: JobNews | None = None
        self._lock = threading.Lock()

    def take(self) -> bool:
        """Wait a moment for the turn; whether it is ours now, to be given back."""
        return self._lock.acquire(timeout=TICK_S)

    def give_back(self) -> None:
        """Let the next one work."""
        self.news = None
        self._lock.release()


# The one thing that the requests of a server share.
TURN = _Turn()


def follow_job(
    job: Job, password: str | None = None, *, scores: Path | None = None
) -> Generator[JobNews, None, None]:
    """Wait for a job, or finish it where nobody is at work on it.

    Closing the generator stops the run, if it is this one that is at work; its journal stays.

    Args:
        job: The job; it may have expired.
        password: For encrypted files.
        scores: What a preview recorded of the same pages.

    Yields:
        News a few times a second; the last one is done, failed or expired.

    Raises:
        ArchiveToolsError: The run cannot go on for now (a full disk, say), or needs a password,
            or another one.
    """
    while (news := look_at_job(job)).state not in _FINAL:
        if news.state is JobState.RUNNING:
            yield news
            time.sleep(TICK_S)
        elif not TURN.take():
            yield JobNews(job.id, JobState.WAITING)
        else:
            try:
                if look_at_job(job).state is JobState.STOPPED:
                    yield from _run(job, password, scores)
            finally:
                TURN.give_back()
    yield news


def finish_early(job: Job) -> Generator[JobNews, None, None]:
    """Make the dataset of the pages that are done, and give the others up.

    Where no page is kept yet nothing happens, at once, and the job may still be finished.

    Args:
        job: A job that nobody is at work on any more.

    Yields:
        News; the last one is done, failed or expired, or stopped where no page is kept.

    Raises:
        DatasetWriteError: The disk is full, or the dataset failed its check.
    """
    is_over = False
    while not is_over and _is_worth_a_turn(job):
        if not TURN.take():
            yield JobNews(job.id, JobState.WAITING)
            continue
        try:
            if look_at_job(job).state is JobState.STOPPED:
                _complete_with_what_is_done(job)
            is_over = True
        finally:
            TURN.give_back()
    yield look_at_job(job)


def look_at_job(job: Job) -> JobNews:
    """Say at once where a job stands.

    Args:
        job: The job; it may have expired.
    """
    newest = TURN.news
    if newest is not None and newest.job_id == job.id:
        return newest
    if not job.exists:
        return JobNews(job.id, JobState.EXPIRED)
    report = job.read_report()
    if report is None:
        return JobNews(job.id, JobState.STOPPED)
    if report.out and not report.out.is_file():
        return JobNews(job.id, JobState.EXPIRED)
    if not report.out:
        return JobNews(job.id, JobState.FAILED, report=report)
    job.note_fetch()
    return JobNews(job.id, JobState.DONE, report=report)


def _run(job: Job, password: str | None, scores: Path | None) -> Generator[JobNews, None, None]:
    """Begin the run or take it up, to its end; the turn is ours."""
    if job.needs_password and not password:
        raise InvalidOptionError(
            "This run was started with a password, and passwords are not stored. Give it again to "
            "finish the run."
        )
    run = RunOptions(resume=True, limits=ON_THE_PAGE, keep_partial=True, scores=scores)
    steps = build_dataset(job.list_files(), job.result_path, job.read_config(password), run)
    with closing(steps):
        for step in steps:
            if isinstance(step, RunReport):
                _check_password(step)
                job.record_report(step)
            else:
                TURN.news = JobNews(job.id, JobState.RUNNING, progress=step)
                yield TURN.news
    TURN.news = None


def _check_password(report: RunReport) -> None:
    """Keep a job that came to nothing for a wrong password: it may be given again."""
    ending = WRONG_PASSWORD + ANOTHER_PASSWORD
    wrong = [one.message for one in report.source_failures if one.message.endswith(ending)]
    if report.out is None and wrong:
        raise EncryptedPdfError(
            f"{wrong[0].removesuffix(ANOTHER_PASSWORD)} The files are kept: fetch the result again "
            "with the right password."
        )


def _is_worth_a_turn(job: Job) -> bool:
    """Whether a job has, or may soon have, pages to finish it with."""
    state = look_at_job(job).state
    if state is JobState.STOPPED:
        return has_kept_page(journal_path(job.result_path))
    return state not in _FINAL


def _complete_with_what_is_done(job: Job) -> None:
    """Finish the dataset with the pages of the journal, if any is kept; the turn is ours."""
    with open_dataset_writer(job.result_path, job.read_config(None), resume=True) as writer:
        pages = writer.resume_point.pages
        if not pages.kept:
            return
        dataset = writer.finish_early()
    job.record_report(
        RunReport(
            status=RunStatus.PARTIAL,
            out=job.result_path,
            pages=pages,
            file_count=dataset["counts"]["files"],
            source_failures=tuple(
                SourceFailure(one["file"], one["message"]) for one in dataset["file_failures"]
            ),
            source_failure_count=dataset["counts"]["files_failed"],
            page_failures=tuple(
                PageFailure(one["file"], one["page_number"], one["reason"])
                for one in dataset["page_failures"]
            ),
            elapsed_s=0.0,
            dataset=dataset,
            resumed_count=pages.seen,
        )
    )
