"""Finds how slanted a scanned page is by its lines of type and rules, and turns it; pure."""

import cv2
import numpy as np
import numpy.typing as npt

Pixels = npt.NDArray[np.uint8]
GreySample = npt.NDArray[np.float32]

_LOOK_PX = 500
_MOST_DEGREES = 3.5
_COARSE_STEP = 0.5
_FINE_STEP = 0.1
# A turn blurs a little, so it must be worth it; a flat bed gives less than this by itself.
_LEAST_DEGREES = 0.4
# Lines that run level make the profile of the rows this much rougher than at any other angle.
# Pages of pictures alone, without type or rules, stay below it and are left as they are.
_LEAST_GAIN = 1.5
_SIDE_DEGREES = 1.5
# A frame whose sides stand upright by this much contradicts level lines that slant: then the lines
# are hatching, such as the sky of an engraving.
_UPRIGHT_GAIN = 2.0
_STRIPS = 32
_QUARTERS = 4


def find_slant(pixels: Pixels) -> float:
    """Find by how many degrees a page must be turned to be upright.

    Args:
        pixels: uint8 RGB (H, W, 3) or grey (H, W).

    Returns:
        Degrees, positive against the clock; 0 where it is upright, nothing shows how it lies, or
        its level and its upright lines disagree.
    """
    edges = _edges(pixels)
    strips, width = _strip_profiles(edges), edges.shape[1]
    coarse = np.arange(-_MOST_DEGREES, _MOST_DEGREES + _COARSE_STEP, _COARSE_STEP)
    roughness = np.array([_roughness(strips, angle, width) for angle in coarse])
    near = float(coarse[np.argmax(roughness)])
    fine = near + np.arange(-_COARSE_STEP, _COARSE_STEP + _FINE_STEP, _FINE_STEP)
    values = np.array([_roughness(strips, angle, width) for angle in fine])
    best = round(float(fine[np.argmax(values)]), 1)
    if abs(best) < _LEAST_DEGREES or abs(best) >= _MOST_DEGREES:
        return 0.0
    apart = roughness[np.abs(coarse - best) >= _SIDE_DEGREES]
    upright = _roughness(strips, 0.0, width)
    is_clear = values.max() >= _LEAST_GAIN * max(float(np.median(apart)), 1e-9)
    is_slanted = is_clear and values.max() > upright
    return best if is_slanted and not _stands_upright(pixels, best) else 0.0


def turn(pixels: Pixels, degrees: float, background: tuple[int, int, int]) -> Pixels:
    """Turn a page about its middle; its size stays, and the corners are filled.

    Args:
        pixels: uint8 RGB (H, W, 3) or grey (H, W).
        degrees: Positive against the clock.
        background: Colour of the corners, as red, green and blue.
    """
    height, width = pixels.shape[:2]
    matrix = cv2.getRotationMatrix2D(((width - 1) / 2, (height - 1) / 2), degrees, 1.0)
    fill = background if pixels.ndim == 3 else (sum(background) // 3,)
    turned = cv2.warpAffine(
        pixels, matrix, (width, height), flags=cv2.INTER_CUBIC, borderValue=fill
    )
    return np.asarray(turned, dtype=np.uint8)


def _stands_upright(pixels: Pixels, degrees: float) -> bool:
    """Return whether the page's upright lines say that it would be wrong to turn it."""
    edges = _edges(np.swapaxes(pixels, 0, 1))
    strips, width = _strip_profiles(edges), edges.shape[1]
    as_it_is, turned = (_roughness(strips, angle, width) for angle in (0.0, -degrees))
    return as_it_is > _UPRIGHT_GAIN * turned


def _edges(pixels: Pixels) -> GreySample:
    """Return where a thumbnail changes from line to line: type and rules, but no wide tones."""
    height, width = pixels.shape[:2]
    scale = min(1.0, _LOOK_PX / max(width, height))
    size = (max(8, round(width * scale)), max(8, round(height * scale)))
    small = cv2.resize(pixels, size, interpolation=cv2.INTER_AREA)
    grey = cv2.cvtColor(small, cv2.COLOR_RGB2GRAY) if small.ndim == 3 else small
    edges = np.abs(cv2.Sobel(grey, cv2.CV_32F, 0, 1))
    margin_x, margin_y = size[0] // 25, size[1] // 25  # what is left of borders
    return np.asarray(edges[margin_y : size[1] - margin_y, margin_x : size[0] - margin_x])


def _strip_profiles(edges: GreySample) -> GreySample:
    """Return the rows of each upright strip as one value a row, in quarters of a row.

    Turning by a small angle moves the strips up and down against each other, and that is all that
    the profile of the rows shows of it: so whole pictures need not be turned.
    """
    height = len(edges)
    profiles = cv2.resize(edges, (_STRIPS, height), interpolation=cv2.INTER_AREA)
    finer = cv2.resize(profiles, (_STRIPS, height * _QUARTERS), interpolation=cv2.INTER_LINEAR)
    return np.asarray(finer, dtype=np.float32)


def _roughness(strips: GreySample, degrees: float, width: float) -> float:
    """Return how much neighbouring rows differ when the page is turned."""
    slope = np.tan(np.radians(degrees))
    middles = (np.arange(_STRIPS) + 0.5) / _STRIPS - 0.5
    shifts = np.rint(_QUARTERS * slope * width * middles).astype(np.intp)
    reach = int(_QUARTERS * np.tan(np.radians(_MOST_DEGREES)) * width / 2) + _QUARTERS
    reach = min(reach, len(strips) // 4)
    rows = np.arange(reach, len(strips) - reach, _QUARTERS)
    places = np.clip(rows[:, None] + shifts, 0, len(strips) - 1)
    profile = strips[places, np.arange(_STRIPS)].sum(axis=1)
    return float(np.square(np.diff(profile)).mean())
