"""The histogram of a preview's scores as HTML, with the threshold on it; pure.

The bars are drawn twice, as dropped and as kept, and the kept ones are clipped at the threshold:
to move it, the page's script changes one style and asks nobody.
"""

from collections.abc import Sequence
from html import escape

from archive_tools.score_histogram import ScoreHistogram, ScoreScale
from archive_tools.tab_texts import TAB_TEXTS, tell_pages
from serving.localised_numbers import write_number
from serving.page_texts import DEFAULT_LANGUAGE

# A bar so many times as high as the next one is cut off, so that the others can be seen.
_CUT_OFF_BEYOND = 2.5
_HEIGHT = 100


def histogram_html(
    histogram: ScoreHistogram, shown_threshold: float, language: str = DEFAULT_LANGUAGE
) -> str:
    """Return the histogram, its axis and the same as a table.

    Args:
        histogram: The scores.
        shown_threshold: Where the line lies, in shown units.
        language: Language of the page.
    """
    scale, bars = histogram.scale, histogram.bars
    place = f"{100 * scale.place(shown_threshold):.3f}%"
    top = _top(bars)
    title = TAB_TEXTS.tell("title_coverage" if scale.unit else "title_sigma", language)
    rects = _bars_svg(scale, bars, top, language)
    return (
        f'<figure class="score-histogram" style="--threshold: {place}">'
        f"<figcaption>{escape(title)}</figcaption>"
        f'<div class="plot" role="img" aria-label="{escape(_describe(histogram, language))}">'
        f'<div class="bars dropped-bars">{rects}</div><div class="bars kept-bars">{rects}</div>'
        f'<span class="top-label">{tell_pages(top, language)}</span>'
        f"{_cut_off_label(bars, top, language)}"
        '<div class="threshold-line"></div></div>'
        f'<div class="ticks" aria-hidden="true">{_ticks(scale, language)}</div>'
        f"{_legend(language)}{_table(histogram, language)}</figure>"
    )


def format_shown(scale: ScoreScale, shown: float, language: str = DEFAULT_LANGUAGE) -> str:
    """Return a figure as people read it, with its unit.

    Args:
        scale: Whose figure it is.
        shown: In shown units.
        language: Language of the page.
    """
    return f"{_figure(shown, language)}{scale.unit}"


def _figure(shown: float, language: str) -> str:
    return write_number(shown, language, 0 if shown == int(shown) else 1)


def _legend(language: str) -> str:
    dropped, kept = (TAB_TEXTS.tell(f"legend_{side}", language) for side in ("dropped", "kept"))
    return (
        f'<p class="legend" aria-hidden="true"><span class="key dropped-key"></span>{dropped} '
        f'<span class="key kept-key"></span>{kept}</p>'
    )


def _top(bars: Sequence[int]) -> int:
    """Return how many pages the highest bar stands for."""
    highest, second = [*sorted(bars, reverse=True), 0, 0][:2]
    if highest > _CUT_OFF_BEYOND * max(second, 2):
        return max(5, round(1.25 * second))
    return max(1, highest)


def _bars_svg(scale: ScoreScale, bars: Sequence[int], top: int, language: str) -> str:
    rects = "".join(
        _bar(
            number, min(_HEIGHT, _HEIGHT * count / top), _bar_label(scale, number, count, language)
        )
        for number, count in enumerate(bars)
        if count
    )
    return (
        f'<svg viewBox="0 0 {len(bars)} {_HEIGHT}" preserveAspectRatio="none" '
        f'aria-hidden="true" focusable="false">{rects}</svg>'
    )


def _bar(number: int, height: float, label: str) -> str:
    # Even one page of thousands can be seen.
    height = max(height, 2.5)
    return (
        f'<rect x="{number + 0.08:.2f}" y="{_HEIGHT - height:.2f}" width="0.84" '
        f'height="{height:.2f}"><title>{escape(label)}</title></rect>'
    )


def _bar_label(scale: ScoreScale, number: int, count: int, language: str) -> str:
    return f"{_bar_range(scale, number, language)}: {tell_pages(count, language)}"


def _bar_range(scale: ScoreScale, number: int, language: str) -> str:
    low = _figure(scale.edges[number], language)
    high = format_shown(scale, scale.edges[number + 1], language)
    if scale.is_reaching_enough and number == 0:
        return TAB_TEXTS.tell("range_first", language, high=high)
    return TAB_TEXTS.tell("range", language, low=low, high=high)


def _cut_off_label(bars: Sequence[int], top: int, language: str) -> str:
    """Return the figures of a bar that is higher than the picture."""
    labels = [
        f'<span class="cut-off{"" if number else " at-left"}" '
        f'style="left: {100 * (number + 0.5) / len(bars):.2f}%">'
        f"{write_number(count, language)} &#8593;</span>"
        for number, count in enumerate(bars)
        if count > top
    ]
    return "".join(labels)


def _ticks(scale: ScoreScale, language: str) -> str:
    return "".join(
        f'<span style="left: {100 * scale.place(tick):.2f}%">{_figure(tick, language)}</span>'
        for tick in scale.ticks
    )


def _describe(histogram: ScoreHistogram, language: str) -> str:
    filled = [
        _bar_label(histogram.scale, number, count, language)
        for number, count in enumerate(histogram.bars)
        if count
    ]
    counted = tell_pages(histogram.total, language)
    return f"{TAB_TEXTS.tell('histogram_of', language, pages=counted)} {'; '.join(filled)}."


def _table(histogram: ScoreHistogram, language: str) -> str:
    rows = "".join(
        f'<tr><th scope="row">{_bar_range(histogram.scale, number, language)}</th>'
        f"<td>{write_number(count, language)}</td></tr>"
        for number, count in enumerate(histogram.bars)
        if count
    )
    summary, score, pages = (
        TAB_TEXTS.tell(key, language) for key in ("as_table", "score", "pages")
    )
    return (
        f"<details><summary>{summary}</summary><table><thead><tr>"
        f'<th scope="col">{score}</th><th scope="col">{pages}</th></tr></thead>{rows}</table>'
        "</details>"
    )
