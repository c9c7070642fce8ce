"""The foot of the page: what runs here and how busy it is, and the limits."""

import json
from pathlib import Path
from typing import Final

import gradio as gr

from serving.limits import fill_in_limits
from serving.page_texts import load_page_texts

_FOLDER = Path(__file__).parent / "languages" / "server"

SERVER_TEXTS: Final = fill_in_limits(load_page_texts(_FOLDER, "server"))
"""The texts of the foot."""

STATUS_CSS: Final = "#status-line p { color: var(--body-text-color-subdued); text-align: center; }"

# One small request a minute from each page that is looked at.
_EVERY_MS = 60_000

_SHOW_JS = f"""async (picked) => {{
  const texts = {json.dumps(dict(SERVER_TEXTS.texts))};
  const line = (window.serverStatus ||= {{ language: null }});
  if (picked) line.language = picked;
  const show = async () => {{
    let health = null;
    try {{ health = await (await fetch(new URL("healthz", document.baseURI))).json(); }} catch {{}}
    const words = texts[line.language] || texts[document.documentElement.lang] || texts.en;
    const place = document.querySelector("#status-line p");
    if (!place) return;
    const queues = health ? Object.values(health.queue) : [];
    const waiting = queues.reduce((sum, queue) => sum + queue.waiting, 0);
    place.textContent = health === null ? words.offline : [
      `${{words.version}} ${{health.version}}`,
      health.model ? `${{words.model}} ${{health.model.id}}` : words.no_model,
      words["device_" + health.device],
      `${{words.waiting}} ${{waiting}}`,
    ].join(" \\u00b7 ");
  }};
  await show();
  line.timer ||= setInterval(() => document.hidden || show(), {_EVERY_MS});
}}"""


def build_foot(demo: gr.Blocks, language_input: gr.Dropdown) -> None:
    """Lay out the foot of the page; call it inside `gr.Blocks`.

    Args:
        demo: The page.
        language_input: Its language.
    """
    with gr.Accordion(SERVER_TEXTS.marker("limits_title"), open=False, elem_id="limits"):
        gr.Markdown(SERVER_TEXTS.marker("limits"))
    gr.HTML("<p></p>", elem_id="status-line")
    demo.load(None, None, None, js=f"() => ({_SHOW_JS})(null)", api_visibility="private")
    language_input.change(None, language_input, None, js=_SHOW_JS, api_visibility="private")
