"""The histogram of a preview's scores as HTML, with the threshold on it; pure.

The bars are drawn twice, as dropped and as kept, and the kept ones are clipped at the threshold:
to move it, the page's script changes one style and asks nobody.
"""

from collections.abc import Sequence
from html import escape

from archive_tools.score_histogram import ScoreHistogram, ScoreScale

# A bar so many times as high as the next one is cut off, so that the others can be seen.
_CUT_OFF_BEYOND = 2.5
_HEIGHT = 100


def histogram_html(histogram: ScoreHistogram, shown_threshold: float, title: str) -> str:
    """Return the histogram, its axis and the same as a table.

    Args:
        histogram: The scores.
        shown_threshold: Where the line lies, in shown units.
        title: What is counted.
    """
    scale, bars = histogram.scale, histogram.bars
    place = f"{100 * scale.place(shown_threshold):.3f}%"
    top = _top(bars)
    return (
        f'<figure class="score-histogram" style="--threshold: {place}">'
        f"<figcaption>{escape(title)}</figcaption>"
        f'<div class="plot" role="img" aria-label="{escape(_describe(histogram))}">'
        f'<div class="bars dropped-bars">{_bars_svg(scale, bars, top)}</div>'
        f'<div class="bars kept-bars">{_bars_svg(scale, bars, top)}</div>'
        f'<span class="top-label">{_pages(top)}</span>{_cut_off_label(bars, top)}'
        '<div class="threshold-line"></div></div>'
        f'<div class="ticks" aria-hidden="true">{_ticks(scale)}</div>'
        f'<p class="legend" aria-hidden="true"><span class="key dropped-key"></span>dropped '
        f'<span class="key kept-key"></span>kept</p>{_table(histogram)}</figure>'
    )


def format_shown(scale: ScoreScale, shown: float) -> str:
    """Return a figure as people read it, with its unit."""
    return f"{shown:g}{scale.unit}"


def _top(bars: Sequence[int]) -> int:
    """Return how many pages the highest bar stands for."""
    highest, second = [*sorted(bars, reverse=True), 0, 0][:2]
    if highest > _CUT_OFF_BEYOND * max(second, 2):
        return max(5, round(1.25 * second))
    return max(1, highest)


def _bars_svg(scale: ScoreScale, bars: Sequence[int], top: int) -> str:
    rects = "".join(
        _bar(number, min(_HEIGHT, _HEIGHT * count / top), _bar_label(scale, number, count))
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


def _bar_label(scale: ScoreScale, number: int, count: int) -> str:
    return f"{_bar_range(scale, number)}: {_pages(count)}"


def _bar_range(scale: ScoreScale, number: int) -> str:
    low, high = scale.edges[number], scale.edges[number + 1]
    if scale.is_reaching_enough and number == 0:
        return f"less than {format_shown(scale, high)}"
    return f"{low:g} to {format_shown(scale, high)}"


def _pages(count: int) -> str:
    return "1 page" if count == 1 else f"{count} pages"


def _cut_off_label(bars: Sequence[int], top: int) -> str:
    """Return the figures of a bar that is higher than the picture."""
    labels = [
        f'<span class="cut-off{"" if number else " at-left"}" '
        f'style="left: {100 * (number + 0.5) / len(bars):.2f}%">'
        f"{count} &#8593;</span>"
        for number, count in enumerate(bars)
        if count > top
    ]
    return "".join(labels)


def _ticks(scale: ScoreScale) -> str:
    return "".join(
        f'<span style="left: {100 * scale.place(tick):.2f}%">{tick:g}</span>'
        for tick in scale.ticks
    )


def _describe(histogram: ScoreHistogram) -> str:
    filled = [
        _bar_label(histogram.scale, number, count)
        for number, count in enumerate(histogram.bars)
        if count
    ]
    return f"Histogram of {_pages(histogram.total)}. {'; '.join(filled)}."


def _table(histogram: ScoreHistogram) -> str:
    rows = "".join(
        f'<tr><th scope="row">{_bar_range(histogram.scale, number)}</th><td>{count}</td></tr>'
        for number, count in enumerate(histogram.bars)
        if count
    )
    return (
        "<details><summary>The histogram as a table</summary><table><thead><tr>"
        f'<th scope="col">Score</th><th scope="col">Pages</th></tr></thead>{rows}</table></details>'
    )
