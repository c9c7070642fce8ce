"""The story of one page: from its pixels to its illustrations, and to a verdict."""

from dataclasses import dataclass, replace

import cv2

from archive_tools.illustrations.boxes import (
    PixelBox,
    area,
    enlarge,
    holds,
    join_boxes,
    shift,
    transpose,
)
from archive_tools.illustrations.candidates import find_candidates
from archive_tools.illustrations.lighting import find_sheet
from archive_tools.illustrations.marks import Marks
from archive_tools.illustrations.paper import WORKING_PIXELS, is_shadow
from archive_tools.illustrations.pixels import Grey, shrink
from archive_tools.illustrations.reading import (
    FEWEST_TEXT_LETTERS,
    Reading,
    may_be_negative,
    read_as_pale,
    read_page,
)
from archive_tools.illustrations.rejection import reject
from archive_tools.illustrations.skew import bring_back
from archive_tools.illustrations.spread import find_gutter
from archive_tools.illustrations.strokes import find_drawing
from archive_tools.illustrations.traits import find_quarter_turns, notice_traits
from archive_tools.illustrations.verdict import (
    Illustration,
    PageVerdict,
    describe_page,
    part_at,
)

# Smaller pictures are ornaments: in letters (about 9 x 9) and as a share of the page.
LEAST_AREA_LETTERS = 80
LEAST_AREA_SHARE = 0.012
# Below this nothing on a page can be told apart.
SMALLEST_SIDE_PX = 48
# Share of ruled lines above which a page is music or a table; on faint drawings there is half.
RULED_PAGE_SHARE = 0.025
# On such a page clefs, braces and cells run together to spots of up to 2 % of it.
LEAST_SHARE_AMONG_RULES = 0.04
# Paper-relative grey of the darkest marks above which a page is pale.
PALE_PAGE = 140


def find_illustrations(
    grey: Grey, least_area_share: float = LEAST_AREA_SHARE
) -> tuple[Illustration, ...]:
    """Find the pictures of a page.

    Args:
        grey: Page (H, W), uint8, at any resolution.
        least_area_share: Pictures that cover less of the page are left out.

    Returns:
        The pictures from top to bottom; a page that is one picture gives one.
    """
    return judge_page(grey, least_area_share).illustrations


def judge_page(grey: Grey, least_area_share: float = LEAST_AREA_SHARE) -> PageVerdict:
    """Find the pictures of a page and say what was found.

    Args:
        grey: Page (H, W), uint8, at any resolution.
        least_area_share: Pictures that cover less of the page are left out.

    Returns:
        The verdict; its boxes are in pixels of `grey`.
    """
    if min(grey.shape) < SMALLEST_SIDE_PX:
        reason = "too small to tell"
        return PageVerdict((), 0.0, False, None, (), reason, least_area_share=least_area_share)
    small, scale = shrink(grey, WORKING_PIXELS)
    sheet = _find_sheet(small)
    found = _find_on(small[sheet[1] : sheet[3], sheet[0] : sheet[2]], least_area_share)
    size = (grey.shape[1], grey.shape[0])
    boxes = _bring_all_back(found.boxes, found.reading)
    on_page = [enlarge(shift(box, sheet[:2]), scale, size) for box in boxes]
    page_pixels = found.reading.page.page_pixels / scale**2
    turns = find_quarter_turns(found.reading)
    traits = notice_traits(found.reading, turns, is_framed=area(sheet) < small.size)
    verdict = describe_page(on_page, page_pixels, found.faint, traits)
    verdict = replace(verdict, quarter_turns=turns or 0, least_area_share=found.least_area_share)
    if found.gutter is None:
        return verdict
    gutter_x = min(size[0] - 1, max(1, round((sheet[0] + found.gutter) / scale)))
    crossed = any(box[0] < gutter_x < box[2] for box in on_page)
    return verdict if crossed else part_at(verdict, gutter_x, size)


def _find_sheet(small: Grey) -> PixelBox:
    """The scan without its frame. The black margins of a negative are none."""
    if may_be_negative(small):
        return (0, 0, small.shape[1], small.shape[0])
    return find_sheet(small)


@dataclass(frozen=True, slots=True)
class _Found:
    """What a working-size page shows; boxes and gutter on the levelled page."""

    reading: Reading
    boxes: list[PixelBox]
    faint: bool
    gutter: int | None
    least_area_share: float


def _find_on(small: Grey, least_area_share: float) -> _Found:
    reading = read_page(small)
    marked = _find_pictures(reading)
    boxes = _large_ones(marked, least_area_share, reading)
    faint = False
    if _may_be_faint(reading, boxes) and (drawing := find_drawing(reading.page)):
        marked = boxes = [drawing.box]
        faint = True
    is_pale = not boxes and reading.page.darkest > PALE_PAGE
    if is_pale and (brought_up := read_as_pale(reading)):
        reading, marked = brought_up, _find_pictures(brought_up)
        boxes = _large_ones(marked, least_area_share, reading)
    gutter = find_gutter(reading.page, reading.marks, boxes)
    least = _least_share(least_area_share, reading)
    if gutter is not None:  # each of its pages is about half of the scan
        halved = _large_ones(marked, least_area_share / 2, reading)
        boxes = [box for box in halved if not box[0] < gutter < box[2]]
        least = 2 * _least_share(least_area_share / 2, reading)
    return _Found(reading, boxes, faint, gutter, least)


def _find_pictures(reading: Reading) -> list[PixelBox]:
    marks, page = reading.marks, reading.page
    half_size = (marks.labels.shape[1], marks.labels.shape[0])
    letter = marks.letter_px / 2
    found = [
        _doubled(candidate.box, marks)
        for candidate in find_candidates(marks)
        if reject(candidate, half_size, letter, marks.turned) is None
    ]
    found = [box for box in found if not is_shadow(page, _upright(box, marks))]
    joined = _join_one_picture(join_boxes(found, 1.6 * marks.letter_px), marks)
    least = LEAST_AREA_LETTERS * marks.letter_px**2
    return [_upright(box, marks) for box in joined if area(box) >= least]


def _large_ones(boxes: list[PixelBox], share: float, reading: Reading) -> list[PixelBox]:
    least = _least_share(share, reading) * reading.page.page_pixels
    return [box for box in boxes if area(box) >= least]


def _least_share(share: float, reading: Reading) -> float:
    """The share of the page that a picture must cover; what is small in a table is of it."""
    return max(share, LEAST_SHARE_AMONG_RULES) if _is_ruled(reading) else share


def _upright(box: PixelBox, marks: Marks) -> PixelBox:
    """The box on the page as it was before its text lines were made horizontal."""
    return transpose(box) if marks.turned else box


def _doubled(box: PixelBox, marks: Marks) -> PixelBox:
    x0, y0, x1, y1 = (2 * edge for edge in box)
    return (x0, y0, min(x1, marks.size[0]), min(y1, marks.size[1]))


def _join_one_picture(boxes: list[PixelBox], marks: Marks) -> list[PixelBox]:
    """Join the fragments of a page that is one picture: hardly any text stands beside them."""
    x, y = marks.centres()
    text = marks.in_line.copy()
    for box in boxes:
        text &= ~holds(box, x, y)
    if len(boxes) < 2 or int(text.sum()) >= 60:
        return boxes

    def is_free_of_text(box: PixelBox) -> bool:
        return int((text & holds(box, x, y)).sum()) < 15

    return join_boxes(boxes, max(marks.size), is_free_of_text)


def _bring_all_back(boxes: list[PixelBox], reading: Reading) -> list[PixelBox]:
    """Boxes on the page as it was before it was levelled; turned boxes may grow together."""
    if reading.back is None:
        return boxes
    height, width = reading.page.grey.shape
    return join_boxes([bring_back(box, reading.back, (width, height)) for box in boxes], 0)


def _is_ruled(reading: Reading) -> bool:
    rules = reading.marks.rule_mask
    return cv2.countNonZero(rules) / rules.size >= RULED_PAGE_SHARE


def _may_be_faint(reading: Reading, boxes: list[PixelBox]) -> bool:
    """Whether strokes are worth looking for: hardly any text, no clear picture."""
    few_letters = reading.text_letters < FEWEST_TEXT_LETTERS and reading.marks.letters < 900
    covered = sum(area(box) for box in boxes)
    return few_letters and not _is_ruled(reading) and covered < 0.05 * reading.page.page_pixels
