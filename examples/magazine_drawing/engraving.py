"""Draws like a wood engraver: tone becomes lines that follow the form and swell in the shade."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from examples.magazine_drawing.noise import Field, cloud_field

Points = Sequence[tuple[float, float]]
# Adds relief to a form: takes x and y in plate units, gives height in plate units.
Relief = Callable[[Field, Field], Field]

_SUBPIXEL_BITS = 4
_LIGHT = np.array([-0.55, -0.55, 0.63], np.float32)
_INFLATION_GRID_PX = 72


@dataclass(frozen=True, slots=True)
class Burin:
    """How a form is cut.

    Attributes:
        tone: Darkness of the side that faces the light, 0 (white) to 1 (black).
        contrast: How much darker the shaded side is.
        angle_deg: Direction of the lines, 0 = horizontal, counted clockwise.
        pitch: Distance between lines, 1 = the plate's usual distance.
        bend: How far the lines bend over the form; 0 = straight.
        edge: Width of the outline in plate units; 0 = none.
    """

    tone: float = 0.15
    contrast: float = 0.7
    angle_deg: float = 0.0
    pitch: float = 1.0
    bend: float = 0.8
    edge: float = 0.25


def smooth_curve(points: Points, closed: bool, steps: int = 12) -> NDArray[np.float32]:
    """Run a Catmull-Rom curve through points; a point given twice makes a corner.

    Returns:
        Vertices (N, 2), float32, in the units of the points.
    """
    knots = np.asarray(points, np.float32)
    around = np.concatenate(
        [knots[-1:], knots, knots[:2]] if closed else [knots[:1], knots, knots[-1:]]
    )
    p0, p1, p2, p3 = (around[i : len(around) - 3 + i, None, :] for i in range(4))
    t = np.linspace(0, 1, steps, endpoint=False, dtype=np.float32)[None, :, None]
    curve = 0.5 * (
        2 * p1
        + (p2 - p0) * t
        + (2 * p0 - 5 * p1 + 4 * p2 - p3) * t**2
        + (3 * p1 - p0 - 3 * p2 + p3) * t**3
    )
    vertices = curve.reshape(-1, 2)
    return vertices if closed else np.concatenate([vertices, knots[-1:]])


def mirrored(half: Points, axis: float) -> list[tuple[float, float]]:
    """Complete a right half, listed from top to bottom, to a closed symmetrical outline."""
    return [*half, *((2 * axis - x, y) for x, y in reversed(half))]


def inflate(mask: NDArray[np.uint8]) -> Field:
    """Blow a flat shape up like a cushion.

    Solves Poisson's equation on a small grid: its root is a half ball for a disc and a smooth
    cushion for anything else.

    Returns:
        Height in pixels (H, W), 0 outside the mask.
    """
    height, width = mask.shape
    scale = min(_INFLATION_GRID_PX / max(height, width), 1.0)
    grid = (max(round(width * scale), 3), max(round(height * scale), 3))
    small = cv2.resize(mask, grid, interpolation=cv2.INTER_AREA)
    inside = cv2.copyMakeBorder((small > 127).astype(np.float32), 1, 1, 1, 1, cv2.BORDER_CONSTANT)
    cross = np.array([[0, 0.25, 0], [0.25, 0, 0.25], [0, 0.25, 0]], np.float32)
    solution = np.zeros_like(inside)
    for _ in range(500):
        solution = (cv2.filter2D(solution, -1, cross) + 1) * inside
    fine = cv2.resize(solution[1:-1, 1:-1], (width, height), interpolation=cv2.INTER_CUBIC)
    return np.asarray(np.sqrt(np.maximum(fine, 0)) / scale, np.float32)


def cut_lines(darkness: Field, phase: Field) -> Field:
    """Turn darkness into lines.

    Args:
        darkness: Wanted darkness 0..1 (H, W).
        phase: Line number at each pixel; lines run where it is whole.

    Returns:
        Ink 0..1 (H, W), antialiased, of about the wanted darkness on average.
    """
    along_y, along_x = np.gradient(phase)
    lines_per_px = np.maximum(np.hypot(along_x, along_y), 1e-4)
    distance = np.abs(phase - np.round(phase)) / lines_per_px
    half_width = np.clip(darkness, 0, 0.92) / (2 * lines_per_px)
    return np.asarray(
        np.clip(half_width - distance + 0.5, 0, np.minimum(2 * half_width, 1)), np.float32
    )


class Plate:
    """A block being engraved.

    Attributes:
        ink: uint8 (H, W), 255 = black.
        unit_px: Pixels of a plate unit; the plate is 100 + headroom units tall.
        headroom: Units above y = 0, for what stands out over a drawing of 100 units.
        line_px: Usual distance between lines in pixels.
        mirror_at: While set, drawings come out mirrored at this x.
    """

    def __init__(
        self,
        size_px: tuple[int, int],
        line_px: float,
        rng: np.random.Generator,
        headroom: float = 0.0,
    ) -> None:
        """Start with a block of (width, height) pixels that prints nothing."""
        width_px, height_px = size_px
        self.ink: NDArray[np.uint8] = np.zeros((height_px, width_px), np.uint8)
        self.unit_px = height_px / (100 + headroom)
        self.headroom = headroom
        self.line_px = line_px
        self.mirror_at: float | None = None
        self.rng = rng

    @property
    def width(self) -> float:
        """Width in plate units."""
        return float(self.ink.shape[1] / self.unit_px)

    def fill(self, points: Points, ink: int = 255, closed_curve: bool = True) -> None:
        """Fill a shape with solid ink, or with paper (0)."""
        vertices = (
            smooth_curve(points, closed=True) if closed_curve else np.asarray(points, np.float32)
        )
        cv2.fillPoly(self.ink, [self._fixed(vertices)], ink, cv2.LINE_AA, _SUBPIXEL_BITS)

    def stroke(self, points: Points, width: float, tip: float = 0.3, ink: int = 255) -> None:
        """Cut one swelling line: full width in its middle, `tip` of it at the ends."""
        curve = smooth_curve(points, closed=False)
        run = np.gradient(curve, axis=0)
        normal = np.stack([-run[:, 1], run[:, 0]], 1)
        normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-6)
        swell = tip + (1 - tip) * np.sin(np.linspace(0, np.pi, len(curve)))[:, None]
        offset = normal * swell * width / 2
        ribbon = np.concatenate([curve + offset, (curve - offset)[::-1]])
        cv2.fillPoly(self.ink, [self._fixed(ribbon)], ink, cv2.LINE_AA, _SUBPIXEL_BITS)

    def form(self, outline: Points, burin: Burin, relief: Relief | None = None) -> None:
        """Engrave a closed form over what is there: shaded as if round, lines bent over it."""
        vertices = smooth_curve(outline, closed=True)
        window = self._window(vertices)
        mask = self._mask(vertices)[window]
        if mask.size == 0 or not mask.any():
            return
        height_px = inflate(mask)
        if relief is not None:
            ys, xs = np.mgrid[window].astype(np.float32) / self.unit_px
            xs = xs if self.mirror_at is None else 2 * self.mirror_at - xs
            height_px = height_px + relief(xs, ys - self.headroom) * self.unit_px
        cut = self._engrave(height_px, burin, (window[1].start, window[0].start))
        cover = mask.astype(np.float32) / 255
        under = self.ink[window].astype(np.float32)
        self.ink[window] = np.rint(under * (1 - cover) + cut * 255 * cover).astype(np.uint8)
        if burin.edge:
            self._outline(vertices, burin.edge)

    def _engrave(self, height_px: Field, burin: Burin, origin: tuple[int, int]) -> Field:
        """Cut the lines of one form; cross-hatching comes in where it is darker than half."""
        darkness = burin.tone + burin.contrast * self._shade(height_px)
        pitch_px = max(burin.pitch * self.line_px, 2.2)
        soft = cv2.GaussianBlur(height_px, (0, 0), 1.5 * pitch_px)
        wobble = 0.16 * cloud_field(height_px.shape, 14 * pitch_px, self.rng)
        ink = np.zeros_like(height_px)
        for turn_deg, start in ((0, 0.05), (58, 0.5), (-35, 0.78)):
            layer = (darkness - start) * (1.0 if turn_deg == 0 else 0.9)
            phase = _phase(height_px.shape, origin, burin.angle_deg + turn_deg, pitch_px)
            lines = cut_lines(layer, phase + burin.bend * soft / pitch_px + wobble)
            ink = 1 - (1 - ink) * (1 - lines)
        return np.asarray(ink, np.float32)

    def _shade(self, height_px: Field) -> Field:
        """Lambert's shade, 0 where the form faces the light, about 1 where it faces away."""
        smooth = cv2.GaussianBlur(height_px, (0, 0), 0.35 * self.unit_px)
        slope_x = cv2.Sobel(smooth, cv2.CV_32F, 1, 0, scale=0.125)
        slope_y = cv2.Sobel(smooth, cv2.CV_32F, 0, 1, scale=0.125)
        lit = _LIGHT[2] - slope_x * _LIGHT[0] - slope_y * _LIGHT[1]
        lit = lit / np.sqrt(1 + slope_x**2 + slope_y**2)
        return np.asarray(np.clip(0.95 - lit, 0, 1.3), np.float32)

    def _outline(self, vertices: NDArray[np.float32], width: float) -> None:
        """Draw the contour, heavier on the side away from the light."""
        around = np.concatenate([vertices, vertices[:1]])
        fixed = self._fixed(around)
        thick = max(round(width * self.unit_px), 1)
        shifted = fixed + np.int32(width * self.unit_px * 0.3 * 2**_SUBPIXEL_BITS)
        for line in (fixed, shifted):
            cv2.polylines(self.ink, [line], False, 255, thick, cv2.LINE_AA, _SUBPIXEL_BITS)

    def _fixed(self, vertices: NDArray[np.float32]) -> NDArray[np.int32]:
        """Plate units to OpenCV's fixed-point pixels."""
        return np.asarray(np.rint(self._to_px(vertices) * 2**_SUBPIXEL_BITS), np.int32)

    def _to_px(self, vertices: NDArray[np.float32]) -> NDArray[np.float32]:
        """Plate units to pixels from the plate's top left corner."""
        x, y = vertices[:, 0], vertices[:, 1] + self.headroom
        x = x if self.mirror_at is None else 2 * self.mirror_at - x
        return np.stack([x, y], 1) * np.float32(self.unit_px)

    def _mask(self, vertices: NDArray[np.float32]) -> NDArray[np.uint8]:
        """The inside of a polygon, uint8 0..255, antialiased."""
        mask = np.zeros_like(self.ink)
        cv2.fillPoly(mask, [self._fixed(vertices)], 255, cv2.LINE_AA, _SUBPIXEL_BITS)
        return mask

    def _window(self, vertices: NDArray[np.float32]) -> tuple[slice, slice]:
        """Rows and columns that a polygon touches, with a small margin, inside the plate."""
        placed = self._to_px(vertices)
        low = np.floor(placed.min(0) - 3).astype(int)
        high = np.ceil(placed.max(0) + 4).astype(int)
        height, width = self.ink.shape
        rows = slice(max(int(low[1]), 0), min(int(high[1]), height))
        return rows, slice(max(int(low[0]), 0), min(int(high[0]), width))


def _phase(
    shape: tuple[int, ...], origin: tuple[int, int], angle_deg: float, pitch_px: float
) -> Field:
    """Number straight parallel lines over a window whose top-left pixel is `origin` (x, y)."""
    ys, xs = np.mgrid[0 : shape[0], 0 : shape[1]].astype(np.float32)
    angle = np.deg2rad(angle_deg)
    across = (ys + origin[1]) * np.cos(angle) - (xs + origin[0]) * np.sin(angle)
    return np.asarray(across / pitch_px, np.float32)
