"""The archive tab and its API endpoint `/build_dataset`; the preview has a module of its own."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gradio as gr
from gradio.events import api

from archive_tools.config import DEFAULT_MIN_SCORE
from archive_tools.errors import ArchiveToolsError, SourceError
from archive_tools.fetch_tab import AS_FETCH, answer, begin_job, fetch_result
from archive_tools.file_kinds import SOURCE_SUFFIXES
from archive_tools.job_folder import remove_old_jobs
from archive_tools.job_run import JobNews, JobState, follow_job
from archive_tools.preview import SCORES_NAME
from archive_tools.preview_html import SHOW_PREVIEW_JS
from archive_tools.preview_tab import (
    PreviewPanel,
    build_preview_panel,
    clear_when_outdated,
    on_preview,
    preview_dataset,
)
from archive_tools.report_html import error_html, progress_html, report_html
from archive_tools.schema import NamedFile
from archive_tools.tab_options import (
    ContentName,
    FilterName,
    FitName,
    SpreadsName,
    build_options,
    make_config,
    page_config,
)
from uploads import NotUploadedError, shown_name, take_uploads

# One run uses all cores, so runs wait for each other and never for a triage.
_AS_ONE_RUN: dict[str, Any] = {"concurrency_id": "archive", "concurrency_limit": 1}

_INTRO = """Turn scanned magazines and books into a clean image dataset for LoRA training.
Drop PDFs, images, TIFF, CBZ, EPUB or XPS files, or ZIP files of them: each page is looked at on its
own, text pages are left out by the filter, and the pictures come back with captions in one ZIP that
trainers take as it is, 1024x1024 unless you choose otherwise. A file may have 2 GB; uploads and the
ZIP are deleted after about a day. For larger archives use the command line, which reads files where
they lie: `python -m archive_tools build FOLDER --out dataset.zip`"""


def build_archive_tab() -> None:
    """Lay out the tab and register its endpoint; call it inside `gr.Blocks`."""
    remove_old_jobs()
    gr.Markdown(_INTRO)
    with gr.Row():
        with gr.Column():
            pdfs_input = gr.File(
                label="PDFs, images, ZIP files",
                file_count="multiple",
                file_types=sorted(SOURCE_SUFFIXES),
                elem_id="pdfs-input",
            )
            options = build_options()
            buttons = _build_buttons()
        with gr.Column():
            outputs = _build_outputs()
    panel = build_preview_panel()
    others = (pdfs_input, options.content, options.finishing, options.spreads)
    clear_when_outdated(panel, options.filter, *others)
    inputs = [pdfs_input, panel.folder, *options.as_list(), *panel.thresholds.as_list()]
    _connect(buttons, inputs, outputs, panel)
    api(build_dataset, api_name="build_dataset", **_AS_ONE_RUN)
    api(fetch_result, api_name="fetch_result", **AS_FETCH)
    api(preview_dataset, api_name="preview_dataset", **_AS_ONE_RUN)


@dataclass(frozen=True, slots=True)
class _Buttons:
    preview: gr.Button
    build: gr.Button
    cancel: gr.Button


def _build_buttons() -> _Buttons:
    with gr.Row():
        return _Buttons(
            gr.Button("Preview", min_width=120, elem_id="preview-button"),
            gr.Button("Build dataset", variant="primary", min_width=120, elem_id="build-button"),
            gr.Button("Cancel", variant="stop", min_width=120, elem_id="cancel-button"),
        )


def _build_outputs() -> list[gr.components.Component]:
    """Lay out the progress, the dataset and the report."""
    return [
        gr.HTML("<p>Progress and the report appear here.</p>", elem_id="build-progress"),
        gr.File(label="Dataset (ZIP)", elem_id="dataset-output"),
        gr.HTML(elem_id="build-report"),
    ]


def _connect(
    buttons: _Buttons,
    inputs: list[gr.components.Component],
    outputs: list[gr.components.Component],
    panel: PreviewPanel,
) -> None:
    """Say what the buttons do."""
    build = buttons.build.click(
        on_build, inputs, outputs, scroll_to_output=True, api_visibility="private", **_AS_ONE_RUN
    )
    preview = buttons.preview.click(
        on_preview,
        inputs,
        [outputs[0], panel.output, panel.folder],
        scroll_to_output=True,
        api_visibility="private",
        **_AS_ONE_RUN,
    )
    # The slider may have been moved meanwhile.
    preview.then(
        None, panel.thresholds.as_list(), None, js=SHOW_PREVIEW_JS, api_visibility="private"
    )
    buttons.cancel.click(
        on_cancel, None, outputs, cancels=[build, preview], queue=False, api_visibility="private"
    )


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
    job_id from the first moment on: /fetch_result gives the result after a lost connection.

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
        named = [NamedFile(file.path, file.name) for file in take_uploads(files, "files")]
        job = begin_job(named, config)
        # Annotated as in the last step: Gradio types the endpoint by it, null or not.
        yield None, JobNews(job.id, JobState.WAITING).to_json()  # type: ignore[misc]
        for news in follow_job(job, password):
            if news.state is JobState.FAILED:
                raise SourceError(news.message)
            yield answer(news)
    except (ArchiveToolsError, NotUploadedError) as error:
        raise gr.Error(str(error), print_exception=False) from error


def on_build(
    paths: list[str] | None, previewed: str | None, *values: Any
) -> Iterator[tuple[str, str | None, str]]:
    """Run the build for the page; yields (progress HTML, ZIP path, report HTML).

    Args:
        paths: The uploads.
        previewed: Job folder of the preview that was made, if any.
        values: Those that `page_config` takes.
    """
    named = [NamedFile(Path(path), shown_name(Path(path).name)) for path in paths or []]
    yield '<p role="status">Starting ...</p>', None, ""
    try:
        config = page_config(*values)
        job = begin_job(named, config)
        scores = Path(previewed, SCORES_NAME) if previewed else None
        for news in follow_job(job, config.password, scores=scores):
            if news.state is JobState.FAILED:
                raise SourceError(news.message)
            if news.report is not None:
                yield "", str(news.report.out), report_html(news.report)
            elif news.progress is not None:
                yield progress_html(news.progress), None, ""
    except ArchiveToolsError as error:
        # On the page and not in a toast: it says what to do, and a toast is gone in seconds.
        yield "", None, error_html(str(error))


def on_cancel() -> tuple[str, None, str]:
    """Say that the run was cancelled; Gradio closes its generator, which cleans up."""
    return '<p role="status">Cancelled. Nothing of this run was kept.</p>', None, ""
