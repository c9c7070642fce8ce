"""Commands in processes of their own that need not import PyTorch anew.

They are forked from a server that has imported the libraries and nothing else: no model, no
dataset and no setting of the tests is in it. That spares each command five seconds of processor.
"""

import os
import runpy
import sys
from collections.abc import Mapping
from multiprocessing import get_context
from multiprocessing.context import ForkServerProcess
from pathlib import Path

from tests.commands import LIMIT_S, REPOSITORY, CommandResult

_SERVER = get_context("forkserver")
_SERVER.set_forkserver_preload(["diffusers", "peft", "tests.style_lora.library_imports"])


def start_forked(
    words: list[str], log: Path, environment: Mapping[str, str] | None = None
) -> ForkServerProcess:
    """Start `python -m WORDS`; it can be killed and has an exit status like any process.

    Args:
        words: Module and arguments.
        log: What it prints goes there and to `LOG.err`.
        environment: Beside that of the first command.
    """
    process = _SERVER.Process(target=_run, args=(words, str(log), dict(environment or {})))
    process.start()
    return process


def run_forked(words: list[str], log: Path) -> CommandResult:
    """Run `python -m WORDS` to its end; see `start_forked`."""
    process = start_forked(words, log)
    process.join(LIMIT_S)
    assert process.exitcode is not None, f"{words} has not ended"
    return CommandResult(process.exitcode, log.read_text(), Path(f"{log}.err").read_text())


def _run(words: list[str], log: str, environment: dict[str, str]) -> None:
    for number, path in ((1, log), (2, f"{log}.err")):
        with Path(path).open("wb") as stream:
            os.dup2(stream.fileno(), number)
    os.environ |= environment
    os.chdir(REPOSITORY)
    sys.argv = words
    runpy.run_module(words[0], run_name="__main__", alter_sys=True)
