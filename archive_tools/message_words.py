"""Messages about files and pages in the language of the page.

Workers, the manifest and the API speak English. The page tells the same by looking up which
sentence a message is, so that no stage needs to know of languages; what is unknown stays English.
"""

import re
from functools import cache
from pathlib import Path
from typing import Final

from serving.page_texts import (
    DEFAULT_LANGUAGE,
    LANGUAGE_NAMES,
    load_page_texts,
    sentence_patterns,
)

MESSAGES: Final = load_page_texts(Path(__file__).parent / "languages" / "messages", "message")

_PART = "; "
# What a gap takes: names, other messages and words of a library anything, the others a figure.
_OPEN = frozenset({"name", "inner", "error", "manner"})
# A file's name may hold anything, so this sentence is tried last.
_NAMED = "named"
_NUMBER = re.compile(r"\d+\.\d+")
_TRANSLATED = frozenset(LANGUAGE_NAMES) - {DEFAULT_LANGUAGE}


def tell_message(message: str, language: str) -> str:
    """Return a message in the language of the page.

    Args:
        message: In English, from a file's or page's outcome; it may have several parts.
        language: Language of the page.
    """
    if language not in _TRANSLATED:
        return message
    return (
        _tell_sentence(message, language)
        or _tell_parts(message, language)
        or _tell_named(message, language)
        or message
    )


def _tell_sentence(message: str, language: str) -> str | None:
    """Return a message that is one known sentence; None where it is not."""
    for key, pattern in _patterns().items():
        if key != _NAMED and (found := pattern.fullmatch(message)):
            return _fill(key, found, language)
    return None


def _tell_parts(message: str, language: str) -> str | None:
    """Return a message of several parts; None where none of them is known."""
    parts = message.split(_PART)
    told = [tell_message(part, language) for part in parts] if parts[1:] else parts
    return _PART.join(told) if told != parts else None


def _tell_named(message: str, language: str) -> str | None:
    """Return a message that begins with the name of its file; None where it does not."""
    found = _patterns()[_NAMED].fullmatch(message)
    return _fill(_NAMED, found, language) if found else None


def _fill(key: str, found: re.Match[str], language: str) -> str:
    gaps = {name: _tell_gap(name, text, language) for name, text in found.groupdict().items()}
    return MESSAGES.tell(key, language, **gaps)


def _tell_gap(name: str, text: str, language: str) -> str:
    if name == "inner":
        return tell_message(text, language)
    return text.replace(".", ",") if _NUMBER.fullmatch(text) else text


@cache
def _patterns() -> dict[str, re.Pattern[str]]:
    return sentence_patterns(MESSAGES, _OPEN)
