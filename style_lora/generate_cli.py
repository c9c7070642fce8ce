"""The command `generate`: pictures in the style, and sheets that compare."""

import argparse
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from style_lora.errors import GenerationError
from style_lora.generate import (
    GRID_SCALES,
    choose_base,
    list_orders,
    paint_pictures,
    save_grids,
    save_pictures,
)
from style_lora.lora_file import LoraFile, find_lora
from style_lora.painter import SIZE_STEP_PX, PictureOrder

DONE = 0
_MOST = 1000
_HIGHEST_SEED = 2**32 - 1
_STRONGEST = 10
_MOST_GUIDANCE = 100
_LEAST_SIDE_PX, _MOST_SIDE_PX = 64, 4096
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
        "--prompt", required=True, action="append", type=_words, metavar="TEXT",
        help="what the picture shows; may be given several times",
    )  # fmt: skip
    parser.add_argument("--out", type=Path, default=Path("pictures"), metavar="FOLDER")
    parser.add_argument(
        "--base", metavar="MODEL",
        help="folder of an SDXL or its name on the hub (default: what the LoRA was trained on)",
    )  # fmt: skip
    parser.add_argument("--seed", type=_seed, default=_DEFAULTS.seed, help="of the first picture")
    parser.add_argument(
        "--n", type=_count, default=1, metavar="COUNT", help="pictures of each prompt"
    )
    parser.add_argument(
        "--scale", type=_strength, nargs="+", metavar="S",
        help="strength of the LoRA, one or several (default: 1; 0 is without it)",
    )  # fmt: skip
    parser.add_argument(
        "--grid", action="store_true",
        help="also a sheet of the same seeds without the LoRA and at each strength",
    )  # fmt: skip
    _add_sampling(parser)


def _add_sampling(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--negative", default="", metavar="TEXT", help="what it shall not show")
    parser.add_argument("--steps", type=_count, default=_DEFAULTS.steps)
    parser.add_argument("--guidance", type=_guidance, default=_DEFAULTS.guidance)
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
    pictures = paint_pictures(lora, orders, args.base, args.device, _tell)
    try:
        saved = save_pictures(pictures, args.out, print)
        if args.grid:
            save_grids(saved, args.out, print)
    except OSError as error:
        message = f"The pictures cannot be written to {args.out}: {error.strerror or error}."
        raise GenerationError(message) from error
    return DONE


def _tell(message: str) -> None:
    print(message, file=sys.stderr)


def _orders(args: argparse.Namespace, lora: LoraFile) -> list[PictureOrder]:
    like = PictureOrder(
        "",
        args.seed,
        steps=args.steps,
        size_px=args.size or (lora.resolution, lora.resolution),
        guidance=args.guidance,
        negative_prompt=args.negative,
    )
    prompts = list(dict.fromkeys(args.prompt))
    return list_orders(prompts, args.n, _scales(args.scale, args.grid), like)


def _scales(given: Sequence[float] | None, grid: bool) -> list[float]:
    """Return the strengths to paint: for a sheet always with 0, to compare with."""
    if not grid:
        return list(dict.fromkeys(given or (_DEFAULTS.scale,)))
    return sorted({0.0, *(given or GRID_SCALES)})


def _tell_before(lora: LoraFile, args: argparse.Namespace, count: int) -> None:
    _tell(f"Painting {count} with {choose_base(lora, args.base)} ...")
    if lora.caption:
        _tell(f"Captions of its dataset look like this: {lora.caption}")


def _words(text: str) -> str:
    if not text.strip():
        raise argparse.ArgumentTypeError("say what to paint")
    return text


def _count(text: str) -> int:
    return int(_number(text, 1, _MOST, int))


def _seed(text: str) -> int:
    return int(_number(text, 0, _HIGHEST_SEED, int))


def _strength(text: str) -> float:
    return _number(text, -_STRONGEST, _STRONGEST, float)


def _guidance(text: str) -> float:
    return _number(text, 0, _MOST_GUIDANCE, float)


def _number(text: str, least: float, most: float, kind: type[int] | type[float]) -> float:
    try:
        number = kind(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r} is no number") from error
    if not least <= number <= most:  # also false for NaN
        raise argparse.ArgumentTypeError(f"must be from {least:,} to {most:,}")
    return number


def _size(text: str) -> tuple[int, int]:
    found = re.fullmatch(r"(\d{1,5})(?:[xX](\d{1,5}))?", text)
    if not found:
        raise argparse.ArgumentTypeError("write 1024, or 832x1216")
    width = int(found[1])
    height = int(found[2] or width)
    if width % SIZE_STEP_PX or height % SIZE_STEP_PX:
        raise argparse.ArgumentTypeError(f"must be multiples of {SIZE_STEP_PX}")
    if not all(_LEAST_SIDE_PX <= side <= _MOST_SIDE_PX for side in (width, height)):
        raise argparse.ArgumentTypeError(f"must be from {_LEAST_SIDE_PX} to {_MOST_SIDE_PX}")
    return width, height
