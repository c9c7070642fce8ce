"""The part of the archive tab that shows the options as a command line."""

import json
from html import escape
from pathlib import Path
from typing import Any

import gradio as gr

from archive_tools.captions import check_caption
from archive_tools.command_line import build_arguments, join_command, threshold
from archive_tools.config import DatasetConfig, PageFilter
from archive_tools.errors import ArchiveToolsError
from archive_tools.message_words import tell_message
from archive_tools.score_histogram import COVERAGE_SCALE, SIGMA_SCALE
from archive_tools.tab_options import OptionInputs, ThresholdInputs, page_config
from archive_tools.tab_texts import TAB_TEXTS
from serving.error_html import error_html

MOVE_COMMAND_JS = Path(__file__).with_name("command_line.js").read_text(encoding="utf-8")
"""A function of both sliders' values: they ask nothing of the server."""

_DEFAULTS = DatasetConfig()
_THRESHOLDS = {
    PageFilter.AUTO: ("--min-score", COVERAGE_SCALE, _DEFAULTS.min_score),
    PageFilter.SIGMA: ("--min-sigma", SIGMA_SCALE, _DEFAULTS.min_sigma),
}


def build_command_view() -> gr.HTML:
    """Lay out the command, folded away; call it inside `gr.Blocks`."""
    with gr.Accordion(TAB_TEXTS.marker("command"), open=False):
        gr.Markdown(TAB_TEXTS.marker("command_info"))
        return gr.HTML(command_html(_DEFAULTS), elem_id="command-line")


def follow_options(
    view: gr.HTML, options: OptionInputs, thresholds: ThresholdInputs, language: gr.Dropdown
) -> None:
    """Let the command follow the options.

    Args:
        view: Where the command stands.
        options: The options.
        thresholds: The sliders.
        language: The page's language.
    """
    inputs = [language, *options.as_list(), *thresholds.as_list()]
    typed = (options.trigger, options.password)
    changes = [box.blur for box in typed] + [box.submit for box in typed]
    chosen = (options.filter, options.content, options.spreads, options.fit)
    changes += [one.change for one in (*chosen, options.finishing, options.dedupe)]
    gr.on(changes, on_options, inputs, view, queue=False, api_visibility="private")
    for slider in (thresholds.coverage, thresholds.sigma):
        slider.change(
            None, thresholds.as_list(), None, js=MOVE_COMMAND_JS, api_visibility="private"
        )


def on_options(language: str, *values: Any) -> str:
    """Return the command for the options of the page.

    Args:
        language: Language of the page.
        values: Those that `page_config` takes.
    """
    try:
        config = page_config(*values)
        # The command would be refused for it.
        check_caption(config.caption, config.trigger)
        return command_html(config)
    except ArchiveToolsError as error:
        return error_html(tell_message(str(error), language))


def command_html(config: DatasetConfig) -> str:
    """Return the command; the threshold stands apart, so that the page's script can change it.

    Args:
        config: Options of the page.
    """
    words = build_arguments(config)
    apart = threshold(config)
    command = join_command(words[: len(words) - len(apart)])
    facts = ""
    if config.filter in _THRESHOLDS:
        option, scale, default = _THRESHOLDS[config.filter]
        told = {
            "filter": config.filter.value, "option": option, "step": scale.step,
            "perScore": scale.shown_per_score, "default": default,
        }  # fmt: skip
        facts = f' data-facts="{escape(json.dumps(told))}"'
    shown = "".join(f" {word}" for word in apart)
    return (
        f'<pre class="command-line" tabindex="0"{facts}>{escape(command)}'
        f'<span class="threshold">{escape(shown)}</span></pre>'
    )
