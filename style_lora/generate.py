"""Pictures in the style: the story of one generation."""

import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count, groupby
from pathlib import Path
from typing import Final

from PIL import Image
from PIL.PngImagePlugin import PngInfo

from style_lora.atomic_files import write_atomically
from style_lora.base_source import is_hub_id
from style_lora.config import DEFAULT_BASE
from style_lora.errors import LoraFileError
from style_lora.grid import draw_grid
from style_lora.lora_file import LoraFile
from style_lora.painter import PictureOrder, open_painter

_STEM_LETTERS: Final = 40
GRID_SCALES: Final = (0.0, 0.5, 1.0)
"""Without the LoRA, at half its strength, and as it was trained."""


@dataclass(frozen=True, slots=True)
class Picture:
    """One picture and the order it was painted to."""

    order: PictureOrder
    image: Image.Image


def _tell_nobody(message: str) -> None:
    """Drop a message."""


def list_orders(
    prompts: Sequence[str], number_each: int, scales: Sequence[float], like: PictureOrder
) -> list[PictureOrder]:
    """Return what to paint: for each prompt, each seed, each strength, in this order.

    Args:
        prompts: What the pictures show.
        number_each: Pictures of each prompt; their seeds count up from that of `like`.
        scales: Strengths of the LoRA; all of them get the same seeds.
        like: Says everything else.
    """
    return [
        replace(like, prompt=prompt, seed=like.seed + number, scale=scale)
        for prompt in prompts
        for number in range(number_each)
        for scale in scales
    ]


def paint_pictures(
    lora: LoraFile,
    orders: Sequence[PictureOrder],
    base: str | None = None,
    device: str | None = None,
    tell: Callable[[str], None] = _tell_nobody,
) -> Iterator[Picture]:
    """Load the model, paint, unload it; each picture comes as soon as it is done.

    The model stays loaded until the last picture is taken or the iterator is closed.

    Args:
        lora: The style.
        orders: What to paint.
        base: Folder or name of an SDXL; None takes the one that the LoRA was trained on.
        device: `cpu`, `cuda` or `mps`; None takes the best there is.
        tell: Told, before the first picture, of prompts that the model cannot read to their end.

    Yields:
        One picture an order, in order.

    Raises:
        BaseModelError: There is no SDXL at `base`.
        LoraFileError: The LoRA is for another model.
        GenerationError: Memory is short, or the model gave no numbers.
    """
    with open_painter(choose_base(lora, base), lora, device) as painter:
        texts = [text for order in orders for text in (order.prompt, order.negative_prompt)]
        for text in dict.fromkeys(texts):
            if cut := painter.find_cut(text):
                tell(f"Longer than the model reads, so it paints without the end: {cut}")
        for order in orders:
            yield Picture(order, painter.paint(order))


def choose_base(lora: LoraFile, base: str | None) -> str:
    """Return the model to paint with: the one named, the LoRA's own, or Stability's SDXL.

    Args:
        lora: The style.
        base: Folder or name of an SDXL, where one is named.

    Raises:
        LoraFileError: The LoRA was trained on a folder that is not here.
    """
    if base:
        return base
    own = lora.base or DEFAULT_BASE
    if not is_hub_id(own) and not Path(own).exists():
        raise LoraFileError(
            f"{lora.path} was trained on {own}, which is not on this machine. Name that model "
            "with --base."
        )
    return own


def save_pictures(
    pictures: Iterator[Picture], folder: Path, tell: Callable[[Path], None]
) -> list[Picture]:
    """Write each picture as a PNG that says how it was made.

    Args:
        pictures: As they come.
        folder: Made where it is missing; files of other prompts in it stay.
        tell: Told the path of each.

    Returns:
        All of them.

    Raises:
        DiskSpaceError: The disk is full.
    """
    folder.mkdir(parents=True, exist_ok=True)
    saved: list[Picture] = []
    taken: set[str] = set()
    for picture in pictures:
        order = picture.order
        stem = f"{prompt_stem(order.prompt)}_seed{order.seed}_scale{order.scale:g}"
        path = folder / f"{_claim(stem, taken)}.png"
        _save(picture.image, path, _describe(order))
        tell(path)
        saved.append(picture)
    return saved


def save_grids(pictures: Sequence[Picture], folder: Path, tell: Callable[[Path], None]) -> None:
    """Write a sheet that compares, for each prompt.

    Args:
        pictures: As `list_orders` puts them.
        folder: Where to.
        tell: Told the path of each.

    Raises:
        DiskSpaceError: The disk is full.
    """
    taken: set[str] = set()
    for prompt, group in groupby(pictures, lambda picture: picture.order.prompt):
        path = folder / f"{_claim(f'{prompt_stem(prompt)}_grid', taken)}.png"
        _save(draw_comparison(list(group)), path, PngInfo())
        tell(path)


def prompt_stem(prompt: str) -> str:
    """Return what a file's name has of a prompt: its first words, and a mark where it has more.

    Args:
        prompt: What was painted.
    """
    words = re.sub(r"\W+", "-", prompt.lower()).strip("-_")
    if len(words) <= _STEM_LETTERS:
        return words or "picture"
    mark = hashlib.sha256(prompt.encode()).hexdigest()[:6]
    return f"{words[:_STEM_LETTERS].strip('-_')}-{mark}"


def _claim(stem: str, taken: set[str]) -> str:
    """Return a name that no other picture of this run has, as prompts may differ in a comma."""
    names = (stem if number == 1 else f"{stem}_{number}" for number in count(1))
    name = next(name for name in names if name not in taken)
    taken.add(name)
    return name


def _save(image: Image.Image, path: Path, told: PngInfo) -> None:
    write_atomically(path, lambda partial: image.save(partial, "PNG", pnginfo=told))


def _describe(order: PictureOrder) -> PngInfo:
    told = PngInfo()
    for name in ("prompt", "negative_prompt", "seed", "scale", "steps", "guidance"):
        told.add_itxt(name, str(getattr(order, name)))
    return told


def draw_comparison(pictures: Sequence[Picture]) -> Image.Image:
    """Draw the pictures of one prompt as a sheet: a row a seed, a column a strength.

    Args:
        pictures: As `list_orders` puts them, of one prompt.
    """
    scales = list(dict.fromkeys(picture.order.scale for picture in pictures))
    seeds = list(dict.fromkeys(picture.order.seed for picture in pictures))
    return draw_grid(
        pictures[0].order.prompt,
        [f"LoRA x {scale:g}" if scale else "without LoRA" for scale in scales],
        [f"seed {seed}" for seed in seeds],
        [picture.image for picture in pictures],
    )
