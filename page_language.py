"""The choice of the page's language, which all handlers take as an input.

The page opens in the language of the address (`?language=de`), else in the one picked at an earlier
visit, else in the first of the browser's languages that it has, else in English.
"""

import json
from pathlib import Path
from typing import Final

import gradio as gr

from page_texts import DEFAULT_LANGUAGE, LANGUAGE_NAMES, load_page_texts

FRAME_TEXTS: Final = load_page_texts(Path(__file__).parent / "languages", "page")
"""The texts around both tools."""

_TITLES = {language: FRAME_TEXTS.tell("title", language) for language in LANGUAGE_NAMES}

# Gradio's own settings change the language by the same function. Its file's name holds a hash, so
# it is looked for among what the page has loaded.
_APPLY_JS = f"""async (language) => {{
  const loaded = [...document.querySelectorAll("link[href]")].map((link) => link.href)
    .concat(performance.getEntriesByType("resource").map((entry) => entry.name));
  const core = loaded.find((name) => /\\/core-[^/]*\\.js$/.test(name));
  if (core) (await import(core)).changeLocale(language);
  document.documentElement.lang = language;
  document.title = {json.dumps(_TITLES)}[language];
}}"""

# A frame of another site, as a Space's page has around it, may forbid to remember.
_OPEN_JS = f"""async () => {{
  let picked = null;
  try {{ picked = localStorage.getItem("page-language"); }} catch {{}}
  const asked = new URLSearchParams(location.search).get("language");
  const wanted = [asked, picked, ...navigator.languages]
    .map((tag) => (tag || "").split("-")[0].toLowerCase());
  const language = wanted.find((tag) => tag in {json.dumps(_TITLES)}) || "{DEFAULT_LANGUAGE}";
  await ({_APPLY_JS})(language);
  return language;
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
        filterable=False,
        scale=0,
        min_width=160,
        elem_id="language-input",
    )


def connect_language(demo: gr.Blocks, language_input: gr.Dropdown) -> None:
    """Open the page in the visitor's language and follow what is picked.

    Args:
        demo: The page.
        language_input: The choice that stands on it.
    """
    demo.load(None, None, language_input, js=_OPEN_JS, api_visibility="private")
    language_input.change(None, language_input, None, js=_APPLY_JS, api_visibility="private")
    # Only what a visitor picks is remembered: a browser's language may change.
    language_input.input(None, language_input, None, js=_REMEMBER_JS, api_visibility="private")
