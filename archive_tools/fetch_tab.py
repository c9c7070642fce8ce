"""Fetching the result of a job by its id, from the page and from the API."""

from collections.abc import Iterator, Sequence
from typing import Any

import gradio as gr

from archive_tools.captions import check_caption
from archive_tools.config import DatasetConfig
from archive_tools.errors import ArchiveToolsError, SourceError
from archive_tools.job_folder import Job, create_job, find_job, served_file
from archive_tools.job_run import JobNews, JobState, finish_early, follow_job, look_at_job
from archive_tools.schema import NamedFile

AS_FETCH: dict[str, Any] = {"concurrency_id": "fetch", "concurrency_limit": 8}
"""They mostly wait: a job is worked on by one of them at a time."""


def begin_job(files: Sequence[NamedFile], config: DatasetConfig) -> Job:
    """Put a run on disk; nothing is worked on yet.

    Args:
        files: The uploads.
        config: Options of the run.

    Raises:
        SourceError: There is no file.
        InvalidOptionError: The trigger cannot work.
        DatasetWriteError: The disk is full.
    """
    if not files:
        raise SourceError("No file was given. Add at least one PDF or image, then build again.")
    check_caption(config.caption, config.trigger)
    return create_job(files, config)


def fetch_result(
    job_id: str, password: str = "", wait: bool = True, so_far: bool = False
) -> Iterator[tuple[gr.FileData, dict[str, Any]]]:
    """Fetch the dataset of a job: after a lost connection, a closed page, a restart of the server.

    Yields (None, where it stands) while the run goes on and at last (the ZIP file, the report). A
    run that was stopped is finished from the pages that were done. Each answer has a state:
    "waiting" and "running" while there is more to come, at last "done", "failed" (no file could be
    used) or "expired", with a message that says what to do; "stopped" where nobody is at work on it
    and the call does not wait.

    Args:
        job_id: What /build_dataset yielded and the page showed.
        password: The password that the run was started with, if any: it is not stored.
        wait: Whether to finish the run and wait for it; otherwise the first answer is the last.
        so_far: Whether to give up pages that are not done, and take the dataset of the others.

    Returns:
        The ZIP or null, and where the job stands or the report of the run.
    """
    try:
        job = find_job(job_id)
        for news in _iter_news(job, password, wait, so_far):
            yield answer(news)
    except ArchiveToolsError as error:
        raise gr.Error(str(error), print_exception=False) from error


def answer(news: JobNews) -> tuple[gr.FileData, dict[str, Any]]:
    """Return what an endpoint yields for the news of a job: the ZIP, or null, and the news."""
    if news.state is not JobState.DONE or news.report is None:
        # Annotated as with a ZIP: Gradio types the endpoint by it, null or not.
        return None, news.to_json()  # type: ignore[return-value]
    return served_file(str(news.report.out)), news.to_json()


def _iter_news(job: Job, password: str, wait: bool, so_far: bool) -> Iterator[JobNews]:
    if not wait:
        yield look_at_job(job)
    elif so_far:
        yield from finish_early(job)
    else:
        yield from follow_job(job, password)
