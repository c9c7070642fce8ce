"""Which model looks at the photos: the bundled one, a local folder, or a pinned hub repository.

A model is identified by data, never by a string in the middle of code. Only safetensors weights are
accepted and code from a repository is never run.
"""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vetscanner.errors import ModelLoadError
from vetscanner.schema import SignClass

BUNDLED_FOLDER = Path(__file__).parent / "model"
CALIBRATION_FILE = "calibration.json"
CONTRASTIVE_TYPES = ("clip", "siglip")
# merges.txt belongs to the tokenizers of CLIP.
HUB_FILES = ("*.safetensors", "*.json", "merges.txt")
# Both alarm signs must be reported at low probability, so both need a threshold of their own.
ALARM_SIGNS = (SignClass.FOOT_AND_MOUTH, SignClass.LUMPY_SKIN)
# Without held-out data nothing is known about a model's confidence: ask for half the probability
# mass before anything is told, and keep the alarms sensitive.
DEFAULT_UNCLEAR_BELOW = 0.5
DEFAULT_ALARM_THRESHOLD = 0.1
# A photo as likely to show no cattle as all the rest together sets off no alarm. That nearly halves
# the findings on photos of other animals and things, and loses no alarm (benchmarks/results.md).
NO_CATTLE_FROM = 0.5

_HUB_NAME = re.compile(r"(?P<repo>[\w.-]+/[\w.-]+)(?:@(?P<revision>\S+))?")
_COMMIT = re.compile(r"[0-9a-f]{40}")
_ALIASES = {
    "lsd": SignClass.LUMPY_SKIN,
    "lumpy_skin_disease": SignClass.LUMPY_SKIN,
    "lumpy": SignClass.LUMPY_SKIN,
    "fmd": SignClass.FOOT_AND_MOUTH,
    "foot_and_mouth_disease": SignClass.FOOT_AND_MOUTH,
    "mastitis": SignClass.UDDER_TEAT,
    "pinkeye": SignClass.EYE,
    "infectious_bovine_keratoconjunctivitis": SignClass.EYE,
    "ringworm": SignClass.SKIN_CRUST,
    "dermatophilosis": SignClass.SKIN_CRUST,
    "healthy": SignClass.NO_VISIBLE_SIGN,
    "normal": SignClass.NO_VISIBLE_SIGN,
    "normal_skin": SignClass.NO_VISIBLE_SIGN,
    "not_cow": SignClass.NOT_CATTLE,
}


@dataclass(frozen=True)
class ModelSpec:
    """A model on this machine and how far its answers can be trusted.

    Attributes:
        model_id: Name for people and reports.
        revision: Commit of the repository, or the start of the weights' SHA-256.
        path: Local folder with config.json, preprocessor_config.json and safetensors weights.
        temperature: The logits are divided by this before the softmax; above 0.
        unclear_below: The photo is unclear when the largest calibrated probability is below this.
        alarm_thresholds: Probability from which an alarm sign is told although it is not the top
            class; one for `foot_and_mouth` and one for `lumpy_skin`.
        calibrated: Whether temperature and thresholds come from held-out photos.
        labels: The model's own label -> sign class.
        mirror: Whether the logits of the photo and of its mirror image are averaged.
        is_zero_shot: Whether it compares photos with the catalogue's prompts (CLIP, SigLIP).
    """

    model_id: str
    revision: str
    path: Path
    temperature: float
    unclear_below: float
    alarm_thresholds: dict[SignClass, float]
    calibrated: bool
    labels: dict[str, SignClass]
    mirror: bool = False
    is_zero_shot: bool = False


def bundled_spec() -> ModelSpec:
    """Return the model that comes with the project.

    Raises:
        ModelLoadError: When the bundled folder is incomplete.
    """
    return read_spec(BUNDLED_FOLDER)


def resolve_spec(text: str | None) -> ModelSpec:
    """Find the model that a person asked for.

    Args:
        text: None for the bundled model, a local folder, or `OWNER/NAME@COMMIT` on the hub, where
            COMMIT is the full hash: a branch or tag could change under a running scanner.

    Raises:
        ModelLoadError: When there is no such model, it is not pinned, it has no safetensors
            weights, or its labels are unknown.
    """
    if text is None or not text.strip():
        return bundled_spec()
    folder = Path(text.strip()).expanduser()
    if folder.is_dir():
        return read_spec(folder.resolve())
    match = _HUB_NAME.fullmatch(text.strip())
    if match is None:
        message = f"No model {text!r}: give a local folder or OWNER/NAME@COMMIT."
        raise ModelLoadError(message)
    return _fetch_spec(match["repo"], match["revision"])


def read_spec(folder: Path, *, model_id: str | None = None, revision: str = "") -> ModelSpec:
    """Read a model folder; without calibration.json the model counts as uncalibrated.

    Args:
        folder: Folder in the layout of transformers, with safetensors weights.
        model_id: Name for reports, where calibration.json has none; the folder's name by default.
        revision: Revision for reports, where calibration.json has none.

    Raises:
        ModelLoadError: When a file is missing or broken, or a label is unknown.
    """
    if not any(folder.glob("*.safetensors")):
        message = (
            f"No safetensors weights in {folder}: convert the model, other formats can run code."
        )
        raise ModelLoadError(message)
    config = _read_json(folder / "config.json")
    is_zero_shot = _is_contrastive(config)
    names = list(SignClass) if is_zero_shot else config.get("id2label", {}).values()
    calibration = folder / CALIBRATION_FILE
    settings = _read_json(calibration) if calibration.is_file() else {}
    try:
        return ModelSpec(
            model_id=str(settings.get("model_id", model_id or folder.name)),
            revision=str(settings.get("revision", revision)),
            path=folder,
            temperature=_positive(settings.get("temperature", 1.0)),
            unclear_below=float(settings.get("unclear_below", DEFAULT_UNCLEAR_BELOW)),
            alarm_thresholds=_read_alarms(settings.get("alarm_thresholds", {})),
            calibrated=bool(settings.get("calibrated", False)),
            labels=_map_labels(names, settings.get("labels", {})),
            mirror=bool(settings.get("mirror", False)),
            is_zero_shot=is_zero_shot,
        )
    except (TypeError, ValueError, AttributeError) as error:
        message = f"{calibration} is not usable: {error}."
        raise ModelLoadError(message) from error


def _is_contrastive(config: dict[str, Any]) -> bool:
    """Whether the model compares pictures with sentences, and has no classes of its own."""
    has_classes = any("Classification" in str(name) for name in config.get("architectures") or ())
    return config.get("model_type") in CONTRASTIVE_TYPES and not has_classes


def _read_json(path: Path) -> dict[str, Any]:
    """Read one JSON object."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        message = f"Cannot read {path}: {error}. Is the folder a complete transformers model?"
        raise ModelLoadError(message) from error
    if not isinstance(content, dict):
        message = f"{path} does not hold a JSON object."
        raise ModelLoadError(message)
    return content


def _positive(value: object) -> float:
    """Return a temperature as a number above 0."""
    temperature = float(str(value))
    if not 0.0 < temperature < float("inf"):
        message = f"temperature {temperature} must be a number above 0"
        raise ValueError(message)
    return temperature


def _read_alarms(thresholds: dict[str, float]) -> dict[SignClass, float]:
    """Return a threshold for each alarm sign, the default where none is given."""
    return {sign: float(thresholds.get(sign, DEFAULT_ALARM_THRESHOLD)) for sign in ALARM_SIGNS}


def _map_labels(names: Iterable[str], table: dict[str, str]) -> dict[str, SignClass]:
    """Map a model's own labels to sign classes: by its table, equal name, or known alias."""
    mapped: dict[str, SignClass] = {}
    unknown: list[str] = []
    for name in names:
        key = re.sub(r"[^a-z]+", "_", str(name).lower()).strip("_")
        wanted = table.get(name, key)
        if wanted in _ALIASES or wanted in set(SignClass):
            mapped[name] = _ALIASES.get(wanted) or SignClass(wanted)
        else:
            unknown.append(str(name))
    if unknown or not mapped:
        message = (
            f"Unknown labels {unknown[:5]}: add {CALIBRATION_FILE} with "
            f'"labels": {{own label: one of {", ".join(SignClass)}}}.'
        )
        raise ModelLoadError(message)
    return mapped


def _fetch_spec(repo: str, revision: str | None) -> ModelSpec:
    """Download a pinned repository into the hub's own cache and read it."""
    if revision is None or not _COMMIT.fullmatch(revision):
        message = f"Pin the model: {repo}@COMMIT with the full 40-digit commit hash."
        raise ModelLoadError(message)
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError

    try:
        # A commit never changes: what was preloaded or fetched before needs no network.
        folder = snapshot_download(repo, revision=revision, local_files_only=True)
        return read_spec(Path(folder), model_id=repo, revision=revision)
    except (LocalEntryNotFoundError, ModelLoadError):
        pass  # not here, or not whole
    try:
        folder = snapshot_download(repo, revision=revision, allow_patterns=list(HUB_FILES))
    except (HfHubHTTPError, LocalEntryNotFoundError, OSError, ValueError) as error:
        message = (
            f"Cannot fetch {repo}@{revision[:12]}: {error}. Check the name and the connection."
        )
        raise ModelLoadError(message) from error
    return read_spec(Path(folder), model_id=repo, revision=revision)
