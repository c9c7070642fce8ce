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
    looks_negative,
    rectangle,
    separate_ink,
    shrink,
)
from archive_tools.illustrations.rejection import reject
from archive_tools.illustrations.strokes import find_drawing

# Smaller pictures are ornaments: in letters (about 9 x 9) and as a share of the page.
LEAST_AREA_LETTERS = 80
LEAST_AREA_SHARE = 0.012
# Below this nothing on a page can be told apart.
SMALLEST_SIDE_PX = 48
# A page with fewer letters in text lines than this is no text page.
FEWEST_TEXT_LETTERS = 50


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
        negative: Whether the page was found to be white on black.
        turned: Whether its text lines run vertically.
        framed: Whether it has a dark scanner frame.
        faint: Whether the picture is a faint drawing, found by its strokes.
        reason: All this in a few words.
    """

    illustrations: tuple[Illustration, ...]
    score: float
    negative: bool
    turned: bool
    framed: bool
    faint: bool
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
        return PageVerdict((), 0.0, False, False, False, False, "too small to tell")
    page, marks = _read_page(grey)
    boxes = _find_pictures(marks, least_area_share)
    covered = sum(area(box) for box in boxes)
    faint = False
    if _may_be_faint(page, marks, covered) and (drawing := find_drawing(page)):
        boxes, faint = [drawing.box], True
    pictures = tuple(_to_illustration(box, page.scale, grey) for box in boxes)
    return _verdict(pictures, page, marks, faint)


def _read_page(grey: Grey) -> tuple[InkPage, Marks]:
    small, scale = shrink(grey, WORKING_PIXELS)
    page = separate_ink(small, scale)
    marks = find_marks(page.ink)
    if looks_negative(small):
        inverted = separate_ink(small, scale, negative=True)
        inverted_marks = find_marks(inverted.ink)
        if inverted_marks.in_line.sum() > max(30, 2 * marks.in_line.sum()):
            return inverted, inverted_marks
    return page, marks


def _find_pictures(marks: Marks, least_area_share: float) -> list[PixelBox]:
    half_size = (-(-marks.width // 2), -(-marks.height // 2))
    letter = marks.letter_px / 2
    found = [
        _doubled(candidate.box, marks)
        for candidate in find_candidates(marks)
        if reject(candidate, half_size, letter, marks.turned) is None
    ]
    joined = _join_one_picture(join_boxes(found, 1.6 * marks.letter_px), marks)
    least = max(
        LEAST_AREA_LETTERS * marks.letter_px**2, least_area_share * marks.width * marks.height
    )
    kept = [box for box in joined if area(box) >= least]
    return [transpose(box) for box in kept] if marks.turned else kept


def _doubled(box: PixelBox, marks: Marks) -> PixelBox:
    x0, y0, x1, y1 = (2 * edge for edge in box)
    return (x0, y0, min(x1, marks.width), min(y1, marks.height))


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

    return join_boxes(boxes, max(marks.width, marks.height), is_free_of_text)


def _may_be_faint(page: InkPage, marks: Marks, covered: int) -> bool:
    """Whether strokes are worth looking for: hardly any text, no clear picture, faint marks."""
    few_letters = int(marks.in_line.sum()) < FEWEST_TEXT_LETTERS and marks.letters < 900
    return few_letters and covered < 0.05 * page.grey.size and not _has_strong_or_ghost_marks(page)


def _has_strong_or_ghost_marks(page: InkPage) -> bool:
    """Strong marks are no faint drawing; faint marks in lines are text that shines through."""
    ink, level = _faint_ink(page)
    if level > 0.3:
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


def _to_illustration(box: PixelBox, scale: float, grey: Grey) -> Illustration:
    on_page = enlarge(box, scale, (grey.shape[1], grey.shape[0]))
    return Illustration(on_page, area(on_page) / grey.size)


def _verdict(
    pictures: tuple[Illustration, ...], page: InkPage, marks: Marks, faint: bool
) -> PageVerdict:
    score = sum(picture.score for picture in pictures)
    traits = [
        name
        for name, present in (
            ("negative", page.negative),
            ("sideways", marks.turned and int(marks.in_line.sum()) >= FEWEST_TEXT_LETTERS),
            ("scanner frame", page.frame is not None),
        )
        if present
    ]
    what = _describe(pictures, score, faint)
    return PageVerdict(
        pictures,
        score,
        page.negative,
        marks.turned,
        page.frame is not None,
        faint,
        "; ".join([what, *traits]),
    )


def _describe(pictures: tuple[Illustration, ...], score: float, faint: bool) -> str:
    if not pictures:
        return "no illustration found"
    name = "faint drawing" if faint else "illustration"
    count = f"{len(pictures)} {name}s" if len(pictures) > 1 else f"1 {name}"
    return f"{count}, {100 * score:.0f} % of the page"
