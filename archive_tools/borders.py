"""Finds the scanner's dark borders and shadows along the edges of a page; pure."""

import cv2
import numpy as np
import numpy.typing as npt

Pixels = npt.NDArray[np.uint8]
Box = tuple[int, int, int, int]

_LOOK_PX = 600
# Bounds on what is a border. A picture that reaches the edge is darker than paper too, but it is
# either wider than this or not as even.
_WIDEST_BORDER = 0.16
_WIDEST_SHADOW = 0.05
_PAPER_PERCENTILE = 90
_DARKEST_PAPER = 90
DARK = 0.45
"""Darker than this, as a share of the paper's grey level, is the scanner's frame."""
_SHADED = 0.85  # likewise
_DARK_SHARE_OF_LINE = 0.97
_SHADOW_DEVIATION = 10.0
# The line between border and paper is blurred over a few pixels; so much more is cut off.
_MARGIN = 0.004


def find_page_box(pixels: Pixels) -> Box:
    """Find the page inside the scanner's borders.

    Args:
        pixels: uint8 RGB (H, W, 3) or grey (H, W).

    Returns:
        The box of the page in pixels; the whole picture where it has no border.
    """
    height, width = pixels.shape[:2]
    grey = shrink_to_grey(pixels)
    paper = measure_paper(grey)
    if paper is None:
        return 0, 0, width, height
    top, bottom = _border(grey, paper), _border(grey[::-1], paper)
    inside = grey[round(top * len(grey)) : len(grey) - round(bottom * len(grey))].T
    left, right = _border(inside, paper), _border(inside[::-1], paper)
    return (
        round(left * width),
        round(top * height),
        width - round(right * width),
        height - round(bottom * height),
    )


def _border(lines: Pixels, paper: float) -> float:
    """Return how much of the height is border, counted from the first line on.

    Args:
        lines: Grey thumbnail; its first line is at the edge.
        paper: Grey level of the paper.
    """
    count = len(lines)
    dark = (lines < paper * DARK).mean(axis=1) >= _DARK_SHARE_OF_LINE
    border = _run(dark)
    # Dark up to the bound is a dark picture. A line or two are no border but a rule or a shadow.
    if border > count * _WIDEST_BORDER:
        return 0.0
    rest = lines[border : border + round(count * _WIDEST_SHADOW)]
    border += _shadow(rest, paper)
    return border / count + _MARGIN if border else 0.0


def _shadow(lines: Pixels, paper: float) -> int:
    """Return how many lines lie in a shadow: even, and lighter from line to line."""
    level = np.percentile(lines, _PAPER_PERCENTILE, axis=1)
    is_even = lines.std(axis=1) < _SHADOW_DEVIATION
    is_rising = np.diff(level, append=paper) > -1
    length = _run((level < paper * _SHADED) & is_even & is_rising)
    return 0 if length == len(lines) else length


def _run(flags: npt.NDArray[np.bool_]) -> int:
    """Return how many flags are set before the first that is not."""
    return len(flags) if flags.all() else int(np.argmin(flags))


def measure_paper(grey: Pixels) -> float | None:
    """Return the grey level of the paper.

    Args:
        grey: From `shrink_to_grey`.

    Returns:
        None where the page is too dark to tell its paper from a frame.
    """
    paper = float(np.percentile(grey[::4, ::4], _PAPER_PERCENTILE))
    return paper if paper >= _DARKEST_PAPER else None


def shrink_to_grey(pixels: Pixels) -> Pixels:
    """Return the thumbnail that borders are looked for on.

    Args:
        pixels: uint8 RGB (H, W, 3) or grey (H, W).

    Returns:
        uint8 grey (h, w), at most 600 px on its long side.
    """
    height, width = pixels.shape[:2]
    scale = min(1.0, _LOOK_PX / max(width, height))
    size = (max(1, round(width * scale)), max(1, round(height * scale)))
    small = cv2.resize(pixels, size, interpolation=cv2.INTER_AREA)
    grey = cv2.cvtColor(small, cv2.COLOR_RGB2GRAY) if small.ndim == 3 else small
    return np.asarray(grey, dtype=np.uint8)
