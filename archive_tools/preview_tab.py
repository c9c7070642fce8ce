"""The preview of the archive tab and its API endpoint `/preview_dataset`."""

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gradio as gr

from archive_tools.config import (
    DEFAULT_MIN_SCORE,
    ON_THE_PAGE,
    DatasetConfig,
    PageFilter,
    RunOptions,
)
from archive_tools.errors import ArchiveToolsError, SourceError
from archive_tools.job_folder import KEPT_S, link_input, open_job_folder, served_file
from archive_tools.job_run import TURN
from archive_tools.message_words import tell_message
from archive_tools.preview import SCORES_NAME, TABLE_NAME, PreviewReport
from archive_tools.preview import preview_dataset as run_preview
from archive_tools.preview_html import MOVE_THRESHOLD_JS, preview_html
from archive_tools.preview_json import preview_json
from archive_tools.progress_html import progress_html, status_html
from archive_tools.report_html import nothing_usable
from archive_tools.run_report import Progress
from archive_tools.schema import NamedFile
from archive_tools.tab_files import call_files, check_any, page_files
from archive_tools.tab_options import (
    ContentName,
    FilterName,
    FitName,
    SpreadsName,
    ThresholdInputs,
    build_thresholds,
    make_config,
    page_config,
)
from archive_tools.tab_texts import TAB_TEXTS
from serving.error_html import error_html
from serving.uploads import NotUploadedError


@dataclass(frozen=True, slots=True)
class PreviewPanel:
    """The part of the page below both columns.

    Attributes:
        thresholds: The sliders.
        output: The preview.
        folder: The job folder of the preview that is shown, None where there is none.
    """

    thresholds: ThresholdInputs
    output: gr.HTML
    folder: gr.State


def build_preview_panel() -> PreviewPanel:
    """Lay out the panel; call it inside `gr.Blocks`."""
    gr.Markdown(TAB_TEXTS.marker("preview_intro"))
    thresholds = build_thresholds()
    panel = PreviewPanel(
        thresholds,
        gr.HTML(elem_id="page-preview"),
        gr.State(None, time_to_live=KEPT_S, delete_callback=remove_preview),
    )
    for slider in (thresholds.coverage, thresholds.sigma):
        slider.change(
            None, thresholds.as_list(), None, js=MOVE_THRESHOLD_JS, api_visibility="private"
        )
    return panel


def clear_when_outdated(panel: PreviewPanel, filter_input: gr.Radio, *others: Any) -> None:
    """Clear the preview when what it shows would be decided otherwise.

    Args:
        panel: The preview.
        filter_input: The filter; its slider is shown.
        others: Inputs that decide which pages there are and what becomes of them.
    """
    filter_input.change(
        on_filter,
        filter_input,
        [*panel.thresholds.as_list(), panel.output],
        queue=False,
        api_visibility="private",
    )
    for component in others:
        component.change(lambda: "", None, panel.output, queue=False, api_visibility="private")


def on_filter(filter_name: str) -> tuple[dict[str, Any], dict[str, Any], str]:
    """Show the slider of the chosen filter and clear the preview."""
    return (*show_threshold(filter_name), "")


def show_threshold(filter_name: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Show the slider of the chosen filter, and not the other.

    Args:
        filter_name: The filter; `none` has no slider.
    """
    return (
        gr.update(visible=filter_name == PageFilter.AUTO),
        gr.update(visible=filter_name == PageFilter.SIGMA),
    )


def on_previewed(folder: str | None, filter_name: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Show the slider once there is a preview; one that is seen already stays.

    Args:
        folder: Job folder of the preview, None where there is none.
        filter_name: The filter.
    """
    return show_threshold(filter_name) if folder else (gr.skip(), gr.skip())


def on_preview(
    paths: list[str] | None, earlier: str | None, language: str, *values: Any
) -> Iterator[tuple[str, str, str | None]]:
    """Preview for the page; yields (progress HTML, preview HTML, job folder).

    Args:
        paths: The uploads.
        earlier: Job folder of the preview that is shown, if any.
        language: Language of the page.
        values: Those that `page_config` takes.
    """
    remove_preview(earlier)
    yield status_html(TAB_TEXTS.tell("starting", language)), "", None
    try:
        for folder, step in _iter_preview(page_files(paths), page_config(*values)):
            if step is None:
                yield status_html(TAB_TEXTS.tell("waiting", language)), "", None
            elif isinstance(step, Progress):
                yield progress_html(step, language), "", None
            elif _is_useless(step):
                remove_preview(str(folder))
                yield error_html(nothing_usable(step.run, language)), "", None
            else:
                below = status_html(TAB_TEXTS.tell("preview_below", language))
                yield below, preview_html(step, language), str(folder)
    except ArchiveToolsError as error:
        yield error_html(tell_message(str(error), language)), "", None


def preview_dataset(  # noqa: PLR0913 - the parameters are the endpoint's
    files: list[gr.FileData],
    filter: FilterName = "auto",
    min_sigma: float = 45,
    content: ContentName = "pages",
    fit: FitName = "square",
    password: str = "",
    finishing: bool = True,
    min_score: float = DEFAULT_MIN_SCORE,
    spreads: SpreadsName = "split",
) -> Iterator[tuple[gr.FileData, dict[str, Any]]]:
    """Score scanned pages and decide which are kept, without building a dataset.

    Yields (None, progress) while it works and at last (a table of all pages, the report). With
    the same options /build_dataset keeps the same pages, less copies and too small regions.

    Args:
        files: As for /build_dataset: uploaded here first, or as base64 data: addresses.
        filter: The score: "auto" the share that pictures cover, "sigma" the spread of the greys.
        min_sigma: For "sigma": pages above it are kept, 0 to 127.5.
        content: As for /build_dataset; with "regions" a page without any illustration is dropped.
        fit: As for /build_dataset: a page is looked at as finely as its image needs it.
        password: Password for encrypted files.
        finishing: As for /build_dataset: "sigma" then drops nearly blank pages.
        min_score: For "auto": pages that reach it are kept, 0 to 1.
        spreads: As for /build_dataset: "auto" scores each page of a two-page scan, or the scan.

    Returns:
        The table (CSV) and the report: counts, failures, the first thousand pages with their
        illustrations (shares of width and height), a histogram, and pages kept by threshold.
    """
    try:
        config = make_config(
            filter, min_sigma, content, fit, "", password, finishing, True, min_score, spreads
        )
        for folder, step in _iter_preview(call_files(files), config):
            if step is None or isinstance(step, Progress):
                # Annotated as in the last step: Gradio types the endpoint by it, null or not.
                yield None, step.to_json() if step else {"state": "waiting"}  # type: ignore[misc]
            elif _is_useless(step):
                remove_preview(str(folder))
                raise SourceError(nothing_usable(step.run))
            else:
                # Only the page builds from them.
                (folder / SCORES_NAME).unlink()
                yield served_file(folder / TABLE_NAME), preview_json(step)
    except (ArchiveToolsError, NotUploadedError) as error:
        raise gr.Error(str(error), print_exception=False) from error


def remove_preview(folder: str | None) -> None:
    """Remove what a preview left, if anything.

    Args:
        folder: Its job folder.
    """
    if folder:
        shutil.rmtree(folder, ignore_errors=True)


def _iter_preview(
    files: Sequence[NamedFile], config: DatasetConfig
) -> Iterator[tuple[Path, Progress | PreviewReport | None]]:
    """Preview in a job folder of its own, which is told with each step; None: others are first."""
    check_any(files)
    with open_job_folder(TABLE_NAME) as folder:
        linked = [link_input(file, folder, number) for number, file in enumerate(files)]
        while not TURN.take():
            yield folder, None
        try:
            for step in run_preview(linked, folder, config, RunOptions(limits=ON_THE_PAGE)):
                yield folder, step
        finally:
            TURN.give_back()


def _is_useless(preview: PreviewReport) -> bool:
    """Whether no page of any file could be looked at."""
    return preview.run.pages.seen == preview.run.pages.failed
