"""Loading modules without looking for garbage meanwhile, which would take a tenth of the time."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def quick_loading() -> Iterator[None]:
    """Switch the search off for the imports of a `with` block, which never become garbage."""
    gc.disable()
    yield
    gc.freeze()
    gc.enable()
