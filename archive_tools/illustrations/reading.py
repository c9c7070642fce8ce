"""Read a page: its ink and marks, upright or negative, levelled where it lies askew."""

from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from archive_tools.illustrations.marks import Marks, find_marks
from archive_tools.illustrations.paper import InkPage, bring_up_pale_marks, separate_ink
from archive_tools.illustrations.pixels import Grey, levels_below
from archive_tools.illustrations.skew import estimate_skew, level_page

# A page with fewer letters in text lines than this is no text page.
FEWEST_TEXT_LETTERS = 50
# Median grey of a page below which it may be a negative.
DARK_PAGE = 170
DARK_MARGIN = 90


@dataclass(frozen=True, slots=True)
class Reading:
    """A page at working size, read.

    Attributes:
        page: The page and its ink, levelled.
        scanned: The same as it was scanned, not levelled.
        marks: Its marks.
        skew_deg: How far it was turned against the clock.
        back: 2 x 3 matrix from the levelled page to the page as it was; None where it was level.
    """

    page: InkPage
    scanned: InkPage
    marks: Marks
    skew_deg: float
    back: npt.NDArray[np.float64] | None

    @property
    def text_letters(self) -> int:
        """How many letters stand in text lines."""
        return int(self.marks.in_line.sum())


def may_be_negative(small: Grey) -> bool:
    """Whether most of a page is dark, and nearer to its darkest than to its lightest parts.

    Args:
        small: Working-size page (H, W).
    """
    sample = np.ascontiguousarray(small[::8, ::8])
    darkest, middle, lightest = levels_below(sample, 0.005, 0.5, 0.995)
    return middle < min(DARK_PAGE, (darkest + lightest) / 2)


def read_page(small: Grey) -> Reading:
    """Read a working-size page; whether it is a negative is found out here."""
    reading = read_as(small, negative=False)
    few = FEWEST_TEXT_LETTERS
    if reading.text_letters >= few or not may_be_negative(small):
        return reading
    # A dark page without text lines may be a negative. Text settles it; so do dark margins, while
    # a dark photograph or a black plate stands on light ones.
    inverted = read_as(small, negative=True)
    has_text = inverted.text_letters > max(few, 3 * reading.text_letters)
    return inverted if has_text or _has_dark_margins(reading.page) else reading


def _has_dark_margins(page: InkPage) -> bool:
    height, width = page.grey.shape
    inside = np.zeros(page.grey.shape, bool)
    inside[height // 20 : -(height // 20), width // 20 : -(width // 20)] = True
    if page.frame is not None:
        inside |= page.frame > 0
    margin = page.grey[~inside]
    return margin.size > 0.05 * page.grey.size and float(np.median(margin)) < DARK_MARGIN


def read_as(small: Grey, negative: bool) -> Reading:
    """Read a working-size page as positive or negative, levelled where it lies askew.

    Args:
        small: Working-size page (H, W).
        negative: Invert it.
    """
    return _read_ink(separate_ink(small, negative))


def read_as_pale(reading: Reading) -> Reading | None:
    """Read a page again with even its palest marks brought up to black.

    Args:
        reading: How it was read first.

    Returns:
        The page, None where no text comes up: grain and ghosts show no lines.
    """
    page = bring_up_pale_marks(reading.scanned)
    # A letter is several pixels: mostly this saves looking for any.
    if cv2.countNonZero(page.ink) < FEWEST_TEXT_LETTERS:
        return None
    brought_up = _read_ink(page)
    return brought_up if brought_up.text_letters >= FEWEST_TEXT_LETTERS else None


def _read_ink(scanned: InkPage) -> Reading:
    page, back = scanned, None
    skew_deg = estimate_skew(page.ink)
    if skew_deg:
        page, back = level_page(page, skew_deg)
    return Reading(page, scanned, find_marks(page.ink), skew_deg, back)
