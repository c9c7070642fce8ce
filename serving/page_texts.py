"""The texts of the page in its four languages; pure.

The browser translates what is laid out once (labels, buttons, introductions): there a text stands
as a marker, which Gradio's script replaces in the language of the page. What a handler answers is
told here, in the language that the page hands over with its other inputs. It stands beside the two
packages, which never import each other; each has a folder of texts of its own.
"""

import json
import re
import tomllib
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from string import Formatter
from typing import Final

LANGUAGE_NAMES: Final = {"en": "English", "de": "Deutsch", "fr": "Français", "ru": "Русский"}
"""Language of the page -> its name as its speakers write it."""

DEFAULT_LANGUAGE: Final = "en"

_ANYTHING, _FIGURE = ".+?", "[^:;]+?"


@dataclass(frozen=True, slots=True)
class PageTexts:
    """One folder of texts, a file for each language.

    Attributes:
        prefix: Sets its keys apart from those of other folders, since the browser knows one list.
        texts: Language -> key -> text; a text may have gaps such as `{count}`.
    """

    prefix: str
    texts: Mapping[str, Mapping[str, str]]

    def marker(self, key: str) -> str:
        """Return what stands for a text wherever Gradio takes one; the browser fills it in.

        Labels, placeholders, the names of choices and the values of buttons, Markdown and HTML
        may hold one marker each. Text before and after it stays.

        Args:
            key: Key of a text without gaps.

        Raises:
            KeyError: There is no such text.
        """
        if key not in self.texts[DEFAULT_LANGUAGE]:
            raise KeyError(key)
        entry = {"__type__": "translation_metadata", "key": f"{self.prefix}.{key}"}
        # As gradio.I18nData writes itself.
        return f"__i18n__{json.dumps(entry)}"

    def tell(self, key: str, language: str, **gaps: object) -> str:
        """Return a text in one language.

        Args:
            key: Key of the text.
            language: One of `LANGUAGE_NAMES`; English is told for any other.
            gaps: What the text leaves open; numbers as `localised_numbers` writes them.

        Raises:
            KeyError: There is no such text, or a gap is left open.
        """
        return self.texts[known_language(language)][key].format(**gaps)


def load_page_texts(folder: Path, prefix: str) -> PageTexts:
    """Read the texts of one folder; they stay in memory.

    Args:
        folder: Holds `<language>.toml` for each language, keys at the top and nothing but texts.
        prefix: Sets its keys apart from those of other folders.
    """
    texts = {
        language: tomllib.loads((folder / f"{language}.toml").read_text(encoding="utf-8"))
        for language in LANGUAGE_NAMES
    }
    return PageTexts(prefix, texts)


def template_pattern(text: str, gap: Callable[[str], str]) -> re.Pattern[str]:
    """Return a pattern that a text with its gaps filled matches as a whole, gaps as its groups.

    Args:
        text: It may have gaps such as `{count}`.
        gap: Name of a gap -> pattern of what may fill it.
    """
    pieces = [
        re.escape(literal) + (f"(?P<{name}>{gap(name)})" if name else "")
        for literal, name, _, _ in Formatter().parse(text)
    ]
    return re.compile("".join(pieces), re.S)


def sentence_patterns(texts: PageTexts, open_gaps: Collection[str]) -> dict[str, re.Pattern[str]]:
    """Return key -> pattern of each English sentence, those with the most words of their own first.

    Args:
        texts: Sentences that the program tells in English and the page in its language.
        open_gaps: Names of gaps that take anything, such as a file's name; the others a figure.
    """
    english = texts.texts[DEFAULT_LANGUAGE]
    keys = sorted(english, key=lambda key: len(re.sub(r"\{\w+\}", "", english[key])), reverse=True)

    def gap(name: str) -> str:
        return _ANYTHING if name in open_gaps else _FIGURE

    return {key: template_pattern(english[key], gap) for key in keys}


def join_translations(*folders: PageTexts) -> dict[str, dict[str, str]]:
    """Return language -> key with its prefix -> text, as `gr.I18n` takes it.

    Args:
        folders: All texts that stand as markers on the page.
    """
    return {
        language: {
            f"{folder.prefix}.{key}": text
            for folder in folders
            for key, text in folder.texts[language].items()
        }
        for language in LANGUAGE_NAMES
    }


def known_language(language: str) -> str:
    """Return the language itself where the page has it, else English.

    Args:
        language: What a caller asks for.
    """
    return language if language in LANGUAGE_NAMES else DEFAULT_LANGUAGE
