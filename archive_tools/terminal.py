"""What the system may do to a command: close its streams, fill its disk, ask it to end."""

import os
import signal
import sys
from types import FrameType
from typing import NoReturn

_LAST_STREAM = 2


def fill_closed_streams() -> None:
    """Open a sink for each standard stream that was closed (`>&-`).

    Otherwise the next file would take its number, and get what is printed.
    """
    while (number := os.open(os.devnull, os.O_RDWR)) <= _LAST_STREAM:
        os.set_inheritable(number, True)
    os.close(number)
    if sys.stdout is None:
        sys.stdout = os.fdopen(1, "w", encoding="utf-8")
    if sys.stderr is None:
        sys.stderr = os.fdopen(2, "w", encoding="utf-8")


def drop_output() -> None:
    """Send to nowhere what is still to be printed, since Python tries once more at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def end_in_order_on_signals() -> None:
    """End in order when the system asks or the terminal closes: children end, partials stay."""
    signal.signal(signal.SIGTERM, _exit_on_signal)
    # Windows has no such signal, and under `nohup` it is to be ignored.
    if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:
        signal.signal(signal.SIGHUP, _exit_on_signal)


def _exit_on_signal(number: int, frame: FrameType | None) -> NoReturn:  # noqa: ARG001
    raise SystemExit(128 + number)
