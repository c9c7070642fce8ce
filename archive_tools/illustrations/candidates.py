"""Where a picture may be: big marks filled out, and ink without the white gaps of text lines.

Everything here runs at half the working size.
"""

from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from archive_tools.illustrations.boxes import PixelBox
from archive_tools.illustrations.marks import EDGE_SHARE, Kind, Marks
from archive_tools.illustrations.pixels import Mask, find_parts, look_up, odd, rectangle

# Text in a filled shape: above this share of its area in text lines the shape is a frame.
FRAMED_TEXT_SHARE = 0.05
# A row of pixels counts as inked above this share of ink; smears and specks stay below.
INKED_SHARE = 0.05
_INK_OF_TEXT_AND_PICTURES = np.zeros(256, np.uint8)
_INK_OF_TEXT_AND_PICTURES[[Kind.LETTER, Kind.BIG, Kind.OTHER]] = 255


@dataclass(frozen=True, slots=True)
class Candidate:
    """A part of the page that may be a picture.

    Attributes:
        box: Its box in half-size pixels.
        mask: 1 where it is, inside its box.
        kinds: `Kind` of the ink inside its box.
        line_mask: 1 on text lines inside its box.
        rule_mask: 1 on ruled lines inside its box.
    """

    box: PixelBox
    mask: Mask
    kinds: Mask
    line_mask: Mask
    rule_mask: Mask

    @property
    def width(self) -> int:
        """Width in half-size pixels."""
        return self.box[2] - self.box[0]

    @property
    def height(self) -> int:
        """Height in half-size pixels."""
        return self.box[3] - self.box[1]


def find_candidates(marks: Marks) -> list[Candidate]:
    """Find the parts of a page that may be pictures, small ones left out.

    Returns:
        Candidates from top to bottom, in half-size pixels of the marks' page.
    """
    letter = marks.letter_px / 2
    kinds = look_up(marks.kinds, marks.labels)
    area_map = cv2.bitwise_or(_fill_big_marks(marks), find_gapless_ink(kinds, letter))
    if not cv2.countNonZero(area_map):  # most pages of text
        return []
    area_map = cv2.morphologyEx(area_map, cv2.MORPH_CLOSE, _square(1.3 * letter))
    area_map = cv2.morphologyEx(area_map, cv2.MORPH_OPEN, _square(1.6 * letter))
    parts = find_parts(area_map)
    least_area = 0.003 * area_map.size
    candidates = []
    for number, (x, y, width, height, _) in enumerate(parts.stats.tolist()):
        if number and min(width, height) >= 3 * letter and width * height >= least_area:
            window = np.s_[y : y + height, x : x + width]
            mask = (parts.labels[window] == number).astype(np.uint8)
            box = (x, y, x + width, y + height)
            candidates.append(
                Candidate(
                    box, mask, kinds[window], marks.line_mask[window], marks.rule_mask[window]
                )
            )
    return candidates


def find_gapless_ink(kinds: Mask, letter: float) -> Mask:
    """Find ink that no white line gap crosses within two and a half letter heights.

    Text always leaves a white gap between its lines; hatching, halftone and photographs do not.

    Args:
        kinds: `Kind` at each pixel.
        letter: Letter height in the same pixels.

    Returns:
        1 on ink without gaps, else 0.
    """
    ink = cv2.LUT(kinds, _INK_OF_TEXT_AND_PICTURES)
    rows = cv2.blur(ink, (odd(3 * letter), 1))
    reach = rectangle(1, odd(2.4 * letter))
    inked = (cv2.erode(rows, reach) > 255 * INKED_SHARE).view(np.uint8)
    return cv2.morphologyEx(cv2.dilate(inked, reach), cv2.MORPH_OPEN, _square(2.6 * letter))


def _fill_big_marks(marks: Marks) -> Mask:
    filled = np.zeros(marks.labels.shape, np.uint8)
    pad = odd(marks.letter_px)
    for index in np.flatnonzero(marks.kinds[1:] == Kind.BIG):
        x, y, width, height = (int(edge) for edge in marks.boxes[index])
        window = np.s_[y // 2 : -(-(y + height) // 2), x // 2 : -(-(x + width) // 2)]
        mark = cv2.copyMakeBorder(
            (marks.labels[window] == index + 1).astype(np.uint8),
            pad,
            pad,
            pad,
            pad,
            cv2.BORDER_CONSTANT,
        )
        inner = np.s_[pad:-pad, pad:-pad]
        at_edge = _touches_edge(marks.boxes[index], marks)
        sparse = marks.areas[index] < 0.25 * width * height
        if not (at_edge and sparse):
            mark = _fill_mark(mark, marks.line_mask[window], inner, pad)
        filled[window] |= mark[inner]
    return filled


def _fill_mark(mark: Mask, text: Mask, inner: tuple[slice, slice], pad: int) -> Mask:
    """Fill a mark's hull; failing that, its outline; a frame round text stays as it is."""
    hull = _filled(mark, hull=True)
    if not _frames_text(hull[inner], text):
        return hull
    closed = cv2.morphologyEx(mark, cv2.MORPH_CLOSE, rectangle(pad, pad)).astype(np.uint8)
    outline = _filled(closed, hull=False)
    return closed if _frames_text(outline[inner], text) else outline


def _filled(mark: Mask, hull: bool) -> Mask:
    contours, _ = cv2.findContours(mark, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)
    shapes = [cv2.convexHull(np.vstack(contours))] if hull and contours else contours
    filled = np.zeros_like(mark)
    cv2.drawContours(filled, shapes, -1, 1, -1)
    return filled


def _frames_text(shape: Mask, text: Mask) -> bool:
    inside = int(cv2.countNonZero(cv2.bitwise_and(shape, text)))
    return inside > FRAMED_TEXT_SHARE * int(cv2.countNonZero(shape))


def _touches_edge(box: npt.NDArray[np.floating], marks: Marks) -> bool:
    x, y, width, height = box
    edge_x, edge_y = EDGE_SHARE * marks.size[0], EDGE_SHARE * marks.size[1]
    beside = x < edge_x or x + width > marks.size[0] - edge_x
    return bool(beside or y < edge_y or y + height > marks.size[1] - edge_y)


def _square(side: float) -> Mask:
    return rectangle(odd(side), odd(side))
