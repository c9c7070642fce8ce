"""Settings of a process that does nothing but work on pages, one after another."""

import ctypes
import sys

import cv2

# glibc's mallopt parameters (malloc.h). A page takes the same few blocks of 2 to 30 MB again and
# again; returning them to the system each time costs 2,500 page faults a page, an eighth of the
# work on a colour scan. Blocks above 32 MB (huge pages) are still returned at once.
_M_TRIM_THRESHOLD = -1
_M_MMAP_THRESHOLD = -3
_MMAP_THRESHOLD_BYTES = 32 * 2**20
_TRIM_THRESHOLD_BYTES = 64 * 2**20


def settle_page_process() -> None:
    """Use one thread, since there is a process for each CPU, and keep freed blocks for reuse."""
    cv2.setNumThreads(1)
    if sys.platform == "linux":
        mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
        if mallopt is not None:  # musl has none
            mallopt(_M_MMAP_THRESHOLD, _MMAP_THRESHOLD_BYTES)
            mallopt(_M_TRIM_THRESHOLD, _TRIM_THRESHOLD_BYTES)
