"""Connected marks of ink and what they are: letters, text lines, headline glyphs, big marks."""

from dataclasses import dataclass, replace
from enum import IntEnum

import cv2
import numpy as np
import numpy.typing as npt
from cv2.typing import MatLike

from archive_tools.illustrations.pixels import (
    Mask,
    find_cornerless_parts,
    find_parts,
    look_up,
    middle_of,
    odd,
    rectangle,
    slide_across,
)

Labels = MatLike
Numbers = npt.NDArray[np.floating]
Flags = npt.NDArray[np.bool_]

# A page with fewer letters than this has no letter height of its own.
FEWEST_LETTERS = 25
DEFAULT_LETTER_PX = 8.0
# A run of ink longer than this share of the page's long side is a ruled line.
RULE_SHARE = 0.08
# Share of ink in the 31 pixels round a line above which it is part of a picture; the lines of
# music and of tables stay below.
CROWDED_SHARE = 0.45
# Every so many columns are looked at to see which rows may hold such a run.
RUN_STEP = 8
# The outermost share of the page counts as its edge.
EDGE_SHARE = 0.012


class Kind(IntEnum):
    """What a mark of ink is taken for."""

    PAPER = 0
    LETTER = 1
    BIG = 2
    OTHER = 3
    FRAME = 4
    GLYPH = 5


@dataclass(frozen=True, slots=True)
class Marks:
    """Every connected mark of a page; text lines run horizontally here.

    Attributes:
        size: Width and height of the (perhaps transposed) page in working pixels.
        labels: Mark number at every other pixel of every other row, 0 is paper.
        boxes: x, y, width, height of each mark in working pixels; (n, 4). Row i is mark i + 1.
        areas: Ink pixels of each mark; (n,).
        kinds: `Kind` of each mark number, paper first; (n + 1,).
        letter_px: Typical letter height; every length that follows is measured in it.
        letters: How many marks look like letters.
        line_of: Number of the text line that each letter stands in, 0 for none; (n,).
        line_mask: 1 on text lines, at half size.
        rule_mask: 1 on ruled lines, at half size.
        turned: Whether the page was transposed to make its text lines horizontal.
    """

    size: tuple[int, int]
    labels: Labels
    boxes: Numbers
    areas: Numbers
    kinds: Mask
    letter_px: float
    letters: int
    line_of: npt.NDArray[np.intp]
    line_mask: Mask
    rule_mask: Mask
    turned: bool

    @property
    def in_line(self) -> Flags:
        """Which marks are letters in a text line; (n,)."""
        return self.line_of > 0

    def centres(self) -> tuple[Numbers, Numbers]:
        """Centre x and y of each mark."""
        x, y, width, height = self.boxes.T
        return x + width / 2, y + height / 2


def find_marks(ink: Mask, keep_rules: bool = False) -> Marks:
    """Find the marks of a page, name them and find its text lines.

    Args:
        ink: 1 on ink, else 0; (H, W).
        keep_rules: Leave long straight lines in; in a drawing they are strokes.

    Returns:
        The marks, transposed where text lines run vertically.
    """
    rules = np.zeros_like(ink) if keep_rules else find_rules(ink)
    ink = cv2.subtract(ink, rules)
    parts = find_parts(ink)
    # By columns, since that is how they are read.
    boxes = np.asfortranarray(parts.stats[1:, :4], dtype=np.float32)
    areas = parts.stats[1:, 4].astype(np.float32)
    letter_px, letters = _letter_height(boxes, areas)
    kinds = _name_marks(boxes, areas, letter_px, (ink.shape[1], ink.shape[0]))
    labels = np.ascontiguousarray(parts.labels[::2, ::2])
    rules = np.ascontiguousarray(rules[::2, ::2])
    size = (ink.shape[1], ink.shape[0])
    turned = _text_runs_vertically(look_up(kinds, labels), letter_px)
    if turned:
        labels, rules = np.ascontiguousarray(labels.T), np.ascontiguousarray(rules.T)
        boxes, size = boxes[:, [1, 0, 3, 2]], size[::-1]
    line_of, line_mask = _find_lines(labels, boxes, kinds, letter_px)
    return _name_glyphs(
        Marks(
            size, labels, boxes, areas, kinds, letter_px, letters, line_of, line_mask, rules, turned
        )
    )


def find_rules(ink: Mask) -> Mask:
    """Find ruled lines: long, straight, thin, along either axis, with bare paper beside them.

    Returns:
        1 on ruled lines, else 0; (H, W).
    """
    length = min(255, odd(RULE_SHARE * max(ink.shape)))
    across = _rules_across(ink, length)
    down = cv2.transpose(_rules_across(cv2.transpose(ink), length))
    rules = cv2.bitwise_or(across, down)
    if not cv2.countNonZero(rules):
        return rules
    grown = cv2.bitwise_and(cv2.dilate(rules, rectangle(3, 3)), ink)
    # The lines of an engraving or of a halftone screen lie close to their like.
    crowding = cv2.blur(ink * 255, (31, 31))
    _, sparse = cv2.threshold(crowding, int(255 * CROWDED_SHARE), 1, cv2.THRESH_BINARY_INV)
    return cv2.bitwise_and(grown, sparse)


def _rules_across(ink: Mask, length: int) -> Mask:
    """Horizontal runs of at least an odd length, not more than four pixels thick."""
    runs = np.zeros_like(ink)
    if ink.shape[1] < length:
        return runs
    # Such a run holds so many of the sampled columns side by side; few rows do.
    step = min(RUN_STEP, length)
    held = slide_across(np.ascontiguousarray(ink[:, ::step]), length // step, cv2.min)
    rows = np.flatnonzero(held.any(axis=1))
    long_runs = _long_runs(ink[rows], length)
    if not long_runs.any():
        return runs
    runs[rows] = long_runs
    return cv2.subtract(runs, cv2.morphologyEx(runs, cv2.MORPH_OPEN, rectangle(1, 5)))


def _long_runs(ink: Mask, length: int) -> Mask:
    """Opening with a horizontal line; OpenCV's own takes time with length."""
    if not len(ink):
        return ink
    starts = slide_across(ink, length, cv2.min)
    beside = length - 1
    wide = cv2.copyMakeBorder(starts, 0, 0, beside, beside, cv2.BORDER_CONSTANT)
    return slide_across(wide, length, cv2.max)


def _letter_height(boxes: Numbers, areas: Numbers) -> tuple[float, int]:
    w, h = boxes[:, 2], boxes[:, 3]
    tall, short = np.maximum(w, h), np.minimum(w, h)
    like = _letter_like(tall, short, areas)
    letters = int(like.sum())
    height = middle_of(tall[like]) if letters >= FEWEST_LETTERS else DEFAULT_LETTER_PX
    return float(np.clip(height, 5, 22)), letters


def _letter_like(tall: Numbers, short: Numbers, areas: Numbers) -> Flags:
    filled = areas > 0.12 * tall * short
    return (tall >= 4) & (tall <= 40) & (short >= 2) & (areas >= 6) & (tall < 6 * short) & filled


def _name_marks(
    boxes: Numbers, areas: Numbers, letter_px: float, page_size: tuple[int, int]
) -> Mask:
    width, height = page_size
    x, y, w, h = boxes.T
    tall, short = np.maximum(w, h), np.minimum(w, h)
    edge_x, edge_y = EDGE_SHARE * width, EDGE_SHARE * height
    at_edge = (x < edge_x) | (y < edge_y) | (x + w > width - edge_x) | (y + h > height - edge_y)
    sparse = areas < 0.12 * w * h
    sliver = (w < 0.05 * width) | (h < 0.05 * height)
    round_page = ((w > 0.6 * width) | (h > 0.6 * height)) & sparse
    frame = at_edge & (sliver | round_page)
    big = (short > 3 * letter_px) | ((tall > 6 * letter_px) & (short > 1.6 * letter_px))
    kinds = np.full(len(boxes) + 1, Kind.OTHER, np.uint8)
    kinds[0] = Kind.PAPER
    kinds[1:][_letter_like(tall, short, areas) & (tall < 2.4 * letter_px)] = Kind.LETTER
    kinds[1:][big] = Kind.BIG
    kinds[1:][frame] = Kind.FRAME
    return kinds


def _text_runs_vertically(kind_map: Mask, letter_px: float) -> bool:
    """Letters smeared along their lines make stripes; smeared across they even out."""
    letters = (kind_map == Kind.LETTER).astype(np.uint8) * 255
    smear = odd(2 * letter_px)
    _, along = cv2.meanStdDev(cv2.blur(letters, (smear, 1)))
    _, across = cv2.meanStdDev(cv2.blur(letters, (1, smear)))
    return float(across[0, 0]) ** 2 > 1.15 * float(along[0, 0]) ** 2


def _find_lines(
    labels: Labels, boxes: Numbers, kinds: Mask, letter_px: float
) -> tuple[npt.NDArray[np.intp], Mask]:
    """Join letters (and words of joined letters) to lines of at least five letters."""
    w, h = boxes[:, 2], boxes[:, 3]
    word = (h > 0.35 * letter_px) & (h < 2.6 * letter_px) & (w < 14 * letter_px)
    wanted = np.zeros(len(kinds), np.uint8)
    wanted[1:] = word & (kinds[1:] != Kind.FRAME)
    print_map = look_up(wanted, labels)
    joined = cv2.morphologyEx(print_map, cv2.MORPH_CLOSE, rectangle(odd(0.8 * letter_px), 1))
    lines, widths, heights = find_cornerless_parts(joined)
    x = np.minimum((boxes[:, 0] + w / 2) / 2, lines.shape[1] - 1).astype(int)
    y = np.minimum((boxes[:, 1] + h / 2) / 2, lines.shape[0] - 1).astype(int)
    line_of = np.where(kinds[1:] == Kind.LETTER, lines[y, x], 0)
    letters_in = np.bincount(line_of, minlength=len(widths))
    is_line = (letters_in >= 5) & (heights < 1.5 * letter_px) & (widths > 2 * letter_px)
    is_line[0] = False
    return np.where(is_line[line_of], line_of, 0), look_up(is_line.astype(np.uint8), lines)


def _name_glyphs(marks: Marks) -> Marks:
    """Name the letters of headlines: big marks in a row of three or more of one height."""
    w, h = marks.boxes[:, 2], marks.boxes[:, 3]
    kinds = marks.kinds[1:]
    tallish = (np.maximum(w, h) > 2 * marks.letter_px) & (np.minimum(w, h) > 0.5 * marks.letter_px)
    chosen = np.flatnonzero((kinds == Kind.BIG) | ((kinds == Kind.OTHER) & tallish))
    if not 3 <= len(chosen) <= 400:
        return marks
    chained = _in_rows_of_three(marks.boxes[chosen]) & (h[chosen] <= 14 * marks.letter_px)
    named = marks.kinds.copy()
    named[1:][chosen[chained]] = Kind.GLYPH
    return replace(marks, kinds=named)


def _in_rows_of_three(boxes: Numbers) -> Flags:
    x, y, w, h = (column[:, None] for column in boxes.T)
    middle = y + h / 2
    # after[i, j]: mark j follows mark i on its line, about as tall and within 1.2 heights of it.
    level = np.abs(middle - middle.T) < 0.35 * h
    ratio = h.T / h
    alike = (ratio > 0.6) & (ratio < 1.6)
    gap = (x.T - (x + w)) / h
    after = level & alike & (gap >= -0.25) & (gap < 1.2) & (x.T - x > 0)
    follows, followed = after.any(axis=1), after.any(axis=0)
    middle_of_row = follows & followed
    first = (after & middle_of_row[None, :]).any(axis=1)
    last = (after & middle_of_row[:, None]).any(axis=0)
    chained: Flags = middle_of_row | first | last
    return chained
