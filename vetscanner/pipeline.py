"""The story of one scan: files -> photos -> probabilities -> policy -> report."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from vetscanner.config import MAX_PHOTOS
from vetscanner.errors import InvalidOptionError, InvalidPhotoError
from vetscanner.model_specs import ModelSpec
from vetscanner.photo import load_photo
from vetscanner.phrases import Phrases, load_phrases
from vetscanner.report import PhotoError, ScanReport, write_report
from vetscanner.schema import Classification, Language, Photo, TickedSign
from vetscanner.triage import triage

__all__ = ["Classify", "PhotoError", "PhotoFile", "ScanReport", "scan_photos"]

Classify = Callable[[Sequence[NDArray[np.uint8]], ModelSpec], Classification]
"""Looks at uint8 RGB photos (H, W, 3) with a model: loads it, infers, unloads it."""

_Choice = TypeVar("_Choice", bound=StrEnum)


@dataclass(frozen=True, slots=True)
class PhotoFile:
    """An uploaded file and its name for people (the path may be a temporary one)."""

    path: Path
    name: str


def scan_photos(
    files: Sequence[PhotoFile],
    signs: Sequence[str],
    language: str,
    classify: Classify,
    spec: ModelSpec,
    vet_phone: str | None = None,
) -> ScanReport:
    """Judge the photos of one animal, and what the farmer ticked.

    Args:
        files: Photos of the same animal; none is allowed when a sign is ticked.
        signs: Ticked signs, values of `TickedSign`.
        language: Language of the report, a value of `Language`.
        classify: Runs the model; not called when no photo can be read.
        spec: The model, with the thresholds that belong to it.
        vet_phone: Number of the state veterinary service, told where it is to be called.

    Returns:
        The report; photos that cannot be read are in its `photo_errors`.

    Raises:
        InvalidOptionError: A sign or the language is unknown.
        InvalidPhotoError: No photo can be read (or there is none) and no sign is ticked.
        ModelLoadError: The model cannot be loaded.
        InferenceError: The model failed.
    """
    ticked = [_parse(TickedSign, sign, "sign") for sign in signs]
    report_language = _parse(Language, language, "language")
    photos, photo_errors = _load_photos(files, load_phrases(report_language))
    if not photos and not ticked:
        raise _nothing_usable(photo_errors, load_phrases(report_language))
    classification = classify([photo.pixels for photo in photos], spec) if photos else None
    outcome = triage(
        classification.predictions if classification else (),
        [photo.quality for photo in photos],
        ticked,
        spec.unclear_below,
        spec.alarm_thresholds,
    )
    return write_report(outcome, photos, classification, photo_errors, report_language, vet_phone)


def _parse(choices: type[_Choice], value: str, what: str) -> _Choice:
    try:
        return choices(value)
    except ValueError:
        allowed = ", ".join(choices)
        raise InvalidOptionError(f"Unknown {what} {value!r}; choose from: {allowed}.") from None


def _load_photos(
    files: Sequence[PhotoFile], phrases: Phrases
) -> tuple[list[Photo], list[PhotoError]]:
    """Read what can be read; a photo that cannot costs only itself."""
    photos: list[Photo] = []
    photo_errors: list[PhotoError] = []
    for file in files[:MAX_PHOTOS]:
        try:
            photos.append(load_photo(file.path, file.name))
        except InvalidPhotoError as error:
            message = phrases.tell_refusal(error.reason, error.details)
            photo_errors.append(PhotoError(file.name, message))
    for file in files[MAX_PHOTOS:]:
        details = {"name": file.name, "limit": MAX_PHOTOS}
        message = phrases.tell_refusal("too_many_photos", details)
        photo_errors.append(PhotoError(file.name, message))
    return photos, photo_errors


def _nothing_usable(photo_errors: Sequence[PhotoError], phrases: Phrases) -> InvalidPhotoError:
    """Return the error of a scan with neither photo nor tick, in the report's language."""
    messages = [error.message for error in photo_errors] or [phrases.tell_refusal("none", {})]
    return InvalidPhotoError("\n".join(messages), "none", {})
