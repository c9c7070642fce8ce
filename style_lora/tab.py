"""The Style part of the page: commands for the dataset and, where this server can, pictures."""

import logging
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any, Final

import gradio as gr
from PIL import Image

from serving.error_html import error_html
from serving.localised_numbers import write_number
from serving.page_texts import load_page_texts
from style_lora.commands import list_commands
from style_lora.errors import GenerationError, StyleLoraError
from style_lora.gpu import can_paint, find_style, paint
from style_lora.message_words import tell_reason
from style_lora.painter import PictureOrder

STYLE_TEXTS: Final = load_page_texts(Path(__file__).parent / "languages" / "page", "style")

_FIRST_PROMPT = STYLE_TEXTS.tell("prompt_start", "en")
_FIRST_SCALE = 0.8
_MOST_LETTERS = 400
_HIGHEST_SEED = 2**31 - 1
_PRIVATE: dict[str, Any] = {"api_visibility": "private"}

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Inputs:
    """What decides a picture."""

    prompt: gr.Textbox
    scale: gr.Slider
    seed: gr.Number

    def as_list(self) -> list[gr.components.Component]:
        """Return them in the order in which the handlers take their values."""
        return [self.prompt, self.scale, self.seed]


def build_style_part(language_input: gr.Dropdown, trigger: gr.Textbox) -> None:
    """Lay out the part, folded away; call it inside `gr.Blocks`.

    Args:
        language_input: The page's language.
        trigger: The trigger word of the dataset that the page makes.
    """
    with gr.Accordion(STYLE_TEXTS.marker("title"), open=False, elem_id="style-part"):
        gr.Markdown(STYLE_TEXTS.marker("intro"))
        commands = gr.HTML(on_options(_FIRST_PROMPT, _FIRST_SCALE, 0, ""), elem_id="style-commands")
        is_painting = can_paint()
        if not is_painting:
            gr.Markdown(STYLE_TEXTS.marker("not_here"), elem_id="style-not-here")
        inputs = _build_inputs()
        _follow(commands, inputs, trigger)
        if is_painting:
            _build_painting(inputs, language_input)


def _build_inputs() -> _Inputs:
    """Lay out the prompt, the strength and the seed."""
    return _Inputs(
        gr.Textbox(
            _FIRST_PROMPT,
            label=STYLE_TEXTS.marker("prompt"),
            max_length=_MOST_LETTERS,
            elem_id="style-prompt",
        ),
        gr.Slider(
            0, 1.5, _FIRST_SCALE, step=0.1,
            label=STYLE_TEXTS.marker("scale"), elem_id="style-scale",
        ),
        gr.Number(
            0, precision=0, minimum=0, maximum=_HIGHEST_SEED,
            label=STYLE_TEXTS.marker("seed"), elem_id="style-seed",
        ),
    )  # fmt: skip


def _follow(commands: gr.HTML, inputs: _Inputs, trigger: gr.Textbox) -> None:
    """Let the commands follow what is chosen."""
    typed = [inputs.prompt, trigger]
    changes = [box.blur for box in typed] + [box.submit for box in typed]
    changes += [inputs.scale.change, inputs.seed.change]
    gr.on(
        changes,
        on_options,
        [*inputs.as_list(), trigger],
        commands,
        queue=False,
        # Otherwise what is chosen while an answer is under way would be forgotten.
        trigger_mode="always_last",
        **_PRIVATE,
    )


def _build_painting(inputs: _Inputs, language_input: gr.Dropdown) -> None:
    """Lay out the button and the picture, and say what the button does."""
    button = gr.Button(STYLE_TEXTS.marker("paint"), variant="primary", elem_id="style-paint")
    told = gr.HTML(elem_id="style-told")
    picture = gr.Image(
        label=STYLE_TEXTS.marker("picture"),
        format="png",
        interactive=False,
        elem_id="style-picture",
    )
    button.click(
        on_paint,
        [*inputs.as_list(), language_input],
        [picture, told],
        scroll_to_output=True,
        concurrency_id="style",
        concurrency_limit=1,
        **_PRIVATE,
    )


def on_options(prompt: str, scale: float, seed: float | None, trigger: str | None) -> str:
    """Return the commands for what is chosen.

    Args:
        prompt: What to paint.
        scale: Strength of the style.
        seed: Of the picture; None where the field is empty.
        trigger: Trigger word of the dataset.
    """
    lines = list_commands(prompt, scale, int(seed or 0), trigger or "")
    return f'<pre class="command-line" tabindex="0">{escape(chr(10).join(lines))}</pre>'


def on_paint(
    prompt: str, scale: float, seed: float | None, language: str
) -> tuple[Image.Image | None, str]:
    """Paint for the page; returns the picture and what is told of it.

    Args:
        prompt: What to paint.
        scale: Strength of the style.
        seed: Of the picture; None where the field is empty.
        language: Language of the page.
    """
    if not prompt.strip():
        return None, error_html(STYLE_TEXTS.tell("no_prompt", language))
    chosen = min(max(int(seed or 0), 0), _HIGHEST_SEED)
    try:
        lora = find_style()
        order = PictureOrder(
            prompt[:_MOST_LETTERS], chosen, scale, size_px=(lora.resolution, lora.resolution)
        )
        painted = paint(lora, order)
    except GenerationError as error:
        _LOG.warning("No picture: %s", error)
        reason = tell_reason(str(error), language)
        return None, error_html(STYLE_TEXTS.tell("failed", language, reason=reason))
    except StyleLoraError as error:
        # Of the owner's making, and with the places of files: nothing for visitors.
        _LOG.error("No picture: %s", error)
        return None, error_html(STYLE_TEXTS.tell("server_fault", language))
    strength = write_number(order.scale, language, 1)
    told = f"<p>{escape(STYLE_TEXTS.tell('painted', language, seed=chosen, scale=strength))}</p>"
    if painted.cut:
        told += f"<p>{escape(STYLE_TEXTS.tell('cut', language, words=painted.cut))}</p>"
    return painted.image, told
