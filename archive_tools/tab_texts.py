"""The texts of the archive tab in the languages of the page, and what is counted in them."""

from pathlib import Path
from typing import Final

from serving.localised_numbers import write_number
from serving.page_texts import DEFAULT_LANGUAGE, load_page_texts

TAB_TEXTS: Final = load_page_texts(Path(__file__).parent / "languages" / "page", "archive")


def tell_pages(count: int, language: str = DEFAULT_LANGUAGE) -> str:
    """Return a number of pages: 1 page, 12 pages; 1 страница, 2 страницы, 12 страниц.

    Args:
        count: How many.
        language: Language of the page.
    """
    return TAB_TEXTS.tell(
        f"pages_{_plural(count, language)}", language, count=write_number(count, language)
    )


def tell_duration(seconds: float, language: str = DEFAULT_LANGUAGE) -> str:
    """Return a time span as people say it: 40 s, 12 min, 3 h 5 min.

    Args:
        seconds: How long.
        language: Language of the page.
    """
    if seconds < 60:
        return TAB_TEXTS.tell("seconds", language, count=round(seconds))
    minutes = round(seconds / 60)
    if minutes < 60:
        return TAB_TEXTS.tell("minutes", language, count=minutes)
    return TAB_TEXTS.tell("hours", language, hours=minutes // 60, minutes=minutes % 60)


def _plural(count: int, language: str) -> str:
    """Return which form of a noun follows a number (the plural rules of Unicode CLDR)."""
    if language == "ru":
        if count % 10 == 1 and count % 100 != 11:
            return "one"
        return "few" if 2 <= count % 10 <= 4 and not 12 <= count % 100 <= 14 else "many"
    if language == "fr":
        return "one" if count < 2 else "many"
    return "one" if count == 1 else "many"
