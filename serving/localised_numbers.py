"""Numbers and colons as readers of each language write them; pure."""

from typing import Final

NARROW_SPACE: Final = "\u202f"
"""No-break: a number never falls apart at the end of a line."""

_DECIMAL_COMMA: Final = frozenset({"de", "fr", "ru"})


def write_colon(language: str) -> str:
    """Return a colon and a space; in French a no-break space stands before it.

    Args:
        language: Language code.
    """
    return "\u00a0: " if language == "fr" else ": "


def write_semicolon(language: str) -> str:
    """Return a semicolon and a space; in French a narrow no-break space stands before it.

    Args:
        language: Language code.
    """
    return f"{NARROW_SPACE}; " if language == "fr" else "; "


def write_number(value: float, language: str, digits: int = 0) -> str:
    """Write a number: 12,345.6 in English, 12 345,6 in German, French and Russian.

    Args:
        value: The number.
        language: Language code; English rules hold for unknown ones.
        digits: Digits after the decimal sign.
    """
    english = f"{value:,.{digits}f}"
    if language not in _DECIMAL_COMMA:
        return english
    return english.replace(",", NARROW_SPACE).replace(".", ",")


def write_percent(share: float, language: str, digits: int = 0) -> str:
    """Write a share of one: 12.5% in English, 12,5 % elsewhere.

    Args:
        share: 0 to 1.
        language: Language code.
        digits: Digits after the decimal sign.
    """
    gap = NARROW_SPACE if language in _DECIMAL_COMMA else ""
    return f"{write_number(100 * share, language, digits)}{gap}%"
