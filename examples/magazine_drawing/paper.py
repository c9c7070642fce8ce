"""Turns clean ink into a scan: press, aged paper, show-through, skew, light and sensor."""

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from examples.magazine_drawing.noise import Field, cloud_field

Rgb = NDArray[np.uint8]


@dataclass(frozen=True, slots=True)
class Ageing:
    """How a leaf has fared, drawn once a page from its random source.

    Attributes:
        paper: Colour of the sheet, RGB 0..255.
        ink: Colour of the ink, RGB 0..255.
        skew_deg: How far it lies turned on the glass, counted clockwise.
        stains: Number of water stains.
        gutter: Where the binding is: -1 left, 1 right, 0 in the middle (a spread).
        show_through: How much of the other side can be seen, 0..1.
    """

    paper: tuple[float, float, float]
    ink: tuple[float, float, float]
    skew_deg: float
    stains: int
    gutter: int
    show_through: float


def draw_ageing(rng: np.random.Generator, gutter: int) -> Ageing:
    """Choose how a leaf has aged; leaves of one issue differ a little."""
    tan = float(rng.uniform(0.2, 1.0))
    paper = (240 - 12 * tan, 229 - 21 * tan, 205 - 44 * tan)
    ink = (44 + 8 * tan, 38 + 5 * tan, 34.0)
    return Ageing(
        paper=paper,
        ink=ink,
        skew_deg=float(np.clip(rng.normal(0, 0.55), -1.4, 1.4)),
        stains=int(rng.integers(0, 3)),
        gutter=gutter,
        show_through=float(rng.uniform(0.05, 0.12)),
    )


def press(
    ink: NDArray[np.uint8], dots: NDArray[np.uint8], dpi: float, rng: np.random.Generator
) -> Field:
    """Print: ink spreads a little into the paper and lies unevenly.

    Args:
        ink: Type and line blocks, uint8 (H, W), 255 = printed.
        dots: Halftones, likewise; their dots are too fine to be seen to spread.
        dpi: Pixels per inch.
        rng: Source of randomness.

    Returns:
        Ink 0..1 (H, W).
    """
    soft = cv2.GaussianBlur(ink.astype(np.float32) / 255, (0, 0), 0.0028 * dpi)
    patches = cloud_field(ink.shape, dpi * 1.5, rng)
    speckle = cloud_field(ink.shape, dpi / 60, rng)
    spread = (soft - 0.38 + 0.035 * patches + 0.05 * speckle) * 2.2 + 0.5
    density = np.clip(0.9 + 0.04 * patches + 0.05 * speckle, 0.6, 1)
    lines = np.clip(spread, 0, 1) * (soft > 0.02)
    return np.asarray(np.maximum(lines, dots / 255) * density, np.float32)


def age(ink: Field, back: Field, ageing: Ageing, dpi: float, rng: np.random.Generator) -> Field:
    """Lay ink on an old sheet.

    Args:
        ink: Ink 0..1 of this side (H, W).
        back: Ink 0..1 of the other side as it is read there (H, W).
        ageing: How the leaf has fared.
        dpi: Pixels per inch.
        rng: Source of randomness.

    Returns:
        Colour 0..255 (H, W, 3), float32.
    """
    ghost = cv2.GaussianBlur(back[:, ::-1], (0, 0), 0.018 * dpi)
    tone = 1 + 0.012 * cloud_field(ink.shape, dpi * 2, rng)
    tone += 0.006 * cloud_field(ink.shape, dpi / 25, rng) - ageing.show_through * ghost
    browning = _browning(ink.shape, ageing, dpi, rng)
    sheet = np.asarray(ageing.paper, np.float32) * tone[..., None]
    # Old paper browns: it loses blue first, then green.
    sheet *= 1 - browning[..., None] * np.array([0.16, 0.27, 0.42], np.float32)
    cover = ink[..., None]
    return np.asarray(sheet * (1 - cover) + np.asarray(ageing.ink, np.float32) * cover, np.float32)


def _browning(
    shape: tuple[int, int], ageing: Ageing, dpi: float, rng: np.random.Generator
) -> Field:
    """Brown edges, fox marks and water stains, 0..1."""
    height, width = shape
    ys, xs = np.mgrid[0:height, 0:width].astype(np.float32)
    edge = np.minimum(np.minimum(xs, width - xs), np.minimum(ys, height - ys)) / dpi
    wander = 0.07 * cloud_field(shape, dpi * 0.8, rng)
    brown = 0.42 * np.exp(-np.clip(edge + wander, 0, None) / 0.2)
    for _ in range(int(rng.poisson(14 * height * width / dpi**2 / 88))):
        cx, cy = rng.uniform(0, width), rng.uniform(0, height)
        radius = float(rng.gamma(2.0, 0.018)) * dpi
        x0, x1 = max(int(cx - 4 * radius), 0), min(int(cx + 4 * radius) + 1, width)
        y0, y1 = max(int(cy - 4 * radius), 0), min(int(cy + 4 * radius) + 1, height)
        away = (xs[y0:y1, x0:x1] - cx) ** 2 + (ys[y0:y1, x0:x1] - cy) ** 2
        brown[y0:y1, x0:x1] += float(rng.uniform(0.15, 0.5)) * np.exp(-away / (2 * radius**2))
    for _ in range(ageing.stains):
        brown += _stain(xs / dpi, ys / dpi, (width / dpi, height / dpi), rng)
    return np.asarray(np.clip(brown, 0, 1), np.float32)


def _stain(xs: Field, ys: Field, size_in: tuple[float, float], rng: np.random.Generator) -> Field:
    """A dried water stain that came in from an edge: faint inside, a brown tide line round it."""
    cx = float(rng.choice([0.0, size_in[0]])) + float(rng.normal(0, 0.3))
    cy = float(rng.uniform(0, size_in[1]))
    radius = float(rng.uniform(0.7, 2.2))
    ragged = 0.16 * cloud_field(xs.shape, 0.5 * xs.shape[1] / size_in[0], rng)
    away = np.hypot((xs - cx) / 1.2, ys - cy) + ragged - radius
    inside = 0.06 / (1 + np.exp(np.clip(away / 0.03, -30, 30)))
    line = 0.22 * np.exp(np.clip(away, None, 0) / 0.09) * (away < 0.0)
    return np.asarray(inside + line, np.float32)


def skew_matrix(size: tuple[int, int], skew_deg: float, shrink: float) -> NDArray[np.float32]:
    """The 2x3 matrix that puts the sheet on the glass: turned and a little smaller."""
    width, height = size
    return np.asarray(
        cv2.getRotationMatrix2D((width / 2, height / 2), -skew_deg, shrink), np.float32
    )


def scan(sheet: Field, ageing: Ageing, dpi: float, rng: np.random.Generator) -> Rgb:
    """Lay the sheet on a scanner and read it.

    Returns:
        The scan, uint8 RGB (H, W, 3), of the sheet's own size in pixels.
    """
    height, width = sheet.shape[:2]
    lit = sheet * _light((height, width), ageing, dpi, rng)[..., None]
    matrix = skew_matrix((width, height), ageing.skew_deg, 0.985)
    cover = cv2.warpAffine(np.ones((height, width), np.float32), matrix, (width, height))
    laid = cv2.warpAffine(lit, matrix, (width, height), borderMode=cv2.BORDER_REPLICATE)
    shadow = cv2.GaussianBlur(cover, (0, 0), 0.05 * dpi)[..., None]
    board = np.array([58, 55, 52], np.float32) * (1 - 0.55 * shadow) + 6
    image = laid * cover[..., None] + board * (1 - cover[..., None])
    return _read(np.asarray(image, np.float32), dpi, rng)


def _light(shape: tuple[int, int], ageing: Ageing, dpi: float, rng: np.random.Generator) -> Field:
    """Uneven lamp and the shadow that falls into the binding."""
    height, width = shape
    xs = np.linspace(0, width / dpi, width, dtype=np.float32)
    if ageing.gutter == 0:
        away = np.abs(xs - xs[-1] / 2)
    else:
        away = xs if ageing.gutter < 0 else xs[-1] - xs
    gutter = 1 - 0.3 * np.exp(-away / 0.16) - 0.1 * np.exp(-away / 0.7)
    lamp = 1 + 0.02 * np.sin(np.linspace(0, 2, height) + rng.uniform(0, 6))
    return np.asarray(lamp[:, None] * gutter[None, :], np.float32)


def _read(image: Field, dpi: float, rng: np.random.Generator) -> Rgb:
    """Optics, sensor noise, the faint streaks of a scanner's line sensor, dust."""
    height, width = image.shape[:2]
    soft = np.asarray(cv2.GaussianBlur(image, (0, 0), 0.32 + dpi / 1000), np.float32)
    soft += rng.normal(0, 1.2, (height, width)).astype(np.float32)[..., None]
    soft += rng.normal(0, 0.6, (height, width, 3)).astype(np.float32)
    soft += rng.normal(0, 0.6, (1, width, 1)).astype(np.float32)
    for _ in range(int(rng.poisson(5))):
        x, y = int(rng.integers(0, width)), int(rng.integers(0, height))
        turn = float(rng.uniform(0, np.pi))
        length = dpi * float(rng.uniform(0.01, 0.06))
        end = (round(x + length * np.cos(turn)), round(y + length * np.sin(turn)))
        cv2.line(soft, (x, y), end, (70.0, 66.0, 62.0), 1, cv2.LINE_AA)
    return np.asarray(np.clip(np.rint(soft), 0, 255), np.uint8)
