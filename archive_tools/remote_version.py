"""Which version of a file lies at an address, without fetching it."""

from email.utils import parsedate_to_datetime
from typing import Any

import httpx

from archive_tools.remote_address import WEB_SCHEMES, look_up, scheme_of
from archive_tools.remote_source import RemoteFile
from archive_tools.shard_store import store_errors
from archive_tools.web_request import HEADERS, TIMEOUT, strong_etag

# What each store names a content by; times alone are too coarse for that.
_NAMES = ("ETag", "etag", "blob_id", "generation", "md5Hash", "LastModified", "size")
_NAMING = frozenset(("ETag", "etag", "blob_id", "generation", "md5Hash"))
# A file that was changed less than this before it was asked for may change once more within the
# second that its time is good for.
_SETTLED_S = 60.0


def ask_version(file: RemoteFile) -> str:
    """Return what tells this version of a file from any other.

    Args:
        file: What is asked for; nothing of it is fetched.

    Returns:
        A text to be compared with an earlier one; empty where its server says nothing that is
        safe, or does not answer.
    """
    try:
        if scheme_of(file.url) in WEB_SCHEMES:
            return _ask_web(file.url)
        return _name_version(look_up(file.url))
    except (httpx.HTTPError, httpx.InvalidURL):
        return ""
    except store_errors():
        return ""


def _ask_web(url: str) -> str:
    answer = httpx.head(url, headers=HEADERS, follow_redirects=True, timeout=TIMEOUT)
    if answer.status_code != httpx.codes.OK:
        return ""
    size_bytes = answer.headers.get("Content-Length", "")
    if etag := strong_etag(answer):
        return f"{etag} {size_bytes}"
    modified = answer.headers.get("Last-Modified", "")
    if not size_bytes or not _is_settled(modified, answer.headers.get("Date", "")):
        return ""
    return f"{modified} {size_bytes}"


def _is_settled(modified: str, now: str) -> bool:
    """Return whether a file was changed so long ago that its time names one version of it."""
    try:
        age = parsedate_to_datetime(now) - parsedate_to_datetime(modified)
    except (TypeError, ValueError):
        return False
    return age.total_seconds() >= _SETTLED_S


def _name_version(details: dict[str, Any]) -> str:
    if not any(details.get(name) for name in _NAMING):
        return ""
    return " ".join(str(details[name]) for name in _NAMES if name in details)
