"""Takes the yellow out of aged paper and leaves what has a colour of its own; pure.

Printing ink is black, so every tone of a black-and-white print on aged paper lies between black and
the colour of the paper. Such pixels lose their colour and keep their luma exactly; pixels off that
line (a coloured plate, a stamp, blue pencil) are left as they are.
"""

import cv2
import numpy as np
import numpy.typing as npt

Pixels = npt.NDArray[np.uint8]
Colour = tuple[int, int, int]

_NEUTRAL = 128
# Chroma, in levels of Cr and Cb (128 is grey).
_LEAST_CHROMA = 3
_MOST_CHROMA = 40
_SURELY_PAPER = 6
_SURELY_COLOUR = 16
_DARKEST_PAPER = 120
# How much of a page's margin must look like the paper before it is taken for paper.
_MARGIN_SHARE = 0.04
_LEAST_PAPER_SHARE = 0.4
_SAMPLE_PX = 200
_PAPER_TOLERANCE = 30


def is_aged_paper(pixels: Pixels, paper: Colour) -> bool:
    """Say whether a page lies on paper that has yellowed.

    A coloured cover or a painting has no such margin, and its colours must stay.

    Args:
        pixels: uint8 RGB (H, W, 3); the page without the scanner's borders.
        paper: The colour that its paper seems to have.
    """
    luma, cr, cb = _to_luma_chroma(paper)
    chroma = max(abs(cr), abs(cb))
    # Paper yellows towards red and away from blue; anything else is a colour that was chosen.
    is_yellowed = cr >= 0 and cb <= 0 and _LEAST_CHROMA <= chroma <= _MOST_CHROMA
    if not is_yellowed or luma < _DARKEST_PAPER:
        return False
    margin = _margin_pixels(pixels).reshape(-1, 1, 3)
    darkest = [max(0, level - _PAPER_TOLERANCE) for level in paper]
    lightest = [min(255, level + _PAPER_TOLERANCE) for level in paper]
    is_paper = cv2.inRange(margin, np.array(darkest, np.uint8), np.array(lightest, np.uint8))
    return cv2.countNonZero(is_paper) >= _LEAST_PAPER_SHARE * len(margin)


def neutralise(pixels: Pixels, paper: Colour) -> Pixels:
    """Take the paper's colour out of everything that is paper, black ink, or between them.

    Args:
        pixels: uint8 RGB (H, W, 3).
        paper: Colour of the paper.

    Returns:
        New pixels of the same luma.
    """
    channels = cv2.split(cv2.cvtColor(pixels, cv2.COLOR_RGB2YCrCb))
    luma, cr, cb = (np.asarray(channel, dtype=np.uint8) for channel in channels)
    paper_luma, paper_cr, paper_cb = _to_luma_chroma(paper)
    tint_cr, tint_cb = _tint(luma, paper_cr / paper_luma), _tint(luma, paper_cb / paper_luma)
    strangeness = cv2.max(cv2.absdiff(cr, tint_cr), cv2.absdiff(cb, tint_cb))
    weight = np.asarray(cv2.LUT(strangeness, _paper_weights()), dtype=np.uint8)
    toned = [luma, _fade(cr, tint_cr, weight), _fade(cb, tint_cb, weight)]
    return np.asarray(cv2.cvtColor(cv2.merge(toned), cv2.COLOR_YCrCb2RGB), dtype=np.uint8)


def _tint(luma: Pixels, chroma_per_luma: float) -> Pixels:
    """Return the chroma (128 is none) that paper or ink of each luma has."""
    table = _NEUTRAL + chroma_per_luma * np.arange(256)
    tint = cv2.LUT(luma, np.clip(np.rint(table), 0, 255).astype(np.uint8))
    return np.asarray(tint, dtype=np.uint8)


def _paper_weights() -> Pixels:
    """Return, for each distance from the line of paper and ink, how surely it is on it (0-255)."""
    distance = np.arange(256)
    share = (_SURELY_COLOUR - distance) / (_SURELY_COLOUR - _SURELY_PAPER)
    return (np.clip(share, 0, 1) * 255).astype(np.uint8)


def _fade(chroma: Pixels, tint: Pixels, weight: Pixels) -> Pixels:
    """Return the chroma without the tint, where the weight says so."""
    excess = tint.astype(np.int16) - _NEUTRAL
    removed = cv2.multiply(excess, weight, scale=1 / 255, dtype=cv2.CV_16S)
    return np.asarray(cv2.subtract(chroma, removed, dtype=cv2.CV_8U), dtype=np.uint8)


def _to_luma_chroma(colour: Colour) -> tuple[int, int, int]:
    pixel = np.array([[colour]], dtype=np.uint8)
    luma, cr, cb = cv2.cvtColor(pixel, cv2.COLOR_RGB2YCrCb)[0, 0].astype(int)
    return int(luma), int(cr) - _NEUTRAL, int(cb) - _NEUTRAL


def _margin_pixels(pixels: Pixels) -> Pixels:
    """Return samples of a page's outermost rows and columns, as many of each side; (N, 3)."""
    height, width = pixels.shape[:2]
    down, across = (max(1, round(side * _MARGIN_SHARE)) for side in (height, width))
    depth = round(_SAMPLE_PX * _MARGIN_SHARE)
    flat, upright = (_SAMPLE_PX, depth), (depth, _SAMPLE_PX)
    strips = (
        (pixels[:down], flat),
        (pixels[-down:], flat),
        (pixels[:, :across], upright),
        (pixels[:, -across:], upright),
    )
    return np.concatenate([_sample(strip, size).reshape(-1, 3) for strip, size in strips])


def _sample(strip: Pixels, size: tuple[int, int]) -> Pixels:
    """Shrink a strip, each pixel the mean of about four taken from its place."""
    across, down = (max(1, strip.shape[1 - axis] // (2 * size[axis])) for axis in (0, 1))
    thinned = np.ascontiguousarray(strip[::down, ::across])
    return np.asarray(cv2.resize(thinned, size, interpolation=cv2.INTER_AREA), np.uint8)
