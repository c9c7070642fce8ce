"""Folders for the runs of the page, below Gradio's upload folder, which serves a ZIP in place."""

import os
import shutil
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from gradio.utils import get_upload_folder

from archive_tools.schema import NamedFile

KEPT_S = 86_400
"""A finished ZIP waits so long to be fetched: a day, as Gradio keeps uploads."""

RESULT_NAME = "dataset.zip"
_INPUTS = "inputs"
_PREFIX = "archive-"


@contextmanager
def open_job_folder(result_name: str = RESULT_NAME) -> Iterator[Path]:
    """Make a folder for one run, and remove those of runs of more than a day ago.

    The inputs go as soon as the run ends; the folder goes too unless it holds a finished result.

    Args:
        result_name: What a finished run leaves in it.
    """
    remove_old_jobs()
    folder = Path(get_upload_folder()) / f"{_PREFIX}{uuid.uuid4().hex}"
    (folder / _INPUTS).mkdir(parents=True)
    try:
        yield folder
    finally:
        shutil.rmtree(folder / _INPUTS, ignore_errors=True)
        if not (folder / result_name).exists():
            shutil.rmtree(folder, ignore_errors=True)


def link_input(file: NamedFile, folder: Path, number: int) -> NamedFile:
    """Hard-link an upload into the job, since Gradio's sweep may delete its own name meanwhile.

    Identical uploads of two visitors are one file: it is never changed or deleted here.

    Args:
        file: The upload.
        folder: The job's folder.
        number: Its place among the run's files, for a name of its own.

    Returns:
        The link, under the upload's name.

    Raises:
        OSError: It can be neither linked nor copied.
    """
    link = folder / _INPUTS / f"{number:06d}{file.path.suffix[:16]}"
    try:
        os.link(file.path, link)
    except OSError:
        shutil.copyfile(file.path, link)
    return NamedFile(link, file.name)


def remove_old_jobs() -> None:
    """Remove what has waited for a day; call it as well when the page is built.

    Gradio deletes after a day what it remembers: results that were handed out, and nothing of what
    an earlier server did.
    """
    too_old_s = time.time() - KEPT_S
    for folder in Path(get_upload_folder()).glob(f"{_PREFIX}*"):
        if not folder.is_symlink() and _last_used_s(folder) < too_old_s:
            shutil.rmtree(folder, ignore_errors=True)


def _last_used_s(folder: Path) -> float:
    """Return when a job last changed; another server may still be at work there."""
    try:
        return max(path.lstat().st_mtime for path in (folder, *folder.iterdir()))
    except OSError:
        # Gone already, or not a folder of ours.
        return time.time()
