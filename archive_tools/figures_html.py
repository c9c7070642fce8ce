"""The figures of a dataset as pictures and tables in HTML for the tab; pure.

Each bar stands in a row of a table beside its number, so what is seen can be read and heard.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from html import escape

from archive_tools.dataset_figures import OTHER_FILES, DatasetFigures
from archive_tools.histogram_html import histogram_html
from archive_tools.schema import PageOutcome
from archive_tools.tab_texts import TAB_TEXTS
from serving.localised_numbers import write_number
from serving.page_texts import DEFAULT_LANGUAGE

_MOST_ROWS = 12
_OUTCOMES = (PageOutcome.KEPT, PageOutcome.DROPPED, PageOutcome.FAILED)


def figures_html(figures: DatasetFigures, language: str = DEFAULT_LANGUAGE) -> str:
    """Return the histogram of the scores, the pages by file, the sizes and the shapes.

    Args:
        figures: Counts over the dataset.
        language: Language of the page.
    """
    parts = [
        _histogram(figures, language),
        _by_file(figures, language),
        _counted("sizes", "size", figures.sizes, language),
        _counted("shapes", "shape", figures.shapes, language),
    ]
    return f'<section class="page-figures">{"".join(parts)}</section>'


def _histogram(figures: DatasetFigures, language: str) -> str:
    if not figures.histogram.total:
        return ""
    return histogram_html(figures.histogram, figures.threshold or 0.0, language)


def _by_file(figures: DatasetFigures, language: str) -> str:
    """Return a bar for each file, as long as its pages are many, in the parts kept and dropped."""
    if not figures.files:
        return ""
    most = max(counts.total() for counts in figures.files.values())
    rows = "".join(
        _file_row(name or TAB_TEXTS.tell("other_files", language), counts, most, language)
        for name, counts in _ordered_files(figures)
    )
    heads = ["file", "by_file", "kept", "dropped", "row_failed"]
    return _figure("by_file", heads, rows, language)


def _ordered_files(figures: DatasetFigures) -> list[tuple[str, Counter[PageOutcome]]]:
    """Return the files in their order, all others last."""
    return sorted(figures.files.items(), key=lambda item: item[0] == OTHER_FILES)


def _file_row(name: str, counts: Counter[PageOutcome], most: int, language: str) -> str:
    bar = "".join(
        f'<span class="{outcome.value}-part" style="width: {100 * counts[outcome] / most:.2f}%">'
        "</span>"
        for outcome in _OUTCOMES
    )
    cells = "".join(f"<td>{write_number(counts[outcome], language)}</td>" for outcome in _OUTCOMES)
    return f'<tr><th scope="row">{escape(name)}</th><td class="bar">{bar}</td>{cells}</tr>'


def _counted(title: str, noun: str, counts: Counter[tuple[int, int]], language: str) -> str:
    """Return a bar for each size, the most frequent first."""
    if not counts:
        return ""
    rows = [(f"{width} x {height}", count) for (width, height), count in counts.most_common()]
    others = sum(count for _, count in rows[_MOST_ROWS:])
    rows = rows[:_MOST_ROWS]
    if others:
        rows.append((TAB_TEXTS.tell("other_sizes", language), others))
    most = max(count for _, count in rows)
    told = "".join(_count_row(name, count, most, language) for name, count in rows)
    return _figure(title, [noun, title, "images"], told, language)


def _count_row(name: str, count: int, most: int, language: str) -> str:
    width = f"{100 * count / most:.2f}%"
    return (
        f'<tr><th scope="row">{escape(name)}</th>'
        f'<td class="bar"><span class="kept-part" style="width: {width}"></span></td>'
        f"<td>{write_number(count, language)}</td></tr>"
    )


def _figure(title: str, heads: Sequence[str], rows: str, language: str) -> str:
    caption = escape(TAB_TEXTS.tell(title, language))
    return (
        f'<figure class="bar-table"><table><caption>{caption}</caption>'
        f"<thead><tr>{''.join(_heads(heads, language))}</tr></thead>"
        f"<tbody>{rows}</tbody></table></figure>"
    )


def _heads(keys: Sequence[str], language: str) -> Iterable[str]:
    """Yield the heads of the columns; that of the bars is empty, as they tell nothing more."""
    for number, key in enumerate(keys):
        if number == 1:
            yield '<td class="bar"></td>'
        else:
            yield f'<th scope="col">{escape(TAB_TEXTS.tell(key, language))}</th>'
