"""Files, folders, globs and ZIP files -> one PDF at a time on disk, released after use.

Nothing is opened as a PDF here; what a file holds is found out in a worker process.
"""

import errno
import glob
import os
import re
import shutil
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import BufferedReader, FileIO
from lzma import LZMAError
from pathlib import Path, PurePosixPath
from types import TracebackType
from typing import Self

from archive_tools.errors import (
    DatasetWriteError,
    InvalidOptionError,
    LimitExceededError,
    SourceError,
    UnreadablePdfError,
)
from archive_tools.schema import NamedFile, SourceFailure

PDF_SUFFIX = ".pdf"
ZIP_SUFFIX = ".zip"
URL = re.compile(r"(https?|ftp):/", re.IGNORECASE)

CHUNK_BYTES = 2**20
# The pictures in a PDF are compressed already: a member that grows a hundredfold is a bomb.
MAX_GROWTH = 100
HARMLESS_BYTES = 64 * 2**20
LEAST_FREE_BYTES = 64 * 2**20
NO_SPACE = (errno.ENOSPC, errno.EDQUOT)
# A ZIP's table of contents is read in one piece: 16 MB hold about 200,000 names.
MAX_CONTENTS_BYTES = 16 * 2**20
BAD_MEMBER_ERRORS = (zipfile.BadZipFile, zlib.error, LZMAError, EOFError, NotImplementedError)


@dataclass(frozen=True, slots=True)
class PlannedFile:
    """A file that a run will work on.

    Attributes:
        path: The file, or the ZIP that holds it.
        name: Its name for people and for the manifest, never with a folder of this machine.
        member: Index of the entry in the ZIP's table of contents; None for a file of its own.
    """

    path: Path
    name: str
    member: int | None = None


Planned = PlannedFile | SourceFailure


def plan_sources(inputs: Sequence[Path | NamedFile], leave_out: Path | None) -> list[Planned]:
    """Find the files behind what was asked for, without opening any PDF.

    Args:
        inputs: Files, folders, globs and ZIP files, worked on in this order; a folder's files
            come in the order of their names.
        leave_out: The file that this run writes. An earlier dataset of that name in one of the
            folders is no source.

    Returns:
        Names only, a few hundred bytes a file; what cannot be used is among them as a failure.

    Raises:
        InvalidOptionError: A source would be overwritten by what this run writes.
    """
    found: list[Planned] = []
    for wanted in inputs:
        named = wanted if isinstance(wanted, NamedFile) else None
        path = named.path if named else Path(str(wanted))
        name = clean_name(named.name if named else path.name)
        try:
            if _is_same(path, leave_out):
                raise _would_overwrite(path)
            found.extend(_plan_input(path, name, leave_out))
        except OSError as error:
            found.append(SourceFailure(name, f"It cannot be read: {error.strerror or error}."))
    return found


def clean_name(name: str) -> str:
    """Return a file name that can be printed and written as UTF-8."""
    text = name.encode("utf-8", "replace").decode("utf-8")
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def _is_text(name: str) -> bool:
    """Whether a name is text; Python keeps other bytes of a file's name as lone surrogates."""
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


class SourceFeed:
    """Brings the planned files to disk one after the other; a `with` block removes all copies.

    Only members of a ZIP are copied, into `folder`; other files are used where they lie and
    never changed. A file whose name is no text gets a link with a plain name there.
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

    def __iter__(self) -> Iterator[NamedFile | SourceFailure | None]:
        """Iterate over files in the order of the plan.

        Yields:
            A file that lies on disk until it is released; a failure; or None while a member is
            still being unpacked, so that the caller can look after other things.

        Raises:
            DatasetWriteError: The disk is full; that is no fault of the file.
        """
        for number, planned in enumerate(self._planned):
            if isinstance(planned, SourceFailure):
                yield planned
                continue
            copy = self._folder / f"{number:06d}{PDF_SUFFIX}"
            if planned.member is None:
                yield self._as_it_lies(planned, copy)
                continue
            try:
                yield from self._unpack(planned, planned.member, copy)
            except (*BAD_MEMBER_ERRORS, OSError, SourceError) as error:
                copy.unlink(missing_ok=True)
                if isinstance(error, OSError) and error.errno in NO_SPACE:
                    raise DatasetWriteError(
                        f"The disk is full: there is no room to unpack {planned.name}. Free some "
                        "space, then run again with --resume; the finished pages are kept."
                    ) from error
                yield SourceFailure(planned.name, _unpack_failure(error))
            else:
                yield NamedFile(copy, planned.name)

    def release(self, path: Path) -> None:
        """Delete a file if it is a copy or a link that this feed made."""
        if path.parent == self._folder:
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

    def _unpack(self, planned: PlannedFile, member: int, copy: Path) -> Iterator[None]:
        """Write one member to disk, a piece at a time; the member's own path is never used."""
        archive = self._open_archive(planned.path)
        entry = archive.infolist()[member]
        if entry.flag_bits & 1:
            raise UnreadablePdfError("It is encrypted. Unpack the ZIP file and give its PDFs.")
        self._folder.mkdir(exist_ok=True)
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
            self._archive, self._archive_path = _open_zip(path), path
        return self._archive


class _CappedFile(BufferedReader):
    """A file that refuses to be read in one piece larger than `MAX_CONTENTS_BYTES`."""

    def read(self, size: int | None = -1) -> bytes:
        """Read bytes.

        Raises:
            LimitExceededError: More are asked for than an honest table of contents has.
        """
        if size is not None and size > MAX_CONTENTS_BYTES:
            raise LimitExceededError("Its table of contents is too large. Split the ZIP file.")
        return super().read(size)


def _plan_input(path: Path, name: str, leave_out: Path | None) -> Iterator[Planned]:
    """Find the files behind one input."""
    if URL.match(str(path)):
        yield SourceFailure(name, "Addresses are not read. Download the file and give its path.")
    elif path.is_dir():
        yield from _plan_folder(path, name, leave_out)
    elif path.is_file():
        yield from _plan_file(path, name)
    elif path.exists():
        # Reading a pipe or a device would never end.
        yield SourceFailure(name, "It is neither a file nor a folder. Copy its content to a file.")
    elif path.is_symlink():
        yield _broken_link(name)
    elif matches := _match_glob(path):
        for match in map(Path, matches):
            if not _is_earlier_result(match, leave_out):
                yield from _plan_input(match, clean_name(match.name), leave_out)
    else:
        yield SourceFailure(name, "There is no such file. Check the path.")


def _match_glob(pattern: Path) -> list[str]:
    """Return the paths that a pattern matches, by name."""
    # Path.glob cannot start from an absolute pattern.
    return sorted(glob.glob(str(pattern), recursive=True))  # noqa: PTH207


def _plan_folder(folder: Path, name: str, leave_out: Path | None) -> Iterator[Planned]:
    """Find the PDF and ZIP files in a folder and in those below it."""
    is_empty = True
    for path in _walk(folder):
        if _is_earlier_result(path, leave_out):
            continue
        is_empty = False
        yield from _plan_file(path, clean_name(path.relative_to(folder).as_posix()))
    if is_empty:
        yield SourceFailure(name or str(folder), "The folder holds no PDF and no ZIP file.")


def _walk(folder: Path) -> Iterator[Path]:
    """Iterate over the PDF and ZIP files below a folder, by name; hidden ones are left out."""
    for parent, folders, files in os.walk(folder):
        folders[:] = sorted(one for one in folders if not one.startswith("."))
        for file in sorted(files):
            path = Path(parent, file)
            if path.suffix.lower() in (PDF_SUFFIX, ZIP_SUFFIX) and not file.startswith("."):
                yield path


def _plan_file(path: Path, name: str) -> Iterator[Planned]:
    """Take a file as it is, or look into a ZIP."""
    if path.is_symlink() and not path.exists():
        yield _broken_link(name)
        return
    if ZIP_SUFFIX not in (path.suffix.lower(), PurePosixPath(name).suffix.lower()):
        yield PlannedFile(path, name)
        return
    try:
        with _open_zip(path) as archive:
            entries = [
                (entry.filename, index)
                for index, entry in enumerate(archive.infolist())
                if not entry.is_dir()
            ]
    except (*BAD_MEMBER_ERRORS, OSError, ValueError, SourceError) as error:
        yield SourceFailure(name, _unpack_failure(error))
        return
    wanted = sorted(entry for entry in entries if _is_wanted_member(entry[0]))
    for member_name, index in wanted:
        yield _plan_member(path, f"{name}/{clean_name(member_name)}", index)
    if not wanted:
        yield SourceFailure(name, "The ZIP file holds no PDF.")


def _plan_member(path: Path, name: str, index: int) -> Planned:
    """Take a PDF of a ZIP; name a ZIP inside it, so that its pages are not missed unnoticed."""
    if PurePosixPath(name).suffix.lower() == PDF_SUFFIX:
        return PlannedFile(path, name, index)
    return SourceFailure(name, "ZIP files inside a ZIP file are not opened. Unpack it and give it.")


def _broken_link(name: str) -> SourceFailure:
    return SourceFailure(name, "It is a link to a file that is not there. Give the file itself.")


def _is_wanted_member(name: str) -> bool:
    """Whether a ZIP's entry is a PDF or a ZIP, and not a shadow that macOS adds to each file."""
    path = PurePosixPath(name)
    return path.suffix.lower() in (PDF_SUFFIX, ZIP_SUFFIX) and not any(
        part.startswith((".", "__MACOSX")) for part in path.parts if part != ".."
    )


def _open_zip(path: Path) -> zipfile.ZipFile:
    """Open a ZIP whose table of contents has a sane size."""
    file = _CappedFile(FileIO(path))
    try:
        archive = zipfile.ZipFile(file)
    except BaseException:
        file.close()
        raise
    return archive


def _check_growth(written_bytes: int, packed_bytes: int, folder: Path) -> None:
    """Stop a bomb, and stop before the disk is quite full."""
    if written_bytes > max(HARMLESS_BYTES, MAX_GROWTH * packed_bytes):
        raise LimitExceededError(
            f"It unpacks to more than {MAX_GROWTH} times its packed size, which no PDF does. "
            "If it is genuine, unpack the ZIP file and give its PDFs."
        )
    if shutil.disk_usage(folder).free < LEAST_FREE_BYTES:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _unpack_failure(error: Exception) -> str:
    """Say what is wrong with a ZIP or a member of it."""
    if isinstance(error, SourceError):
        return str(error)
    if isinstance(error, OSError):
        return f"It cannot be read or unpacked: {error.strerror or error}."
    if isinstance(error, NotImplementedError):
        return "It is packed in a way that is not supported. Unpack the ZIP file yourself."
    return "It is damaged or not a ZIP file. Copy or upload it again."


def _is_earlier_result(path: Path, leave_out: Path | None) -> bool:
    """Whether a file met in a folder is what an earlier run has written.

    Raises:
        InvalidOptionError: It is a PDF, which no run writes: it would be lost.
    """
    if not _is_same(path, leave_out):
        return False
    if path.suffix.lower() == PDF_SUFFIX:
        raise _would_overwrite(path)
    return True


def _would_overwrite(path: Path) -> InvalidOptionError:
    name = clean_name(path.name)
    return InvalidOptionError(
        f"{name} is one of the sources and would be overwritten. Choose another name for --out."
    )


def _is_same(path: Path, other: Path | None) -> bool:
    """Whether two paths are one existing file."""
    return other is not None and path.exists() and other.exists() and path.samefile(other)
