"""The archive tab and its API endpoint `/build_dataset`; its parts have modules of their own."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gradio as gr
from gradio.events import api

from archive_tools.command_tab import build_command_view, follow_options
from archive_tools.config import DEFAULT_MIN_SCORE
from archive_tools.errors import ArchiveToolsError, SourceError
from archive_tools.fetch_tab import (
    AS_CANCEL,
    AS_FETCH,
    KEEP_SHOWN,
    RECALL_JS,
    REMEMBER_JS,
    FetchPanel,
    Shown,
    answer,
    begin_job,
    build_fetch_panel,
    fetch_result,
    on_cancel,
    on_fetch,
    show_job,
)
from archive_tools.file_kinds import SOURCE_SUFFIXES
from archive_tools.job_folder import JobFiles, find_job, remove_old_jobs
from archive_tools.job_run import JobNews, JobState, follow_job
from archive_tools.message_words import tell_message
from archive_tools.preview import SCORES_NAME
from archive_tools.preview_html import SHOW_PREVIEW_JS
from archive_tools.preview_tab import (
    PreviewPanel,
    build_preview_panel,
    clear_when_outdated,
    on_preview,
    on_previewed,
    preview_dataset,
)
from archive_tools.progress_html import status_html
from archive_tools.tab_files import call_files, page_files
from archive_tools.tab_options import (
    ContentName,
    FilterName,
    FitName,
    OptionInputs,
    SpreadsName,
    build_options,
    make_config,
    page_config,
)
from archive_tools.tab_texts import TAB_TEXTS
from serving.error_html import error_html
from serving.uploads import NotUploadedError

# One run uses all cores, so runs wait for each other and never for a triage.
_AS_ONE_RUN: dict[str, Any] = {"concurrency_id": "archive", "concurrency_limit": 1}
_PRIVATE: dict[str, Any] = {"api_visibility": "private"}


@dataclass(frozen=True, slots=True)
class _Page:
    """What stands on the tab and is connected with each other."""

    language: gr.Dropdown
    files: gr.File
    options: OptionInputs
    preview_button: gr.Button
    build_button: gr.Button
    cancel_button: gr.Button
    outputs: list[gr.components.Component]
    current: gr.State
    fetch: FetchPanel
    preview: PreviewPanel

    @property
    def values(self) -> list[gr.components.Component]:
        """The inputs whose values `page_config` takes."""
        return [*self.options.as_list(), *self.preview.thresholds.as_list()]


def build_archive_tab(demo: gr.Blocks, language_input: gr.Dropdown) -> gr.Textbox:
    """Lay out the tab and register its endpoints; call it inside `demo`.

    Args:
        demo: The page.
        language_input: The page's language.

    Returns:
        The input of the trigger word, for what goes on with the dataset.
    """
    remove_old_jobs()
    gr.Markdown(TAB_TEXTS.marker("intro"))
    with gr.Row():
        with gr.Column():
            files = gr.File(
                label=TAB_TEXTS.marker("files"),
                file_count="multiple",
                file_types=sorted(SOURCE_SUFFIXES),
                elem_id="pdfs-input",
            )
            options = build_options()
            command = build_command_view()
            buttons = _build_buttons()
        with gr.Column():
            outputs = _build_outputs()
            # A list of files that Gradio's sweep spares, whichever component handed them out.
            outputs[2].keep_in_cache = JobFiles()  # type: ignore[assignment]
            fetch = build_fetch_panel()
    preview = build_preview_panel()
    current = gr.State(None)
    page = _Page(language_input, files, options, *buttons, outputs, current, fetch, preview)
    others = (files, options.content, options.finishing, options.spreads)
    clear_when_outdated(preview, options.filter, *others)
    follow_options(command, options, preview.thresholds, language_input)
    _connect(demo, page)
    api(build_dataset, api_name="build_dataset", **_AS_ONE_RUN)
    api(fetch_result, api_name="fetch_result", **AS_FETCH)
    api(preview_dataset, api_name="preview_dataset", **_AS_ONE_RUN)
    return options.trigger


def _build_buttons() -> tuple[gr.Button, gr.Button, gr.Button]:
    """Lay out Preview, Build and Cancel."""
    with gr.Row():
        return (
            gr.Button(TAB_TEXTS.marker("preview"), min_width=120, elem_id="preview-button"),
            gr.Button(
                TAB_TEXTS.marker("build"), variant="primary", min_width=120, elem_id="build-button"
            ),
            gr.Button(
                TAB_TEXTS.marker("cancel"), variant="stop", min_width=120, elem_id="cancel-button"
            ),
        )


def _build_outputs() -> list[gr.components.Component]:
    """Lay out the progress, the newest pictures, the dataset and the report."""
    return [
        gr.HTML(f"<p>{TAB_TEXTS.marker('progress_here')}</p>", elem_id="build-progress"),
        gr.HTML(elem_id="newest-pictures"),
        gr.File(label=TAB_TEXTS.marker("dataset"), elem_id="dataset-output"),
        gr.HTML(elem_id="build-report"),
    ]


def _connect(demo: gr.Blocks, page: _Page) -> None:
    """Say what the buttons do."""
    shown = [*page.outputs, page.current]
    # A job has its id before its turn comes: whoever waits asleep can fetch it all the same.
    begun = page.build_button.click(
        on_begin,
        [page.files, page.language, *page.values],
        [*shown, page.fetch.job_id, page.fetch.accordion],
        scroll_to_output=True,
        queue=False,
        **_PRIVATE,
    )
    begun.then(None, page.fetch.job_id, None, js=REMEMBER_JS, **_PRIVATE)
    build = begun.then(
        on_build,
        [page.current, page.preview.folder, page.options.password, page.language],
        shown,
        **_PRIVATE,
        **_AS_ONE_RUN,
    )
    fetch = page.fetch.button.click(
        on_fetch,
        [page.fetch.job_id, page.options.password, page.language],
        shown,
        scroll_to_output=True,
        **_PRIVATE,
        **AS_FETCH,
    )
    preview = _connect_preview(page)
    # An event of its own, and first: the page's script waits for each before it sends the next.
    page.cancel_button.click(None, cancels=[build, fetch, preview], **_PRIVATE)
    page.cancel_button.click(
        on_cancel, [page.current, page.language], shown, **_PRIVATE, **AS_CANCEL
    )
    demo.load(None, None, [page.fetch.job_id, page.fetch.accordion], js=RECALL_JS, **_PRIVATE)


def _connect_preview(page: _Page) -> Any:
    """Say what Preview does; returns its event."""
    page.preview_button.click(lambda: None, None, page.current, queue=False, **_PRIVATE)
    preview = page.preview_button.click(
        on_preview,
        [page.files, page.preview.folder, page.language, *page.values],
        [page.outputs[0], page.preview.output, page.preview.folder],
        scroll_to_output=True,
        **_PRIVATE,
        **_AS_ONE_RUN,
    )
    shown = preview.then(
        on_previewed,
        [page.preview.folder, page.options.filter],
        page.preview.thresholds.as_list(),
        queue=False,
        **_PRIVATE,
    )
    # The slider may have been moved meanwhile.
    shown.then(None, page.preview.thresholds.as_list(), None, js=SHOW_PREVIEW_JS, **_PRIVATE)
    return preview


def build_dataset(  # noqa: PLR0913 - the parameters are the endpoint's
    files: list[gr.FileData],
    filter: FilterName = "auto",
    min_sigma: float = 45,
    content: ContentName = "pages",
    fit: FitName = "square",
    trigger: str = "",
    password: str = "",
    finishing: bool = True,
    dedupe: bool = True,
    min_score: float = DEFAULT_MIN_SCORE,
    spreads: SpreadsName = "split",
) -> Iterator[tuple[gr.FileData, dict[str, Any]]]:
    """Build an image dataset for LoRA training from scanned pages.

    Yields (None, progress) while it works and at last (the ZIP file, the report). Takes PDF, TIFF,
    CBZ, EPUB, XPS, JPEG, PNG, WebP and JPEG 2000 files, and ZIP files of any of these. Files that
    cannot be used are named in the report; the others are processed all the same. Both have a
    job_id: /fetch_result gives the result after a lost connection. A call that waits in the queue
    behind another run has no answer yet, and no job_id: it is lost with its connection.

    Args:
        files: At most 1,000 files: uploaded here first, or as base64 data: addresses.
        filter: Pages kept: "auto" those with pictures, "sigma" those of contrast, "none" all.
        min_sigma: For "sigma": least standard deviation of the grey page at 144 dpi, 0 to 127.5.
        content: What an image shows: "pages" each kept page, "regions" each illustration on it.
        fit: To 1024x1024: "square" pads, "crop" cuts, "stretch" distorts; "bucket": an SDXL size.
        trigger: Trigger word put first in every caption.
        password: Password for encrypted files.
        finishing: Whether scanner borders, slant and yellowed paper are corrected.
        dedupe: Whether near-duplicates are left out.
        min_score: For "auto": least share of a page that its pictures cover, 0 to 1.
        spreads: Of a scan that shows two pages "auto" makes two ("split") or one ("keep").

    Returns:
        The ZIP and the report: status, pages seen, kept, dropped and failed, what failed and why.
    """
    try:
        config = make_config(
            filter, min_sigma, content, fit, trigger, password, finishing, dedupe, min_score,
            spreads,
        )  # fmt: skip
        job = begin_job(call_files(files), config)
        # Annotated as in the last step: Gradio types the endpoint by it, null or not.
        yield None, JobNews(job.id, JobState.WAITING).to_json()  # type: ignore[misc]
        for news in follow_job(job, password):
            if news.state is JobState.FAILED:
                raise SourceError(news.message)
            yield answer(news)
    except (ArchiveToolsError, NotUploadedError) as error:
        raise gr.Error(str(error), print_exception=False) from error


def on_begin(
    paths: list[str] | None, language: str, *values: Any
) -> tuple[str, str, None, str, str | None, Any, Any]:
    """Put a run on disk for the page; returns what is shown, the job, and its id for later.

    Args:
        paths: The uploads.
        language: Language of the page.
        values: Those that `page_config` takes.
    """
    try:
        job = begin_job(page_files(paths), page_config(*values))
    except ArchiveToolsError as error:
        told = error_html(tell_message(str(error), language))
        return "", "", None, told, None, gr.skip(), gr.skip()
    starting = status_html(TAB_TEXTS.tell("starting", language))
    return starting, "", None, "", job.id, job.id, gr.update(open=True)


def on_build(
    job_id: str | None, previewed: str | None, password: str | None, language: str
) -> Iterator[Shown]:
    """Run a job for the page.

    Args:
        job_id: The job that was begun; None where it could not be.
        previewed: Job folder of the preview that was made, if any.
        password: For encrypted files.
        language: Language of the page.

    Yields:
        What is shown.
    """
    if job_id is None:
        # A generator without any answer would empty what is shown: why there is no job.
        yield KEEP_SHOWN
        return
    job = find_job(job_id)
    scores = Path(previewed, SCORES_NAME) if previewed else None
    yield from show_job(job, follow_job(job, password, scores=scores), language)
