"""Why a candidate is no picture: the shapes of headlines, page edges, gutters and text."""

from enum import StrEnum

import cv2
import numpy as np

from archive_tools.illustrations.candidates import Candidate
from archive_tools.illustrations.marks import EDGE_SHARE, Kind

# Ruled lines beside the ink of a candidate; a framed picture has 0.23 at most.
RULED_SHARE = 0.28


class Rejection(StrEnum):
    """Why a candidate is no picture."""

    THIN = "thinner than four letters"
    HOLLOW = "mostly bare paper"
    HEADLINE = "one line of large type"
    STRIP = "a strip, as rules and gutters are"
    EDGE = "a strip at the page's edge"
    GLYPHS = "large letters in a row"
    TEXT = "text lines"
    LETTERS = "loose letters"
    RULED = "ruled lines, as music and tables have"
    SHADOW = "an even shadow at the page's edge"


def reject(
    candidate: Candidate, page_size: tuple[int, int], letter: float, turned: bool
) -> Rejection | None:
    """Say why a candidate is no picture.

    Args:
        candidate: Part of a page whose text lines run horizontally.
        page_size: Width and height of that page in the candidate's pixels.
        letter: Letter height in the same pixels.
        turned: Whether the page was transposed.

    Returns:
        The first reason that applies, None for a picture.
    """
    by_shape = _reject_shape(candidate, page_size, letter, turned)
    return by_shape or _reject_content(candidate, page_size, letter)


def _reject_shape(
    candidate: Candidate, page_size: tuple[int, int], letter: float, turned: bool
) -> Rejection | None:
    width, height = candidate.width, candidate.height
    if min(width, height) < 4 * letter:
        return Rejection.THIN
    if cv2.countNonZero(candidate.mask) < 0.3 * width * height:
        return Rejection.HOLLOW
    if height < 6 * letter and width > 3 * height:
        return Rejection.HEADLINE
    share_x, share_y = width / page_size[0], height / page_size[1]
    if turned:
        width, height, share_x, share_y = height, width, share_y, share_x
    if (share_x < 0.1 and height > 4 * width) or (share_y < 0.08 and width > 6 * height):
        return Rejection.STRIP
    edges = _edges_touched(candidate, page_size)
    if edges and (share_x < 0.13 or share_y < 0.1):
        return Rejection.EDGE
    if edges > 1 and share_x * share_y < 0.05:
        return Rejection.EDGE
    beside = _is_beside(candidate, page_size, turned)
    return Rejection.EDGE if beside and share_x < 0.12 and height > 2.5 * width else None


def _reject_content(
    candidate: Candidate, page_size: tuple[int, int], letter: float
) -> Rejection | None:
    kinds = candidate.kinds[(candidate.mask > 0) & (candidate.kinds != Kind.PAPER)]
    ink = max(1, kinds.size)
    if np.count_nonzero(kinds == Kind.GLYPH) > 0.5 * ink:
        return Rejection.GLYPHS
    in_text = cv2.bitwise_and(candidate.mask, candidate.line_mask)[candidate.kinds != Kind.PAPER]
    if np.count_nonzero(in_text) > 0.12 * ink:
        return Rejection.TEXT
    is_small = min(candidate.width, candidate.height) < 12 * letter
    if is_small and np.count_nonzero(kinds == Kind.LETTER) > 0.3 * ink:
        return Rejection.LETTERS
    if cv2.countNonZero(candidate.rule_mask) > RULED_SHARE * ink:
        return Rejection.RULED
    if _edges_touched(candidate, page_size) and _is_even(candidate):
        return Rejection.SHADOW
    return None


def _edges_touched(candidate: Candidate, page_size: tuple[int, int]) -> int:
    """How many of the page's four edges it reaches."""
    (x0, y0, x1, y1), (width, height) = candidate.box, page_size
    edge_x, edge_y = EDGE_SHARE * width, EDGE_SHARE * height
    return sum((x0 < edge_x, y0 < edge_y, x1 > width - edge_x, y1 > height - edge_y))


def _is_beside(candidate: Candidate, page_size: tuple[int, int], turned: bool) -> bool:
    """Whether it stands in the outer eighth at the left or right of the upright page."""
    near, far = candidate.box[1::2] if turned else candidate.box[::2]
    side = page_size[1] if turned else page_size[0]
    return near < 0.13 * side or far > 0.87 * side


def _is_even(candidate: Candidate) -> bool:
    """Whether its ink has hardly any outline: a shadow, not strokes or dots."""
    ink = (candidate.kinds != Kind.PAPER).astype(np.uint8)
    outline = cv2.morphologyEx(ink, cv2.MORPH_GRADIENT, np.ones((2, 2), np.uint8))
    inside = cv2.countNonZero(cv2.bitwise_and(outline, candidate.mask))
    return inside < 0.06 * max(1, cv2.countNonZero(candidate.mask))
