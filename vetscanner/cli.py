"""Command line: triage photos, train the model, measure it.

Progress goes to standard error, results to standard output. Exit status: 0 done, 1 done but some
photos could not be used, 2 nothing usable or wrong usage, 130 stopped by Ctrl-C.
"""

import argparse
import io
import json
import os
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vetscanner.errors import InvalidOptionError, VetScannerError
from vetscanner.model_specs import ModelSpec, resolve_spec
from vetscanner.pipeline import PhotoFile, scan_photos
from vetscanner.report_text import report_text
from vetscanner.schema import Classification, Device, Language, TickedSign
from vetscanner.vet_phone import read_vet_phone

DONE, PARTIAL, NOTHING_USABLE, STOPPED = 0, 1, 2, 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command.

    Args:
        arguments: Words after the program's name; None takes those of this process.

    Returns:
        The exit status.
    """
    options = make_parser().parse_args(arguments)
    if isinstance(sys.stdout, io.TextIOWrapper):
        # Reports are in four languages; a pipe may come with an encoding that lacks their letters.
        sys.stdout.reconfigure(encoding="utf-8")
    try:
        status: int = options.command(options)
        sys.stdout.flush()
    except VetScannerError as error:
        print(f"error: {error}", file=sys.stderr)
        return NOTHING_USABLE
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
        return STOPPED
    except BrokenPipeError:
        # The reader of our output (`| head`) has gone.
        _drop_output()
        return PARTIAL
    except OSError as error:
        # A path that the system refuses, or a full disk behind the output, which has no path.
        place = f": {error.filename}" if error.filename else "; the output may be incomplete."
        print(f"error: {error.strerror or error}{place}", file=sys.stderr)
        if not error.filename:
            _drop_output()
        return NOTHING_USABLE
    return status


def _drop_output() -> None:
    """Send to nowhere what is still to be printed, since Python tries once more at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of all commands."""
    parser = argparse.ArgumentParser(
        prog="python -m vetscanner",
        description="Triage of cattle from photos: how urgent, whom to call, what to do now. "
        "Never a diagnosis.",
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    _add_triage(commands.add_parser("triage", help="judge the photos of one animal"))
    _add_train(commands.add_parser("train", help="train the model on a folder of photos"))
    _add_evaluate(commands.add_parser("evaluate", help="measure a model on a folder of photos"))
    return parser


def run_triage(options: argparse.Namespace) -> int:
    """Judge the photos and print the report.

    Returns:
        The exit status.
    """
    if options.device == "cuda":
        choose_device("cuda")  # a wish that cannot be met is told before any work
    spec = resolve_spec(options.model)
    files = [PhotoFile(path, printable_name(path.name)) for path in options.photos]
    classify = partial(_classify, choice=options.device)
    phone = read_vet_phone()
    report = scan_photos(files, options.signs, options.language, classify, spec, phone)
    print(
        _to_json(report.to_json(heatmaps=options.heatmaps)) if options.json else report_text(report)
    )
    for photo_error in report.photo_errors:
        print(f"error: {photo_error.message}", file=sys.stderr)
    return PARTIAL if report.photo_errors else DONE


def run_train(options: argparse.Namespace) -> int:
    """Train a model into a folder.

    Returns:
        The exit status.
    """
    from vetscanner.training.train import train_model

    print(f"Training on {options.data_dir} ...", file=sys.stderr)
    train_model(options.data_dir, options.out, options.recipe, options.seed, options.work_dir)
    print(options.out)
    return DONE


def run_evaluate(options: argparse.Namespace) -> int:
    """Measure a model and print its figures.

    Returns:
        The exit status.
    """
    from vetscanner.training.evaluate import cross_validate_folder, evaluate_folder

    print(f"Measuring on {options.data_dir} ...", file=sys.stderr)
    spec = resolve_spec(options.model)
    figures = (
        cross_validate_folder(options.data_dir, spec, options.recipe, options.work_dir)
        if options.cross_validate
        else evaluate_folder(options.data_dir, spec)
    )
    print(_to_json(figures) if options.json else "\n".join(_figure_lines(figures)))
    return DONE


def printable_name(name: str) -> str:
    """Return a file name that any terminal shows as one line: names are data, not commands."""
    text = name.encode("utf-8", "replace").decode("utf-8")
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def choose_device(choice: str) -> tuple[Device, str]:
    """Decide where the model runs.

    Args:
        choice: auto, cpu or cuda.

    Returns:
        The device, and why in plain words.

    Raises:
        InvalidOptionError: CUDA is asked for and there is none.
    """
    if choice == "cpu":
        return Device.CPU, "The CPU was asked for."
    import torch

    if torch.cuda.is_available():
        return Device.GPU, "This machine has a GPU."
    if choice == "cuda":
        raise InvalidOptionError("--device cuda: this machine has no CUDA GPU; use auto or cpu.")
    return Device.CPU, "This machine has no GPU."


def _classify(
    photos: Sequence[NDArray[np.uint8]], spec: ModelSpec, *, choice: str
) -> Classification:
    """Look at photos; torch is imported no earlier, seconds that a typing error need not wait."""
    from vetscanner.classifier import classify

    device, device_reason = choose_device(choice)
    print(f"Looking at {len(photos)} photo(s) on the {device} ...", file=sys.stderr)
    return classify(photos, spec, device, device_reason)


def _add_triage(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(command=run_triage)
    parser.add_argument(
        "photos",
        nargs="*",
        type=Path,
        metavar="PHOTO",
        help="photos of the same animal; may be left out when a sign is given",
    )
    parser.add_argument(
        "--sign",
        dest="signs",
        action="append",
        default=[],
        choices=[str(sign) for sign in TickedSign],
        metavar="SIGN",
        help=f"what you see beside the photo, repeat for several: {', '.join(TickedSign)}",
    )
    parser.add_argument(
        "--lang",
        dest="language",
        default=Language.EN.value,
        choices=[str(language) for language in Language],
        help="language of the report (default: %(default)s)",
    )
    parser.add_argument(
        "--device",
        default="auto",
        choices=["auto", "cpu", "cuda"],
        help="where the model runs (default: %(default)s)",
    )
    _add_model(parser)
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    parser.add_argument(
        "--heatmaps",
        action="store_true",
        help="with --json: each photo, small, with the places marked that speak for a finding",
    )


def _add_train(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(command=run_train)
    _add_data_dir(parser)
    parser.add_argument(
        "--out", type=Path, required=True, metavar="MODEL_DIR", help="folder for the trained model"
    )
    _add_recipe(parser)
    parser.add_argument("--seed", type=int, default=0, help="same seed, same model (default: 0)")


def _add_evaluate(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(command=run_evaluate)
    _add_data_dir(parser)
    parser.add_argument(
        "--cross-validate",
        action="store_true",
        help="train and measure by turns on groups of the same folder",
    )
    _add_recipe(parser)
    _add_model(parser)
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")


def _add_data_dir(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "data_dir", type=Path, metavar="DATA_DIR", help="folder with labels.csv and the photos"
    )


def _add_recipe(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--recipe",
        default="head",
        choices=["head", "fine-tune"],
        help="how a model is trained (default: %(default)s, which made the bundled one)",
    )
    parser.add_argument(
        "--work-dir",
        type=Path,
        default=Path("build/training"),
        metavar="DIR",
        help="where fine-tuning keeps finished parts, so that a stopped one goes on "
        "(default: %(default)s)",
    )


def _add_model(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--model",
        metavar="PATH|REPO@REV",
        help="model folder or pinned hub repository (default: the bundled model)",
    )


def _to_json(content: Mapping[str, Any]) -> str:
    return json.dumps(content, indent=2, ensure_ascii=False)


def _figure_lines(figures: Mapping[str, Any], indent: str = "") -> list[str]:
    lines: list[str] = []
    for name, value in figures.items():
        if isinstance(value, Mapping):
            lines += [f"{indent}{name}:", *_figure_lines(value, indent + "  ")]
        else:
            lines.append(
                f"{indent}{name}: {value:.3f}"
                if isinstance(value, float)
                else f"{indent}{name}: {value}"
            )
    return lines
