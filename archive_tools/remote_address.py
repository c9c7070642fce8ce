"""Addresses of files elsewhere: which are known, how they are opened, how they are shown.

The command line alone takes addresses. What the page and the API are given is never one, so that no
visitor can make the server call others.
"""

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from archive_tools.errors import InvalidOptionError

WEB_SCHEMES: Final = frozenset(("http", "https"))

_ADDRESS = re.compile(r"[a-z][a-z0-9+:]*://", re.IGNORECASE)
# Scheme -> the package that speaks it; those of huggingface_hub are always there.
_PACKAGES: Final = {
    "hf": "huggingface_hub",
    "s3": "s3fs",
    "gs": "gcsfs",
    "gcs": "gcsfs",
    "az": "adlfs",
    "abfs": "adlfs",
    "abfss": "adlfs",
}
_TOKEN_NAMES = ("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN")
# Whole addresses as they come up in the words of a library.
_IN_TEXT = re.compile(r"[a-z][a-z0-9+]*://[^\s'\"<>]+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class RemoteAddress:
    """A source that somebody gave as an address on the command line.

    Attributes:
        url: As it was given; it may hold secrets, so it is never shown or written.
    """

    url: str


def is_address(text: str) -> bool:
    """Return whether a text is an address and no path."""
    return _ADDRESS.match(text) is not None


def as_source(text: str) -> Path | RemoteAddress:
    """Return what a source of the command line is; nothing else makes an address of a text."""
    return RemoteAddress(text) if is_address(text) else Path(text)


def scheme_of(url: str) -> str:
    """Return the scheme of an address in lower case: `https`, `s3`, `hf`."""
    return url.partition("://")[0].lower()


def redact(url: str) -> str:
    """Return an address as it may be shown: without user, password, query and fragment.

    Args:
        url: Any address; signed ones carry their signature in the query.
    """
    start, separator, rest = url.partition("://")
    place = re.split(r"[?#]", rest, maxsplit=1)[0]
    host, slash, path = place.partition("/")
    return f"{start}{separator}{host.rpartition('@')[2]}{slash}{path}"


def redact_all(text: str) -> str:
    """Return a text with every address in it as it may be shown."""
    return _IN_TEXT.sub(lambda found: redact(found[0]), text)


def first_line(error: Exception) -> str:
    """Return what a library says went wrong, in one line that may be shown.

    Args:
        error: Its words may hold addresses with secrets; one without words is named by its kind.
    """
    text = redact_all(str(error)).strip() or type(error).__name__
    return text.splitlines()[0].rstrip(".")


def name_of(url: str) -> str:
    """Return the name of the file behind an address, as people would write it."""
    if scheme_of(url) not in WEB_SCHEMES:
        return url.rstrip("/").rpartition("/")[2]
    return (
        unquote(urlsplit(url).path.rstrip("/").rpartition("/")[2]) or urlsplit(url).hostname or ""
    )


def check_address(url: str) -> None:
    """Check that an address can be opened here.

    Args:
        url: Of a file, a folder or a store.

    Raises:
        InvalidOptionError: Its scheme is unknown, or the package that speaks it is missing.
    """
    scheme = scheme_of(url)
    if "::" in url or scheme not in WEB_SCHEMES | _PACKAGES.keys():
        known = ", ".join(f"{one}://" for one in sorted(WEB_SCHEMES | _PACKAGES.keys()))
        raise InvalidOptionError(f"{redact(url)} cannot be opened. Known are {known}.")
    if scheme in _PACKAGES:
        open_filesystem(url)


def open_filesystem(url: str) -> Any:
    """Return the fsspec file system behind an address; the only door to fsspec.

    Listings are not remembered: other workers write there, too.

    Args:
        url: Neither http nor https.

    Raises:
        InvalidOptionError: The package that speaks its scheme is missing.
    """
    # Here and not above: it takes a fifth of a second, and most runs are local.
    import fsspec

    scheme = scheme_of(url)
    options: dict[str, Any] = {"use_listings_cache": False}
    if scheme == "hf":
        # Only what the environment says: the token that `hf auth login` has stored is not used.
        token = next(filter(None, map(os.environ.get, _TOKEN_NAMES)), False)
        options |= {"token": token, "endpoint": os.environ.get("HF_ENDPOINT")}
    try:
        files = fsspec.filesystem(scheme, **options)
    except ImportError as error:
        package = _PACKAGES[scheme]
        raise InvalidOptionError(
            f"{scheme}:// needs the package {package}. Install it with: pip install {package}"
        ) from error
    if scheme == "hf":
        # It remembers listings all the same. A new one, since threads share the old.
        files.dircache = {}
    return files


def look_up(url: str) -> dict[str, Any]:
    """Return what a store says of one file, without a listing of its folder.

    Args:
        url: Neither http nor https.

    Raises:
        FileNotFoundError: Nothing is there.
        OSError: The store cannot be reached; the errors of some are others.
    """
    # The Hub's would list the folder else, and a folder of shards is long.
    options = {"expand_info": True} if scheme_of(url) == "hf" else {}
    details: dict[str, Any] = open_filesystem(url).info(url, **options)
    return details


def open_remote(url: str, **options: Any) -> Any:
    """Open a file for reading; it can be sought in.

    Args:
        url: Neither http nor https.
        options: How fsspec reads ahead.

    Raises:
        FileNotFoundError: Nothing is there.
        OSError: The store cannot be reached; the errors of some are others.
    """
    files = open_filesystem(url)
    if scheme_of(url) == "hf":
        details = look_up(url)
        # As if its folder had been listed, which each piece that is read would do else.
        files.dircache = {details["name"].rpartition("/")[0]: [details]}
    return files.open(url, "rb", **options)
