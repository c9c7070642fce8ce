"""The command `train`: its options, and what it prints."""

import argparse
import dataclasses
import json
import os
import sys
from pathlib import Path
from typing import Any, Final

from style_lora.config import DEFAULT_BASE, MOST_EPOCHS, OPTIMIZERS, PRECISIONS, TrainConfig
from style_lora.progress_line import ProgressLine
from style_lora.schema import Phase, TrainProgress, TrainResult
from style_lora.stop_request import StopRequest
from style_lora.training import train_lora

_DEFAULTS: Final = TrainConfig()
# Options that only hand a number on: name in the settings, type, and what it means.
_NUMBERS: Final[tuple[tuple[str, type, str], ...]] = (
    ("resolution", int, "side in pixels of the square whose area the aspect buckets have"),
    ("rank", int, "rank of the LoRA"),
    ("batch_size", int, "pictures computed at once"),
    ("accumulate", int, "batches whose gradients make one step: as a larger batch, in less memory"),
    ("learning_rate", float, "learning rate of the optimiser"),
    ("seed", int, "seed of everything random"),
    ("noise_offset", float, "for true black and white"),
    ("caption_dropout", float, "share of pictures trained without their caption"),
    ("validation_share", float, "share held out, where the ZIP has no validation/"),
    ("patience", int, "validations without a new best before it stops; 0 never stops early"),
    ("validate_every", int, "steps between validations"),
    ("sample_every", int, "steps between sample pictures; 0 makes none"),
    ("sample_steps", int, "denoising steps of a sample picture"),
    ("checkpoint_every", int, "steps between checkpoints"),
)
_SLICE_OVER: Final = 1
_WITH_STEPS: Final = (Phase.TRAINING, Phase.SAMPLING, Phase.SAVING)
_STOPPING: Final = b"\nStopping after this step, which is saved; Ctrl-C again stops at once.\n"


def add_train_parser(commands: Any) -> None:
    """Describe `train`.

    Args:
        commands: What `ArgumentParser.add_subparsers` gave.
    """
    parser = commands.add_parser(
        "train",
        help="train a LoRA on a dataset ZIP",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    parser.add_argument("dataset", type=Path, help="ZIP of python -m archive_tools build")
    parser.add_argument("--out", type=Path, required=True, help="folder of the results")
    parser.add_argument("--base", default=DEFAULT_BASE, help="SDXL: a folder or a hub id")
    parser.add_argument(
        "--vae",
        help="another VAE: a folder or hub id, such as madebyollin/sdxl-vae-fp16-fix",
    )
    _add_length(parser)
    for name, kind, meaning in _NUMBERS:
        parser.add_argument(
            f"--{name.replace('_', '-')}", type=kind, default=getattr(_DEFAULTS, name), help=meaning
        )
    parser.add_argument("--alpha", type=float, help="alpha of the LoRA (the rank, if not given)")
    parser.add_argument(
        "--snr-gamma", type=float, default=_DEFAULTS.snr_gamma, help="min-SNR gamma; 0 turns it off"
    )
    parser.add_argument(
        "--sample-prompt", action="append", default=[], help="of a sample picture; may be repeated"
    )
    parser.add_argument(
        "--optimizer",
        choices=OPTIMIZERS,
        default="adamw",
        help="adamw8bit keeps its moments in 8 bit; takes bitsandbytes",
    )
    parser.add_argument("--precision", choices=PRECISIONS, default="auto", help="of the base")
    parser.add_argument(
        "--no-gradient-checkpointing",
        action="store_true",
        help="faster, and needs several times the memory",
    )
    parser.add_argument("--resume", action="store_true", help="go on with what --out has begun")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    parser.set_defaults(command=run_train)


def run_train(options: argparse.Namespace) -> int:
    """Train, and print how it has ended.

    Args:
        options: Of the command line.

    Returns:
        The exit status: 0 finished, 1 a slice is over and there is more to do.
    """
    line = ProgressLine(sys.stderr)
    # Not through a stream, which may be in the middle of a line when the signal comes.
    stop = StopRequest(lambda: os.write(2, _STOPPING))

    def show(progress: TrainProgress) -> None:
        line.show(progress)
        # Before the first step there is nothing to save, and encoding goes on where it was.
        stop.can_wait = progress.phase in _WITH_STEPS
        if stop.is_made and progress.phase is Phase.TRAINING:
            raise KeyboardInterrupt

    try:
        with stop.listen():
            result = train_lora(
                options.dataset,
                options.out,
                _read_config(options),
                resume=options.resume,
                on_progress=show,
            )
    finally:
        line.end()
    print(_to_json(result) if options.json else _summarise(result))
    return 0 if result.finished else _SLICE_OVER


def _add_length(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--epochs", type=int, help=f"ceiling in passes over the data, up to {MOST_EPOCHS}"
    )
    parser.add_argument(
        "--steps", type=int, help="ceiling in steps; with neither, what guides recommend"
    )
    parser.add_argument(
        "--max-duration",
        type=float,
        metavar="SECONDS",
        help="save and end after so many seconds; --resume goes on (exit status 1)",
    )


def _read_config(options: argparse.Namespace) -> TrainConfig:
    given = {
        field.name: getattr(options, field.name)
        for field in dataclasses.fields(TrainConfig)
        if hasattr(options, field.name)
    }
    given |= {
        "snr_gamma": options.snr_gamma or None,
        "sample_prompts": tuple(options.sample_prompt),
        "max_duration_s": options.max_duration,
        "gradient_checkpointing": not options.no_gradient_checkpointing,
    }
    return TrainConfig(**given)


def _to_json(result: TrainResult) -> str:
    return json.dumps(dataclasses.asdict(result), default=str, indent=2)


def _summarise(result: TrainResult) -> str:
    lines = [f"{result.steps_done} steps: {result.stopped_because}."]
    if result.best_validation_loss is not None:
        lines.append(
            f"Best at step {result.best_step} (validation loss {result.best_validation_loss:.4f})."
        )
    if result.lora_path:
        lines += [f"diffusers: {result.lora_path}", f"kohya: {result.kohya_path}"]
    if not result.finished:
        lines.append("There is more to do: give the same command with --resume.")
    return "\n".join(lines)
