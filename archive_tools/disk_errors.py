"""What a failing disk means for the user: where, why, and what to do."""

import errno
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from archive_tools.config import DatasetFormat
from archive_tools.errors import NO_SPACE, DatasetWriteError

_NO_PERMISSION = (errno.EACCES, errno.EPERM, errno.EROFS)


def check_place(out: Path, dataset_format: DatasetFormat = DatasetFormat.ZIP) -> None:
    """Check that a dataset could be written there.

    Args:
        out: Where it will appear.
        dataset_format: What it will be.

    Raises:
        DatasetWriteError: The folder around it is missing, or something else is in its place.
    """
    if not out.parent.is_dir():
        raise DatasetWriteError(
            f"The folder for {out.name} does not exist. Create it or choose another output file."
        )
    if dataset_format is not DatasetFormat.ZIP:
        if out.exists() and (not out.is_dir() or any(out.iterdir())):
            raise DatasetWriteError(
                f"{out.name} exists already. Choose a new name for the folder, or delete it first."
            )
    elif out.is_dir():
        raise DatasetWriteError(
            f"{out.name} is a folder. Choose the name of a ZIP file, such as dataset.zip."
        )


@contextmanager
def explained_disk_errors(out: Path) -> Iterator[None]:
    """Turn errors of the disk into one that says what to do.

    Args:
        out: Where the dataset will appear.

    Raises:
        DatasetWriteError: The disk is full, there is no permission, or it failed otherwise.
    """
    try:
        yield
    except OSError as error:
        raise DatasetWriteError(_explain(error, out)) from error


def _explain(error: OSError, out: Path) -> str:
    resume = "then run again with --resume; the finished pages are kept"
    if error.errno in NO_SPACE:
        free_mb = shutil.disk_usage(out.parent).free / 1e6
        return (
            f"The disk is full: {free_mb:.0f} MB are free where {out.name} is written. Free some "
            f"space, {resume}."
        )
    if error.errno in _NO_PERMISSION:
        return (
            f"There is no permission to write {out.name} in its folder. Choose another output "
            f"file, or allow writing there and {resume}."
        )
    if error.errno == errno.EFBIG:
        return (
            f"{out.name} has become larger than this disk or account allows for one file. Choose "
            "an output file on another disk."
        )
    reason = error.strerror or type(error).__name__
    return f"{out.name} cannot be written: {reason}. Check the disk, {resume}."
