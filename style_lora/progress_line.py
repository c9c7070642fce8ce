"""Progress of a training on one line of a terminal, or now and then on lines of their own."""

import time
from typing import Final, TextIO

from style_lora.estimate import tell_time
from style_lora.schema import Phase, TrainProgress

_WORDS: Final = {
    Phase.CHECKING: "checking pictures",
    Phase.FETCHING: "fetching the base",
    Phase.CACHING: "encoding pictures and captions",
    Phase.LOADING: "loading the UNet",
    Phase.TRAINING: "training",
    Phase.SAMPLING: "drawing samples",
    Phase.SAVING: "saving",
}
_TERMINAL_PAUSE_S: Final = 0.2
_FILE_PAUSE_S: Final = 30.0


class ProgressLine:
    """Shows progress on a stream; messages stay, the rest is written over."""

    def __init__(self, stream: TextIO) -> None:
        """Take a stream.

        Args:
            stream: Standard error, as a rule.
        """
        self._stream = stream
        self._is_terminal = stream.isatty()
        self._next_s = 0.0
        self._phase: Phase | None = None
        self._width = 0

    def show(self, progress: TrainProgress) -> None:
        """Show a progress, unless the last one was a moment ago.

        Args:
            progress: Of the training.
        """
        if progress.message:
            self.end()
            print(progress.message, file=self._stream, flush=True)
        is_new = progress.phase is not self._phase
        if not is_new and time.monotonic() < self._next_s:
            return
        self._phase = progress.phase
        pause_s = _TERMINAL_PAUSE_S if self._is_terminal else _FILE_PAUSE_S
        self._next_s = time.monotonic() + pause_s
        self._write(describe(progress))

    def end(self) -> None:
        """End the line."""
        if self._is_terminal and self._width:
            print(file=self._stream)
        self._width = 0

    def _write(self, text: str) -> None:
        if self._is_terminal:
            print(f"\r{text.ljust(self._width)}", end="", file=self._stream, flush=True)
            self._width = len(text)
        else:
            print(text, file=self._stream, flush=True)


def describe(progress: TrainProgress) -> str:
    """Return a progress in words.

    Args:
        progress: Of the training.
    """
    parts = [_WORDS[progress.phase]]
    if progress.total:
        parts.append(f"{progress.done} of {progress.total}")
    if progress.loss is not None:
        parts.append(f"epoch {progress.epoch + 1}, loss {progress.loss:.4f}")
    if progress.validation_loss is not None:
        parts.append(f"validation {progress.validation_loss:.4f}")
    if progress.left_s is not None:
        parts.append(f"{tell_time(progress.left_s)} left")
    return ", ".join(parts)
