"""The table of `python -m archive_tools score`: what the filter says of every page."""

import csv
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from archive_tools.errors import DatasetWriteError
from archive_tools.manifest import safe_cell
from archive_tools.schema import PageResult, Source

COLUMNS = (
    "file", "page_number", "width", "height", "sigma", "score", "decision", "reason", "traits",
)  # fmt: skip


class ScoreTable:
    """Writes one CSV row a page."""

    def __init__(self, stream: TextIO) -> None:
        """Write the header.

        Args:
            stream: A text stream that leaves line ends alone.
        """
        self._rows = csv.writer(stream, lineterminator="\n")
        self._rows.writerow(COLUMNS)

    def add(self, source: Source, result: PageResult) -> None:
        """Write the row of a page."""
        self._rows.writerow(_row(source, result))


@contextmanager
def open_score_table(out: Path | None, stdout: TextIO) -> Iterator[ScoreTable]:
    """Open the table.

    Args:
        out: The file, which appears when it is complete; None prints to `stdout`.
        stdout: Standard output.

    Yields:
        The table.

    Raises:
        DatasetWriteError: The file cannot be written.
    """
    if out is None:
        yield ScoreTable(stdout)
        stdout.flush()
        return
    partial = out.with_name(f"{out.name}.part")
    try:
        with partial.open("w", encoding="utf-8", newline="") as file:
            yield ScoreTable(file)
        partial.replace(out)
    except OSError as error:
        raise DatasetWriteError(
            f"{out} cannot be written: {error.strerror or error}. Choose another place."
        ) from error
    finally:
        partial.unlink(missing_ok=True)


def _row(source: Source, result: PageResult) -> Iterable[object]:
    """Return the cells of a page."""
    return (
        safe_cell(source.name),
        result.page_number,
        result.width,
        result.height,
        "" if result.sigma is None else round(result.sigma, 4),
        "" if result.score is None else round(result.score, 4),
        result.outcome.value,
        safe_cell(result.reason),
        "; ".join(result.traits),
    )
