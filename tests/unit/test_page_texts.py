"""The page's texts: complete in every language, and none left outside."""

import json
import re
import tomllib
from collections.abc import Iterator
from string import Formatter
from typing import Any

import pytest

import app
from serving.localised_numbers import write_number, write_percent
from serving.page_texts import DEFAULT_LANGUAGE, LANGUAGE_NAMES, PageTexts, join_translations
from tests.served_app import REPOSITORY
from vetscanner.device_reasons import DEVICE_TEXTS
from vetscanner.schema import Language

SHOWN_PROPS = ("label", "info", "placeholder", "description", "title")
# Their value is what the page shows; that of an input is what its visitor chose.
SHOWING = {"markdown", "html", "button", "downloadbutton", "uploadbutton"}
# The languages' own names, the drawn guide, whose captions follow the language by themselves, and
# commands, which are the same in every language.
OWN_WORDS = {"language-input", "photo-guide", "command-line", "style-commands"}
MARKER = re.compile(r"__i18n__\{.*?\}")


def list_text_folders() -> list[PageTexts]:
    return [*app.PAGE_TEXTS, app.GRADIO_TEXTS, DEVICE_TEXTS]


@pytest.mark.parametrize("texts", list_text_folders(), ids=lambda texts: texts.prefix)
@pytest.mark.parametrize("language", sorted(set(LANGUAGE_NAMES) - {DEFAULT_LANGUAGE}))
def test_every_text_is_there_in_every_language(texts: PageTexts, language: str) -> None:
    english, other = texts.texts[DEFAULT_LANGUAGE], texts.texts[language]
    assert other.keys() == english.keys()
    for key, text in other.items():
        assert text.strip(), key
        assert list_gaps(text) == list_gaps(english[key]), key
        assert re.search(r"\w", text), key


def list_gaps(text: str) -> list[str]:
    return sorted(name for _, name, _, _ in Formatter().parse(text) if name is not None)


def test_files_of_all_languages_lie_in_each_folder() -> None:
    folders = {path.parent for path in REPOSITORY.glob("**/languages/**/en.toml")}
    assert len(folders) >= 3
    for folder in folders:
        found = {path.stem for path in folder.glob("*.toml")}
        assert found == set(LANGUAGE_NAMES), folder
        for language in LANGUAGE_NAMES:
            tomllib.loads((folder / f"{language}.toml").read_text(encoding="utf-8"))


def test_no_line_breaks_before_french_punctuation() -> None:
    """A narrow space that does not break stands before ; ? !, a wide one before a colon."""
    files = sorted(REPOSITORY.glob("*/languages/**/fr.toml"))
    assert len(files) >= 8
    for path in files:
        values = json.dumps(tomllib.loads(path.read_text(encoding="utf-8")), ensure_ascii=False)
        assert not re.search("[ \u00a0][;?!]|[ \u202f]:|« | »", values), path
        assert not re.search(r"[\w})][;?!:](?=[ \"])", values), path


def test_page_and_report_know_the_same_languages() -> None:
    assert {language.value for language in Language} == set(LANGUAGE_NAMES)


def test_prefixes_keep_texts_apart() -> None:
    joined = join_translations(*app.PAGE_TEXTS)
    counts = sum(len(folder.texts[DEFAULT_LANGUAGE]) for folder in app.PAGE_TEXTS)
    assert {len(texts) for texts in joined.values()} == {counts}


@pytest.mark.parametrize("tab", ["vet", "archive"])
def test_no_text_of_a_tab_is_left_outside(tab: str) -> None:
    assert list(iter_untranslated(tab)) == []


def test_no_text_around_the_tabs_is_left_outside() -> None:
    assert list(iter_untranslated(None)) == []


def test_every_marker_of_the_page_has_its_text() -> None:
    known = join_translations(*app.PAGE_TEXTS)[DEFAULT_LANGUAGE]
    markers = re.findall(r'"key\\*": \\*"([\w.]+)', str(app.demo.get_config_file()["components"]))
    assert len(markers) > 15
    assert set(markers) <= known.keys()


def iter_untranslated(tab: str | None) -> Iterator[str]:
    """Texts of one tab, or of what stands around them, that would be English in every language."""
    config: Any = app.demo.get_config_file()
    components = {entry["id"]: entry for entry in config["components"]}
    tabs = {
        entry["props"]["id"]: set(iter_ids(node))
        for node in iter_nodes(config["layout"])
        if (entry := components.get(node["id"], {"type": ""}))["type"] == "tabitem"
    }
    chosen = tabs[tab] if tab else components.keys() - set().union(*tabs.values())
    for component in (components[number] for number in chosen if number in components):
        is_seen = component["type"] != "api"
        if is_seen and component["props"].get("elem_id") not in OWN_WORDS:
            yield from (text for text in iter_texts(component) if has_words(text))


def iter_nodes(node: Any) -> Iterator[Any]:
    yield node
    for child in node.get("children", []):
        yield from iter_nodes(child)


def iter_ids(node: Any) -> Iterator[int]:
    return (each["id"] for each in iter_nodes(node))


def iter_texts(component: Any) -> Iterator[str]:
    props = component["props"]
    shown = [name for name in SHOWN_PROPS if name != "label" or props.get("show_label", True)]
    yield from (props[name] for name in shown if isinstance(props.get(name), str))
    if component["type"] in SHOWING and isinstance(props.get("value"), str):
        yield props["value"]
    yield from (choice[0] for choice in props.get("choices") or [])


def has_words(text: str) -> bool:
    """Whether letters are left when markers and tags are taken out."""
    return bool(re.search(r"[^\W\d_]", re.sub(r"<[^>]+>", "", MARKER.sub("", text))))


@pytest.mark.parametrize(
    ("language", "number", "percent"),
    [
        ("en", "1,234,567.5", "12.5%"),
        ("de", "1\u202f234\u202f567,5", "12,5\u202f%"),
        ("fr", "1\u202f234\u202f567,5", "12,5\u202f%"),
        ("ru", "1\u202f234\u202f567,5", "12,5\u202f%"),
        ("xx", "1,234,567.5", "12.5%"),
    ],
)
def test_numbers_are_written_as_the_language_does(language: str, number: str, percent: str) -> None:
    assert write_number(1_234_567.5, language, 1) == number
    assert write_percent(0.125, language, 1) == percent


def test_unknown_languages_are_told_english() -> None:
    texts = app.FRAME_TEXTS
    assert texts.tell("language", "xx") == texts.tell("language", "en") == "Language"
    assert texts.tell("language", "de") == "Sprache"
    with pytest.raises(KeyError):
        texts.marker("no such text")
