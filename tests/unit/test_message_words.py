"""Messages in the language of the page: complete in each, and those of the program are known."""

import ast
import re
from collections.abc import Iterator
from string import Formatter

import pytest

from archive_tools.command_tab import on_options
from archive_tools.decisions import decide_by_coverage
from archive_tools.message_words import MESSAGES, tell_message
from serving.page_texts import DEFAULT_LANGUAGE, LANGUAGE_NAMES
from tests.served_app import REPOSITORY

# The code puts these together from parts.
PUT_TOGETHER = {"named", "one_illustration", "illustrations", "one_drawing", "drawings"}
PUT_TOGETHER |= {"left_page", "right_page", "far_too_many_pixels", "full_disk_place"}
# Only the command line and the API come there, or the page gives nothing that they refuse.
NOT_SHOWN = {"completion", "config", "disk_errors", "exports", "hub", "journal", "label_file"}
NOT_SHOWN |= {"remote_address", "remote_fetch", "remote_source", "shard_store"}
NOT_SHOWN |= {"choose_engine", "dask_engine", "engines"}
NOT_SHOWN |= {"dispatch", "ray_engine", "reduce", "run", "shard_worker"}
NOT_SHOWN |= {"pipeline", "recovery", "score_table", "tab_options", "worker_process", "workers"}
# A fault of the disk or the program, to be reported word for word.
NOT_SHOWN |= {"image_check", "writer", "zip_stream"}
# What a program gets, and what another renderer makes good.
UNTOLD = {
    "A job id has 32 characters, 0 to 9 and a to f, as the page shows it and /build_dataset "
    "yields it with its progress.",
    "No file was given. Add at least one PDF or image.",
    "form fields and annotations are MuPDF's to draw",
}
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
    assert not re.search(r"\b(less|than|of the)\b", told)


def list_raised() -> Iterator[tuple[str, str]]:
    """Module and message of each error that is raised with a text; a gap becomes a figure."""
    for path in sorted((REPOSITORY / "archive_tools").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Raise) or not isinstance(node.exc, ast.Call):
                continue
            error, message = node.exc.func, (*node.exc.args, None)[0]
            if isinstance(error, ast.Name) and error.id != "ValueError" and message:
                yield path.stem, "".join(spell(message))


def spell(text: ast.expr) -> Iterator[str]:
    if isinstance(text, ast.JoinedStr):
        for part in text.values:
            yield from spell(part) if isinstance(part, ast.Constant) else "7"
    elif isinstance(text, ast.Constant) and isinstance(text.value, str):
        yield text.value


@pytest.mark.parametrize("language", OTHERS)
def test_every_error_that_the_page_shows_is_told(language: str) -> None:
    raised = [(module, text) for module, text in list_raised() if re.search("[a-z]", text)]
    shown = {text for module, text in raised if module not in NOT_SHOWN}
    assert len(shown) > 30
    assert {text for text in shown if tell_message(text, language) == text} == UNTOLD
    assert {module for module, _ in raised} >= NOT_SHOWN


@pytest.mark.parametrize("language", OTHERS)
def test_the_command_says_in_the_language_of_the_page_what_is_wrong(language: str) -> None:
    values = ("auto", "pages", "square", "x" * 500, "", True, True, "split", 1.5, 45)
    shown = on_options(language, *values)
    assert "500" in shown
    assert "The trigger" not in shown
