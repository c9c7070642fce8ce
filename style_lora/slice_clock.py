"""The time that a slice of a training has, as where GPUs are lent for a minute or two."""

import math
import time


class SliceClock:
    """Counts from its making."""

    def __init__(self, duration_s: float | None) -> None:
        """Start.

        Args:
            duration_s: Seconds the slice has; None is without end.
        """
        self._end_s = time.monotonic() + (math.inf if duration_s is None else duration_s)

    def is_over(self, reserve_s: float = 0.0) -> bool:
        """Tell whether less time than a reserve is left."""
        return time.monotonic() + reserve_s >= self._end_s
