"""The archive tab and its API endpoint `/build_dataset`; the preview has a module of its own."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gradio as gr
from gradio.events import api

from archive_tools.config import DEFAULT_MIN_SCORE, DatasetConfig, RunOptions
from archive_tools.errors import ArchiveToolsError, SourceError
from archive_tools.file_kinds import SOURCE_SUFFIXES
from archive_tools.job_folder import RESULT_NAME, link_input, open_job_folder, remove_old_jobs
from archive_tools.pipeline import build_dataset as run_build
from archive_tools.preview import SCORES_NAME
from archive_tools.preview_html import SHOW_PREVIEW_JS
from archive_tools.preview_tab import (
    PreviewPanel,
    build_preview_panel,
    clear_when_outdated,
    on_preview,
    preview_dataset,
)
from archive_tools.report_html import error_html, nothing_usable, progress_html, report_html
from archive_tools.schema import NamedFile, Progress, RunReport
from archive_tools.tab_options import build_options, make_config, page_config
from uploads import NotUploadedError, take_uploads

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
    clear_when_outdated(panel, options.filter, pdfs_input, options.content, options.finishing)
    inputs = [pdfs_input, panel.folder, *options.as_list(), *panel.thresholds.as_list()]
    _connect(buttons, inputs, outputs, panel)
    api(build_dataset, api_name="build_dataset", **_AS_ONE_RUN)
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
    filter: str = "auto",
    min_sigma: float = 45,
    content: str = "pages",
    fit: str = "square",
    trigger: str = "",
    password: str = "",
    finishing: bool = True,
    dedupe: bool = True,
    min_score: float = DEFAULT_MIN_SCORE,
) -> Iterator[tuple[gr.FileData, dict[str, Any]]]:
    """Build an image dataset for LoRA training from scanned pages.

    Yields (None, progress) while it works and at last (the ZIP file, the report). Files that
    cannot be used are named in the report; the others are processed all the same.

    Args:
        files: PDF, TIFF, CBZ, EPUB or XPS files, images (JPEG, PNG, WebP, TIFF, JPEG 2000), or ZIP
            files of any of these.
        filter: Which pages are kept: "auto" (those with illustrations), "sigma" (grey values
            spread widely) or "none" (every page).
        min_sigma: Least standard deviation of the grey page at 144 dpi, 0 to 128.
        content: What each image shows: "pages" (each kept page) or "regions" (each illustration
            on it, cut out).
        fit: How a page becomes 1024x1024: "square" (padded), "crop" or "stretch"; or "bucket",
            the SDXL size of the nearest shape.
        trigger: Trigger word put first in every caption.
        password: Password for encrypted files.
        finishing: Whether scanner borders, slant and yellowed paper are corrected.
        dedupe: Whether near-duplicates are left out.
        min_score: Least share of a page, 0 to 1, that its pictures cover when "auto" keeps it.

    Returns:
        The ZIP and the report: status, pages seen, kept, dropped and failed, what failed and why.
    """
    try:
        config = make_config(
            filter, min_sigma, content, fit, trigger, password, finishing, dedupe, min_score
        )
        named = [NamedFile(file.path, file.name) for file in take_uploads(files, "files")]
        for step in _iter_run(named, config, RunOptions()):
            if isinstance(step, Progress):
                # Annotated as in the last step: Gradio types the endpoint by it, null or not.
                yield None, step.to_json()  # type: ignore[misc]
            else:
                yield gr.FileData(path=str(step.out)), step.to_json()
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
    named = [NamedFile(Path(path), Path(path).name) for path in paths or []]
    yield '<p role="status">Starting ...</p>', None, ""
    try:
        run = RunOptions(scores=Path(previewed, SCORES_NAME) if previewed else None)
        for step in _iter_run(named, page_config(*values), run):
            if isinstance(step, Progress):
                yield progress_html(step), None, ""
            else:
                yield "", str(step.out), report_html(step)
    except ArchiveToolsError as error:
        # On the page and not in a toast: it says what to do, and a toast is gone in seconds.
        yield "", None, error_html(str(error))


def on_cancel() -> tuple[str, None, str]:
    """Say that the run was cancelled; Gradio closes its generator, which cleans up."""
    return '<p role="status">Cancelled. Nothing of this run was kept.</p>', None, ""


def _iter_run(
    files: Sequence[NamedFile], config: DatasetConfig, run: RunOptions
) -> Iterator[Progress | RunReport]:
    """Run in a job folder of its own."""
    if not files:
        raise SourceError("No file was given. Add at least one PDF or image, then build again.")
    with open_job_folder() as folder:
        linked = [link_input(file, folder, number) for number, file in enumerate(files)]
        for step in run_build(linked, folder / RESULT_NAME, config, run):
            if isinstance(step, RunReport) and step.out is None:
                raise SourceError(nothing_usable(step))
            yield step
