"""Command line: train a LoRA, generate with it.

Progress goes to standard error, results to standard output. Exit status: 0 done, 1 a slice is over
and there is more to do, 2 nothing usable or wrong usage, 130 stopped by Ctrl-C.
"""

import argparse
import os
import sys
from collections.abc import Sequence

from style_lora.errors import StyleLoraError
from style_lora.generate_cli import add_generate_parser
from style_lora.train_cli import add_train_parser

NOTHING_USABLE, STOPPED = 2, 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command.

    Args:
        arguments: Words after the program's name; None takes those of this process.

    Returns:
        The exit status.
    """
    # Their warnings are about what nobody here uses, and would bury ours.
    os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
    options = build_parser().parse_args(arguments)
    try:
        status: int = options.command(options)
    except StyleLoraError as error:
        print(f"error: {error}", file=sys.stderr)
        return NOTHING_USABLE
    except KeyboardInterrupt:
        print("Stopped. What was saved goes on with --resume.", file=sys.stderr)
        return STOPPED
    except OSError as error:
        place = f": {error.filename}" if error.filename else ""
        print(f"error: {error.strerror or error}{place}", file=sys.stderr)
        return NOTHING_USABLE
    return status


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of all commands."""
    parser = argparse.ArgumentParser(
        prog="python -m style_lora",
        description="Train an SDXL LoRA on a dataset of scanned pictures, and generate with it.",
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    add_train_parser(commands)
    add_generate_parser(commands)
    return parser
