"""Ctrl-C and SIGTERM in a training: the step is finished and saved; a second one ends it now."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final

_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)


class StopRequest:
    """Listens to both signals within `listen`."""

    def __init__(self, tell: Callable[[], object]) -> None:
        """Begin without a request.

        Args:
            tell: Called when a request has to wait for the step that is under way.
        """
        self.is_made = False
        self.can_wait = False
        """Whether something is under way that should be finished first."""
        self._tell = tell

    @contextmanager
    def listen(self) -> Iterator[None]:
        """Take over the signals for the length of a `with` block."""
        before = [signal.signal(number, self._take) for number in _SIGNALS]
        try:
            yield
        finally:
            for number, handler in zip(_SIGNALS, before, strict=True):
                signal.signal(number, handler)

    def _take(self, _number: int, _frame: FrameType | None) -> None:
        if self.is_made or not self.can_wait:
            raise KeyboardInterrupt
        self.is_made = True
        self._tell()
