"""Progress of a run on a terminal or in a log."""

import shutil
import time
from types import TracebackType
from typing import Self, TextIO

from archive_tools.run_report import Progress

LOG_EVERY_S = 5.0
CLEAR_LINE = "\r\x1b[K"


class ProgressLine:
    """One line that is redrawn on a terminal; in a log, a line every few seconds."""

    def __init__(self, stream: TextIO) -> None:
        """Look at where the lines will go.

        Args:
            stream: Standard error, usually.
        """
        self._stream = stream
        self._is_terminal = stream.isatty()
        self._log_due_s = time.monotonic() + LOG_EVERY_S
        self._newest = ""

    def show(self, progress: Progress) -> None:
        """Show where the run stands, if it is time."""
        self.show_text(describe_progress(progress))

    def show_text(self, text: str) -> None:
        """Show a line of text, if it is time."""
        self._newest = text
        if self._is_terminal:
            columns = shutil.get_terminal_size().columns
            self._write(CLEAR_LINE + self._newest[: columns - 1])
        elif time.monotonic() >= self._log_due_s:
            self._log_due_s = time.monotonic() + LOG_EVERY_S
            self._write(self._newest + "\n")
            self._newest = ""

    def __enter__(self) -> Self:
        """Return the line."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Clear the line, so that what is printed next stands alone; a log gets the last state."""
        if self._is_terminal:
            self._write(CLEAR_LINE)
        elif self._newest:
            self._write(self._newest + "\n")

    def _write(self, text: str) -> None:
        """Write at once."""
        self._stream.write(text)
        self._stream.flush()


def describe_progress(progress: Progress) -> str:
    """Return one line that says where a run stands."""
    return (
        f"file {progress.file_number}/{progress.file_count} {progress.file_name} "
        f"page {progress.page_number}/{progress.page_count} | "
        f"{progress.pages.describe(progress.elapsed_s)}"
    )
