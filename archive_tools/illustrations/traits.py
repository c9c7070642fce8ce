"""What is noticed of a scan beside its pictures: light, contrast, grain, and how the page lies."""

import numpy as np
import numpy.typing as npt

from archive_tools.illustrations.marks import Marks
from archive_tools.illustrations.paper import InkPage
from archive_tools.illustrations.pixels import level_below
from archive_tools.illustrations.reading import FEWEST_TEXT_LETTERS, Reading

# Grey of the bare paper below which a scan is dark: of 632 real pages none is darker than 148.
DARK_PAPER = 135
# Paper-relative grey of the darkest marks above which print is of low contrast; as scanned: 138.
PALE_MARKS = 140
# Grain of a working-size page, in grey levels; one real page in fifty has more.
NOISY_GRAIN = 7.0
# Letters reach above their line more often than below it, so its upper side is the more ragged one.
# By how many standard errors it must be: upright pages (480 judgements of real ones, as they are
# and distorted) went as far as 1.2 the wrong way, and their median is 9 the right way. A page is
# upside down far less often than sideways is read as the wrong side, and turning it costs more.
FEWEST_TELLING_LETTERS = 100
SIDEWAYS_ERRORS = 2.0
UPSIDE_DOWN_ERRORS = 4.0
# No working-size page has so many rows.
EDGE_LIMIT = 2**20


def notice_traits(
    reading: Reading, quarter_turns: int | None, is_framed: bool = False
) -> tuple[str, ...]:
    """Say what is noticed of a scan, the most telling first.

    Args:
        reading: The page, read.
        quarter_turns: What `find_quarter_turns` says of it.
        is_framed: Whether a scanner's frame was cut off before.

    Returns:
        Short phrases; what follows ` by ` is a measure.
    """
    page = reading.page
    has_text = reading.text_letters >= FEWEST_TEXT_LETTERS
    present = {
        "negative": page.negative,
        f"turned {90 * (quarter_turns or 0)} degrees": bool(quarter_turns),
        "sideways": reading.marks.turned and has_text and quarter_turns is None,
        f"skewed by {abs(reading.skew_deg):.1f} degrees": bool(reading.skew_deg),
        "scanner frame": is_framed or page.frame is not None,
        "dark": _is_dark(page),
        "low contrast": has_text and page.darkest >= PALE_MARKS,
        "noisy": _grain(page) > NOISY_GRAIN,
    }
    return tuple(trait for trait, found in present.items() if found)


def find_quarter_turns(reading: Reading) -> int | None:
    """Find how a page of text lies.

    Returns:
        By how many quarter turns against the clock it has been turned from upright, 0 to 3; None
        where too little text tells.
    """
    if reading.text_letters < FEWEST_TELLING_LETTERS:
        return None
    lean = _upward_lean(reading.marks)
    if not reading.marks.turned:
        return 2 if lean < -UPSIDE_DOWN_ERRORS else 0
    # Swapping the axes of a page that is turned against the clock leaves its letters standing.
    return None if abs(lean) < SIDEWAYS_ERRORS else 1 if lean > 0 else 3


def _upward_lean(marks: Marks) -> float:
    """How much more ragged text lines are above than below, in standard errors."""
    on = marks.line_of > 0
    line, top = marks.line_of[on].astype(np.intp), marks.boxes[on, 1]
    most = 0.6 * marks.letter_px
    above = _distance_in_line(top, line, most)
    below = _distance_in_line(top + marks.boxes[on, 3], line, most)
    difference = above - below
    error = float(difference.std()) / float(len(line)) ** 0.5
    lean: float = difference.mean() / max(1e-9, error)
    return lean


def _distance_in_line(
    edge: npt.NDArray[np.floating], line: npt.NDArray[np.intp], most: float
) -> npt.NDArray[np.floating]:
    """Distance of each edge, a whole pixel, from the middle one of its line, at most `most`."""
    # One number for both, so that one plain sort orders edges within their lines.
    keys = np.sort(line * EDGE_LIMIT + edge.astype(np.intp))
    counts = np.bincount(line)
    middles = keys[np.minimum(np.cumsum(counts) - counts + counts // 2, len(keys) - 1)] % EDGE_LIMIT
    distance = np.abs(edge - middles[line].astype(edge.dtype))
    return np.asarray(np.minimum(distance, most))


def _is_dark(page: InkPage) -> bool:
    return level_below(page.shade, 0.85) < DARK_PAPER


def _grain(page: InkPage) -> float:
    """Standard deviation of the grain, from how pixels differ from their neighbours' mean."""
    rows = page.grey[::8].astype(np.int16)
    bend = np.abs(2 * rows[:, 1:-1] - rows[:, 2:] - rows[:, :-2])
    return 1.4826 * level_below(np.minimum(bend, 255).astype(np.uint8), 0.5) / 6**0.5
