"""Finds the dots of a printed halftone and smooths them away; pure.

A halftone is a square lattice of dots, so its spectrum has two peaks of about the same strength at
a right angle. Hatching has one direction; an engraver's cross-hatching may still pass for a
lattice, which is why this step is asked for and never done by default.
"""

import cv2
import numpy as np
import numpy.typing as npt

Pixels = npt.NDArray[np.uint8]
Spectrum = npt.NDArray[np.float32]

_TILE_PX = 256
_MOST_TILES = 9
# Periods in pixels. Finer dots than that are gone already, coarser ones are drawing.
_FINEST_PERIOD = 2.2
_COARSEST_PERIOD = 12.0
_PEAK_OVER_MEDIAN = 14.0
_SECOND_PEAK_SHARE = 0.35
_RIGHT_ANGLE_TOLERANCE = 12.0
_BLUR_PER_PERIOD = 0.45


def find_screen(pixels: Pixels) -> float:
    """Find the period of a halftone screen.

    Args:
        pixels: uint8 RGB (H, W, 3) or grey (H, W).

    Returns:
        Distance between the dots in pixels; 0 where there is no screen.
    """
    grey = cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY) if pixels.ndim == 3 else pixels
    tiles = _busiest_tiles(np.asarray(grey, dtype=np.uint8))
    periods = [period for tile in tiles if (period := _tile_period(tile))]
    return float(np.median(periods)) if len(periods) >= 2 else 0.0


def smooth_screen(pixels: Pixels, period_px: float) -> Pixels:
    """Smooth dots of a period away.

    Args:
        pixels: uint8 RGB (H, W, 3) or grey (H, W).
        period_px: Distance between the dots.
    """
    blurred = cv2.GaussianBlur(pixels, (0, 0), period_px * _BLUR_PER_PERIOD)
    return np.asarray(blurred, dtype=np.uint8)


def _busiest_tiles(grey: Pixels) -> list[Pixels]:
    """Return the tiles with the strongest contrast."""
    height, width = grey.shape
    tiles = [
        grey[top : top + _TILE_PX, left : left + _TILE_PX]
        for top in range(0, height - _TILE_PX + 1, _TILE_PX)
        for left in range(0, width - _TILE_PX + 1, _TILE_PX)
    ]
    return sorted(tiles, key=lambda tile: -float(cv2.meanStdDev(tile)[1][0, 0]))[:_MOST_TILES]


def _tile_period(tile: Pixels) -> float:
    """Return the period of the screen in a tile, 0 where it has none."""
    window = np.hanning(_TILE_PX).astype(np.float32)
    windowed = (tile.astype(np.float32) - float(tile.mean())) * np.outer(window, window)
    spectrum = np.abs(np.fft.fftshift(np.fft.fft2(windowed))).astype(np.float32)
    rows, columns = np.indices(spectrum.shape) - _TILE_PX // 2
    distance = np.hypot(rows, columns)
    in_band = (distance > _TILE_PX / _COARSEST_PERIOD) & (distance < _TILE_PX / _FINEST_PERIOD)
    angle = np.degrees(np.arctan2(rows, columns)) % 180
    banded = np.where(in_band, spectrum, 0)
    peak = np.unravel_index(int(np.argmax(banded)), banded.shape)
    strength = float(banded[peak])
    if strength < _PEAK_OVER_MEDIAN * float(np.median(spectrum[in_band])):
        return 0.0
    apart = np.abs((angle - angle[peak] + 180) % 180 - 90)
    same_period = np.abs(distance / distance[peak] - 1) < 0.1
    partner = banded[same_period & (apart < _RIGHT_ANGLE_TOLERANCE)]
    has_partner = partner.size > 0 and float(partner.max()) > _SECOND_PEAK_SHARE * strength
    return float(_TILE_PX / distance[peak]) if has_partner else 0.0
