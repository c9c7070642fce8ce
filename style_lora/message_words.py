"""Why there is no picture, in the language of the page.

The painter and the GPU worker speak English; the page looks up which sentence that is, so that
neither needs to know of languages. What is unknown stays English.
"""

from functools import cache
from pathlib import Path
from re import Pattern
from typing import Final

from serving.page_texts import DEFAULT_LANGUAGE, load_page_texts, sentence_patterns

MESSAGES: Final = load_page_texts(Path(__file__).parent / "languages" / "messages", "style_message")

# What a library says.
_OPEN = frozenset({"error"})


def tell_reason(english: str, language: str) -> str:
    """Return a reason in the language of the page.

    Args:
        english: Message of a `GenerationError`.
        language: Language of the page.
    """
    if language == DEFAULT_LANGUAGE:
        return english
    for key, pattern in _patterns().items():
        if found := pattern.fullmatch(english):
            return MESSAGES.tell(key, language, **found.groupdict())
    return english


@cache
def _patterns() -> dict[str, Pattern[str]]:
    return sentence_patterns(MESSAGES, _OPEN)
