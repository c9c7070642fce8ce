"""A sheet of pictures for comparing: a row a seed, a column a strength, with what they are."""

from collections.abc import Sequence
from typing import Final

from PIL import Image, ImageDraw, ImageFont

_PAPER: Final = (255, 255, 255)
_INK: Final = (32, 32, 32)
_LEAST_FONT_PX: Final = 12
Font = ImageFont.ImageFont | ImageFont.FreeTypeFont


def draw_grid(
    title: str, columns: Sequence[str], rows: Sequence[str], pictures: Sequence[Image.Image]
) -> Image.Image:
    """Draw the sheet.

    Args:
        title: Stands above it; as many lines as it needs.
        columns: A label for each column.
        rows: A label for each row.
        pictures: Row by row, all of one size.

    Returns:
        RGB.

    Raises:
        ValueError: The number of pictures is not that of the cells.
    """
    width, height = pictures[0].size
    font = ImageFont.load_default(max(_LEAST_FONT_PX, width // 28))
    line_px = _line_px(font)
    left = line_px + max(round(font.getlength(label)) for label in rows)
    lines = _wrap(title, font, left + len(columns) * width - line_px)
    top = line_px * (len(lines) + 2)
    sheet = Image.new("RGB", (left + len(columns) * width, top + len(rows) * height), _PAPER)
    pen = ImageDraw.Draw(sheet)
    pen.multiline_text((line_px // 2, line_px // 3), "\n".join(lines), _INK, font)
    for number, label in enumerate(columns):
        middle = left + number * width + width // 2
        pen.text((middle, top - line_px // 4), label, _INK, font, anchor="ms")
    cells = [(row, column) for row in range(len(rows)) for column in range(len(columns))]
    for (row, column), picture in zip(cells, pictures, strict=True):
        sheet.paste(picture, (left + column * width, top + row * height))
    for number, label in enumerate(rows):
        place = (line_px // 2, top + number * height + height // 2)
        pen.text(place, label, _INK, font, anchor="lm")
    return sheet


def _line_px(font: Font) -> int:
    _, top, _, bottom = font.getbbox("Ág")
    return round((bottom - top) * 1.6)


def _wrap(text: str, font: Font, width_px: float) -> list[str]:
    """Break a text into lines no wider than that; a longer word stands alone."""
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and font.getlength(longer) > width_px:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines
