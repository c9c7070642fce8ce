"""The vet tab and its API endpoint `/triage`."""

import logging
import os
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gradio as gr
from gradio.events import api

from serving.error_html import error_html
from serving.uploads import NotUploadedError, shown_name, take_uploads
from vetscanner.errors import InvalidOptionError, InvalidPhotoError, VetScannerError
from vetscanner.gpu import classify, is_zero_gpu, prepare, requests_at_once
from vetscanner.guide_html import guide_html
from vetscanner.model_specs import ModelSpec, resolve_spec
from vetscanner.pipeline import PhotoFile, ScanReport, scan_photos
from vetscanner.report_html import report_html
from vetscanner.report_text import message_text
from vetscanner.schema import Language, LanguageCode, SignWord, TickedSign
from vetscanner.tab_texts import SIGN_TEXTS, VET_TEXTS
from vetscanner.vet_phone import read_vet_phone

MODEL_VARIABLE = "VETSCANNER_MODEL"
"""Names the Space's model: a folder or OWNER/NAME@COMMIT; the bundled one where it is not set."""

# A queue of its own: no archive run may hold up a triage.
_QUEUE = "triage"

_PHOTOS_HEIGHT_PX = 160
# Each photo of the camera comes to those that are there. The outer list is that of the outputs.
_ADD_PHOTOS_JS = "(taken, photos) => [[...(photos || []), ...[].concat(taken || [])]]"

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Inputs:
    photos: gr.File
    signs: gr.CheckboxGroup
    button: gr.Button


@dataclass(frozen=True, slots=True)
class _Outputs:
    report: gr.HTML
    guide: gr.HTML
    json: gr.JSON


def build_vet_tab(language_input: gr.Dropdown) -> None:
    """Lay out the tab and register its endpoint; call it inside `gr.Blocks`.

    Args:
        language_input: The page's language, which is that of the answer.

    Raises:
        InvalidOptionError: The owner's setting of the phone number cannot be used.
    """
    read_vet_phone()
    gr.Markdown(VET_TEXTS.marker("intro"))
    with gr.Row():
        with gr.Column():
            inputs = _build_inputs()
        with gr.Column():
            outputs = _build_outputs()
    _connect(inputs, outputs, language_input)
    api(triage, api_name="triage", concurrency_id=_QUEUE, concurrency_limit=requests_at_once())
    if is_zero_gpu():
        # In a thread: the page need not wait, and torch's emulation of CUDA is not active there.
        threading.Thread(target=_prepare, name="prepare-model", daemon=True).start()


def _build_inputs() -> _Inputs:
    photos = _build_photos()
    signs = gr.CheckboxGroup(
        [(SIGN_TEXTS.marker(sign), sign.value) for sign in TickedSign],
        label=VET_TEXTS.marker("signs"),
        elem_id="signs-input",
    )
    button = gr.Button(
        VET_TEXTS.marker("triage"), variant="primary", size="lg", elem_id="triage-button"
    )
    return _Inputs(photos, signs, button)


def _build_photos() -> gr.File:
    """Lay out the camera's button, the list of photos, and how they look."""
    camera = gr.UploadButton(
        VET_TEXTS.marker("take_photo"),
        variant="primary",
        size="lg",
        file_count="multiple",
        file_types=["image"],
        elem_id="camera-button",
    )
    photos = gr.File(
        label=VET_TEXTS.marker("photos"),
        file_count="multiple",
        file_types=["image", ".heic", ".heif"],
        height=_PHOTOS_HEIGHT_PX,
        elem_id="photos-input",
    )
    shown = gr.HTML(elem_id="chosen-photos", padding=False)
    camera.upload(None, [camera, photos], photos, js=_ADD_PHOTOS_JS, api_visibility="private")
    photos.change(None, photos, shown, js="window.showPhotos", api_visibility="private")
    return photos


def _build_outputs() -> _Outputs:
    report = gr.HTML(f"<p>{VET_TEXTS.marker('answer_here')}</p>", elem_id="triage-output")
    with gr.Accordion(VET_TEXTS.marker("guide"), open=True):
        guide = gr.HTML(guide_html(Language.EN), elem_id="photo-guide")
    with gr.Accordion(VET_TEXTS.marker("json"), open=False):
        return _Outputs(report, guide, gr.JSON(elem_id="triage-json", show_label=False))


def _connect(inputs: _Inputs, outputs: _Outputs, language_input: gr.Dropdown) -> None:
    """Say what the button does, and what follows the language."""
    language_input.change(
        on_language, language_input, outputs.guide, queue=False, api_visibility="private"
    )
    inputs.button.click(
        on_triage,
        [inputs.photos, inputs.signs, language_input],
        [outputs.report, outputs.json],
        scroll_to_output=True,  # on a phone the answer is below the button
        api_visibility="private",
        concurrency_id=_QUEUE,
        concurrency_limit=requests_at_once(),
    )


def triage(
    photos: list[gr.FileData],
    signs: list[SignWord] = [],  # noqa: B006 - never changed; Gradio shows it as the default
    language: LanguageCode = "en",
) -> dict[str, Any]:
    """Triage a cow from photos: visible signs, how urgent, whom to call, what to do now.

    Takes JPEG, HEIC, PNG, WebP, TIFF and AVIF photos. Signs alone are enough, without a photo.

    Args:
        photos: At most 12 of one animal: uploaded here first, or as base64 data: addresses.
        signs: What is seen beside the photos. Each sets a least level, whatever the photos show.
        language: Language of the report.

    Returns:
        The report: level (emergency, same_day, within_days, monitor or retake_photo), headline,
        findings, first_steps, call, why, and what it rests on. Never a diagnosis.
    """
    try:
        files = [PhotoFile(photo.path, photo.name) for photo in take_uploads(photos, "photos")]
        return _scan(files, _words(signs), language).to_json()
    except (VetScannerError, NotUploadedError) as error:
        raise gr.Error(str(error), print_exception=False) from error


def on_triage(
    paths: list[str] | None, signs: list[str], language: str
) -> tuple[str, dict[str, Any] | None]:
    """Run a triage for the page; returns (report HTML, report JSON)."""
    files = [PhotoFile(Path(path), shown_name(Path(path).name)) for path in paths or []]
    try:
        report = _scan(files, signs, language)
    except InvalidPhotoError as error:
        # On the page and not in a toast: it says what to do, and a toast is gone in seconds.
        return error_html(str(error)), None
    except VetScannerError as error:
        _LOG.error("No triage: %s", error)
        return error_html(VET_TEXTS.tell("failed", language)), None
    message = message_text(report)
    return report_html(report.to_json(heatmaps=True), report.language, message), report.to_json()


def on_language(language: str) -> str:
    """Return the photo guide in the language of the page."""
    return guide_html(Language(language))


def _scan(files: Sequence[PhotoFile], signs: Sequence[str], language: str) -> ScanReport:
    return scan_photos(files, signs, language, classify, _space_model(), read_vet_phone())


def _space_model() -> ModelSpec:
    return resolve_spec(os.environ.get(MODEL_VARIABLE))


def _prepare() -> None:
    """Make the first GPU request as fast as the others; its error shows again at each request."""
    try:
        prepare(_space_model())
    except VetScannerError as error:
        _LOG.warning("The model cannot be used: %s", error)


def _words(signs: object) -> list[str]:
    """Take the ticked signs of a call to the API; the pipeline checks each."""
    entries = [] if signs is None else signs
    if not isinstance(entries, list):
        raise InvalidOptionError('signs must be a list of words, such as ["fever"].')
    return [str(entry) for entry in entries]
