"""Which refusal of ZeroGPU an error is.

The `spaces` package raises `gr.Error` with a title and words of its own (read from spaces 0.51.3).
What visitors are told stands in the packages, which never import each other.
"""

from enum import StrEnum
from typing import Final


class GpuRefusal(StrEnum):
    """Why the device service gives no GPU, or how its worker failed."""

    NONE_IN_TIME = "none in time"
    ANONYMOUS_QUOTA = "anonymous quota"
    RUNS_QUOTA = "runs quota"
    TIME_QUOTA = "time quota"
    TOO_LONG = "too long"
    CREDITS_HELD = "credits held"
    NONE_FREE = "none free"
    EXPIRED = "expired"
    ABORTED = "aborted"
    OUT_OF_MEMORY = "out of memory"
    WORKER_FAILED = "worker failed"


# (title, how the message begins, what it is); the first that fits counts.
_SIGNS: Final = (
    ("ZeroGPU quota exceeded", "No GPU was available", GpuRefusal.NONE_IN_TIME),
    ("ZeroGPU quota exceeded", "Space app has reached", GpuRefusal.ANONYMOUS_QUOTA),
    ("ZeroGPU quota exceeded", "You have exceeded your ZeroGPU runs", GpuRefusal.RUNS_QUOTA),
    ("ZeroGPU quota exceeded", "", GpuRefusal.TIME_QUOTA),
    ("ZeroGPU illegal duration", "", GpuRefusal.TOO_LONG),
    ("ZeroGPU pending credits exceeded", "", GpuRefusal.CREDITS_HELD),
    ("ZeroGPU queue timeout", "", GpuRefusal.NONE_IN_TIME),
    ("ZeroGPU client error", "No GPU was available", GpuRefusal.NONE_FREE),
    ("ZeroGPU client error", "Expired", GpuRefusal.EXPIRED),
    ("ZeroGPU worker error", "GPU task aborted", GpuRefusal.ABORTED),
    ("ZeroGPU worker error", "OutOfMemoryError", GpuRefusal.OUT_OF_MEMORY),
    ("ZeroGPU worker error", "", GpuRefusal.WORKER_FAILED),
)


def recognise_refusal(title: str, message: str) -> GpuRefusal | None:
    """Return which refusal an error is.

    Args:
        title: Of the `gr.Error`.
        message: Its words, without markup.

    Returns:
        None for one that is not known.
    """
    fitting = (
        refusal
        for known, beginning, refusal in _SIGNS
        if title == known and message.startswith(beginning)
    )
    return next(fitting, None)
