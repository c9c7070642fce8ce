"""The choice of the page's language, which all handlers take as an input.

The page opens in the language of the address (`?language=de`), else in the one picked at an earlier
visit, else in the first of the browser's languages that it has, else in English.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import gradio as gr

from serving.page_texts import DEFAULT_LANGUAGE, LANGUAGE_NAMES, load_page_texts

_FOLDER = Path(__file__).parent

FRAME_TEXTS: Final = load_page_texts(_FOLDER / "languages" / "page", "page")
"""The texts around both tools."""

TAB_KEYS: Final = ("vet_tab", "archive_tab")
"""Keys of the tabs' names, in their order."""

GRADIO_TEXTS: Final = load_page_texts(_FOLDER / "languages" / "gradio", "common")
"""Texts of Gradio's own that it does not translate, or not again when the language changes."""

_WORDS = {
    language: {**FRAME_TEXTS.texts[language], **GRADIO_TEXTS.texts[language]}
    for language in LANGUAGE_NAMES
}

_APPLY_JS = f"""async (language) => {{
  const words = {json.dumps(_WORDS)}[language];
  {(_FOLDER / "page_language.js").read_text(encoding="utf-8")}
  await applyLanguage(language, words);
  return {json.dumps(TAB_KEYS)}.map((key) => ({{ __type__: "update", label: words[key] }}));
}}"""

# A frame of another site, as a Space's page has around it, may forbid to remember.
_OPEN_JS = f"""async () => {{
  let picked = null;
  try {{ picked = localStorage.getItem("page-language"); }} catch {{}}
  const asked = new URLSearchParams(location.search).get("language");
  const wanted = [asked, picked, ...navigator.languages]
    .map((tag) => (tag || "").split("-")[0].toLowerCase());
  const language = wanted.find((tag) => Object.hasOwn({json.dumps(LANGUAGE_NAMES)}, tag))
    || "{DEFAULT_LANGUAGE}";
  return [language, ...await ({_APPLY_JS})(language)];
}}"""

_REMEMBER_JS = """(language) => {
  try { localStorage.setItem("page-language", language); } catch {}
}"""


def build_language_input() -> gr.Dropdown:
    """Lay out the choice of the language; call it inside `gr.Blocks`."""
    return gr.Dropdown(
        [(name, language) for language, name in LANGUAGE_NAMES.items()],
        value=DEFAULT_LANGUAGE,
        label=FRAME_TEXTS.marker("language"),
        # Read out, but not shown: a language's name beside an arrow says it.
        show_label=False,
        container=False,
        filterable=False,
        scale=0,
        min_width=130,
        elem_id="language-input",
    )


def connect_language(demo: gr.Blocks, language_input: gr.Dropdown, tabs: Sequence[gr.Tab]) -> None:
    """Open the page in the visitor's language and follow what is picked.

    Args:
        demo: The page.
        language_input: The choice that stands on it.
        tabs: Its tabs, in the order of `TAB_KEYS`: Gradio translates the name of the open one only.
    """
    opened = [language_input, *tabs]
    demo.load(None, None, opened, js=_OPEN_JS, api_visibility="private")
    language_input.change(None, language_input, [*tabs], js=_APPLY_JS, api_visibility="private")
    # Only what a visitor picks is remembered: a browser's language may change.
    language_input.input(None, language_input, None, js=_REMEMBER_JS, api_visibility="private")
