"""Documents at an address: found by name, and brought to disk one at a time.

Over http(s) an address is one file. In an object store or a repository on the Hub it may also be a
folder or a pattern; their files come in the order in which the same files in a folder would come.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Any

from archive_tools.errors import SourceError
from archive_tools.file_kinds import (
    BOOK_SUFFIXES,
    IMAGE_SUFFIXES,
    TIFF_SUFFIXES,
    ZIP_SUFFIX,
    clean_name,
    has_suffix,
)
from archive_tools.remote_address import (
    WEB_SCHEMES,
    check_address,
    first_line,
    name_of,
    open_filesystem,
    redact,
    scheme_of,
)
from archive_tools.shard_store import store_errors

_LISTED_SUFFIXES = BOOK_SUFFIXES | TIFF_SUFFIXES | {ZIP_SUFFIX}
_LOOSE_IMAGE_SUFFIXES = IMAGE_SUFFIXES - _LISTED_SUFFIXES
_PATTERN = re.compile(r"[*?\[]")


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """A document at an address.

    Attributes:
        url: Its address, secrets included: never shown and never written.
        name: Its name for people and for the manifest.
        size_bytes: As the listing says; None where there is none.
        is_loose_image: Whether it is one of the images of a folder, which are not taken from there.
    """

    url: str
    name: str
    size_bytes: int | None = None
    is_loose_image: bool = False


def list_remote(url: str) -> Iterator[RemoteFile]:
    """Find the documents behind an address, without reading any.

    Args:
        url: A file; except over http(s) also a folder, of which PDFs, other books, TIFFs and ZIP
            files are taken and images are marked, or a pattern with `*`, `?`, `[` or `**`.

    Yields:
        The files of a folder before those of the folders in it, each by name.

    Raises:
        InvalidOptionError: The scheme is unknown, or the package that speaks it is missing.
        SourceError: Nothing is there, or the store refuses.
    """
    check_address(url)
    if scheme_of(url) in WEB_SCHEMES:
        yield RemoteFile(url, clean_name(name_of(url)))
        return
    try:
        found = list(_list_store(open_filesystem(url), url))
    except FileNotFoundError:
        found = []
    except store_errors() as error:
        raise SourceError(
            f"{redact(url)} cannot be listed: {first_line(error)}. Check the address, and that "
            "this machine may read it."
        ) from error
    if not found:
        raise SourceError(f"There is no PDF and no other book at {redact(url)}. Check the address.")
    yield from sorted(found, key=_walking_order)


def _list_store(files: Any, url: str) -> Iterator[RemoteFile]:
    scheme = scheme_of(url)
    if _PATTERN.search(url.partition("://")[2]):
        for path, details in files.glob(url, detail=True).items():
            name = path.rpartition("/")[2]
            if details["type"] == "file" and not name.startswith("."):
                yield _found(scheme, path, name, details)
        return
    details = files.info(url)
    if details["type"] == "file":
        yield _found(scheme, details["name"], name_of(url), details)
        return
    root = files._strip_protocol(url).rstrip("/")
    for path, details in files.find(url, detail=True).items():
        name = path.removeprefix(root).lstrip("/")
        is_hidden = any(part.startswith(".") for part in PurePosixPath(name).parts)
        if is_hidden:
            continue
        if has_suffix(name, _LISTED_SUFFIXES):
            yield _found(scheme, path, name, details)
        elif has_suffix(name, _LOOSE_IMAGE_SUFFIXES):
            yield replace(_found(scheme, path, name, details), is_loose_image=True)


def _found(scheme: str, path: str, name: str, details: dict[str, Any]) -> RemoteFile:
    return RemoteFile(f"{scheme}://{path}", clean_name(name), details.get("size"))


def _walking_order(file: RemoteFile) -> list[tuple[bool, str]]:
    *folders, name = file.name.split("/")
    return [*((True, folder) for folder in folders), (False, name), (False, file.url)]
