"""Where shards are kept: a folder, an object store, or a dataset repository on the Hub.

A file appears under its name whole or not at all, whoever is killed while writing it. In a folder
that is a rename; S3, Google and Azure show an object when its upload is complete; on the Hub each
file is a commit. Several files together are never atomic: whoever writes a set writes the file that
names the others last.
"""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Protocol, cast

from archive_tools.errors import DatasetWriteError, InvalidOptionError
from archive_tools.remote_address import (
    WEB_SCHEMES,
    check_address,
    is_address,
    look_up,
    open_filesystem,
    open_remote,
    redact,
    redact_all,
    scheme_of,
)

_CHUNK_BYTES = 2**20
_UNFINISHED = ".part-"


class ShardStore(Protocol):
    """Files by name, such as `pages/0001.tar`; small enough to be sent to other processes."""

    @property
    def place(self) -> str:
        """Where it is, in words that may be shown."""

    def exists(self, name: str) -> bool:
        """Return whether a file is there, whole.

        Raises:
            DatasetWriteError: The store cannot be reached.
        """

    def write_atomic(self, name: str, local_path: Path) -> None:
        """Copy a file there; it replaces one of the same name in one step.

        Args:
            name: Relative, with `/` between its parts.
            local_path: What is copied; it stays where it is.

        Raises:
            DatasetWriteError: The store is full, refuses, or cannot be reached.
        """

    def open(self, name: str) -> BinaryIO:
        """Open a file for reading from its beginning.

        Raises:
            FileNotFoundError: It is not there.
            DatasetWriteError: The store cannot be reached.
        """

    def names(self) -> Iterator[str]:
        """Iterate over the names of all whole files, in the order of their characters.

        Raises:
            DatasetWriteError: The store cannot be reached.
        """


def open_store(url_or_path: str | Path) -> ShardStore:
    """Open a store; nothing is made before the first write.

    Args:
        url_or_path: A folder, `s3://bucket/folder`, or `hf://datasets/USER/NAME/folder`.

    Raises:
        InvalidOptionError: Nothing can be written there, or a package is missing.
    """
    text = str(url_or_path)
    if isinstance(url_or_path, Path) or not is_address(text):
        return FolderStore(Path(text).absolute())
    check_address(text)
    if scheme_of(text) in WEB_SCHEMES:
        raise InvalidOptionError(
            f"Nothing can be written to {redact(text)}. Give a folder, s3:// or hf://datasets/."
        )
    return ObjectStore(text.rstrip("/"))


@dataclass(frozen=True, slots=True)
class FolderStore:
    """A folder on this machine, or one that all machines share.

    Attributes:
        root: The folder; it is made by the first write.
    """

    root: Path

    @property
    def place(self) -> str:
        """The folder's name."""
        return self.root.name

    def exists(self, name: str) -> bool:
        """Return whether a file is there, whole."""
        return (self.root / name).is_file()

    def write_atomic(self, name: str, local_path: Path) -> None:
        """Copy a file beside its place, then move it there."""
        target = self.root / name
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            # Two workers may write the same one: each has a name of its own until it is whole.
            number, unfinished = tempfile.mkstemp(prefix=_UNFINISHED, dir=target.parent)
            try:
                with local_path.open("rb") as source, os.fdopen(number, "wb") as copy:
                    shutil.copyfileobj(source, copy, _CHUNK_BYTES)
                    copy.flush()
                    os.fsync(copy.fileno())
                Path(unfinished).chmod(0o644)
                Path(unfinished).replace(target)
            finally:
                Path(unfinished).unlink(missing_ok=True)
        except OSError as error:
            raise _cannot("written", name, self.place, error) from error

    def open(self, name: str) -> BinaryIO:
        """Open a file for reading."""
        return (self.root / name).open("rb")

    def names(self) -> Iterator[str]:
        """Iterate over the names of all whole files."""
        found = (path for path in self.root.rglob("*") if path.is_file())
        whole = (path for path in found if not path.name.startswith(_UNFINISHED))
        yield from sorted(path.relative_to(self.root).as_posix() for path in whole)


@dataclass(frozen=True, slots=True)
class ObjectStore:
    """A folder of an object store, or of a repository on the Hub.

    Attributes:
        url: Its address without a slash at the end; shown only redacted.
    """

    url: str

    @property
    def place(self) -> str:
        """The address as it may be shown."""
        return redact(self.url)

    def exists(self, name: str) -> bool:
        """Return whether an object is there."""
        with self._explained("found", name):
            try:
                return bool(look_up(self._path(name))["type"] == "file")
            except FileNotFoundError:
                return False

    def write_atomic(self, name: str, local_path: Path) -> None:
        """Upload a file; the store shows it when it has all of it."""
        with self._explained("written", name):
            self._files.put_file(str(local_path), self._path(name))

    def open(self, name: str) -> BinaryIO:
        """Open an object for reading, a few megabytes at a time."""
        with self._explained("read", name):
            return cast(BinaryIO, open_remote(self._path(name)))

    def names(self) -> Iterator[str]:
        """Iterate over the names of all objects."""
        root = self._files._strip_protocol(self.url).rstrip("/")
        with self._explained("listed", "The folder"):
            found = self._find(root)
        yield from sorted(path.removeprefix(root).lstrip("/") for path in found)

    @property
    def _files(self) -> Any:
        # Opened anew in each process; within one fsspec remembers it.
        return open_filesystem(self.url)

    def _path(self, name: str) -> str:
        return f"{self.url}/{name}"

    def _find(self, root: str) -> list[str]:
        try:
            return list(self._files.find(root))
        except FileNotFoundError:
            return []

    @contextmanager
    def _explained(self, what: str, name: str) -> Iterator[None]:
        try:
            yield
        except FileNotFoundError:
            if what == "read":
                raise
            raise _cannot(what, name, self.place, None) from None
        except store_errors() as error:
            raise _cannot(what, name, self.place, error) from error


def store_errors() -> tuple[type[Exception], ...]:
    """Return what the libraries behind fsspec raise; those of S3 are no OSErrors."""
    try:
        from botocore.exceptions import BotoCoreError
    except ImportError:
        return (OSError, ValueError)
    return (OSError, ValueError, BotoCoreError)


def _cannot(what: str, name: str, place: str, error: Exception | None) -> DatasetWriteError:
    reason = getattr(error, "strerror", None) or str(error or "no such place")
    first_line = (redact_all(str(reason)).strip().splitlines() or [type(error).__name__])[0]
    return DatasetWriteError(
        f"{name} cannot be {what} in {place}: {first_line.rstrip('.')}. Check that the place "
        "exists and that this machine may use it, then run again: what is there is kept."
    )
