"""A question answered with a number in a process of its own: a crash or a hang answers 0."""

import os
import select
import signal
import struct
import sys
from collections.abc import Callable
from contextlib import suppress

_NUMBER = struct.Struct("d")
_ANSWERED = 0
_FAILED = 1


def ask_apart(question: Callable[[], float], limit_s: float) -> float:
    """Answer a question in a forked child.

    The child must open files anew: it shares the position in those that are open already.

    Args:
        question: What is asked; yes and no are 1 and 0. Its exceptions count as 0.
        limit_s: Seconds after which the answer is 0.

    Returns:
        The answer; 0 where the child crashed, raised or took too long.
    """
    if sys.platform != "linux":
        # No safe fork: the limits of the whole page have to do.
        return question()
    near_end, far_end = os.pipe()
    try:
        child = os.fork()
        if child == 0:
            _answer(question, far_end)
        if not _ends_well(child, limit_s):
            return 0.0
        answer: float = _NUMBER.unpack(os.read(near_end, _NUMBER.size))[0]
        return answer
    finally:
        os.close(near_end)
        os.close(far_end)


def _answer(question: Callable[[], float], pipe: int) -> None:
    """Leave the child with the answer, whatever happens: it must never return to the caller."""
    status = _FAILED
    try:
        signal.setitimer(signal.ITIMER_REAL, 0)
        os.write(pipe, _NUMBER.pack(question()))
        status = _ANSWERED
    finally:
        os._exit(status)


def _ends_well(child: int, limit_s: float) -> bool:
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
    return bool(is_done) and os.waitstatus_to_exitcode(status) == _ANSWERED
