"""Jobs on the page and in the API: begun, watched, cancelled, and fetched by their id."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import gradio as gr

from archive_tools.captions import check_caption
from archive_tools.config import DatasetConfig
from archive_tools.dataset_figures import read_figures
from archive_tools.errors import ArchiveToolsError, InvalidOptionError
from archive_tools.figures_html import figures_html
from archive_tools.job_folder import Job, create_job, find_job, served_file
from archive_tools.job_run import JobNews, JobState, finish_early, follow_job, look_at_job
from archive_tools.message_words import tell_message
from archive_tools.progress_html import NewestPictures, progress_html, status_html
from archive_tools.report_html import nothing_usable, report_html
from archive_tools.schema import NamedFile
from archive_tools.tab_files import check_any
from archive_tools.tab_texts import TAB_TEXTS
from serving.error_html import error_html

AS_FETCH: Final[dict[str, Any]] = {"concurrency_id": "fetch", "concurrency_limit": 16}
"""They mostly wait: a job is worked on by one of them at a time. Gradio works on 40 requests of
all kinds at once, so that with all of these there is room for the others.
"""

AS_CANCEL: Final[dict[str, Any]] = {"concurrency_id": "cancel", "concurrency_limit": 8}
"""Apart from those who follow a job to its end: Cancel must not wait for them."""

# A frame of another site may forbid to remember.
REMEMBER_JS: Final = """(job_id) => {
  try { if (job_id) localStorage.setItem("archive-job", job_id); } catch {}
}"""
RECALL_JS: Final = """() => {
  let job_id = null;
  try { job_id = localStorage.getItem("archive-job"); } catch {}
  return [job_id || "", { open: Boolean(job_id), __type__: "update" }];
}"""

Shown = tuple[str, Any, str | None, str, str | None]
"""Progress, newest pictures, ZIP, report, and the job that Cancel is for."""

KEEP_SHOWN: Final[Any] = (gr.skip(),) * 5
"""Leaves all of it as it is."""


@dataclass(frozen=True, slots=True)
class FetchPanel:
    """Where a visitor gives the id of a job."""

    accordion: gr.Accordion
    job_id: gr.Textbox
    button: gr.Button


def build_fetch_panel() -> FetchPanel:
    """Lay out the panel, folded away; call it inside `gr.Blocks`."""
    with gr.Accordion(
        TAB_TEXTS.marker("fetch_title"), open=False, elem_id="fetch-panel"
    ) as accordion:
        gr.Markdown(TAB_TEXTS.marker("fetch_info"))
        # Two lines: a phone shows the whole id.
        job_id = gr.Textbox(
            label=TAB_TEXTS.marker("job_id"), max_lines=2, buttons=["copy"], elem_id="job-id-input"
        )
        button = gr.Button(TAB_TEXTS.marker("fetch"), elem_id="fetch-button")
    return FetchPanel(accordion, job_id, button)


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
    check_any(files)
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
    """Return what an endpoint yields for the news of a job: the ZIP, or null, and the news.

    Args:
        news: Of the job.
    """
    if news.state is not JobState.DONE or news.report is None:
        # Annotated as with a ZIP: Gradio types the endpoint by it, null or not.
        return None, news.to_json()  # type: ignore[return-value]
    return served_file(str(news.report.out)), news.to_json()


def on_fetch(job_id: str, password: str | None, language: str) -> Iterator[Shown]:
    """Fetch a result for the page.

    Args:
        job_id: What the visitor gives.
        password: For encrypted files.
        language: Language of the page.

    Yields:
        What is shown.
    """
    try:
        job = find_job(job_id)
    except InvalidOptionError:
        yield "", "", None, error_html(TAB_TEXTS.tell("unexpected_id", language)), None
        return
    yield from show_job(job, follow_job(job, password), language)


def on_cancel(job_id: str | None, language: str) -> Iterator[Shown]:
    """Keep what is done of a cancelled run; Gradio has closed its generator.

    Args:
        job_id: The run that was at work, None where it was a preview or nothing. It may have ended
            before the click arrived; then its result is shown, and nothing called cancelled.
        language: Language of the page.

    Yields:
        What is shown.
    """
    cancelled = status_html(TAB_TEXTS.tell("cancelled", language))
    if job_id is None:
        yield cancelled, "", None, "", None
        return
    job = find_job(job_id)
    news = look_at_job(job)
    if news.state is JobState.DONE:
        yield _show(news, NewestPictures(language), language)
        return
    yield cancelled, "", None, "", job_id
    for shown in show_job(job, finish_early(job), language):
        progress, newest, dataset, report, _ = shown
        yield progress or cancelled, newest, dataset, report, None


def show_job(job: Job, steps: Iterable[JobNews], language: str) -> Iterator[Shown]:
    """Show a job while it goes on, and its result.

    Args:
        job: The job.
        steps: Its news.
        language: Language of the page.

    Yields:
        What is shown.
    """
    newest = NewestPictures(language)
    yield status_html(TAB_TEXTS.tell("starting", language)), "", None, "", job.id
    try:
        for news in steps:
            yield _show(news, newest, language)
    except ArchiveToolsError as error:
        # On the page and not in a toast: it says what to do, and a toast is gone in seconds.
        yield "", "", None, error_html(tell_message(str(error), language)), job.id


def _show(news: JobNews, newest: NewestPictures, language: str) -> Shown:
    if news.progress is not None:
        strip = newest.html_if_changed(news.progress)
        shown = gr.skip() if strip is None else strip
        return progress_html(news.progress, language), shown, None, "", news.job_id
    if news.state is JobState.WAITING:
        waiting = status_html(TAB_TEXTS.tell("waiting", language))
        return waiting, gr.skip(), None, "", news.job_id
    if news.state is JobState.DONE and news.report is not None and news.report.out:
        out = news.report.out
        report = report_html(news.report, language, news.job_id)
        figures = figures_html(read_figures(out), language)
        return "", gr.skip(), str(out), report + figures, news.job_id
    if news.state is JobState.STOPPED:
        stopped = status_html(TAB_TEXTS.tell("cancelled_nothing", language))
        return stopped, "", None, "", None
    failed = nothing_usable(news.report, language) if news.report else ""
    message = failed or TAB_TEXTS.tell("expired", language)
    return "", "", None, error_html(message), None


def _iter_news(job: Job, password: str, wait: bool, so_far: bool) -> Iterator[JobNews]:
    if not wait:
        yield look_at_job(job)
    elif so_far:
        yield from finish_early(job)
    else:
        yield from follow_job(job, password)
