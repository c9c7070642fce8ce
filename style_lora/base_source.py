"""Where a base model lies: a folder in diffusers form, or a repository of the hub to be fetched.

Only safetensors files are taken, since a pickle runs whatever its author wrote.
"""

import json
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

from style_lora.atomic_files import require_space
from style_lora.config import DEFAULT_BASE
from style_lora.errors import BaseModelError
from style_lora.hub_files import (
    advise_fetching,
    fetch_hub_files,
    find_cached,
    hub_cache,
    list_hub_files,
)

INDEX: Final = "model_index.json"
PARTS: Final = (
    "unet",
    "vae",
    "text_encoder",
    "text_encoder_2",
    "tokenizer",
    "tokenizer_2",
    "scheduler",
)
_WITH_WEIGHTS: Final = ("unet", "vae", "text_encoder", "text_encoder_2")
# Runs in 32 bit on every device, so half of it would not do.
_ALWAYS_WHOLE: Final = "vae"
_HUB_ID = re.compile(r"[\w.-]+/[\w.-]+")
# In one file or in several.
_HALF: Final = re.compile(r"\.fp16[.-]")
_WEIGHTS: Final = ".safetensors"
_SMALL_ENDINGS: Final = (".json", ".txt")


def is_hub_id(base: str) -> bool:
    """Tell whether a base names a repository of the hub: no such folder, and written OWNER/NAME."""
    return not Path(base).exists() and _HUB_ID.fullmatch(base) is not None


def check_base(base: str) -> None:
    """Check a base as far as this machine knows it, before anything slow; the hub is not asked.

    Args:
        base: A folder or a hub id.

    Raises:
        BaseModelError: It is not there, is incomplete or is another kind of model.
    """
    if not is_hub_id(base):
        _check_folder(Path(base))
        _check_index(base, Path(base, INDEX))


def check_vae(vae: str | None) -> None:
    """Check another VAE in the same way.

    Args:
        vae: A folder or a hub id; None is none.

    Raises:
        BaseModelError: It is not there or incomplete.
    """
    if vae is None or is_hub_id(vae):
        return
    if not Path(vae, "config.json").is_file() or not any(Path(vae).glob(f"*{_WEIGHTS}")):
        raise BaseModelError(
            f"{vae} is no VAE: give a folder with config.json and {_WEIGHTS} files, or a hub id "
            "such as madebyollin/sdxl-vae-fp16-fix."
        )


def pick_variant(folder: Path, half: bool) -> str | None:
    """Return which weights of a folder to read, as diffusers names it: "fp16", or None for whole.

    Args:
        folder: Of one part of a base.
        half: Whether 16-bit weights will do, which are half the reading.
    """
    weights = [path.name for path in folder.glob(f"*{_WEIGHTS}")]
    halves = [name for name in weights if _HALF.search(name)]
    # Some folders hold nothing else.
    return "fp16" if halves and (half or len(halves) == len(weights)) else None


def count_weight_bytes(folder: Path, half: bool) -> int:
    """Return the size of the weights that are read, of those that lie in a base's folder.

    Args:
        folder: Of a whole base.
        half: Whether 16-bit weights will do.
    """
    names = [path.relative_to(folder).as_posix() for path in folder.glob("*/*")]
    chosen = [name for part in _WITH_WEIGHTS for name in _choose_weights(names, part, half)]
    return sum(Path(folder, name).stat().st_size for name in chosen)


def fetch_base(base: str, half: bool, tell: Callable[[str], None], beside_bytes: int = 0) -> Path:
    """Return the folder of a base; one of the hub is fetched unless its cache has it whole.

    Args:
        base: A folder or a hub id.
        half: Whether 16-bit weights will do, which are half the download.
        tell: Told what is fetched, before it is.
        beside_bytes: Room on the disk of the hub's cache that something else will need.

    Raises:
        BaseModelError: It is not there, is incomplete or is another kind of model.
        HubError: The hub cannot be reached, or does not give it.
        DiskSpaceError: There is too little room.
    """
    check_base(base)
    if not is_hub_id(base):
        return Path(base)
    cached = _find_whole(base, half)
    if cached is not None:
        return cached
    advice = _advise(base)
    sizes = list_hub_files(base, advice)
    _check_listing(base, sizes)
    # A few hundred bytes that tell whether the gigabytes are of use.
    _check_index(base, fetch_hub_files(base, [INDEX], advice) / INDEX)
    wanted = {name: sizes[name] for name in _choose(sizes, half)}
    return _fetch(base, wanted, advice, tell, beside_bytes)


def fetch_vae(vae: str, tell: Callable[[str], None]) -> Path:
    """Return the folder of another VAE, fetched likewise.

    Args:
        vae: A folder or a hub id.
        tell: Told what is fetched, before it is.

    Raises:
        BaseModelError: It is not there or incomplete.
        HubError: The hub cannot be reached, or does not give it.
        DiskSpaceError: There is too little room.
    """
    check_vae(vae)
    if not is_hub_id(vae):
        return Path(vae)
    config = find_cached(vae, "config.json")
    if config is not None and any(config.parent.glob(f"diffusion_pytorch_model*{_WEIGHTS}")):
        return config.parent
    advice = advise_fetching(vae, "config.json", f"*{_WEIGHTS}")
    sizes = list_hub_files(vae, advice)
    wanted = [name for name in sizes if name.startswith("diffusion_pytorch_model")]
    wanted = [name for name in wanted if name.endswith((_WEIGHTS, ".json"))]
    if not wanted or "config.json" not in sizes:
        raise BaseModelError(f"{vae} is no VAE in diffusers form.")
    return _fetch(vae, {name: sizes[name] for name in ["config.json", *wanted]}, advice, tell)


def _fetch(
    repository: str,
    sizes: dict[str, int],
    advice: str,
    tell: Callable[[str], None],
    beside_bytes: int = 0,
) -> Path:
    missing = [name for name in sizes if find_cached(repository, name) is None]
    needed = sum(sizes[name] for name in missing)
    require_space(hub_cache(), needed + beside_bytes, f"fetching {repository}")
    tell(f"Fetching {repository}: {needed / 1e9:.1f} GB into {hub_cache()}.")
    return fetch_hub_files(repository, list(sizes), advice)


def _find_whole(base: str, half: bool) -> Path | None:
    """Return the folder in the hub's cache, if all is there that is needed."""
    index = find_cached(base, INDEX)
    if index is None:
        return None
    folder = index.parent
    names = {path.relative_to(folder).as_posix() for path in folder.glob("*/*")}
    is_whole = all(
        _has_whole_weights(folder, part, _choose_weights(names, part, half))
        for part in _WITH_WEIGHTS
    ) and all(any(name.startswith(f"{part}/") for name in names) for part in PARTS)
    if not is_whole:
        return None
    _check_index(base, index)
    return folder


def _has_whole_weights(folder: Path, part: str, weights: list[str]) -> bool:
    """Tell whether weights are there, of those in several files every one."""
    if not weights or not Path(folder, part, "config.json").is_file():
        return False
    is_half = _HALF.search(weights[0]) is not None
    for listing in Path(folder, part).glob(f"*{_WEIGHTS}.index*.json"):
        if (_HALF.search(listing.name) is not None) == is_half:
            return all(Path(folder, part, one).exists() for one in _list_pieces(listing))
    return True


def _list_pieces(listing: Path) -> set[str]:
    """Return the files of weights that lie in several, as their listing in the cache says."""
    try:
        return {str(one) for one in json.loads(listing.read_text("utf-8"))["weight_map"].values()}
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        # The hub's cache lays a model out as MODEL/snapshots/COMMIT/PART/FILE, and a file that
        # is deleted alone would be linked to the same damaged content again.
        model = listing.parents[3]
        message = f"{listing} is damaged. Delete {model}, so that the model is fetched again."
        raise BaseModelError(message) from error


def _choose(names: Iterable[str], half: bool) -> list[str]:
    """Return the files of a repository that are needed."""
    listed = sorted(names)
    chosen = [INDEX]
    for part in PARTS:
        inside = [name for name in listed if name.startswith(f"{part}/")]
        chosen += [name for name in inside if name.endswith(_SMALL_ENDINGS)]
        chosen += _choose_weights(inside, part, half)
    return chosen


def _choose_weights(names: Iterable[str], part: str, half: bool) -> list[str]:
    """Return the weights of a part: those in 16 bit where they will do and are there."""
    weights = [name for name in names if name.startswith(f"{part}/") and name.endswith(_WEIGHTS)]
    halves = [name for name in weights if _HALF.search(name)]
    whole = [name for name in weights if not _HALF.search(name) and ".non_ema" not in name]
    return halves if half and halves and (part != _ALWAYS_WHOLE or not whole) else whole


def _advise(repository: str) -> str:
    # The rest of Stability's repository is the same weights over and over, for other programs.
    weights = "*.fp16.safetensors" if repository == DEFAULT_BASE else "*/*.safetensors"
    patterns = ("*.json", "*.txt", weights)
    return advise_fetching(repository, *patterns)


def _check_listing(base: str, names: Iterable[str]) -> None:
    listed = list(names)
    missing = [] if INDEX in listed else [INDEX]
    missing += [part for part in PARTS if not any(one.startswith(f"{part}/") for one in listed)]
    missing += [
        f"{part}/*{_WEIGHTS}"
        for part in _WITH_WEIGHTS
        if part not in missing and not _choose_weights(listed, part, half=True)
    ]
    if missing:
        raise BaseModelError(f"{base} is no complete SDXL model: {', '.join(missing)} missing.")


def _check_folder(folder: Path) -> None:
    if folder.is_file():
        raise BaseModelError(
            f"{folder} is a file. Give the folder of an SDXL model in diffusers form (with "
            "model_index.json, unet/, vae/ ...) or a hub id such as OWNER/NAME."
        )
    if not Path(folder, INDEX).is_file():
        state = f"has no {INDEX}" if folder.is_dir() else "does not exist"
        raise BaseModelError(
            f"{folder} {state}. Give the folder of an SDXL model in diffusers form or a hub id."
        )
    inside = [one.relative_to(folder).as_posix() for one in folder.glob("*/*")]
    _check_listing(str(folder), [INDEX, *inside])


def _check_index(base: str, index: Path) -> None:
    try:
        parts = json.loads(index.read_text(encoding="utf-8"))
    except ValueError as error:
        raise BaseModelError(f"{base}: {INDEX} is no JSON.") from error
    if not isinstance(parts, dict) or any(part not in parts for part in PARTS):
        kind = parts.get("_class_name") if isinstance(parts, dict) else None
        raise BaseModelError(
            f"{base} is {kind or 'another kind of model'}; SDXL is needed (two text encoders)."
        )
