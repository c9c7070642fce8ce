"""Decides whether a page is kept, from its grey pixels alone; pure."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import cv2
import numpy as np
import numpy.typing as npt

from archive_tools.config import PageFilter
from archive_tools.resampling import halve, resize_triangle
from archive_tools.schema import Decision

RgbPixels = npt.NDArray[np.uint8]
GreyPixels = npt.NDArray[np.uint8]

# MuPDF halves a picture as often as it stays larger than what is asked for, and then shrinks it
# with a smooth filter between a box and a triangle in width: the variance that it leaves lies
# between that of the halved picture and that after a triangle filter.
_TRIANGLE_SHARE = 0.85
_LARGER_BY_PX = 2
_LINE_STEP, _SAMPLED_LINE = 8, 4

# Errors of the looks (estimate less truth) over 242 scans at 72 to 400 dpi and 80 drawn pages, with
# a reserve of about a third.
_SCAN_ERRORS = (-1.2, 2.2)
_PDFIUM_ERRORS = (-2.0, 4.0)
_PDFIUM_BITONAL_ERRORS = (-2.5, 10.0)  # it leaves one-bit print sharper

# Of the variance that a halving takes, so many times as much is found at each finer octave: in the
# middle, and in 95 of 100 scans; the constant is for noise, which shows only at the finest.
_LIKELY_GAIN = 1.0
_MOST_GAIN = 2.5
_NOISE_VARIANCE = 25.0

# Engraved lines vanish in a glance and leave a smooth grey: below so much of the paper's brightness
# a smooth part may be lines of ink on paper. Text is not smooth even at 32 dpi.
_MIDTONE_SHARE = 0.88
_SMOOTH_RANGE = 24
_INK_SHARE = 0.15
_PAPER_SHARE = 0.95  # at most this share of a page is darker than its paper


@dataclass(frozen=True, slots=True)
class Look:
    """What one look at a page says of its sigma at 144 dpi.

    Attributes:
        sigma: The estimate.
        least: The true value is above this.
        most: The true value is at most this.
    """

    sigma: float
    least: float
    most: float

    def settles(self, min_sigma: float) -> bool:
        """Return whether this look is certain on which side of a threshold the page lies."""
        return self.least > min_sigma or self.most <= min_sigma


def exact_look(grey: GreyPixels) -> Look:
    """Return the look that is the definition: the page rendered at 144 dpi.

    Args:
        grey: Pixels, uint8 (H, W).
    """
    sigma = measure_sigma(grey)
    return Look(sigma, sigma - 1e-9, sigma)


def look_long_enough(looks: Iterable[Look], min_sigma: float) -> Look:
    """Take finer and finer looks until one is certain; the last one decides in any case.

    Args:
        looks: From the coarsest to the finest, taken only as far as needed; at least one.
        min_sigma: The threshold; minus infinity where every page is kept.
    """
    last: Look | None = None
    for look in looks:
        last = look
        if look.settles(min_sigma):
            break
    if last is None:
        raise ValueError("a page needs at least one look")
    return last


def to_grey(pixels: RgbPixels) -> GreyPixels:
    """Return the luma of a picture.

    Args:
        pixels: uint8 RGB (H, W, 3), or grey (H, W) already.

    Returns:
        Pixels, uint8 (H, W).
    """
    if pixels.ndim == 2:
        return pixels
    return np.asarray(cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY), dtype=np.uint8)


class GreyMemory:
    """The grey of a picture that is asked for more than once."""

    def __init__(self) -> None:
        """Remember nothing yet."""
        self._pixels: RgbPixels | None = None
        self._grey: GreyPixels | None = None

    def of(self, pixels: RgbPixels) -> GreyPixels:
        """Return the luma of a picture, made anew only where it is another than the last one.

        Args:
            pixels: uint8 RGB (H, W, 3), or grey (H, W) already; not written to in between.
        """
        if self._grey is None or pixels is not self._pixels:
            self._pixels, self._grey = pixels, to_grey(pixels)
        return self._grey


def measure_sigma(grey: GreyPixels) -> float:
    """Return the standard deviation of the grey values, 0 to 127.5.

    The same number as `grey.std()`, without numpy's float64 copy of the page.
    """
    _, deviation = cv2.meanStdDev(grey)
    return float(deviation[0, 0])


def decide_by_sigma(sigma: float, min_sigma: float) -> Decision:
    """Keep a page when its contrast is above the threshold, as the article does.

    Args:
        sigma: Standard deviation of the grey page at 144 dpi.
        min_sigma: The threshold; a page that only reaches it is dropped.
    """
    keep = sigma > min_sigma
    sign = ">" if keep else "<="
    return Decision(keep=keep, score=sigma, reason=f"sigma {sigma:.1f} {sign} {min_sigma:g}")


def decide(looks: Iterable[Look], page_filter: PageFilter, min_sigma: float) -> Decision:
    """Apply the chosen rule to a page.

    Args:
        looks: From the coarsest to the finest, taken only as far as needed; at least one.
        page_filter: The rule.
        min_sigma: The threshold of the sigma rule.
    """
    sigma = look_long_enough(looks, least_sigma(page_filter, min_sigma)).sigma
    if page_filter is PageFilter.NONE:
        return Decision(keep=True, score=sigma, reason="every page is kept")
    return decide_by_sigma(sigma, min_sigma)


def least_sigma(page_filter: PageFilter, min_sigma: float) -> float:
    """Return the sigma that decides; minus infinity where sigma decides nothing."""
    return min_sigma if page_filter is PageFilter.SIGMA else -math.inf


def estimate_look(grey: GreyPixels, reference_size: tuple[int, int]) -> Look:
    """Estimate a page's sigma at 144 dpi from its picture at that resolution or a finer one.

    Args:
        grey: The picture, uint8 (H, W).
        reference_size: Width and height of the page at 144 dpi.
    """
    halved = halve(grey, _count_halvings(grey, reference_size))
    own = measure_sigma(halved)
    resampled = measure_sigma(resize_triangle(halved, reference_size))
    variance = _TRIANGLE_SHARE * resampled**2 + (1 - _TRIANGLE_SHARE) * own**2
    return _look_within(math.sqrt(variance), _SCAN_ERRORS)


def guess_sigma(grey: GreyPixels, reference_size: tuple[int, int]) -> float:
    """Guess a page's sigma at 144 dpi at a third of the price of an estimate.

    What shrinking takes is measured on every eighth row and on every eighth column. On 61 real
    scans taken for 160 to 300 dpi this lay between 1.4 below and 0.15 above `estimate_look`.

    Args:
        grey: The picture, uint8 (H, W).
        reference_size: Width and height of the page at 144 dpi.
    """
    halved = halve(grey, _count_halvings(grey, reference_size))
    rows = np.ascontiguousarray(halved[_SAMPLED_LINE::_LINE_STEP])
    columns = np.ascontiguousarray(halved[:, _SAMPLED_LINE::_LINE_STEP])
    own = measure_sigma(halved)
    if not (own and rows.size and columns.size):
        return own
    left = 1.0
    for sample, size in (
        (rows, (reference_size[0], rows.shape[0])),
        (columns, (columns.shape[1], reference_size[1])),
    ):
        if before := measure_sigma(sample):
            left *= measure_sigma(resize_triangle(sample, size)) / before
    return own * math.sqrt(_TRIANGLE_SHARE * left**2 + 1 - _TRIANGLE_SHARE)


def _count_halvings(grey: GreyPixels, reference_size: tuple[int, int]) -> int:
    """Return how often MuPDF would halve a picture before it shrinks it to a size."""
    halvings = 0
    while (
        grey.shape[1] >> (halvings + 1) >= reference_size[0] + _LARGER_BY_PX
        and grey.shape[0] >> (halvings + 1) >= reference_size[1] + _LARGER_BY_PX
    ):
        halvings += 1
    return halvings


def rendered_look(grey: GreyPixels, is_bitonal: bool) -> Look:
    """Return the look at a page that PDFium rendered at 180 dpi.

    Its filters are softer than MuPDF's, so its 180 dpi have the contrast of MuPDF's 144.

    Args:
        grey: Pixels, uint8 (H, W).
        is_bitonal: Whether the page has one-bit pictures.
    """
    errors = _PDFIUM_BITONAL_ERRORS if is_bitonal else _PDFIUM_ERRORS
    return _look_within(measure_sigma(grey), errors)


def _look_within(sigma: float, errors: tuple[float, float]) -> Look:
    """Return a look whose estimate lies that far below to that far above the truth."""
    return Look(sigma, least=sigma - errors[1], most=sigma - errors[0])


def coarse_look(grey: GreyPixels, octaves: float) -> Look:
    """Estimate a page's sigma at 144 dpi from a far smaller picture of it.

    How much the finer scales add is judged by what the last halving took away. This look settles
    only that a page is dropped: one that is kept is decoded finely anyway, and then measured.

    Args:
        grey: The page, uint8 (H, W).
        octaves: How often it would have to be doubled to have all the detail of 144 dpi.
    """
    variance = measure_sigma(grey) ** 2
    lost = max(0.0, variance - measure_sigma(halve(grey, 1)) ** 2)
    likely = math.sqrt(variance + _LIKELY_GAIN * octaves * lost)
    unseen = _MOST_GAIN * octaves * lost + _NOISE_VARIANCE + _hidden_variance(grey)
    return Look(likely, -math.inf, math.sqrt(variance + unseen))


def _hidden_variance(grey: GreyPixels) -> float:
    """Return the variance that a glance would not see if its smooth greys were engraved lines.

    Args:
        grey: The page at some 36 dpi, uint8 (H, W).
    """
    around = np.ones((3, 3), np.uint8)
    is_smooth = cv2.morphologyEx(grey, cv2.MORPH_GRADIENT, around) < _SMOOTH_RANGE
    levels = np.arange(256)
    paper = int(np.searchsorted(np.cumsum(_count_levels(grey)), _PAPER_SHARE * grey.size))
    ink = _INK_SHARE * paper
    midtones = _count_levels(grey, is_smooth.astype(np.uint8)) * (levels < _MIDTONE_SHARE * paper)
    # Lines of ink on paper whose mean is m have the variance (paper - m)(m - ink).
    spread = np.maximum((paper - levels) * (levels - ink), 0)
    return float(midtones @ spread / grey.size)


def _count_levels(grey: GreyPixels, mask: GreyPixels | None = None) -> npt.NDArray[np.float64]:
    """Return how many pixels have each of the 256 levels, of all or of those in the mask."""
    counts = cv2.calcHist([grey], [0], mask, [256], [0, 256])
    return np.asarray(counts, dtype=np.float64).ravel()
