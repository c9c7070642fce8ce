"""How each kind of page is made up. Positions are points on an 8 x 11 inch page (576 x 792)."""

import numpy as np

from examples.magazine_drawing import halftone, text, things
from examples.magazine_drawing.corsets import draw_corset
from examples.magazine_drawing.engraving import Plate
from examples.magazine_drawing.gowns import draw_walking_dress
from examples.magazine_drawing.hats import draw_hat
from examples.magazine_drawing.portraits import draw_portrait
from examples.magazine_drawing.sheet import BODY_PT, Sheet
from examples.magazine_drawing.wording import (
    ADVERTISEMENTS,
    ISSUE,
    PUBLISHER,
    SUBTITLE,
    TITLE,
)

LEFT, RIGHT, TOP, FOOT = 40.0, 536.0, 44.0, 756.0
MIDDLE = (LEFT + RIGHT) / 2
GUTTER = 13.0


def _column_edges(
    count: int, left: float = LEFT, right: float = RIGHT
) -> list[tuple[float, float]]:
    """Left and right edges of equal columns."""
    width = (right - left - GUTTER * (count - 1)) / count
    return [
        (left + i * (width + GUTTER), left + i * (width + GUTTER) + width) for i in range(count)
    ]


def _running_head(sheet: Sheet, shift: float = 0.0) -> None:
    """Folio, title and date over a double rule."""
    folio = str(int(sheet.rng.integers(280, 340)))
    sheet.centred(folio, LEFT + 10 + shift, TOP + 2, 9.5, text.ROMAN)
    sheet.centred(TITLE.upper() + ".", MIDDLE + shift, TOP + 2, 9, text.ROMAN)
    sheet.centred("[" + ISSUE.title() + ".", RIGHT - 42 + shift, TOP + 2, 9, text.ITALIC)
    sheet.rule(LEFT + shift, TOP + 7, RIGHT + shift, TOP + 7, 0.9)
    sheet.rule(LEFT + shift, TOP + 9.5, RIGHT + shift, TOP + 9.5, 0.4)


def _text_columns(sheet: Sheet, top: float, shift: float = 0.0, count: int = 3) -> None:
    """Fill the page below `top` with columns parted by thin rules."""
    edges = _column_edges(count, LEFT + shift, RIGHT + shift)
    for number, (x0, x1) in enumerate(edges):
        sheet.body((x0, top, x1, FOOT), with_headings=True)
        if number:
            sheet.rule(x0 - GUTTER / 2, top + 2, x0 - GUTTER / 2, FOOT, 0.4)


def lay_out_blank(sheet: Sheet) -> None:
    """Nothing but what shows through from the other side."""


def lay_out_text(sheet: Sheet) -> None:
    """Columns of text under a running head; a spread's width gets them twice."""
    for shift in _shifts(sheet):
        _running_head(sheet, shift)
        _text_columns(sheet, TOP + 14, shift, count=int(sheet.rng.integers(2, 4)))


def _shifts(sheet: Sheet) -> list[float]:
    """Offsets in points of the pages on the sheet: one, or two for a spread."""
    width_pt = sheet.ink.width * 72 / sheet.dpi
    return [0.0] if width_pt < 800 else [0.0, 576.0]


def lay_out_cover(sheet: Sheet) -> None:
    """Masthead, portrait in a frame, imprint."""
    sheet.frame((28, 30, 548, 764), (2.4, 0.6, 0.6), 5)
    sheet.display(TITLE.upper(), (64, 62, 512, 118))
    sheet.centred(SUBTITLE, MIDDLE, 136, 10.2, text.ROMAN)
    sheet.rule(64, 146, 512, 146, 1.4)
    sheet.centred(f"VOL. XI.      {ISSUE}.      NO. 10.", MIDDLE, 160, 10.5, text.BOLD)
    sheet.rule(64, 167, 512, 167, 0.6)
    sheet.engrave((108, 186, 468, 606), lambda plate: draw_portrait(plate, plate.width / 2))
    sheet.frame((104, 182, 472, 610), (1.2, 0.5), 3)
    sheet.centred("THE NEW COIFFURE.", MIDDLE, 630, 13, text.BOLD)
    sheet.centred("Drawn and engraved for this magazine.", MIDDLE, 645, 10, text.ITALIC)
    _tailpiece(sheet, 662)
    sheet.centred("PRICE FOURPENCE.", MIDDLE, 706, 12, text.BOLD)
    sheet.centred(PUBLISHER.upper() + ", AT THE SIGN OF THE TREE.", MIDDLE, 726, 10, text.ROMAN)
    sheet.centred("By post, Fivepence.  All rights reserved.", MIDDLE, 741, 8.5, text.ITALIC)


def _tailpiece(sheet: Sheet, top: float) -> None:
    """A flourish in the middle of the page; an ornament, so it is not noted as a picture."""
    kept = list(sheet.pictures)
    box = (MIDDLE - 60, top, MIDDLE + 60, top + 28)
    sheet.engrave(box, lambda plate: things.draw_flourish(plate, plate.width / 2, 40, 150))
    sheet.pictures = kept


def lay_out_fashion_plate(sheet: Sheet) -> None:
    """One figure that fills the page, in a thin frame, with a caption."""
    _running_head(sheet)
    sheet.frame((LEFT + 6, TOP + 20, RIGHT - 6, FOOT - 44), (0.8,), 3)
    darkness = [float(tone) for tone in sheet.rng.permutation([0.05, 0.22, 0.4])]

    def draw(plate: Plate) -> None:
        draw_walking_dress(plate, plate.width * 0.3, darkness[0])
        plate.mirror_at = plate.width * 0.71
        draw_walking_dress(plate, plate.mirror_at, darkness[1])

    sheet.engrave((LEFT + 12, TOP + 28, RIGHT - 12, FOOT - 52), draw, headroom=7)
    number = int(sheet.rng.integers(60, 99))
    caption = f"FIG. {number}.  WALKING GOWNS OF SERGE AND CORDED SILK."
    sheet.centred(caption, MIDDLE, FOOT - 24, 11, text.BOLD)
    sheet.centred("(For description see the opposite page.)", MIDDLE, FOOT - 10, 9.5, text.ITALIC)


def lay_out_mixed(sheet: Sheet) -> None:
    """Three columns with a hat over two of them and a corset in the third."""
    _running_head(sheet)
    edges = _column_edges(3)
    top = TOP + 16
    wide = (edges[0][0] + 12, top, edges[1][1] - 12, top + 200)
    sheet.engrave(wide, lambda plate: draw_hat(plate, (plate.width / 2, 82), 1.32))
    sheet.centred("FIG. 41.—HAT OF BLACK STRAW.", (wide[0] + wide[2]) / 2, top + 214, 9, text.BOLD)
    for x0, x1 in edges[:2]:
        sheet.body((x0, top + 224, x1, FOOT), with_headings=True)
    x0, x1 = edges[2]
    sheet.body((x0, top, x1, FOOT - 252))
    slot = (x0 + 4, FOOT - 238, x1 - 4, FOOT - 42)
    sheet.engrave(slot, lambda plate: draw_corset(plate, plate.width / 2))
    sheet.centred("FIG. 42.—RIBBED CORSET.", (x0 + x1) / 2, FOOT - 30, 9, text.BOLD)
    sheet.body((x0, FOOT - 24, x1, FOOT))
    sheet.rule(x0 - GUTTER / 2, top, x0 - GUTTER / 2, FOOT, 0.4)
    sheet.rule(edges[1][0] - GUTTER / 2, top + 226, edges[1][0] - GUTTER / 2, FOOT, 0.4)


def lay_out_spread(sheet: Sheet) -> None:
    """Two facing pages: text on the left, on the right text round a portrait."""
    for shift in _shifts(sheet):
        _running_head(sheet, shift)
    _text_columns(sheet, TOP + 14, 0.0, count=2)
    left, right = LEFT + 576, RIGHT + 576
    box = (left + 60, TOP + 24, right - 60, TOP + 360)

    def draw(plate: Plate) -> None:
        plate.mirror_at = plate.width / 2
        draw_portrait(plate, plate.mirror_at, with_hat=True)

    sheet.engrave(box, draw, headroom=14)
    sheet.centred("MISS ADA THORNE, WHO WRITES OUR GARDEN NOTES.", 864, TOP + 378, 10, text.BOLD)
    _text_columns(sheet, TOP + 390, 576.0, count=2)


def lay_out_halftone(sheet: Sheet) -> None:
    """A view from a photograph over two columns of text."""
    _running_head(sheet)
    x0, y0 = round(sheet.px(LEFT)), round(sheet.px(TOP + 20))
    width, height = round(sheet.px(RIGHT - LEFT)), round(sheet.px(330))
    view = halftone.draw_view(width, height, sheet.rng)
    # 85 lines an inch: what a magazine's paper could hold.
    dots = halftone.screen(view, sheet.dpi / 85)
    sheet.place_dots(np.rint(dots * 255).astype(np.uint8), (x0, y0))
    caption = "THE BOAT-HOUSE AT LINDEN WATER.—From a photograph."
    sheet.centred(caption, MIDDLE, TOP + 365, 9.5, text.ITALIC)
    _text_columns(sheet, TOP + 378, count=2)


def lay_out_buttons(sheet: Sheet) -> None:
    """A plate of numbered buttons with their prices."""
    _running_head(sheet)
    sheet.display("BUTTONS FOR THE WINTER", (LEFT + 90, TOP + 22, RIGHT - 90, TOP + 42))
    rows, across = 4, 4
    box = (LEFT + 10, TOP + 54, RIGHT - 10, FOOT - 74)
    cell = (box[2] - box[0]) / across, (box[3] - box[1]) / rows
    patterns = sheet.rng.permutation(36)

    def draw(plate: Plate) -> None:
        for place in range(rows * across):
            column, row = place % across, place // across
            middle = ((column + 0.5) * plate.width / across, (row + 0.44) * 100 / rows)
            radius = float(sheet.rng.uniform(7.2, 9.0))
            things.draw_button(plate, middle, radius, int(patterns[place]))

    sheet.engrave(box, draw)
    for place in range(rows * across):
        x = box[0] + (place % across + 0.5) * cell[0]
        y = box[1] + (place // across + 0.93) * cell[1]
        sheet.centred(f"No. {place + 11}.", x, y, 9, text.ROMAN)
    for number, (x0, x1) in enumerate(_column_edges(3)):
        sheet.body((x0, FOOT - 66, x1, FOOT))
        if number:
            sheet.rule(x0 - GUTTER / 2, FOOT - 64, x0 - GUTTER / 2, FOOT, 0.4)


def lay_out_advertisements(sheet: Sheet) -> None:
    """Boxes of advertisements: a bicycle, a corset, and four of type alone."""
    sheet.centred("ADVERTISEMENTS.", MIDDLE, TOP, 10, text.ROMAN)
    sheet.rule(LEFT, TOP + 6, RIGHT, TOP + 6, 0.9)
    wheel = (LEFT, TOP + 14, RIGHT, TOP + 330)
    _advertisement(sheet, 0, wheel)
    slot = (LEFT + 60, TOP + 92, RIGHT - 60, TOP + 298)
    sheet.engrave(slot, lambda plate: things.draw_bicycle(plate, plate.width / 2 - 75))
    corset = (LEFT, TOP + 338, MIDDLE - 4, FOOT)
    _advertisement(sheet, 1, corset)
    slot = (LEFT + 40, TOP + 418, MIDDLE - 44, FOOT - 42)
    sheet.engrave(slot, lambda plate: draw_corset(plate, plate.width / 2))
    step = (FOOT - TOP - 338 + 8) / 4
    for number in range(4):
        y0 = TOP + 338 + number * step
        _advertisement(sheet, 2 + number, (MIDDLE + 4, y0, RIGHT, y0 + step - 8))


def _advertisement(sheet: Sheet, number: int, box: tuple[float, float, float, float]) -> None:
    """A framed box: name, article, a line of praise."""
    name, article, praise = ADVERTISEMENTS[number]
    x0, y0, x1, y1 = box
    middle, width = (x0 + x1) / 2, x1 - x0
    size = 14 if width < 300 else 24
    sheet.frame(box, (1.6, 0.5), 3)
    half = min(width * 0.4, len(name) * size * 0.48)
    face = text.BOLD if number % 2 == 0 else text.GROTESQUE
    sheet.display(name, (middle - half, y0 + 11, middle + half, y0 + 11 + size), face)
    sheet.centred(article, middle, y0 + 17 + 2 * size, size * 0.85, text.BOLD)
    sheet.centred(praise, middle, y1 - 9, min(BODY_PT + 1, width / len(praise) * 2), text.ITALIC)
