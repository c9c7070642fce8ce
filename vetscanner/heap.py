"""The C library's heap of this process: bounded, and given back after each model.

Both functions speak to glibc; on another C library they do nothing.
"""

import ctypes
from typing import Any

# From glibc's malloc.h.
_M_MMAP_THRESHOLD = -3
_M_ARENA_MAX = -8

# By default glibc opens up to eight heaps a core, and what Gradio's many threads leave in them
# adds up over the requests.
_HEAPS = 2
# Decoded photos are larger. Mapped apart they go back to the system when freed; glibc would soon
# raise the threshold and keep their holes in the heap.
_MAPPED_APART_BYTES = 4 * 1024 * 1024


def bound_heap() -> None:
    """Bound what freed memory this process keeps; call it before there are threads."""
    mallopt = _glibc_function("mallopt")
    if mallopt is not None:
        mallopt(_M_ARENA_MAX, _HEAPS)
        mallopt(_M_MMAP_THRESHOLD, _MAPPED_APART_BYTES)


def trim_heap() -> None:
    """Return freed pages to the system; only glibc keeps them otherwise."""
    malloc_trim = _glibc_function("malloc_trim")
    if malloc_trim is not None:
        malloc_trim(0)


def _glibc_function(name: str) -> Any:
    """Return the function, or None where the C library has none of that name."""
    return getattr(ctypes.CDLL(None), name, None)
