"""The story of one page: from its pixels to its illustrations, and to a verdict."""

from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from archive_tools.illustrations.boxes import (
    PixelBox,
    area,
    enlarge,
    holds,
    join_boxes,
    transpose,
)
from archive_tools.illustrations.candidates import find_candidates
from archive_tools.illustrations.marks import Marks, find_marks
from archive_tools.illustrations.paper import (
    WORKING_PIXELS,
    Grey,
    InkPage,
    is_shadow,
    rectangle,
    separate_ink,
    shrink,
)
from archive_tools.illustrations.rejection import reject
from archive_tools.illustrations.skew import bring_back, estimate_skew, level_page
from archive_tools.illustrations.spread import find_gutter
from archive_tools.illustrations.strokes import find_drawing

# Smaller pictures are ornaments: in letters (about 9 x 9) and as a share of the page.
LEAST_AREA_LETTERS = 80
LEAST_AREA_SHARE = 0.012
# A page is kept when its pictures cover this share of it, the scanner's frame left out.
DEFAULT_MIN_SCORE = 0.015
# Below this nothing on a page can be told apart.
SMALLEST_SIDE_PX = 48
# A page with fewer letters in text lines than this is no text page.
FEWEST_TEXT_LETTERS = 50
# Median grey of a page below which it may be a negative.
DARK_PAGE = 170
DARK_MARGIN = 90
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
        score: The share of the page that they cover, 0 to 1.
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


@dataclass(frozen=True, slots=True)
class Reading:
    """A page at working size, read.

    Attributes:
        page: The page and its ink, levelled.
        marks: Its marks.
        skew_deg: How far it was turned against the clock.
        back: 2 x 3 matrix from the levelled page to the page as it was; None where it was level.
    """

    page: InkPage
    marks: Marks
    skew_deg: float
    back: npt.NDArray[np.float64] | None

    @property
    def text_letters(self) -> int:
        """How many letters stand in text lines."""
        return int(self.marks.in_line.sum())

    def traits(self) -> tuple[str, ...]:
        """What was noticed of the scan."""
        sideways = self.marks.turned and self.text_letters >= FEWEST_TEXT_LETTERS
        present = {
            "negative": self.page.negative,
            "sideways": sideways,
            f"skewed by {self.skew_deg:.1f} degrees": bool(self.skew_deg),
            "scanner frame": self.page.frame is not None,
        }
        return tuple(trait for trait, found in present.items() if found)


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
    reading = _read_page(small)
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


def _read_page(small: Grey) -> Reading:
    reading = _read_as(small, negative=False)
    few = FEWEST_TEXT_LETTERS
    if reading.text_letters >= few or np.median(small[::2, ::2]) >= DARK_PAGE:
        return reading
    # A dark page without text lines may be a negative. Text settles it; so do dark margins, while
    # a dark photograph or a black plate stands on light ones.
    inverted = _read_as(small, negative=True)
    has_text = inverted.text_letters > max(few, 3 * reading.text_letters)
    return inverted if has_text or _has_dark_margins(reading.page) else reading


def _look_again_at_pale_page(
    small: Grey, reading: Reading, least_area_share: float
) -> tuple[Reading, list[PixelBox]]:
    """Find pictures among print of hardly any contrast; grain and ghosts show no text lines."""
    brought_up = _read_as(small, reading.page.negative, pale=True)
    if brought_up.text_letters < FEWEST_TEXT_LETTERS:
        return reading, []
    return brought_up, _find_pictures(brought_up, least_area_share)


def _has_dark_margins(page: InkPage) -> bool:
    height, width = page.grey.shape
    inside = np.zeros(page.grey.shape, bool)
    inside[height // 20 : -(height // 20), width // 20 : -(width // 20)] = True
    if page.frame is not None:
        inside |= page.frame > 0
    margin = page.grey[~inside]
    return margin.size > 0.05 * page.grey.size and float(np.median(margin)) < DARK_MARGIN


def _read_as(small: Grey, negative: bool, pale: bool = False) -> Reading:
    page = separate_ink(small, negative, pale)
    skew_deg = estimate_skew(page.ink)
    back = None
    if skew_deg:
        page, back = level_page(page, skew_deg)
    return Reading(page, find_marks(page.ink), skew_deg, back)


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
        and not _has_strong_or_ghost_marks(reading.page)
    )


def _has_strong_or_ghost_marks(page: InkPage) -> bool:
    """Strong marks are no faint drawing; faint marks in lines are text that shines through."""
    ink, level = _faint_ink(page)
    if level > 0.25:
        return True
    return int(find_marks(ink, keep_rules=True).in_line.sum()) >= 40


def _faint_ink(page: InkPage) -> tuple[npt.NDArray[np.uint8], float]:
    """All that stands out against the grain, and how dark it typically is (0 to 1)."""
    smooth = cv2.GaussianBlur(page.grey, (0, 0), 1.0)
    height, width = smooth.shape
    small = cv2.resize(
        smooth, (max(8, width // 8), max(8, height // 8)), interpolation=cv2.INTER_AREA
    )
    paper = cv2.GaussianBlur(cv2.medianBlur(small, 11), (0, 0), 2)
    paper = np.maximum(cv2.resize(paper, (width, height)), 1)
    darkness = 1 - smooth.astype(np.float32) / paper
    sample = darkness[::2, ::2]
    middle = float(np.median(sample))
    grain = 1.4826 * float(np.median(np.abs(sample - middle)))
    ink = (darkness > middle + max(3.5 * grain, 0.02)).astype(np.uint8)
    if page.frame is not None:
        ink[cv2.dilate(page.frame, rectangle(25, 25)) > 0] = 0
    return ink, float(np.median(darkness[ink > 0])) if ink.any() else 0.0


def _verdict(
    boxes: list[PixelBox], page_pixels: float, gutter_x: int | None, faint: bool, reading: Reading
) -> PageVerdict:
    pictures = tuple(Illustration(box, min(1.0, area(box) / page_pixels)) for box in boxes)
    score = min(1.0, sum(picture.score for picture in pictures))
    traits = reading.traits() + (() if gutter_x is None else ("two pages",))
    reason = "; ".join([_describe(pictures, score, faint), *traits])
    return PageVerdict(pictures, score, faint, gutter_x, traits, reason)


def _describe(pictures: tuple[Illustration, ...], score: float, faint: bool) -> str:
    if not pictures:
        return "no illustration found"
    name = "faint drawing" if faint else "illustration"
    count = f"{len(pictures)} {name}s" if len(pictures) > 1 else f"1 {name}"
    return f"{count}, {100 * score:.0f} % of the page"
