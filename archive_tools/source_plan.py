"""Files, folders, globs and ZIP files -> the documents in them, by name.

A document is a file (a PDF, a TIFF, a CBZ, ...) or the images of one folder. None is opened here;
what a file holds is found out in a worker process.
"""

import glob
import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from archive_tools.capped_zip import BAD_MEMBER_ERRORS, explain_zip_error, is_shadow, open_zip
from archive_tools.errors import (
    InvalidOptionError,
    SourceError,
)
from archive_tools.file_kinds import (
    BOOK_SUFFIXES,
    IMAGE_SUFFIXES,
    OTHER_PICTURE_SUFFIXES,
    ZIP_SUFFIX,
    clean_name,
    has_suffix,
    natural_key,
)
from archive_tools.image_store import list_images
from archive_tools.remote_address import RemoteAddress, name_of
from archive_tools.remote_source import RemoteFile, list_remote
from archive_tools.schema import NamedFile, SourceFailure

URL = re.compile(r"(https?|ftp):/", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class PlannedFile:
    """A document that a run will work on.

    Attributes:
        path: The file, the folder of images, or the ZIP that holds either.
        name: Its name for people and for the manifest, never with a folder of this machine.
        member: Index of the entry in the ZIP's table of contents; None for a file of its own.
        images: Indices of the entries that are the images of one folder of the ZIP, in the order
            of their pages.
        remote: Where it is fetched from; `path` then means nothing.
    """

    path: Path
    name: str
    member: int | None = None
    images: tuple[int, ...] = ()
    remote: RemoteFile | None = None

    @property
    def needs_copy(self) -> bool:
        """Whether it has to be copied to disk before it can be opened."""
        return self.member is not None or bool(self.images) or self.remote is not None


_PLANNED_SUFFIXES = BOOK_SUFFIXES | {ZIP_SUFFIX}
_ZIP_SUFFIXES = frozenset((ZIP_SUFFIX,))
_LINKED_FOLDER = (
    "It is a link to a folder. Inside a folder such links are not followed, since they may go in "
    "circles. Give that folder as a source of its own."
)

_MARKS_OF_A_DATASET = frozenset(("manifest/pages.csv", "manifest/report.json"))
_REMOTE_ZIP = "ZIP files at an address are not opened. Download it and give its path."
_REMOTE_IMAGES = (
    "Images are not taken from a folder at an address ({count} here). Download the folder and give "
    "its path, or give a pattern such as .../*.jpg, which makes each image a document of its own."
)
_OWN_DATASET = (
    "It is a dataset that this program has made, so it is no source. Move it elsewhere, or unpack "
    "its images alone into a folder of their own."
)

Planned = PlannedFile | SourceFailure


def plan_sources(
    inputs: Sequence[Path | NamedFile | RemoteAddress], leave_out: Path | None
) -> list[Planned]:
    """Find the documents behind what was asked for, without opening any.

    Args:
        inputs: Files, folders, globs and ZIP files, worked on in this order; a folder's files
            come in the order of their names. An address is one only as `RemoteAddress`, which the
            command line alone makes.
        leave_out: The file that this run writes. An earlier dataset of that name in one of the
            folders is no source.

    Returns:
        Names only, a few hundred bytes a file; what cannot be used is among them as a failure.

    Raises:
        InvalidOptionError: A source would be overwritten by what this run writes, or the package
            for an address is missing.
    """
    found: list[Planned] = []
    for wanted in inputs:
        if isinstance(wanted, RemoteAddress):
            found.extend(_plan_remote(wanted.url))
            continue
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


def _plan_remote(url: str) -> Iterator[Planned]:
    """Find the documents behind an address."""
    try:
        images = Counter[str]()
        for file in list_remote(url):
            if file.is_loose_image:
                images[file.name.rpartition("/")[0] or clean_name(name_of(url))] += 1
            elif has_suffix(file.name, _ZIP_SUFFIXES):
                yield SourceFailure(file.name, _REMOTE_ZIP)
            else:
                yield PlannedFile(Path(file.name), file.name, remote=file)
        for folder, count in images.items():
            yield SourceFailure(folder, _REMOTE_IMAGES.format(count=count))
    except SourceError as error:
        yield SourceFailure(clean_name(name_of(url)), str(error))


def _match_glob(pattern: Path) -> list[str]:
    """Return the paths that a pattern matches, by name."""
    # Path.glob cannot start from an absolute pattern.
    return sorted(glob.glob(str(pattern), recursive=True))  # noqa: PTH207


def _plan_folder(folder: Path, name: str, leave_out: Path | None) -> Iterator[Planned]:
    """Find the documents in a folder and in those below it; hidden ones are left out."""
    is_empty = True
    closed: list[OSError] = []
    for parent, folders, files in os.walk(folder, onerror=closed.append):
        place = Path(parent)
        folders[:] = sorted(one for one in folders if _is_walked(place / one, leave_out))
        here = clean_name(place.relative_to(folder).as_posix()) if place != folder else ""
        for planned in _plan_one_folder(place, folders, files, leave_out):
            is_empty = False
            below = f"{here}/{planned.name}".strip("/") or name or clean_name(folder.resolve().name)
            yield replace(planned, name=below)
        folders[:] = [one for one in folders if not (place / one).is_symlink()]
    for error in closed:
        below = Path(error.filename or folder).relative_to(folder).as_posix()
        shown = name if below == "." else clean_name(below)
        yield SourceFailure(shown, f"The folder cannot be read: {error.strerror or error}.")
    if is_empty and not closed:
        yield SourceFailure(
            name or str(folder),
            "The folder holds no PDF, no ZIP file, no image and no other book.",
        )


def _plan_one_folder(
    folder: Path, folders: list[str], files: list[str], leave_out: Path | None
) -> Iterator[Planned]:
    """Find the documents of one folder, those below it left aside; names are relative to it.

    Yields:
        Books and ZIP files by name, then links to folders, then the images, as one document that
        has no name of its own.
    """
    if all((folder / mark).is_file() for mark in _MARKS_OF_A_DATASET):
        folders.clear()
        yield SourceFailure("", _OWN_DATASET)
        return
    for file in sorted(files):
        path = folder / file
        if has_suffix(file, _PLANNED_SUFFIXES) and not _is_earlier_result(path, leave_out):
            yield from _plan_file(path, clean_name(file))
    for link in filter(lambda one: (folder / one).is_symlink(), folders):
        yield SourceFailure(clean_name(link), _LINKED_FOLDER)
    others = [file for file in files if has_suffix(file, OTHER_PICTURE_SUFFIXES)]
    if others:
        yield SourceFailure("", _explain_left_out(others))
    if any(has_suffix(file, IMAGE_SUFFIXES) for file in files) and list_images(folder):
        yield PlannedFile(folder, "")


def _explain_left_out(names: Sequence[str]) -> str:
    """Say which pictures of a folder are not read."""
    kinds = ", ".join(sorted({PurePosixPath(name).suffix.lower() for name in names}))
    what = "A file was" if len(names) == 1 else f"{len(names)} files were"
    return f"{what} left out ({kinds} is not read). Save as JPEG, PNG or TIFF and add it again."


def _is_walked(folder: Path, leave_out: Path | None) -> bool:
    """Whether a folder is looked into: not a hidden one, nor a dataset that this run makes."""
    if folder.name.startswith("."):
        return False
    own = (leave_out, leave_out.with_name(f"{leave_out.name}.building")) if leave_out else ()
    return not any(_is_same(folder, one) for one in own)


def _plan_file(path: Path, name: str) -> Iterator[Planned]:
    """Take a file as it is, or look into a ZIP."""
    if path.is_symlink() and not path.exists():
        yield _broken_link(name)
        return
    if ZIP_SUFFIX not in (path.suffix.lower(), PurePosixPath(name).suffix.lower()):
        yield PlannedFile(path, name)
        return
    try:
        with open_zip(path) as archive:
            entries = [
                (entry.filename, index)
                for index, entry in enumerate(archive.infolist())
                if not entry.is_dir() and not is_shadow(entry.filename)
            ]
    except (*BAD_MEMBER_ERRORS, OSError, ValueError, SourceError) as error:
        yield SourceFailure(name, explain_zip_error(error))
        return
    if {member_name for member_name, _ in entries} >= _MARKS_OF_A_DATASET:
        yield SourceFailure(name, _OWN_DATASET)
        return
    found = [*_plan_members(path, name, entries), *_plan_images(path, name, entries)]
    yield from found
    if not found:
        yield SourceFailure(name, "The ZIP file holds no PDF, no image and no other book.")


def _plan_members(path: Path, name: str, entries: list[tuple[str, int]]) -> Iterator[Planned]:
    """Take the books of a ZIP; name ZIPs inside it, so that pages are not missed unnoticed."""
    for member_name, index in sorted(entries):
        member = f"{name}/{clean_name(member_name)}"
        if has_suffix(member_name, BOOK_SUFFIXES):
            yield PlannedFile(path, member, index)
        elif has_suffix(member_name, _ZIP_SUFFIXES):
            yield SourceFailure(
                member, "ZIP files inside a ZIP file are not opened. Unpack it and give it."
            )


def _plan_images(path: Path, name: str, entries: list[tuple[str, int]]) -> Iterator[Planned]:
    """Take the images of each folder of a ZIP as one document."""
    folders: dict[str, list[tuple[str, int]]] = {}
    for member_name, index in entries:
        if has_suffix(member_name, IMAGE_SUFFIXES):
            folders.setdefault(member_name.rpartition("/")[0], []).append((member_name, index))
    for folder in sorted(folders):
        images = sorted(folders[folder], key=lambda image: natural_key(image[0]))
        document = f"{name}/{clean_name(folder)}" if folder else name
        yield PlannedFile(path, document, images=tuple(index for _, index in images))


def _broken_link(name: str) -> SourceFailure:
    return SourceFailure(name, "It is a link to a file that is not there. Give the file itself.")


def _is_earlier_result(path: Path, leave_out: Path | None) -> bool:
    """Whether a file met in a folder is what an earlier run has written.

    Raises:
        InvalidOptionError: It is a PDF or another book, which no run writes: it would be lost.
    """
    if not _is_same(path, leave_out):
        return False
    if has_suffix(path.name, BOOK_SUFFIXES):
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
