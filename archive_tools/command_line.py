"""The command line that does what the options of the page say; pure."""

import shlex
from collections.abc import Iterator

from archive_tools.config import NO_FINISHING, DatasetConfig, PageFilter

PROGRAM = ("python", "-m", "archive_tools")
SOURCES = "FOLDER/*"
"""Each file by itself, as on the page: a folder of images would be one document."""

_DEFAULTS = DatasetConfig()


def build_arguments(config: DatasetConfig) -> list[str]:
    """Return the words after the program's name for a run with these options.

    FOLDER and dataset.zip stand for the reader's own. A password is not repeated: PASSWORD stands
    for it. Options that the page does not have are left at their defaults.

    Args:
        config: Options of the page.
    """
    return ["build", SOURCES, "--out", "dataset.zip", *_iter_options(config), *threshold(config)]


def threshold(config: DatasetConfig) -> list[str]:
    """Return the words that set the threshold of the chosen filter, none where it is the default.

    Args:
        config: Options of the page.
    """
    if config.filter is PageFilter.AUTO and config.min_score != _DEFAULTS.min_score:
        return ["--min-score", _number(config.min_score)]
    if config.filter is PageFilter.SIGMA and config.min_sigma != _DEFAULTS.min_sigma:
        return ["--min-sigma", _number(config.min_sigma)]
    return []


def _number(value: float) -> str:
    """Return a figure as people write it, and exactly: 50 and 0.07."""
    return repr(float(value)).removesuffix(".0")


def join_command(arguments: list[str]) -> str:
    """Return a command as one types it into a POSIX shell, which finds the files of SOURCES.

    Args:
        arguments: The words after the program's name.
    """
    quoted = (word if word == SOURCES else shlex.quote(word) for word in arguments)
    return " ".join([*PROGRAM, *quoted])


def _iter_options(config: DatasetConfig) -> Iterator[str]:
    for name in ("filter", "content", "spreads", "fit"):
        value = getattr(config, name)
        if value != getattr(_DEFAULTS, name):
            yield from (f"--{name}", value.value)
    if config.trigger:
        # In one word, lest a trigger that begins with a dash be taken for an option.
        yield f"--trigger={config.trigger}"
    if config.password:
        yield from ("--password", "PASSWORD")
    if config.finishing == NO_FINISHING:
        yield "--no-finishing"
    if not config.dedupe:
        yield "--no-dedupe"
