"""The story of one page: from its pixels to its illustrations, and to a verdict."""

from dataclasses import dataclass

from archive_tools.illustrations.boxes import (
    PixelBox,
    area,
    enlarge,
    holds,
    join_boxes,
    transpose,
)
from archive_tools.illustrations.candidates import find_candidates
from archive_tools.illustrations.marks import Marks
from archive_tools.illustrations.paper import WORKING_PIXELS, is_shadow
from archive_tools.illustrations.pixels import Grey, shrink
from archive_tools.illustrations.reading import (
    FEWEST_TEXT_LETTERS,
    Reading,
    read_as,
    read_page,
)
from archive_tools.illustrations.rejection import reject
from archive_tools.illustrations.skew import bring_back
from archive_tools.illustrations.spread import find_gutter
from archive_tools.illustrations.strokes import find_drawing, has_strong_or_ghost_marks

# Smaller pictures are ornaments: in letters (about 9 x 9) and as a share of the page.
LEAST_AREA_LETTERS = 80
LEAST_AREA_SHARE = 0.012
# Below this nothing on a page can be told apart.
SMALLEST_SIDE_PX = 48
# Paper-relative grey of the darkest marks above which a page is pale.
PALE_PAGE = 140


@dataclass(frozen=True, slots=True)
class Illustration:
    """One picture on a page.

    Attributes:
        box: x0, y0, x1, y1 in pixels of the page as given, half-open.
        score: Its share of the page, 0 to 1.
    """

    box: PixelBox
    score: float


@dataclass(frozen=True, slots=True)
class PageVerdict:
    """What a page shows.

    Attributes:
        illustrations: Its pictures from top to bottom; they do not overlap.
        score: The share of the page that they cover, 0 to 1; to four digits, as it is recorded.
        faint: Whether the picture is a faint drawing, found by its strokes.
        gutter_x: Where a two-page spread parts, in pixels of the page as given; None for a single
            page, and where a picture crosses the gutter.
        traits: What was noticed of the scan: negative, sideways, skewed, frame, two pages.
        reason: All this in a few words.
    """

    illustrations: tuple[Illustration, ...]
    score: float
    faint: bool
    gutter_x: int | None
    traits: tuple[str, ...]
    reason: str


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
        return PageVerdict((), 0.0, False, None, (), "too small to tell")
    small, scale = shrink(grey, WORKING_PIXELS)
    reading = read_page(small)
    boxes = _find_pictures(reading, least_area_share)
    faint = False
    if _may_be_faint(reading, boxes) and (drawing := find_drawing(reading.page)):
        boxes, faint = [drawing.box], True
    if not boxes and reading.page.darkest > PALE_PAGE:
        reading, boxes = _look_again_at_pale_page(small, reading, least_area_share)
    gutter = find_gutter(reading.page, reading.marks, boxes)
    size = (grey.shape[1], grey.shape[0])
    on_page = [enlarge(box, scale, size) for box in _bring_all_back(boxes, reading)]
    gutter_x = None if gutter is None else min(size[0] - 1, round(gutter / scale))
    page_pixels = reading.page.page_pixels / scale**2
    return _verdict(on_page, page_pixels, gutter_x, faint, reading)


def _look_again_at_pale_page(
    small: Grey, reading: Reading, least_area_share: float
) -> tuple[Reading, list[PixelBox]]:
    """Find pictures among print of hardly any contrast; grain and ghosts show no text lines."""
    brought_up = read_as(small, reading.page.negative, pale=True)
    if brought_up.text_letters < FEWEST_TEXT_LETTERS:
        return reading, []
    return brought_up, _find_pictures(brought_up, least_area_share)


def _find_pictures(reading: Reading, least_area_share: float) -> list[PixelBox]:
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
    least = max(LEAST_AREA_LETTERS * marks.letter_px**2, least_area_share * page.page_pixels)
    return [_upright(box, marks) for box in joined if area(box) >= least]


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


def _may_be_faint(reading: Reading, boxes: list[PixelBox]) -> bool:
    """Whether strokes are worth looking for: hardly any text, no clear picture, faint marks."""
    few_letters = reading.text_letters < FEWEST_TEXT_LETTERS and reading.marks.letters < 900
    covered = sum(area(box) for box in boxes)
    return (
        few_letters
        and covered < 0.05 * reading.page.page_pixels
        and not has_strong_or_ghost_marks(reading.page)
    )


def _verdict(
    boxes: list[PixelBox], page_pixels: float, gutter_x: int | None, faint: bool, reading: Reading
) -> PageVerdict:
    pictures = tuple(Illustration(box, min(1.0, area(box) / page_pixels)) for box in boxes)
    score = round(min(1.0, sum(picture.score for picture in pictures)), 4)
    traits = reading.traits() + (() if gutter_x is None else ("two pages",))
    reason = "; ".join([_describe(pictures, score, faint), *traits])
    return PageVerdict(pictures, score, faint, gutter_x, traits, reason)


def _describe(pictures: tuple[Illustration, ...], score: float, faint: bool) -> str:
    if not pictures:
        return "no illustration found"
    name = "faint drawing" if faint else "illustration"
    count = f"{len(pictures)} {name}s" if len(pictures) > 1 else f"1 {name}"
    return f"{count}, {100 * score:.0f} % of the page"
