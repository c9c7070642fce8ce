"""Sets type: justified columns, headlines, running heads, in PyMuPDF's own base-14 fonts."""

import io
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import pymupdf
from PIL import Image, ImageDraw, ImageFont

# Names of PyMuPDF's built-in fonts: Times in four cuts, and a grotesque for advertisements.
ROMAN, BOLD, ITALIC, BOLD_ITALIC, GROTESQUE = "tiro", "tibo", "tiit", "tibi", "hebo"
INK = 255


@dataclass(frozen=True, slots=True)
class Column:
    """A column of type on a sheet; all measures in pixels."""

    x0: float
    y0: float
    x1: float
    y1: float

    @property
    def width(self) -> float:
        """Measure of the column in pixels."""
        return self.x1 - self.x0


@lru_cache(maxsize=64)
def open_font(name: str, size_px: float) -> ImageFont.FreeTypeFont:
    """Open one of PyMuPDF's built-in fonts at a size in pixels."""
    built_in = pymupdf.Font(name)  # type: ignore[no-untyped-call]
    # The basic layout engine is in every build of Pillow, so that pages agree everywhere.
    engine = ImageFont.Layout.BASIC
    return ImageFont.truetype(io.BytesIO(built_in.buffer), size_px, layout_engine=engine)


@lru_cache(maxsize=8192)
def measure_word(word: str, font: ImageFont.FreeTypeFont) -> float:
    """Length of a word in pixels."""
    return font.getlength(word)


@lru_cache(maxsize=8192)
def _cast_word(
    word: str, font: ImageFont.FreeTypeFont, quarter: int
) -> tuple[Image.Image, int, int]:
    """Draw a word once for each quarter of a pixel; its corner is counted from its base point."""
    x0, y0, x1, y1 = (int(edge) for edge in font.getbbox(word, anchor="ls"))
    cast = Image.new("L", (x1 - x0 + 4, y1 - y0 + 2))
    place = (1 - x0 + quarter / 4, 1 - y0)
    ImageDraw.Draw(cast).text(place, word, fill=INK, font=font, anchor="ls")
    return cast, x0 - 1, y0 - 1


def set_line(
    ink: Image.Image,
    words: list[str],
    at: tuple[float, float],
    gap_px: float,
    font: ImageFont.FreeTypeFont,
) -> None:
    """Set words from a base point (x, baseline) on, with equal gaps between them."""
    x, baseline = at
    for word in words:
        whole = int(x)
        cast, left, top = _cast_word(word, font, int((x - whole) * 4))
        ink.paste(INK, (whole + left, round(baseline) + top), cast)
        x += measure_word(word, font) + gap_px


def set_centred(
    ink: Image.Image, text: str, at: tuple[float, float], font: ImageFont.FreeTypeFont
) -> None:
    """Set one line with its middle at x and its baseline at y."""
    ImageDraw.Draw(ink).text(at, text, fill=INK, font=font, anchor="ms")


def set_display(ink: Image.Image, text: str, box: Column, name: str = BOLD) -> None:
    """Set one line of display type that fills its box in both directions, as a wide or narrow cut.

    The letters are drawn large and then squeezed, which gives the condensed and expanded faces of
    the time without their fonts.
    """
    font = open_font(name, max((box.y1 - box.y0) * 1.6, 8))
    x0, y0, x1, y1 = font.getbbox(text)
    sketch = Image.new("L", (int(x1 - x0) + 2, int(y1 - y0) + 2))
    ImageDraw.Draw(sketch).text((1 - x0, 1 - y0), text, fill=INK, font=font)
    size = (max(round(box.width), 1), max(round(box.y1 - box.y0), 1))
    ink.paste(INK, (round(box.x0), round(box.y0)), sketch.resize(size, Image.Resampling.LANCZOS))


def iter_lines(
    words: list[str], font: ImageFont.FreeTypeFont, first_px: float, width_px: float
) -> Iterator[tuple[list[str], bool]]:
    """Break words into lines; the first may be shorter. Yields the words and "is the last"."""
    line: list[str] = []
    room = first_px
    space = measure_word(" ", font)
    used = 0.0
    for word in words:
        length = measure_word(word, font)
        if line and used + space * 0.85 + length > room:
            yield line, False
            line, used, room = [], 0.0, width_px
        used += length + (space if line else 0)
        line.append(word)
    yield line, True


def set_paragraph(
    ink: Image.Image, text: str, column: Column, size_px: float, indent_px: float
) -> float:
    """Set one justified paragraph down to the column's foot.

    Returns:
        The baseline in pixels of the next line below it.
    """
    font = open_font(ROMAN, size_px)
    leading = size_px * 1.17
    baseline = column.y0 + size_px
    indent = indent_px
    for words, last in iter_lines(text.split(), font, column.width - indent, column.width):
        if baseline > column.y1:
            break
        spare = column.width - indent - sum(measure_word(word, font) for word in words)
        gap = measure_word(" ", font) if last else spare / max(len(words) - 1, 1)
        set_line(ink, words, (column.x0 + indent, baseline), gap, font)
        baseline += leading
        indent = 0.0
    return baseline - size_px


def set_column(
    ink: Image.Image,
    paragraphs: Iterator[str],
    column: Column,
    size_px: float,
    headings: Iterator[str],
) -> None:
    """Fill a column with paragraphs; each heading given starts a new article, spread over it."""
    y = column.y0
    count = 0
    while y + size_px < column.y1:
        heading = next(headings, None) if count % 4 == 0 else None
        if heading is not None and y + 5 * size_px < column.y1:
            y = _set_heading(ink, heading, Column(column.x0, y, column.x1, column.y1), size_px)
        rest = Column(column.x0, y, column.x1, column.y1)
        y = set_paragraph(ink, next(paragraphs), rest, size_px, indent_px=1.2 * size_px)
        count += 1


def _set_heading(ink: Image.Image, heading: str, column: Column, size_px: float) -> float:
    """Set an article's heading with a short rule under it; return the y where its text starts."""
    middle = (column.x0 + column.x1) / 2
    set_centred(ink, heading, (middle, column.y0 + 1.7 * size_px), open_font(BOLD, size_px))
    rule_y = column.y0 + 2.25 * size_px
    half = column.width * 0.13
    draw_rule(ink, (middle - half, rule_y), (middle + half, rule_y), size_px * 0.07)
    return column.y0 + 2.6 * size_px


def draw_rule(
    ink: Image.Image, start: tuple[float, float], end: tuple[float, float], width_px: float
) -> None:
    """Draw a printer's rule from start to end."""
    ImageDraw.Draw(ink).line([start, end], fill=INK, width=max(round(width_px), 1))


def draw_frame(ink: Image.Image, box: Column, widths_px: tuple[float, ...], gap_px: float) -> None:
    """Draw nested rectangular rules, the first outermost."""
    draw = ImageDraw.Draw(ink)
    for number, width in enumerate(widths_px):
        inset = number * gap_px
        corners = (box.x0 + inset, box.y0 + inset, box.x1 - inset, box.y1 - inset)
        draw.rectangle(corners, outline=INK, width=max(round(width), 1))
