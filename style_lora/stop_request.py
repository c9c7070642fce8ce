"""Ctrl-C and SIGTERM in a training: the step is finished and saved; a second one ends it now."""

import signal
from types import FrameType


class StopRequest:
    """Listens to both signals from its making."""

    def __init__(self) -> None:
        """Take over the signals."""
        self.is_made = False
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._take)

    def _take(self, _number: int, _frame: FrameType | None) -> None:
        if self.is_made:
            raise KeyboardInterrupt
        self.is_made = True
