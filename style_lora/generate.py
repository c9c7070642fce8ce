"""Pictures in the style: the story of one generation."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from PIL import Image
from PIL.PngImagePlugin import PngInfo

from style_lora.config import DEFAULT_BASE
from style_lora.grid import draw_grid
from style_lora.lora_file import LoraFile
from style_lora.painter import PictureOrder, open_painter

GRID_SCALES: Final = (0.0, 0.5, 1.0)
"""Without the LoRA, at half its strength, and as it was trained."""


@dataclass(frozen=True, slots=True)
class Picture:
    """One picture and the order it was painted to."""

    order: PictureOrder
    image: Image.Image


def list_orders(
    prompts: Sequence[str], count: int, scales: Sequence[float], like: PictureOrder
) -> list[PictureOrder]:
    """Return what to paint: for each prompt, each seed, each strength, in this order.

    Args:
        prompts: What the pictures show.
        count: Pictures of each prompt; their seeds count up from that of `like`.
        scales: Strengths of the LoRA; all of them get the same seeds.
        like: Says everything else.
    """
    return [
        replace(like, prompt=prompt, seed=like.seed + number, scale=scale)
        for prompt in prompts
        for number in range(count)
        for scale in scales
    ]


def paint_pictures(
    lora: LoraFile,
    orders: Sequence[PictureOrder],
    base: str | None = None,
    device: str | None = None,
) -> Iterator[Picture]:
    """Load the model, paint, unload it; each picture comes as soon as it is done.

    The model stays loaded until the last picture is taken or the iterator is closed.

    Args:
        lora: The style.
        orders: What to paint.
        base: Folder or name of an SDXL; None takes the one that the LoRA was trained on.
        device: `cpu`, `cuda` or `mps`; None takes the best there is.

    Yields:
        One picture an order, in order.

    Raises:
        BaseModelError: There is no SDXL at `base`.
        LoraFileError: The LoRA is for another model.
        GenerationError: Memory is short, or the model gave no numbers.
    """
    with open_painter(choose_base(lora, base), lora, device) as painter:
        for order in orders:
            yield Picture(order, painter.paint(order))


def choose_base(lora: LoraFile, base: str | None) -> str:
    """Return the model to paint with: the one named, the LoRA's own, or Stability's SDXL.

    Args:
        lora: The style.
        base: Folder or name of an SDXL, where one is named.
    """
    return base or lora.base or DEFAULT_BASE


def save_pictures(
    pictures: Iterator[Picture], folder: Path, tell: Callable[[Path], None]
) -> list[Picture]:
    """Write each picture as a PNG that says how it was made.

    Args:
        pictures: As they come.
        folder: Made where it is missing; files of other orders in it stay.
        tell: Told the path of each.

    Returns:
        All of them.
    """
    folder.mkdir(parents=True, exist_ok=True)
    saved = []
    for picture in pictures:
        path = folder / f"{file_stem(picture.order)}.png"
        picture.image.save(path, pnginfo=_describe(picture.order))
        tell(path)
        saved.append(picture)
    return saved


def file_stem(order: PictureOrder) -> str:
    """Return a file's name for a picture: first words of the prompt, seed and strength.

    Args:
        order: What was painted.
    """
    words = re.sub(r"\W+", "-", order.prompt.lower()).strip("-_")[:40].strip("-_")
    return f"{words or 'picture'}_seed{order.seed}_scale{order.scale:g}"


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
