"""The command `generate`: pictures in the style, and sheets that compare."""

import argparse
import re
import sys
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

from style_lora.errors import GenerationError
from style_lora.generate import (
    GRID_SCALES,
    Picture,
    choose_base,
    draw_comparison,
    file_stem,
    list_orders,
    paint_pictures,
    save_pictures,
)
from style_lora.lora_file import LoraFile, find_lora
from style_lora.painter import SIZE_STEP_PX, PictureOrder

DONE = 0
_DEFAULTS = PictureOrder("")


def add_generate_parser(
    subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]",
) -> None:
    """Add the command and what it takes.

    Args:
        subparsers: Commands of `python -m style_lora`.
    """
    parser = subparsers.add_parser("generate", help="paint pictures in the style of a LoRA")
    parser.set_defaults(command=run_generate)
    parser.add_argument(
        "--lora", required=True, metavar="LORA",
        help="folder of a training, a LoRA file of diffusers or kohya, or OWNER/NAME on the hub",
    )  # fmt: skip
    parser.add_argument(
        "--prompt", required=True, action="append", metavar="TEXT",
        help="what the picture shows; may be given several times",
    )  # fmt: skip
    parser.add_argument("--out", type=Path, default=Path("pictures"), metavar="FOLDER")
    parser.add_argument(
        "--base", metavar="MODEL",
        help="folder of an SDXL or its name on the hub (default: what the LoRA was trained on)",
    )  # fmt: skip
    parser.add_argument("--seed", type=int, default=_DEFAULTS.seed, help="of the first picture")
    parser.add_argument(
        "--n", type=_positive, default=1, metavar="COUNT", help="pictures of each prompt"
    )
    parser.add_argument(
        "--scale", type=float, nargs="+", metavar="S",
        help="strength of the LoRA, one or several (default: 1; 0 is without it)",
    )  # fmt: skip
    parser.add_argument(
        "--grid", action="store_true",
        help="also a sheet of the same seeds without the LoRA and at each strength",
    )  # fmt: skip
    _add_sampling(parser)


def _add_sampling(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--negative", default="", metavar="TEXT", help="what it shall not show")
    parser.add_argument("--steps", type=_positive, default=_DEFAULTS.steps)
    parser.add_argument("--guidance", type=float, default=_DEFAULTS.guidance)
    parser.add_argument(
        "--size", type=_size, metavar="PX|WxH",
        help="side or width and height, multiples of 8 (default: as trained)",
    )  # fmt: skip
    parser.add_argument("--device", choices=("cpu", "cuda", "mps"))


def run_generate(args: argparse.Namespace) -> int:
    """Paint, and print the paths of the pictures.

    Args:
        args: What the command was given.

    Returns:
        The exit status.

    Raises:
        StyleLoraError: The LoRA or the base model cannot be used, or painting failed.
    """
    lora = find_lora(args.lora)
    orders = _orders(args, lora)
    _tell_before(lora, args, len(orders))
    pictures = paint_pictures(lora, orders, args.base, args.device)
    try:
        saved = save_pictures(pictures, args.out, print)
    except OSError as error:
        message = f"The pictures cannot be written to {args.out}: {error.strerror or error}."
        raise GenerationError(message) from error
    if args.grid:
        _save_grids(saved, args.out)
    return DONE


def _orders(args: argparse.Namespace, lora: LoraFile) -> list[PictureOrder]:
    like = PictureOrder(
        "",
        args.seed,
        steps=args.steps,
        size_px=args.size or (lora.resolution, lora.resolution),
        guidance=args.guidance,
        negative_prompt=args.negative,
    )
    return list_orders(args.prompt, args.n, _scales(args.scale, args.grid), like)


def _scales(given: Sequence[float] | None, grid: bool) -> list[float]:
    """Return the strengths to paint: for a sheet always with 0, to compare with."""
    if not grid:
        return list(dict.fromkeys(given or (_DEFAULTS.scale,)))
    return sorted({0.0, *(given or GRID_SCALES)})


def _tell_before(lora: LoraFile, args: argparse.Namespace, count: int) -> None:
    print(f"Painting {count} with {choose_base(lora, args.base)} ...", file=sys.stderr)
    if lora.caption:
        print(f"Captions of its dataset look like this: {lora.caption}", file=sys.stderr)


def _save_grids(pictures: Sequence[Picture], folder: Path) -> None:
    for _, group in groupby(pictures, lambda picture: picture.order.prompt):
        alike = list(group)
        stem = file_stem(alike[0].order).partition("_seed")[0]
        path = folder / f"{stem}_grid.png"
        draw_comparison(alike).save(path)
        print(path)


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be 1 or more")
    return number


def _size(text: str) -> tuple[int, int]:
    found = re.fullmatch(r"(\d+)(?:[xX](\d+))?", text)
    if not found:
        raise argparse.ArgumentTypeError("write 1024, or 832x1216")
    width = int(found[1])
    height = int(found[2] or width)
    if not width or not height or width % SIZE_STEP_PX or height % SIZE_STEP_PX:
        raise argparse.ArgumentTypeError(f"must be multiples of {SIZE_STEP_PX}")
    return width, height
