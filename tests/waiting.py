"""Waiting for what must come true, without a fixed pause."""

import time
from collections.abc import Callable

LIMIT_S = 60.0


def wait_until(holds: Callable[[], bool], limit_s: float = LIMIT_S) -> bool:
    """Say whether a condition comes true before the time is up."""
    deadline = time.monotonic() + limit_s
    while not holds():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True
