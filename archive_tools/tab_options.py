"""The options of the archive tab, and how they and those of the API become a `DatasetConfig`."""

from dataclasses import dataclass
from typing import Literal, TypeVar

import gradio as gr

from archive_tools.config import (
    NO_FINISHING,
    Content,
    DatasetConfig,
    Finishing,
    Fit,
    PageFilter,
    Spreads,
)
from archive_tools.errors import InvalidOptionError
from archive_tools.score_histogram import COVERAGE_SCALE, SIGMA_SCALE
from archive_tools.tab_texts import TAB_TEXTS

FilterName = Literal["auto", "sigma", "none"]
"""Values of `PageFilter`, as types of the API show them."""

ContentName = Literal["pages", "regions"]
"""Values of `Content`."""

FitName = Literal["square", "crop", "bucket", "stretch"]
"""Values of `Fit`."""

SpreadsName = Literal["split", "keep"]
"""Values of `Spreads`."""

_DEFAULTS = DatasetConfig()
_Choice = TypeVar("_Choice", PageFilter, Content, Fit, Spreads)


@dataclass(frozen=True, slots=True)
class OptionInputs:
    """The inputs of the page that decide what a dataset holds; see `page_config` for the order."""

    filter: gr.Radio
    content: gr.Radio
    fit: gr.Radio
    trigger: gr.Textbox
    password: gr.Textbox
    finishing: gr.Checkbox
    dedupe: gr.Checkbox
    spreads: gr.Radio

    def as_list(self) -> list[gr.components.Component]:
        """Return them in the order in which `page_config` takes their values."""
        return [
            self.filter, self.content, self.fit, self.trigger, self.password, self.finishing,
            self.dedupe, self.spreads,
        ]  # fmt: skip


@dataclass(frozen=True, slots=True)
class ThresholdInputs:
    """One slider for each filter that has a threshold; only that of the chosen filter is seen."""

    coverage: gr.Slider
    sigma: gr.Slider

    def as_list(self) -> list[gr.components.Component]:
        """Return them in the order in which `page_config` takes their values."""
        return [self.coverage, self.sigma]


def build_options() -> OptionInputs:
    """Lay out the options, folded away; call it inside `gr.Blocks`."""
    with gr.Accordion(TAB_TEXTS.marker("options"), open=False):
        return OptionInputs(
            filter=_radio("filter", PageFilter, _DEFAULTS.filter),
            content=_radio("content", Content, _DEFAULTS.content),
            spreads=_radio("spreads", Spreads, _DEFAULTS.spreads),
            fit=_radio("fit", Fit, _DEFAULTS.fit),
            trigger=gr.Textbox(
                label=TAB_TEXTS.marker("trigger"),
                info=TAB_TEXTS.marker("trigger_info"),
                elem_id="trigger-input",
            ),
            password=gr.Textbox(
                label=TAB_TEXTS.marker("password"), type="password", elem_id="password-input"
            ),
            finishing=gr.Checkbox(
                value=True, label=TAB_TEXTS.marker("finishing"), elem_id="finishing-input"
            ),
            dedupe=gr.Checkbox(
                value=True, label=TAB_TEXTS.marker("dedupe"), elem_id="dedupe-input"
            ),
        )


def build_thresholds() -> ThresholdInputs:
    """Lay out the sliders, not seen before there is something to decide; inside `gr.Blocks`."""
    return ThresholdInputs(
        coverage=gr.Slider(
            0,
            COVERAGE_SCALE.highest,
            value=COVERAGE_SCALE.to_shown(_DEFAULTS.min_score),
            step=COVERAGE_SCALE.step,
            label=TAB_TEXTS.marker("coverage"),
            visible=False,
            elem_id="min-score-input",
        ),
        sigma=gr.Slider(
            0,
            SIGMA_SCALE.highest,
            value=_DEFAULTS.min_sigma,
            step=SIGMA_SCALE.step,
            label=TAB_TEXTS.marker("sigma"),
            visible=False,
            elem_id="min-sigma-input",
        ),
    )


def _radio(name: str, kind: type[_Choice], chosen: _Choice) -> gr.Radio:
    choices = [(TAB_TEXTS.marker(f"{name}_{choice.value}"), choice.value) for choice in kind]
    return gr.Radio(
        choices, value=chosen.value, label=TAB_TEXTS.marker(name), elem_id=f"{name}-input"
    )


def page_config(  # noqa: PLR0913 - the inputs of the page, one by one
    filter_name: str,
    content: str,
    fit: str,
    trigger: str | None,
    password: str | None,
    finishing: bool,
    dedupe: bool,
    spreads: str,
    coverage_percent: float,
    min_sigma: float,
) -> DatasetConfig:
    """Return what the page asks for.

    Args:
        filter_name: Which pages are kept.
        content: What each image shows.
        fit: How it is fitted.
        trigger: First word of the captions.
        password: For encrypted files.
        finishing: Whether pictures are cleaned.
        dedupe: Whether near-duplicates are left out.
        spreads: What becomes of a scan of two pages.
        coverage_percent: The slider of `auto`.
        min_sigma: The slider of `sigma`.

    Raises:
        InvalidOptionError: A value cannot work.
    """
    # To the nearest step, as the page's script does: other figures may be typed beside a slider.
    min_score = COVERAGE_SCALE.to_score(_number(coverage_percent, "min_score"))
    return make_config(
        filter_name, SIGMA_SCALE.to_score(_number(min_sigma, "min_sigma")), content, fit, trigger,
        password, finishing, dedupe, min_score, spreads,
    )  # fmt: skip


def make_config(  # noqa: PLR0913 - what the endpoints have
    filter_name: str,
    min_sigma: float,
    content: str,
    fit: str,
    trigger: str | None,
    password: str | None,
    finishing: bool,
    dedupe: bool,
    min_score: float,
    spreads: str,
) -> DatasetConfig:
    """Check the options of a call and return them; see `build_dataset` for what they mean.

    Raises:
        InvalidOptionError: A value cannot work.
    """
    return DatasetConfig(
        filter=_choice(PageFilter, filter_name, "filter"),
        min_sigma=_number(min_sigma, "min_sigma"),
        min_score=_number(min_score, "min_score"),
        content=_choice(Content, content, "content"),
        fit=_choice(Fit, fit, "fit"),
        spreads=_choice(Spreads, spreads, "spreads"),
        trigger=str(trigger or ""),  # an empty text box sends null
        password=str(password) if password else None,
        finishing=Finishing() if _switch(finishing, "finishing") else NO_FINISHING,
        dedupe=_switch(dedupe, "dedupe"),
    )


def _number(value: object, option: str) -> float:
    try:
        return float(str(value))
    except ValueError as error:
        raise InvalidOptionError(f"{option} is {value!r}. Give a number.") from error


def _switch(value: object, option: str) -> bool:
    if not isinstance(value, bool):  # the text "false" would be true
        raise InvalidOptionError(f"{option} is {value!r}. Give true or false.")
    return value


def _choice(kind: type[_Choice], text: str, option: str) -> _Choice:
    if text not in list(kind):
        allowed = ", ".join(kind)
        raise InvalidOptionError(f"{option} is {text!r}. Choose one of: {allowed}.")
    return kind(text)
