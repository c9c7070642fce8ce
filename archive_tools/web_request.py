"""How files on the web are asked for, and what an answer names their version by."""

from typing import Final

import httpx

HEADERS: Final = {"Accept-Encoding": "identity", "User-Agent": "archive_tools"}
"""Of each request: sizes and ranges are to count the file's own bytes."""

TIMEOUT: Final = httpx.Timeout(30.0)
"""Longest wait for a connection, or for the next bytes."""


def strong_etag(answer: httpx.Response) -> str:
    """Return the name of exactly these bytes; empty where the server gives none.

    Args:
        answer: Of the server.
    """
    etag: str = answer.headers.get("ETag", "")
    # A weak one promises the same meaning, not the same bytes.
    return "" if etag.startswith("W/") else etag
