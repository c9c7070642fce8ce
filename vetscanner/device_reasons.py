"""Why a scan ran where it ran, in the language of the report; pure.

The reason comes in English: so it goes through worker processes and into the log.
"""

import re
from functools import cache
from pathlib import Path
from typing import Final

from serving.page_texts import DEFAULT_LANGUAGE, load_page_texts, template_pattern

DEVICE_TEXTS: Final = load_page_texts(Path(__file__).parent / "languages" / "device", "device")
"""Every reason that the vet scanner gives, in four languages."""


def tell_device_reason(english: str, language: str) -> str:
    """Return a reason in another language; one that is not known stays as it is.

    Args:
        english: As `gpu.classify` or the command line tells it.
        language: Language of the report.
    """
    if language == DEFAULT_LANGUAGE:
        return english
    refused = _match("refused", english)
    if refused is None:
        return _translate(english, language)
    return DEVICE_TEXTS.tell("refused", language, cause=_cause(refused["cause"], language))


def _cause(english: str, language: str) -> str:
    """Translate a clause and, where they follow in brackets, the facts of a quota message."""
    told = _translate(english, language)
    parts = re.fullmatch(r"(.*) \(([^()]*)\)", english)
    if told != english or parts is None:
        return told
    facts = ", ".join(_fact(fact, language) for fact in parts[2].split(", "))
    return f"{_translate(parts[1], language)} ({facts})"


def _fact(english: str, language: str) -> str:
    for key in ("requested", "try_again"):
        if found := _match(key, english):
            return DEVICE_TEXTS.tell(key, language, **found)
    return english


def _translate(english: str, language: str) -> str:
    key = _keys_by_text().get(english)
    return DEVICE_TEXTS.tell(key, language) if key else english


@cache
def _keys_by_text() -> dict[str, str]:
    return {text: key for key, text in DEVICE_TEXTS.texts[DEFAULT_LANGUAGE].items()}


def _match(key: str, english: str) -> dict[str, str] | None:
    """Take what fills the gaps of an English text; None where the text is another."""
    text = DEVICE_TEXTS.texts[DEFAULT_LANGUAGE][key]
    found = template_pattern(text, lambda _: r"[^\n]+").fullmatch(english)
    return found.groupdict() if found else None
