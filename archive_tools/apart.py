"""A yes-or-no question answered in a process of its own: a crash or a hang is a no."""

import os
import select
import signal
import sys
from collections.abc import Callable
from contextlib import suppress

_YES = 0
_NO = 1


def ask_apart(question: Callable[[], bool], limit_s: float) -> bool:
    """Answer a question in a forked child.

    The child must open files anew: it shares the position in those that are open already.

    Args:
        question: What is asked; its exceptions count as a no.
        limit_s: Seconds after which the answer is no.

    Returns:
        The answer; False where the child crashed, raised or took too long.
    """
    if sys.platform != "linux":
        # No safe fork: the limits of the whole page have to do.
        return question()
    child = os.fork()
    if child == 0:
        _answer(question)
    return _wait(child, limit_s)


def _answer(question: Callable[[], bool]) -> None:
    """Leave the child with the answer, whatever happens: it must never return to the caller."""
    status = _NO
    try:
        signal.setitimer(signal.ITIMER_REAL, 0)
        status = _YES if question() else _NO
    finally:
        os._exit(status)


def _wait(child: int, limit_s: float) -> bool:
    """Reap the child, after killing it where it takes too long."""
    handle = os.pidfd_open(child)
    try:
        is_done, _, _ = select.select([handle], [], [], limit_s)
        if not is_done:
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
    finally:
        os.close(handle)
    return bool(is_done) and os.waitstatus_to_exitcode(status) == _YES
