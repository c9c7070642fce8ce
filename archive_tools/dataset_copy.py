"""Copies a finished dataset to a folder or an object store.

Each file appears there whole or not at all. README.md comes last: a copy that has it is complete.
"""

from collections.abc import Callable
from pathlib import Path

from archive_tools.shard_store import ShardStore

_LAST = "README.md"


def copy_dataset(dataset: Path, store: ShardStore, on_progress: Callable[[int], None]) -> None:
    """Copy a dataset; files of the same names are replaced, others are left alone.

    Args:
        dataset: The ZIP, which is copied as one file, or the folder.
        store: Where to.
        on_progress: Called with the number of files that are there so far.

    Raises:
        DatasetWriteError: The store is full, refuses, or cannot be reached; the dataset itself is
            complete on this machine.
    """
    if dataset.is_file():
        store.write_atomic(dataset.name, dataset)
        on_progress(1)
        return
    names = [one.relative_to(dataset).as_posix() for one in dataset.rglob("*") if one.is_file()]
    for count, name in enumerate(sorted(names, key=lambda one: (one == _LAST, one)), start=1):
        store.write_atomic(name, dataset / name)
        on_progress(count)
