"""Brings one remote file to disk: in pieces, checked, and going on where it broke off."""

import errno
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

import httpx

from archive_tools.errors import (
    NO_SPACE,
    DatasetWriteError,
    SourceError,
    SourceUnreachableError,
)
from archive_tools.remote_address import (
    WEB_SCHEMES,
    first_line,
    look_up,
    open_remote,
    redact,
    scheme_of,
)
from archive_tools.remote_source import RemoteFile
from archive_tools.shard_store import store_errors
from archive_tools.web_request import HEADERS, TIMEOUT, strong_etag

CHUNK_BYTES = 2**20
LEAST_FREE_BYTES = 64 * 2**20
# Tries in a row that bring the file hardly further; a long file may break off more often than that.
TRIES = 5
_FURTHER_BYTES = 8 * 2**20
_FIRST_PAUSE_S = 0.5
_LONGEST_PAUSE_S = 30.0
_GONE = (404, 410)
_CLOSED = (401, 403, 407)
_BUSY = (408, 425, 429)


class FetchStoppedError(Exception):
    """Nobody needs the file any more."""


class _BrokenOffError(Exception):
    """A try came to nothing, or not to the end; another one may."""

    def __init__(self, reason: str, is_answer: bool, pause_s: float = 0.0) -> None:
        super().__init__(reason)
        self.is_answer = is_answer
        self.pause_s = pause_s


@dataclass(slots=True)
class _Copy:
    """How much of a file is there, and of which version of it."""

    file: BinaryIO
    folder: Path
    name: str
    is_stopped: Callable[[], bool]
    version: str = ""
    size_bytes: int = 0
    total_bytes: int | None = None

    def begin(self, version: str, total_bytes: int | None) -> None:
        """Throw away what is there: it is of another version, or cannot be gone on with."""
        self.version, self.size_bytes, self.total_bytes = version, 0, total_bytes
        self.file.seek(0)
        self.file.truncate()
        self._check_room(total_bytes or 0)

    def add(self, chunk: bytes) -> None:
        if self.is_stopped():
            raise FetchStoppedError
        self._check_room(len(chunk))
        with self._explained():
            self.file.write(chunk)
        self.size_bytes += len(chunk)

    def check_whole(self) -> None:
        if self.total_bytes is not None and self.size_bytes != self.total_bytes:
            raise _BrokenOffError(
                f"{self.size_bytes} of {self.total_bytes} bytes came", is_answer=True
            )

    def _check_room(self, more_bytes: int) -> None:
        with self._explained():
            if shutil.disk_usage(self.folder).free < more_bytes + LEAST_FREE_BYTES:
                raise OSError(errno.ENOSPC, "No space left")

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            if error.errno in NO_SPACE:
                reason = "The disk is full: there is no room to fetch"
            else:
                reason = f"The disk fails ({error.strerror}) at fetching"
            raise DatasetWriteError(
                f"{reason} {self.name}. Free some space, then run again with --resume; the "
                "finished pages are kept."
            ) from error


def fetch(file: RemoteFile, copy: Path, stop: threading.Event | None = None) -> None:
    """Copy a remote file to disk; what is there after an error is to be deleted.

    Args:
        file: What to fetch.
        copy: Where to; its folder must exist.
        stop: Set by others when nobody needs the file any more.

    Raises:
        SourceError: It is not there, may not be read, or is not what its server says.
        SourceUnreachableError: Its server does not answer.
        DatasetWriteError: The disk is full.
        FetchStoppedError: `stop` was set.
    """
    stop = stop or threading.Event()
    one_try = _try_web if scheme_of(file.url) in WEB_SCHEMES else _try_store
    with copy.open("wb") as target:
        state = _Copy(target, copy.parent, file.name, stop.is_set)
        tries, furthest_bytes = 0, 0
        while True:
            try:
                one_try(file, state)
                return
            except _BrokenOffError as broken:
                if state.size_bytes > furthest_bytes + _FURTHER_BYTES:
                    tries, furthest_bytes = 0, state.size_bytes
                tries += 1
                if tries >= TRIES:
                    raise _given_up(file, broken) from broken
                pause_s = max(broken.pause_s, _FIRST_PAUSE_S * 2 ** (tries - 1))
            if stop.wait(min(pause_s, _LONGEST_PAUSE_S)):
                raise FetchStoppedError


def _given_up(file: RemoteFile, broken: _BrokenOffError) -> Exception:
    place = redact(file.url)
    if broken.is_answer:
        return SourceError(
            f"It cannot be fetched from {place}: {broken}, {TRIES} times. Try again later, or "
            "download it and give its path."
        )
    return SourceUnreachableError(
        f"{place} cannot be reached: {broken}. Check the address and the network, then run again "
        "with --resume; the finished pages are kept."
    )


def _try_web(file: RemoteFile, copy: _Copy) -> None:
    """Ask a web server for what is missing."""
    headers = dict(HEADERS)
    if copy.size_bytes and copy.version:
        headers |= {"Range": f"bytes={copy.size_bytes}-", "If-Range": copy.version}
    try:
        with httpx.stream(
            "GET", file.url, headers=headers, follow_redirects=True, timeout=TIMEOUT
        ) as answer:
            _check_answer(answer, file)
            _begin_or_go_on(answer, copy)
            for chunk in answer.iter_bytes(CHUNK_BYTES):
                copy.add(chunk)
    except httpx.InvalidURL as error:
        raise SourceError(f"{redact(file.url)} is no address. Check it.") from error
    except (httpx.TooManyRedirects, httpx.UnsupportedProtocol, httpx.DecodingError) as error:
        raise SourceError(
            f"{redact(file.url)} leads nowhere ({first_line(error)}). Check the address."
        ) from error
    except httpx.TransportError as error:
        raise _BrokenOffError(first_line(error), is_answer=copy.size_bytes > 0) from error
    copy.check_whole()


def _check_answer(answer: httpx.Response, file: RemoteFile) -> None:
    """Tell what a server refuses for good from what may work later."""
    status, place = answer.status_code, redact(file.url)
    if status in (200, 206):
        return
    if status in _GONE:
        raise SourceError(f"There is no such file at {place} ({status}). Check the address.")
    if status in _CLOSED:
        raise SourceError(
            f"{place} may not be read ({status}). Check the address and its access rights, or "
            "download it and give its path."
        )
    if status >= 500 or status in _BUSY or status == 416:
        pause = answer.headers.get("Retry-After", "")
        raise _BrokenOffError(
            f"its server answers {status}", True, float(pause) if pause.isdecimal() else 0.0
        )
    raise SourceError(f"{place} was refused ({status}). Check the address.")


def _begin_or_go_on(answer: httpx.Response, copy: _Copy) -> None:
    version = strong_etag(answer)
    if answer.status_code == 206:
        begins = answer.headers.get("Content-Range", "").startswith(f"bytes {copy.size_bytes}-")
        if begins and version == copy.version:
            return
        # It gave another piece than the one that was asked for: ask for all of it.
        copy.begin("", None)
        raise _BrokenOffError("its server gave another piece than was asked for", is_answer=True)
    length = answer.headers.get("Content-Length", "")
    copy.begin(version, int(length) if length.isdecimal() else None)


def _try_store(file: RemoteFile, copy: _Copy) -> None:
    """Read what is missing from an object store."""
    try:
        details = look_up(file.url)
        version = _version_in(details)
        if not copy.size_bytes or version != copy.version:
            copy.begin(version, details.get("size"))
        with open_remote(file.url, block_size=8 * CHUNK_BYTES, cache_type="readahead") as remote:
            remote.seek(copy.size_bytes)
            while chunk := remote.read(CHUNK_BYTES):
                copy.add(chunk)
    except FileNotFoundError as error:
        raise SourceError(
            f"There is no such file at {redact(file.url)}. Check the address."
        ) from error
    except PermissionError as error:
        raise SourceError(
            f"{redact(file.url)} may not be read: {first_line(error)}. Check its access rights."
        ) from error
    except store_errors() as error:
        raise _BrokenOffError(first_line(error), is_answer=copy.size_bytes > 0) from error
    copy.check_whole()


def _version_in(details: dict[str, Any]) -> str:
    """Return what tells one version of an object from another, as its store has it."""
    names = ("ETag", "etag", "blob_id", "LastModified", "mtime", "size")
    return " ".join(str(details[name]) for name in names if name in details)


@contextmanager
def fetched(file: RemoteFile, folder: Path) -> Iterator[Path]:
    """Bring a document to disk for the time of a `with` block.

    Args:
        file: From `list_remote`.
        folder: Where it may lie; made when needed.

    Yields:
        Its path there.

    Raises:
        SourceError: It is not there, may not be read, or is not what its server says.
        SourceUnreachableError: Its server does not answer.
        DatasetWriteError: The disk is full.
    """
    folder.mkdir(parents=True, exist_ok=True)
    copy = folder / f"fetched{PurePosixPath(file.name).suffix.lower()}"
    try:
        fetch(file, copy)
        yield copy
    finally:
        copy.unlink(missing_ok=True)


class Fetch:
    """One file on its way to disk, in a thread of its own."""

    def __init__(self, file: RemoteFile, copy: Path) -> None:
        """Start.

        Args:
            file: What to fetch.
            copy: Where to; its folder must exist.
        """
        self.copy = copy
        self._file = file
        self._stop = threading.Event()
        self._error: Exception | None = None
        self._thread = threading.Thread(target=self._run, name="fetch", daemon=True)
        self._thread.start()

    def wait(self, timeout_s: float) -> bool:
        """Wait for its end; returns whether it has come.

        Args:
            timeout_s: The longest wait in seconds.

        Raises:
            SourceError: It is not there, may not be read, or is not what its server says.
            SourceUnreachableError: Its server does not answer.
            DatasetWriteError: The disk is full.
        """
        self._thread.join(timeout_s)
        if self._thread.is_alive():
            return False
        if self._error is not None:
            raise self._error
        return True

    def stop(self) -> None:
        """Break it off."""
        self._stop.set()
        self._thread.join(2.0)

    def _run(self) -> None:
        try:
            fetch(self._file, self.copy, self._stop)
        except FetchStoppedError:
            pass
        except Exception as error:  # noqa: BLE001 - raised where it is waited for
            self._error = error
