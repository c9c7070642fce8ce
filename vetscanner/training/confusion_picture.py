"""The confusion matrix as a picture that a model card can show: plain SVG, no library."""

from collections.abc import Iterator, Mapping
from html import escape

CELL_PX = 64
_LEFT_PX = 170
_TOP_PX = 120
_MARGIN_PX = 16
# From this share of its row on, a cell is so dark that its number is white.
_DARK_SHARE = 0.5


def confusion_svg(confusion: Mapping[str, Mapping[str, int]]) -> str:
    """Draw a row for each label and a column for each answer.

    Args:
        confusion: Label -> answer -> number of photos; a cell is as dark as its share of its row.

    Returns:
        The SVG text, with the same numbers in words for those who cannot see it.
    """
    names = list(confusion)
    width = _LEFT_PX + CELL_PX * len(names) + _MARGIN_PX
    height = _TOP_PX + CELL_PX * len(names) + _MARGIN_PX
    body = "\n".join([*_iter_names(names), *_iter_cells(confusion)])
    words = escape(_in_words(confusion))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img"'
        f' font-family="sans-serif" font-size="14">\n<title>{words}</title>\n'
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>\n{body}\n</svg>\n'
    )


def _iter_names(names: list[str]) -> Iterator[str]:
    """Write the labels at the left, and the answers, slanted, on top."""
    yield f'<text x="{_MARGIN_PX}" y="{_TOP_PX - 12}" font-style="italic">label, answer</text>'
    for index, name in enumerate(names):
        middle = CELL_PX * index + CELL_PX // 2
        shown = escape(name.replace("_", " "))
        yield f'<text x="{_MARGIN_PX}" y="{_TOP_PX + middle + 5}">{shown}</text>'
        x, y = _LEFT_PX + middle, _TOP_PX - 8
        yield f'<text x="{x}" y="{y}" transform="rotate(-40 {x} {y})">{shown}</text>'


def _iter_cells(confusion: Mapping[str, Mapping[str, int]]) -> Iterator[str]:
    """Paint each cell and write its number into it."""
    for row, counts in enumerate(confusion.values()):
        whole = max(1, sum(counts.values()))
        for column, count in enumerate(counts.values()):
            share = count / whole
            x, y = _LEFT_PX + CELL_PX * column, _TOP_PX + CELL_PX * row
            shade = [round(255 - share * (255 - level)) for level in (27, 79, 138)]
            ink = "#ffffff" if share >= _DARK_SHARE else "#000000"
            yield (
                f'<rect x="{x}" y="{y}" width="{CELL_PX}" height="{CELL_PX}"'
                f' fill="rgb({shade[0]},{shade[1]},{shade[2]})" stroke="#cccccc"/>'
                f'<text x="{x + CELL_PX // 2}" y="{y + CELL_PX // 2 + 5}" text-anchor="middle"'
                f' fill="{ink}">{count}</text>'
            )


def _in_words(confusion: Mapping[str, Mapping[str, int]]) -> str:
    """Say for each label how many photos got it right."""
    parts = (
        f"{counts[label]} of {sum(counts.values())} photos of {label.replace('_', ' ')} right"
        for label, counts in confusion.items()
    )
    return "Confusion matrix: " + "; ".join(parts) + "."
