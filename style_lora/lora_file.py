"""Which file holds a LoRA, and whether it is one for SDXL; reads names of tensors, no weights.

Taken are the folder that training writes, a file in the form of diffusers or of kohya, and a
model of the hub in the form that diffusers' own scripts push.
"""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

from style_lora.errors import LoraFileError
from style_lora.hub_files import advise_fetching, fetch_hub_files, find_cached, list_hub_files

WEIGHTS_NAME: Final = "pytorch_lora_weights.safetensors"
"""The name under which diffusers saves a LoRA and looks for one."""

CONFIG_NAME: Final = "config.json"

SDXL_SIDE_PX: Final = 1024

_Kind = TypeVar("_Kind", str, int)

_HUB_NAME = re.compile(r"[\w.-]+/[\w.-]+(@[\w./-]+)?")
# diffusers writes the parts of the pipeline with dots, kohya with underscores.
_FOR_SDXL = re.compile(r"(unet|text_encoder|text_encoder_2)\.|lora_(unet|te1|te2)_")
# The first of the two matrices of a layer as diffusers, older diffusers, and kohya name it.
_FIRST_MATRIX = re.compile(r"\.lora_A\.weight$|[._]lora\.down\.weight$|\.lora_down\.weight$")

# The first matrix of a layer that reads captions, and how wide those of other models are.
_FROM_CAPTIONS = re.compile(r"attn2[._](processor\.)?to_k.*(lora_A|down)\.")
_OTHER_BASES: Final = {768: "Stable Diffusion 1.x", 1024: "Stable Diffusion 2.x"}
_PICKLE_ENDINGS: Final = (".bin", ".pt", ".pth", ".ckpt", ".pkl")
_LEAST_SIDE_PX, _MOST_SIDE_PX, _SIDE_STEP_PX = 64, 2048, 8
_MOST_LETTERS: Final = 300


@dataclass(frozen=True, slots=True)
class LoraFile:
    """A LoRA for SDXL.

    Attributes:
        path: The safetensors file.
        layers: How many layers of the model it changes.
        base: Model that it was trained on: a folder or a name on the hub; None where nobody says.
        resolution: Side in pixels that it was trained at; SDXL's own where nobody says.
        caption: One that it was trained with; empty where nobody says.
    """

    path: Path
    layers: int
    base: str | None = None
    resolution: int = SDXL_SIDE_PX
    caption: str = ""


def find_lora(where: str | Path) -> LoraFile:
    """Find the LoRA and look whether it is one.

    Args:
        where: A folder that training wrote, a safetensors file, or `OWNER/NAME[@REVISION]` on the
            hub.

    Raises:
        LoraFileError: There is none, its file is damaged, or it is not for SDXL.
        HubError: The hub cannot be reached, or does not give it.
    """
    path = _find_weights(str(where))
    shapes = _read_shapes(path)
    _refuse_other_base(path, shapes)
    layers = _count_layers(path, list(shapes))
    told = _read_config(path.with_name(CONFIG_NAME))
    return LoraFile(
        path,
        layers,
        _take(told, "base", str) or None,
        _take_side(told),
        _take_line(told, "caption"),
    )


def _take(told: dict[str, Any], name: str, kind: type[_Kind]) -> _Kind | None:
    value = told.get(name)
    return value if isinstance(value, kind) else None


def _take_side(told: dict[str, Any]) -> int:
    """Return the resolution, or SDXL's own where a file from elsewhere has one that cannot be."""
    side = _take(told, "resolution", int) or SDXL_SIDE_PX
    is_possible = _LEAST_SIDE_PX <= side <= _MOST_SIDE_PX and side % _SIDE_STEP_PX == 0
    return side if is_possible else SDXL_SIDE_PX


def _take_line(told: dict[str, Any], name: str) -> str:
    """Return a text as one line; a terminal must not obey what a file from elsewhere says."""
    text = " ".join((_take(told, name, str) or "").split())
    return "".join(letter for letter in text if letter.isprintable())[:_MOST_LETTERS]


def _find_weights(where: str) -> Path:
    path = Path(where).expanduser()
    if path.is_dir():
        return _find_in_folder(path)
    if path.is_file():
        return path
    if _HUB_NAME.fullmatch(where):
        return _fetch(where)
    message = f"There is no LoRA at {where}: give the folder of a training, or a .safetensors file."
    raise LoraFileError(message)


def _find_in_folder(folder: Path) -> Path:
    if (folder / WEIGHTS_NAME).is_file():
        return folder / WEIGHTS_NAME
    found = sorted(folder.glob("*.safetensors"))
    if len(found) == 1:
        return found[0]
    if found:
        names = ", ".join(path.name for path in found)
        message = f"{folder} holds several LoRA files: name one of {names}."
        raise LoraFileError(message)
    pickles = [path for path in sorted(folder.iterdir()) if path.suffix in _PICKLE_ENDINGS]
    if pickles:
        raise LoraFileError(_tell_unreadable(pickles[0]))
    message = (
        f"{folder} holds no LoRA ({WEIGHTS_NAME}). A training that has not ended yet has only "
        "checkpoints: run it again with --resume."
    )
    raise LoraFileError(message)


def _fetch(name: str) -> Path:
    """Take a LoRA from the hub's cache on this machine, or download it."""
    repository, _, revision = name.partition("@")
    asked = revision or None
    cached = find_cached(repository, WEIGHTS_NAME, asked)
    if cached is not None:
        return cached
    advice = advise_fetching(repository, WEIGHTS_NAME, CONFIG_NAME)
    files = list_hub_files(repository, advice, asked)
    if WEIGHTS_NAME not in files:
        raise LoraFileError(f"{name} on the hub has no {WEIGHTS_NAME}.")
    wanted = [one for one in (CONFIG_NAME, WEIGHTS_NAME) if one in files]
    return fetch_hub_files(repository, wanted, advice, asked) / WEIGHTS_NAME


def _count_layers(path: Path, names: list[str]) -> int:
    layers = sum(1 for name in names if _FIRST_MATRIX.search(name))
    strangers = [name for name in names if not _FOR_SDXL.match(name)]
    if layers and not strangers:
        return layers
    example = (strangers or names or ["nothing"])[0]
    message = (
        f"{path} is no LoRA for SDXL (it holds {example}). Taken are files in the form of "
        "diffusers and of kohya."
    )
    raise LoraFileError(message)


def _refuse_other_base(path: Path, shapes: dict[str, list[int]]) -> None:
    """Tell by the width of the captions which model a LoRA belongs to, before SDXL is loaded."""
    for name, shape in shapes.items():
        if _FROM_CAPTIONS.search(name) and len(shape) > 1 and shape[1] in _OTHER_BASES:
            raise LoraFileError(
                f"{path} is a LoRA for {_OTHER_BASES[shape[1]]}, which SDXL cannot use. Give one "
                "that was trained on SDXL."
            )


def _read_shapes(path: Path) -> dict[str, list[int]]:
    """Return the names of all tensors and their shapes."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="numpy") as tensors:
            names = list(tensors.keys())
            return {name: tensors.get_slice(name).get_shape() for name in names}
    except (OSError, SafetensorError) as error:
        raise LoraFileError(_tell_unreadable(path)) from error


def _tell_unreadable(path: Path) -> str:
    if path.suffix in _PICKLE_ENDINGS:
        return (
            f"{path} is a pickle file, which may run a program when it is read. Only .safetensors "
            "files are taken."
        )
    return f"{path} cannot be read as a safetensors file: it is damaged or another kind."


def _read_config(path: Path) -> dict[str, Any]:
    """Return what the training wrote beside the weights, nothing where it is not ours."""
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return told if isinstance(told, dict) else {}
