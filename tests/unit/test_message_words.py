"""Messages in the language of the page: complete in each, and those of the program are known."""

import re
from string import Formatter

import pytest

from archive_tools.decisions import decide_by_coverage
from archive_tools.message_words import MESSAGES, tell_message
from serving.page_texts import DEFAULT_LANGUAGE, LANGUAGE_NAMES
from tests.served_app import REPOSITORY

# The code puts these together from parts.
PUT_TOGETHER = {"named", "one_illustration", "illustrations", "one_drawing", "drawings"}
PUT_TOGETHER |= {"left_page", "right_page", "far_too_many_pixels", "full_disk_place"}
OTHERS = sorted(set(LANGUAGE_NAMES) - {DEFAULT_LANGUAGE})


def list_gaps(text: str) -> list[str]:
    return sorted(name for _, name, _, _ in Formatter().parse(text) if name is not None)


@pytest.mark.parametrize("language", OTHERS)
def test_every_message_is_there_in_every_language(language: str) -> None:
    english, other = MESSAGES.texts[DEFAULT_LANGUAGE], MESSAGES.texts[language]
    assert other.keys() == english.keys()
    assert {key: list_gaps(text) for key, text in other.items()} == {
        key: list_gaps(text) for key, text in english.items()
    }


def test_every_message_is_one_that_the_program_has() -> None:
    """Its longest piece without a gap stands in the code; strings there may go over two lines."""
    files = (REPOSITORY / "archive_tools").rglob("*.py")
    code = "\n".join(path.read_text(encoding="utf-8") for path in files)
    code = re.sub(r'"\s*\n\s*f?"', "", code)
    for key, text in MESSAGES.texts[DEFAULT_LANGUAGE].items():
        pieces = [piece for piece, _, _, _ in Formatter().parse(text)]
        longest = max((part for piece in pieces for part in piece.split(": ")), key=len)
        assert longest.strip() in code or key in PUT_TOGETHER, key


@pytest.mark.parametrize(
    ("message", "german"),
    [
        ("no illustration found", "keine Abbildung gefunden"),
        ("3 illustrations, 24 % of the page; dark", "3 Abbildungen, 24 % der Seite; dunkel"),
        (
            "left page: 1 illustration, 9 % of the page (left out); two pages",
            "linke Seite: 1 Abbildung, 9 % der Seite (weggelassen); zwei Seiten",
        ),
        (
            "left page: no illustration found; right page: 2 illustrations, 9 % of the page; noisy",
            "linke Seite: keine Abbildung gefunden; rechte Seite: 2 Abbildungen, 9 % der Seite; "
            "verrauscht",
        ),
        (
            "a; b.png: it says that it has 9 x 9 pixels; at most 150 million are read",
            "a; b.png: es gibt 9 x 9 Pixel an; höchstens 150 Millionen werden gelesen",
        ),
        ("skewed by 0.7 degrees", "um 0,7 Grad schief"),
        ("near-duplicate of a {0}; b.pdf page 3", "fast gleich mit a {0}; b.pdf page 3"),
        (
            "plate 1.2.png: it is damaged or cut off",
            "plate 1.2.png: es ist beschädigt oder abgeschnitten",
        ),
        ("something that nobody has foreseen", "something that nobody has foreseen"),
        ("", ""),
    ],
)
def test_messages_are_told_in_german(message: str, german: str) -> None:
    assert tell_message(message, "de") == german
    assert tell_message(message, "en") == message
    assert tell_message(message, "xx") == message


@pytest.mark.parametrize("language", OTHERS)
def test_a_decision_is_told_whole(language: str) -> None:
    reason = decide_by_coverage(0.01, "2 illustrations, 1 % of the page", 0.015).reason
    told = tell_message(reason, language)
    assert "1,5" in told
    assert not re.search(r"illustrations, |less|than|page\b(?<!la page)", told) or language == "fr"
