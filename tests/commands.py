"""The command line as a person uses it: a process of its own, judged by what it prints."""

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[1]
LIMIT_S = 240.0


@dataclass(frozen=True, slots=True)
class CommandResult:
    """How a command ended and what it printed."""

    status: int
    stdout: str
    stderr: str

    @property
    def everything(self) -> str:
        """Both streams, for looking for a message that may stand on either."""
        return self.stdout + self.stderr

    def read_json(self) -> Any:
        """Return standard output, which must be one JSON document and nothing else."""
        return json.loads(self.stdout)


def build_command(*arguments: str | Path) -> list[str]:
    """Return the command `python -m ARGUMENTS`."""
    return [sys.executable, "-m", *map(str, arguments)]


def run_command(*arguments: str | Path) -> CommandResult:
    """Run `python -m ARGUMENTS` in the checkout."""
    ended = subprocess.run(
        build_command(*arguments),
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    return CommandResult(ended.returncode, ended.stdout, ended.stderr)


def run_on_full_disk(*arguments: str | Path) -> CommandResult:
    """Run `python -m ARGUMENTS` in the checkout with a full disk behind standard output."""
    with Path("/dev/full").open("w") as full:
        ended = subprocess.run(
            build_command(*arguments),
            cwd=REPOSITORY,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=LIMIT_S,
            check=False,
        )
    return CommandResult(ended.returncode, "", ended.stderr)


def count_pages(report: dict[str, Any]) -> tuple[int, int, int, int]:
    """Return pages seen, kept, dropped and failed as the report of a run states them."""
    seen, kept = report["pages_seen"], report["pages_kept"]
    return seen, kept, report["pages_dropped"], report["pages_failed"]
