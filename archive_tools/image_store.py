"""The image files that one document consists of: one file, a folder, or a comic-book ZIP."""

import io
import os
from pathlib import Path
from typing import BinaryIO, Protocol

from archive_tools.capped_zip import BAD_MEMBER_ERRORS, is_shadow, open_zip
from archive_tools.errors import PageError, SourceError, UnreadablePdfError
from archive_tools.file_kinds import HEAD_BYTES, IMAGE_SUFFIXES, has_suffix, natural_key

MOST_MEMBER_BYTES = 512 * 2**20
"""A ZIP's member is held in memory, where a page may take a gigabyte."""


class ImageStore(Protocol):
    """Where the images of a document lie."""

    @property
    def names(self) -> tuple[str, ...]:
        """The images in the order of their pages."""

    def open(self, name: str) -> BinaryIO:
        """Open one image for reading.

        Raises:
            PageError: It cannot be read (any more).
        """

    def read_head(self, name: str) -> bytes:
        """Return the first `HEAD_BYTES` bytes of an image.

        Raises:
            PageError: It cannot be read (any more).
        """

    def close(self) -> None:
        """Close what is open."""


class FileStore:
    """Images that lie in one folder; they are read where they are."""

    def __init__(self, folder: Path, names: tuple[str, ...]) -> None:
        """Remember the files.

        Args:
            folder: Where they lie.
            names: Their names, in order.
        """
        self._folder = folder
        self.names = names

    def open(self, name: str) -> BinaryIO:
        """Open one image."""
        try:
            return (self._folder / name).open("rb")
        except OSError as error:
            raise PageError(f"it cannot be read: {error.strerror or 'it has gone'}") from error

    def read_head(self, name: str) -> bytes:
        """Return the first bytes of one image."""
        with self.open(name) as file:
            return file.read(HEAD_BYTES)

    def close(self) -> None:
        """Nothing is kept open."""


class ZipStore:
    """The images of a comic-book ZIP, all folders of it, in natural order."""

    def __init__(self, path: Path) -> None:
        """Read the table of contents.

        Args:
            path: The file.

        Raises:
            SourceError: It is damaged or too large, or holds no image.
        """
        try:
            self._archive = open_zip(path)
        except (*BAD_MEMBER_ERRORS, ValueError) as error:
            raise UnreadablePdfError(
                f"{path.name} is damaged or no ZIP file. Copy or upload it again."
            ) from error
        self.names = tuple(sorted(filter(_is_image, self._archive.namelist()), key=natural_key))
        if not self.names:
            self.close()
            raise UnreadablePdfError(f"{path.name} holds no image.")

    def open(self, name: str) -> BinaryIO:
        """Unpack one image into memory."""
        content = self._unpack(name, MOST_MEMBER_BYTES + 1)
        if len(content) > MOST_MEMBER_BYTES:
            raise PageError(f"it unpacks to more than {MOST_MEMBER_BYTES >> 20} MB")
        return io.BytesIO(content)

    def read_head(self, name: str) -> bytes:
        """Unpack the first bytes of one image."""
        return self._unpack(name, HEAD_BYTES)

    def close(self) -> None:
        """Close the file."""
        self._archive.close()

    def _unpack(self, name: str, most_bytes: int) -> bytes:
        """Return the beginning of an entry."""
        try:
            with self._archive.open(name) as packed:
                return packed.read(most_bytes)
        except RuntimeError as error:  # zipfile's word for a missing password
            raise PageError("it is encrypted; unpack the file and give its images") from error
        except (*BAD_MEMBER_ERRORS, OSError) as error:
            raise PageError("it is damaged inside its ZIP file") from error


def open_folder(folder: Path) -> FileStore:
    """Return the images of a folder in natural order.

    Args:
        folder: The folder; those below it are documents of their own.

    Raises:
        SourceError: It holds no image (any more).
    """
    names = list_images(folder)
    if not names:
        raise SourceError("The folder holds no image.")
    return FileStore(folder, names)


def list_images(folder: Path) -> tuple[str, ...]:
    """Return the names of the images in a folder, in natural order; hidden ones are left out.

    Args:
        folder: The folder.

    Raises:
        OSError: It cannot be read.
    """
    with os.scandir(folder) as entries:
        names = [
            entry.name
            for entry in entries
            if has_suffix(entry.name, IMAGE_SUFFIXES) and _is_file_or_lost(entry)
        ]
    return tuple(sorted(names, key=natural_key))


def _is_file_or_lost(entry: "os.DirEntry[str]") -> bool:
    """Whether an entry is a file, or a link to nothing, which is to be a page that fails."""
    return entry.is_file() or (entry.is_symlink() and not Path(entry).exists())


def _is_image(name: str) -> bool:
    """Whether an entry of a ZIP is an image."""
    return has_suffix(name, IMAGE_SUFFIXES) and not is_shadow(name)
