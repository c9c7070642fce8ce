"""JSON that says of itself whether it is what was written: a turned bit may leave it valid."""

import json
import zlib
from typing import Any

_CHECK = b',"check":'


def encode_checked(value: dict[str, Any]) -> bytes:
    """Return a value as a JSON object whose last entry, `check`, is the CRC-32 of the others.

    Args:
        value: Not empty, and without an entry of that name.
    """
    # Scalars of numpy are no JSON numbers; ASCII, since names may be no valid Unicode.
    content = json.dumps(
        value, separators=(",", ":"), default=lambda scalar: scalar.item()
    ).encode()
    return content[:-1] + _CHECK + str(zlib.crc32(content)).encode() + b"}"


def decode_checked(content: bytes) -> dict[str, Any]:
    """Return the value that `encode_checked` has made JSON of.

    Args:
        content: The JSON; white space behind it is no part of it.

    Raises:
        ValueError: It is something else, or has other bytes than were written.
    """
    head, separator, stated = content.rstrip().rpartition(_CHECK)
    if not separator or stated != str(zlib.crc32(head + b"}")).encode() + b"}":
        raise ValueError("it has other bytes than were written")
    value: dict[str, Any] = json.loads(head + b"}")
    return value
