"""The archive tab and its API endpoint `/build_dataset`."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import gradio as gr
from gradio.events import api

from archive_tools.config import (
    DEFAULT_MIN_SCORE,
    NO_FINISHING,
    Content,
    DatasetConfig,
    Finishing,
    Fit,
    PageFilter,
    RunOptions,
)
from archive_tools.errors import ArchiveToolsError, InvalidOptionError, SourceError
from archive_tools.file_kinds import SOURCE_SUFFIXES
from archive_tools.job_folder import RESULT_NAME, link_input, open_job_folder, remove_old_jobs
from archive_tools.pipeline import build_dataset as run_build
from archive_tools.report_html import error_html, failure_lines, progress_html, report_html
from archive_tools.schema import NamedFile, Progress, RunReport
from uploads import NotUploadedError, take_uploads

# One run uses all cores, so runs wait for each other and never for a triage.
_QUEUE = "archive"
_RUNS_AT_ONCE = 1

_INTRO = """Turn scanned magazines and books into a clean image dataset for LoRA training.
Drop PDFs, images, TIFF, CBZ, EPUB or XPS files, or ZIP files of them: each page is looked at on its
own, text pages are left out by the filter, and the pictures come back as 1024x1024 JPEG files with
captions in one ZIP that trainers take as it is.
Uploads and the ZIP are deleted after about a day. For archives of many gigabytes use the
command line (`python -m archive_tools build FOLDER --out dataset.zip`): it reads the files where
they lie."""

_FILTER_CHOICES = [
    ("Auto: keep pages that show illustrations", PageFilter.AUTO.value),
    ("Contrast (sigma): keep pages whose grey values spread widely", PageFilter.SIGMA.value),
    ("None: keep every page", PageFilter.NONE.value),
]
_CONTENT_CHOICES = [
    ("Pages: each kept page whole", Content.PAGES.value),
    ("Regions: each illustration cut out, without text and captions", Content.REGIONS.value),
]
_Choice = TypeVar("_Choice", PageFilter, Content, Fit)

_FIT_CHOICES = [
    ("Square: nothing cut or distorted, padded with the paper's colour", Fit.SQUARE.value),
    ("Crop: the square part with the most illustration", Fit.CROP.value),
    ("Bucket: the SDXL size of the nearest shape, hardly cut", Fit.BUCKET.value),
    ("Stretch: pressed into the square (distorts)", Fit.STRETCH.value),
]


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
            options = _build_options()
            with gr.Row():
                build_button = gr.Button("Build dataset", variant="primary", elem_id="build-button")
                cancel_button = gr.Button("Cancel", variant="stop", elem_id="cancel-button")
        with gr.Column():
            progress_output = gr.HTML(
                "<p>Progress and the report appear here.</p>", elem_id="build-progress"
            )
            dataset_output = gr.File(label="Dataset (ZIP)", elem_id="dataset-output")
            report_output = gr.HTML(elem_id="build-report")
    outputs = [progress_output, dataset_output, report_output]
    build = build_button.click(
        on_build,
        [pdfs_input, *options],
        outputs,
        scroll_to_output=True,
        api_visibility="private",
        concurrency_id=_QUEUE,
        concurrency_limit=_RUNS_AT_ONCE,
    )
    cancel_button.click(
        on_cancel, None, outputs, cancels=[build], queue=False, api_visibility="private"
    )
    api(
        build_dataset,
        api_name="build_dataset",
        concurrency_id=_QUEUE,
        concurrency_limit=_RUNS_AT_ONCE,
    )


def _build_options() -> list[gr.components.Component]:
    with gr.Accordion("Options", open=False):
        filter_input = gr.Radio(
            _FILTER_CHOICES,
            value=PageFilter.AUTO.value,
            label="Which pages are kept",
            elem_id="filter-input",
        )
        min_sigma_input = gr.Slider(
            0,
            128,
            value=45,
            step=1,
            label="Least sigma of a kept page (for Contrast)",
            elem_id="min-sigma-input",
        )
        content_input = gr.Radio(
            _CONTENT_CHOICES,
            value=Content.PAGES.value,
            label="What each image shows",
            elem_id="content-input",
        )
        fit_input = gr.Radio(
            _FIT_CHOICES, value=Fit.SQUARE.value, label="Fit to 1024x1024", elem_id="fit-input"
        )
        trigger_input = gr.Textbox(
            label="Trigger word", info="First word of every caption.", elem_id="trigger-input"
        )
        finishing_input = gr.Checkbox(
            value=True,
            label="Clean the pictures: cut scanner borders, turn slanted pages, neutralise paper",
            elem_id="finishing-input",
        )
        dedupe_input = gr.Checkbox(
            value=True, label="Leave near-duplicates out", elem_id="dedupe-input"
        )
        password_input = gr.Textbox(
            label="Password for encrypted PDFs", type="password", elem_id="password-input"
        )
    return [
        filter_input, min_sigma_input, content_input, fit_input, trigger_input, password_input,
        finishing_input, dedupe_input,
    ]  # fmt: skip


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
        config = _to_config(
            filter, min_sigma, content, fit, trigger, password, finishing, dedupe, min_score
        )
        named = [NamedFile(file.path, file.name) for file in take_uploads(files, "files")]
        for step in _iter_run(named, config):
            if isinstance(step, Progress):
                # Annotated as in the last step: Gradio types the endpoint by it, null or not.
                yield None, _progress_json(step)  # type: ignore[misc]
            else:
                yield gr.FileData(path=str(step.out)), step.to_json()
    except (ArchiveToolsError, NotUploadedError) as error:
        raise gr.Error(str(error), print_exception=False) from error


def on_build(  # noqa: PLR0913 - the parameters are the inputs of the page
    paths: list[str] | None,
    filter_name: str,
    min_sigma: float,
    content: str,
    fit: str,
    trigger: str | None,
    password: str | None,
    finishing: bool,
    dedupe: bool,
) -> Iterator[tuple[str, str | None, str]]:
    """Run the build for the page; yields (progress HTML, ZIP path, report HTML)."""
    named = [NamedFile(Path(path), Path(path).name) for path in paths or []]
    yield '<p role="status">Starting ...</p>', None, ""
    try:
        config = _to_config(
            filter_name, min_sigma, content, fit, trigger, password, finishing, dedupe
        )
        for step in _iter_run(named, config):
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


def _iter_run(files: Sequence[NamedFile], config: DatasetConfig) -> Iterator[Progress | RunReport]:
    """Run in a job folder of its own."""
    if not files:
        raise SourceError("No file was given. Add at least one PDF or image, then build again.")
    with open_job_folder() as folder:
        linked = [link_input(file, folder, number) for number, file in enumerate(files)]
        for step in run_build(linked, folder / RESULT_NAME, config, RunOptions()):
            if isinstance(step, RunReport) and step.out is None:
                raise SourceError(_nothing_usable(step))
            yield step


def _to_config(  # noqa: PLR0913 - what the page and the endpoint have
    filter_name: str,
    min_sigma: float,
    content: str,
    fit: str,
    trigger: str | None,
    password: str | None,
    finishing: bool,
    dedupe: bool,
    min_score: float = DEFAULT_MIN_SCORE,
) -> DatasetConfig:
    return DatasetConfig(
        filter=_choice(PageFilter, filter_name, "filter"),
        min_sigma=_number(min_sigma, "min_sigma"),
        min_score=_number(min_score, "min_score"),
        content=_choice(Content, content, "content"),
        fit=_choice(Fit, fit, "fit"),
        trigger=str(trigger or ""),  # an empty text box sends null
        password=str(password) if password else None,
        finishing=Finishing() if finishing else NO_FINISHING,
        dedupe=bool(dedupe),
    )


def _number(value: object, option: str) -> float:
    try:
        return float(str(value))
    except ValueError as error:
        raise InvalidOptionError(f"{option} is {value!r}. Give a number.") from error


def _choice(kind: type[_Choice], text: str, option: str) -> _Choice:
    if text not in list(kind):
        allowed = ", ".join(kind)
        raise InvalidOptionError(f"{option} is {text!r}. Choose one of: {allowed}.")
    return kind(text)


def _progress_json(progress: Progress) -> dict[str, Any]:
    return {
        "file_name": progress.file_name,
        "file_number": progress.file_number,
        "file_count": progress.file_count,
        "page_number": progress.page_number,
        "page_count": progress.page_count,
        "pages_seen": progress.pages.seen,
        "pages_kept": progress.pages.kept,
        "pages_dropped": progress.pages.dropped,
        "pages_failed": progress.pages.failed,
        "elapsed_s": round(progress.elapsed_s, 3),
    }


def _nothing_usable(report: RunReport) -> str:
    return " ".join(["None of the files could be used.", *failure_lines(report)])
