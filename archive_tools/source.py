"""Brings the planned documents to disk one after the other, and removes its copies after use."""

import errno
import os
import shutil
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from types import TracebackType
from typing import Self

from archive_tools.capped_zip import BAD_MEMBER_ERRORS, explain_zip_error, open_zip
from archive_tools.errors import (
    NO_SPACE,
    DatasetWriteError,
    LimitExceededError,
    SourceError,
    UnreadablePdfError,
)
from archive_tools.file_kinds import clean_name
from archive_tools.remote_fetching import FetchAhead
from archive_tools.schema import NamedFile, SourceFailure
from archive_tools.source_plan import Planned, PlannedFile

CHUNK_BYTES = 2**20
# Scanned pictures are compressed already: a member that grows a hundredfold is a bomb.
MAX_GROWTH = 100
HARMLESS_BYTES = 64 * 2**20
LEAST_FREE_BYTES = 64 * 2**20
_LONGEST_NAME_BYTES = 200


class SourceFeed:
    """Brings the planned files to disk one after the other; a `with` block removes all copies.

    Only what is in a ZIP or at an address is copied, into `folder`: one file, or the images of one
    folder. Of remote files as many are there as there are CPUs (two at least), and one more that is
    being fetched meanwhile. Other files are used where they lie and never changed. A file whose
    name is no text gets a link with a plain name there.
    """

    def __init__(self, planned: Sequence[Planned], folder: Path) -> None:
        """Remember the plan; nothing is unpacked yet.

        Args:
            planned: From `plan_sources`.
            folder: Work folder of this run alone; made when needed, removed with its content.
        """
        self._planned = planned
        self._folder = folder
        self._archive: zipfile.ZipFile | None = None
        self._archive_path: Path | None = None
        remotes = {
            self._copy_path(number, one): one.remote
            for number, one in enumerate(planned)
            if isinstance(one, PlannedFile) and one.remote is not None
        }
        self._fetching = FetchAhead(remotes)

    def __iter__(self) -> Iterator[NamedFile | SourceFailure | None]:
        """Iterate over files in the order of the plan.

        Yields:
            A file that lies on disk until it is released; a failure; or None while a member is
            still being unpacked, so that the caller can look after other things.

        Raises:
            DatasetWriteError: The disk is full; that is no fault of the file.
            SourceUnreachableError: The server of a file does not answer.
        """
        for number, planned in enumerate(self._planned):
            if isinstance(planned, SourceFailure):
                yield planned
                continue
            copy = self._copy_path(number, planned)
            if not planned.needs_copy:
                yield self._as_it_lies(planned, copy)
                continue
            try:
                yield from self._copy(planned, copy)
            except (*BAD_MEMBER_ERRORS, OSError, SourceError) as error:
                self.release(copy)
                if isinstance(error, OSError) and error.errno in NO_SPACE:
                    raise DatasetWriteError(
                        f"The disk is full: there is no room to unpack {planned.name}. Free some "
                        "space, then run again with --resume; the finished pages are kept."
                    ) from error
                yield SourceFailure(planned.name, explain_zip_error(error))
            else:
                yield NamedFile(copy, planned.name)

    def release(self, path: Path) -> None:
        """Delete a document if it is a copy or a link that this feed made."""
        if path.parent != self._folder:
            return
        self._fetching.release(path)
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)

    def __enter__(self) -> Self:
        """Remove what a killed run of the same name left, and return the feed."""
        shutil.rmtree(self._folder, ignore_errors=True)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close the archive and remove the work folder."""
        self._fetching.stop()
        if self._archive is not None:
            self._archive.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _as_it_lies(self, planned: PlannedFile, link: Path) -> NamedFile | SourceFailure:
        """Return a file that needs no unpacking.

        PDF libraries take names as UTF-8 only; old archives have others.
        """
        if _is_text(str(planned.path)):
            return NamedFile(planned.path, planned.name)
        try:
            self._folder.mkdir(exist_ok=True)
            link.symlink_to(planned.path.absolute())
        except OSError:
            return SourceFailure(
                planned.name, "Its name, or that of its folder, is not UTF-8. Rename it."
            )
        return NamedFile(link, planned.name)

    def _copy_path(self, number: int, planned: PlannedFile) -> Path:
        return self._folder / f"{number:06d}{PurePosixPath(planned.name).suffix.lower()}"

    def _copy(self, planned: PlannedFile, copy: Path) -> Iterator[None]:
        """Write one document to disk, from wherever it is."""
        if planned.remote is None:
            return self._unpack(planned, copy)
        self._folder.mkdir(exist_ok=True)
        return self._fetching.bring(copy)

    def _unpack(self, planned: PlannedFile, copy: Path) -> Iterator[None]:
        """Write one document to disk, a piece at a time; a member's own path is never used."""
        archive = self._open_archive(planned.path)
        entries = archive.infolist()
        self._folder.mkdir(exist_ok=True)
        if planned.member is not None:
            yield from self._unpack_entry(archive, entries[planned.member], copy)
            return
        copy.mkdir()
        yield from self._unpack_images(archive, [entries[index] for index in planned.images], copy)

    def _unpack_images(
        self, archive: zipfile.ZipFile, entries: Sequence[zipfile.ZipInfo], folder: Path
    ) -> Iterator[None]:
        """Write the images of one document to a folder of their own."""
        written_bytes = packed_bytes = 0
        for entry, name in zip(entries, _image_names(entries), strict=True):
            try:
                yield from self._unpack_entry(archive, entry, folder / name)
            except (*BAD_MEMBER_ERRORS, SourceError):
                # It costs itself: an empty file becomes a page that fails.
                (folder / name).write_bytes(b"")
            written_bytes += (folder / name).stat().st_size
            packed_bytes += entry.compress_size
            _check_growth(written_bytes, packed_bytes, self._folder)

    def _unpack_entry(
        self, archive: zipfile.ZipFile, entry: zipfile.ZipInfo, copy: Path
    ) -> Iterator[None]:
        """Write one member to disk."""
        if entry.flag_bits & 1:
            raise UnreadablePdfError("It is encrypted. Unpack the ZIP file and give its content.")
        with archive.open(entry) as packed, copy.open("wb") as file:
            while chunk := packed.read(CHUNK_BYTES):
                file.write(chunk)
                _check_growth(file.tell(), entry.compress_size, self._folder)
                yield None

    def _open_archive(self, path: Path) -> zipfile.ZipFile:
        """Return the open ZIP; only the newest one is kept open."""
        if self._archive is None or self._archive_path != path:
            if self._archive is not None:
                self._archive.close()
            self._archive, self._archive_path = open_zip(path), path
        return self._archive


def _is_text(name: str) -> bool:
    """Whether a name is text; Python keeps other bytes of a file's name as lone surrogates."""
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _check_growth(written_bytes: int, packed_bytes: int, folder: Path) -> None:
    """Stop a bomb, and stop before the disk is quite full."""
    if written_bytes > max(HARMLESS_BYTES, MAX_GROWTH * packed_bytes):
        raise LimitExceededError(
            f"It unpacks to more than {MAX_GROWTH} times its packed size, which no scan does. "
            "If it is genuine, unpack the ZIP file and give its content."
        )
    if shutil.disk_usage(folder).free < LEAST_FREE_BYTES:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _image_names(entries: Sequence[zipfile.ZipInfo]) -> list[str]:
    """Return names for the images of one folder of a ZIP that sort as the members do.

    Their own where those are harmless and differ, so that a page that fails can be named.
    """
    own = [PurePosixPath(entry.filename).name for entry in entries]
    is_harmless = len({name.casefold() for name in own}) == len(own) and all(
        name == clean_name(name) and len(name.encode()) <= _LONGEST_NAME_BYTES for name in own
    )
    if is_harmless and not any(set(name) & set('\\:*?"<>|') for name in own):
        return own
    return [
        f"{number:06d}{PurePosixPath(name).suffix.lower()}"
        for number, name in enumerate(own, start=1)
    ]
