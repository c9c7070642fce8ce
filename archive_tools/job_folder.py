"""Folders for the runs of the page, below Gradio's upload folder, which serves a ZIP in place.

A job is a run that outlives its visitor: its folder holds the inputs and the options, the partial
ZIP with its journal, and in the end the ZIP and the report. Whoever knows its id may finish it and
fetch the result until it expires, also after the server was started again on the same disk.
"""

import json
import os
import re
import secrets
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from gradio import FileData
from gradio.utils import abspath, get_upload_folder

from archive_tools.config import DatasetConfig
from archive_tools.disk_errors import explained_disk_errors
from archive_tools.errors import DatasetWriteError, InvalidOptionError
from archive_tools.journal import open_journal
from archive_tools.run_report import RunReport
from archive_tools.schema import NamedFile
from archive_tools.writer import journal_path
from serving.open_files import list_open_files
from serving.uploads import file_address

KEPT_S = 86_400
"""A job waits so long, after the last that happened to it: a day, as Gradio keeps uploads."""

SAFE_S = 3_600
"""So long nothing but its age removes a job: else many small ones would push out everybody's."""

SAFE_FINISHED_S = 600
"""The same of a finished one, after its result was last handed out: time enough to download it."""

MOST_JOBS = 256
MOST_BYTES = 20_000_000_000
"""Jobs on disk at once, more than may wait in the queue, and what they may take, inputs counted."""

RESULT_NAME = "dataset.zip"
_INPUTS, _OPTIONS_NAME, _REPORT_NAME = "inputs", "job.json", "report.json"
_PREFIX = "archive-"
_JOB_ID = re.compile(r"[0-9a-f]{32}")


@dataclass(frozen=True, slots=True)
class Job:
    """A run on disk.

    Attributes:
        id: 32 hex digits that nobody can guess; whoever has them has the result.
    """

    id: str

    @property
    def folder(self) -> Path:
        """Where everything of the job lies."""
        return Path(get_upload_folder()) / f"{_PREFIX}{self.id}"

    @property
    def result_path(self) -> Path:
        """Where the ZIP appears."""
        return self.folder / RESULT_NAME

    @property
    def exists(self) -> bool:
        """Whether it is complete on disk, and not yet expired."""
        return (self.folder / _OPTIONS_NAME).is_file()

    @property
    def needs_password(self) -> bool:
        """Whether the run was begun with a password."""
        return bool(self._read(_OPTIONS_NAME)["needs_password"])

    def read_config(self, password: str | None) -> DatasetConfig:
        """Return the options of the run.

        Args:
            password: For encrypted files; it is not stored.
        """
        return DatasetConfig.from_json(self._read(_OPTIONS_NAME)["options"], password or None)

    def list_files(self) -> list[NamedFile]:
        """Return the inputs under the names that their owner knows."""
        stored = self._read(_OPTIONS_NAME)["files"]
        return [NamedFile(self.folder / _INPUTS / one["link"], one["name"]) for one in stored]

    def read_report(self) -> RunReport | None:
        """Return how the run ended, None before it has."""
        try:
            return RunReport.from_json(self._read(_REPORT_NAME), self.result_path)
        except FileNotFoundError:
            return None

    def record_report(self, report: RunReport) -> None:
        """Note that the run has ended; its inputs are no longer needed.

        Args:
            report: Its report; without a dataset where nothing was usable.

        Raises:
            DatasetWriteError: The disk is full or gone.
        """
        with explained_disk_errors(self.result_path):
            self._write(_REPORT_NAME, report.to_json())
        shutil.rmtree(self.folder / _INPUTS, ignore_errors=True)

    def note_fetch(self) -> None:
        """Note that somebody is given the result: it stays until it can be downloaded.

        The time of access says so. The time of change would keep the job for one more day.
        """
        try:
            os.utime(self.result_path, (time.time(), self.result_path.stat().st_mtime))
        except OSError:
            return  # gone meanwhile

    def _read(self, name: str) -> dict[str, Any]:
        fields: dict[str, Any] = json.loads((self.folder / name).read_text(encoding="utf-8"))
        return fields

    def _write(self, name: str, fields: dict[str, Any]) -> None:
        """Write a document so that it is there whole or not at all."""
        unfinished = self.folder / f".{name}"
        # Escaped to ASCII, so that file names which are no valid Unicode survive.
        unfinished.write_text(json.dumps(fields), encoding="ascii")
        unfinished.replace(self.folder / name)


def create_job(files: Sequence[NamedFile], config: DatasetConfig) -> Job:
    """Put a run on disk, and remove jobs that have expired or for which there is no room.

    Args:
        files: The uploads; they are linked, never changed.
        config: Options of the run. The password is not stored.

    Raises:
        DatasetWriteError: The disk is full or gone, or there is no room for one more job.
    """
    _make_room(sum(_file_bytes(file.path) for file in files))
    job = Job(secrets.token_hex(16))
    try:
        (job.folder / _INPUTS).mkdir(parents=True)
        links = [link_input(file, job.folder, number) for number, file in enumerate(files)]
        job._write(
            _OPTIONS_NAME,
            {
                "options": config.to_json(),
                "needs_password": config.password is not None,
                "files": [{"link": one.path.name, "name": one.name} for one in links],
            },
        )
    except OSError as error:
        shutil.rmtree(job.folder, ignore_errors=True)
        raise DatasetWriteError(
            f"The run cannot be begun: {error.strerror or error}. Try again later."
        ) from error
    return job


def find_job(job_id: object) -> Job:
    """Return the job of an id, whether it exists or not.

    Args:
        job_id: From a caller: nothing but an id of ours leads to a folder.

    Raises:
        InvalidOptionError: No job can have this id.
    """
    cleaned = job_id.strip().lower() if isinstance(job_id, str) else ""
    if not _JOB_ID.fullmatch(cleaned):
        raise InvalidOptionError(
            "A job id has 32 characters, 0 to 9 and a to f, as the page shows it and "
            "/build_dataset yields it with its progress."
        )
    return Job(cleaned)


@contextmanager
def open_job_folder(result_name: str) -> Iterator[Path]:
    """Make a folder for work that is not taken up again, and remove expired ones.

    The inputs go as soon as the work ends; the folder goes too unless it holds a result.

    Args:
        result_name: What finished work leaves in it.

    Raises:
        DatasetWriteError: There is no room for one more.
    """
    _make_room(0)
    folder = Path(get_upload_folder()) / f"{_PREFIX}{secrets.token_hex(16)}"
    (folder / _INPUTS).mkdir(parents=True)
    try:
        # Nothing is written there: its lock says that somebody is at work.
        with open_journal(journal_path(folder / RESULT_NAME)) as lock:
            try:
                yield folder
            finally:
                lock.remove()
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


def served_file(path: str | Path) -> FileData:
    """Return a finished file as an answer of the API names it.

    Args:
        path: A file below Gradio's upload folder.

    Returns:
        Its path, its name, and its address here.
    """
    file = FileData(path=str(path), url=file_address(str(path)), orig_name=Path(path).name)
    # As plain values: only there does Gradio put the server's own address before it.
    return cast(FileData, file.model_dump())


def remove_old_jobs() -> None:
    """Remove what has waited for a day, and the oldest where there is too much.

    Gradio is kept from it (`JobFiles`). Call it as well when the page is built.
    """
    _remove_old_jobs(MOST_JOBS, MOST_BYTES)


class JobFiles:
    """The files of all jobs at the moment, as paths that Gradio's own sweep is not to delete.

    Gradio remembers each result that it has handed out, and would delete it when the server stops.
    """

    def __iter__(self) -> Iterator[str]:
        """Yield them as Gradio writes them."""
        for path in Path(get_upload_folder()).glob(f"{_PREFIX}*/*"):
            yield str(abspath(path))


def _make_room(size_bytes: int) -> None:
    """Make room for a job, or say why there is none.

    Args:
        size_bytes: What its inputs take.

    Raises:
        DatasetWriteError: They are too large, or younger jobs have all the room.
    """
    if size_bytes > MOST_BYTES:
        raise DatasetWriteError(
            f"These files are larger than the {MOST_BYTES / 1e9:.0f} GB that all jobs may take "
            "here together. Give fewer files, or use the command line."
        )
    if not _remove_old_jobs(MOST_JOBS - 1, MOST_BYTES - size_bytes):
        raise DatasetWriteError(
            "The server holds as many jobs as it can. Try again in ten minutes, or in an hour."
        )


def _remove_old_jobs(most_jobs: int, most_bytes: int) -> bool:
    """Remove expired jobs, then idle ones, then finished ones, the oldest first.

    Returns:
        Whether the others are few enough.
    """
    folders = _list_folders()
    left = {folder: _size_bytes(folder) for _, folder in folders}

    def is_too_much() -> bool:
        return len(left) > most_jobs or sum(left.values()) > most_bytes

    for _, folder in _older_than(KEPT_S, folders):
        _remove_idle(folder, left)
    # Never the newest: it may have been made for a run that is about to begin.
    for _, folder in _older_than(SAFE_S, folders[:-1]):
        if is_too_much():
            _remove_idle(folder, left)
    if is_too_much():
        open_files = list_open_files()
        for _, folder in _older_than(SAFE_FINISHED_S, folders[:-1]):
            if is_too_much() and folder in left and not _is_wanted(folder, open_files):
                _remove_idle(folder, left)
    return not is_too_much()


def _older_than(
    age_s: float, folders: Sequence[tuple[float, Path]]
) -> Iterator[tuple[float, Path]]:
    before_s = time.time() - age_s
    return (entry for entry in folders if entry[0] < before_s)


def _remove_idle(folder: Path, left: dict[Path, int]) -> None:
    """Remove a job, unless it is gone or somebody is at work on it."""
    if folder in left and not _is_at_work(folder):
        shutil.rmtree(folder, ignore_errors=True)
        del left[folder]


def _is_wanted(folder: Path, open_files: set[Path]) -> bool:
    """Whether a job is not finished, or its result is, or may soon be, on its way to somebody."""
    result = folder / RESULT_NAME
    if not (folder / _REPORT_NAME).exists():
        return True
    try:
        is_fresh = result.stat().st_atime > time.time() - SAFE_FINISHED_S
    except OSError:
        return False  # a run that came to nothing
    return is_fresh or result.resolve() in open_files


def _list_folders() -> list[tuple[float, Path]]:
    """Return all job folders with the time of their last use, the oldest first."""
    return sorted(
        (_last_used_s(folder), folder)
        for folder in Path(get_upload_folder()).glob(f"{_PREFIX}*")
        if not folder.is_symlink() and folder.is_dir()
    )


def _last_used_s(folder: Path) -> float:
    """Return when a job last changed; another server may still be at work there."""
    try:
        return max(path.lstat().st_mtime for path in (folder, *folder.iterdir()))
    except OSError:
        # Gone already, or not a folder of ours.
        return time.time()


def _size_bytes(folder: Path) -> int:
    # os.walk passes over a folder that vanishes meanwhile, where Path.rglob raises.
    return sum(
        _file_bytes(Path(parent, name)) for parent, _, names in os.walk(folder) for name in names
    )


def _file_bytes(path: Path) -> int:
    try:
        return path.lstat().st_size
    except OSError:
        return 0  # gone meanwhile


def _is_at_work(folder: Path) -> bool:
    """Whether a run holds the lock of a job's journal."""
    journal = journal_path(folder / RESULT_NAME)
    try:
        if journal.exists():
            with open_journal(journal):
                return False
    except OSError:
        return False
    except DatasetWriteError:
        return True
    return False
