"""Things for the plates: buttons, a bicycle, a printer's ornament."""

import numpy as np

from examples.magazine_drawing.engraving import Burin, Plate, Points
from examples.magazine_drawing.noise import Field


def circle(cx: float, cy: float, radius: float, count: int = 16) -> list[tuple[float, float]]:
    """Points of a circle, for a closed curve."""
    turns = np.linspace(0, 2 * np.pi, count, endpoint=False)
    return [(cx + radius * float(np.cos(t)), cy + radius * float(np.sin(t))) for t in turns]


def draw_button(plate: Plate, middle: tuple[float, float], radius: float, pattern: int) -> None:
    """A carved button, seen from the front; `pattern` picks its carving."""
    cx, cy = middle
    petals = (0, 8, 5, 12, 6, 16)[pattern % 6]
    rings = (2, 3, 1)[pattern % 3]

    def carving(x: Field, y: Field) -> Field:
        r = np.hypot(x - cx, y - cy) / radius
        turn = np.arctan2(y - cy, x - cx)
        rim = np.exp(-(((r - 0.88) / 0.07) ** 2))
        flower = np.cos(petals * turn) * np.clip(r, 0, 1) * (r < 0.78)
        steps = np.cos(rings * 2 * np.pi * r)
        hollow = -0.75 * np.sqrt(np.clip(1 - r * r, 0, 1))
        return np.asarray(radius * (hollow + 0.14 * rim + 0.1 * flower + 0.05 * steps), np.float32)

    dark = 0.42 if pattern % 4 in (1, 2) else 0.08
    burin = Burin(dark, 0.9, 15.0 * pattern, 1.0, 0.9, radius * 0.05)
    plate.form(circle(cx, cy, radius), burin, carving)
    for ring in (0.95, 0.78):
        plate.stroke([*circle(cx, cy, radius * ring), (cx + radius * ring, cy)], radius * 0.03, 0.8)
    _draw_holes(plate, middle, radius, pattern)


def _draw_holes(plate: Plate, middle: tuple[float, float], radius: float, pattern: int) -> None:
    """Four holes, two holes, or a jewel in the middle."""
    cx, cy = middle
    away = 0.17 * radius
    if pattern % 3 == 0:
        spots = [(cx - away, cy - away), (cx + away, cy - away)]
        spots += [(cx - away, cy + away), (cx + away, cy + away)]
    elif pattern % 3 == 1:
        spots = [(cx - away, cy), (cx + away, cy)]
    else:
        plate.form(circle(cx, cy, 0.26 * radius), Burin(0.2, 1.0, 40, 0.67, 0.9, 0.06 * radius))
        return
    for x, y in spots:
        plate.fill(circle(x, y, 0.09 * radius, 8))


def draw_bicycle(plate: Plate, left: float) -> None:
    """A lady's safety bicycle, 150 units long, standing on a road."""
    rear, front = (left + 34, 62.0), (left + 116, 62.0)
    _draw_road(plate, left)
    for hub in (rear, front):
        _draw_wheel(plate, hub, 30)
    _draw_frame(plate, rear, front)


def _draw_road(plate: Plate, left: float) -> None:
    """Horizontal strokes under the wheels, denser near the tyres."""
    for _ in range(240):
        x = left + float(plate.rng.uniform(4, 146))
        y = 93 + abs(float(plate.rng.normal(0, 2)))
        length = float(plate.rng.uniform(2, 9))
        plate.stroke([(x, y), (x + length / 2, y + 0.1), (x + length, y)], 0.4, tip=0.1)


def _draw_wheel(plate: Plate, hub: tuple[float, float], radius: float) -> None:
    """Tyre, rim, tangent spokes and hub."""
    cx, cy = hub
    for turn in np.linspace(0, 2 * np.pi, 32, endpoint=False):
        lean = turn + (0.32 if round(turn * 100) % 2 else -0.32)
        inner = (cx + 2.4 * np.cos(lean), cy + 2.4 * np.sin(lean))
        outer = (cx + radius * np.cos(turn), cy + radius * np.sin(turn))
        plate.stroke([inner, outer], 0.22, tip=1)
    for size, width, ink in ((radius, 2.5, 255), (radius + 0.3, 0.7, 0), (radius - 2.6, 0.6, 255)):
        ring = circle(cx, cy, size, 40)
        plate.stroke([*ring, ring[0]], width, tip=1, ink=ink)
    plate.form(circle(cx, cy, 2.6), Burin(0.3, 0.9, 0, 0.8, 0.8, 0.3))


def _draw_tube(plate: Plate, points: Points, width: float = 2.0) -> None:
    """An enamelled tube: black with a line of light along it."""
    plate.stroke(points, width, tip=1)
    plate.stroke([(x - width * 0.12, y - width * 0.14) for x, y in points], width * 0.25, 1, ink=0)


def _draw_frame(plate: Plate, rear: tuple[float, float], front: tuple[float, float]) -> None:
    """Open frame with a curved down tube, guards, chain, saddle, bars and pedals."""
    crank = (rear[0] + 32, 68.0)
    seat, head = (rear[0] + 22, 36.0), (front[0] - 11, 28.0)
    for hub in (rear, front):
        guard = circle(hub[0], hub[1], 33.4, 40)
        arc = guard[20:36] if hub is rear else guard[24:38]
        plate.stroke(arc, 1.3, tip=0.8)
    _draw_tube(plate, [rear, crank], 1.6)
    _draw_tube(plate, [rear, seat], 1.5)
    _draw_tube(plate, [crank, (seat[0] - 2, seat[1] - 6)], 2.2)
    _draw_tube(plate, [crank, (crank[0] + 16, 60), (head[0] - 8, 46), (head[0] + 1, 34)], 2.3)
    _draw_tube(plate, [(crank[0] - 4, 58), (crank[0] + 14, 52), (head[0], 30)], 1.9)
    _draw_tube(plate, [(head[0] - 2, 22), (head[0] + 3, 38), (front[0] - 4, 52), front], 2.1)
    bars = [(head[0] - 16, 19), (head[0] - 9, 16), (head[0] - 2, 20), (head[0] + 4, 18)]
    _draw_tube(plate, bars, 1.6)
    plate.stroke([bars[0], (bars[0][0] + 6, bars[0][1] - 2)], 2.8, tip=0.9)
    _draw_saddle(plate, (seat[0] - 2, seat[1] - 8))
    _draw_drive(plate, rear, crank)


def _draw_saddle(plate: Plate, at: tuple[float, float]) -> None:
    """A sprung leather saddle."""
    x, y = at
    leather = [(x - 9, y - 3), (x - 4, y - 4.4), (x + 9, y - 2.4), (x + 10, y - 1), (x - 2, y + 1)]
    for dx in (-6, -2):
        plate.stroke([(x + dx, y), (x + dx + 1.5, y + 2), (x + dx - 1, y + 3.6), (x, y + 5)], 0.6)
    plate.form([*leather, (x - 9, y)], Burin(0.5, 0.8, 10, 0.8, 0.9, 0.4))


def _draw_drive(plate: Plate, rear: tuple[float, float], crank: tuple[float, float]) -> None:
    """Chain wheel, chain in a laced guard, cranks and pedals."""
    for radius in (6.6, 5.4, 1.6):
        ring = circle(*crank, radius, 24)
        plate.stroke([*ring, ring[0]], 0.9, tip=1)
    for turn in np.linspace(0, 2 * np.pi, 6)[:-1]:
        spoke = (crank[0] + 5.6 * np.cos(turn), crank[1] + 5.6 * np.sin(turn))
        plate.stroke([crank, spoke], 0.7, tip=1)
    for dy, far in ((-6.6, -3.2), (6.6, 3.2)):
        plate.stroke([(crank[0], crank[1] + dy), (rear[0], rear[1] + far)], 0.8, tip=1)
    for side in (-1, 1):
        pedal = (crank[0] + side * 4, crank[1] + side * 13)
        plate.stroke([crank, pedal], 1.3, tip=0.8)
        plate.stroke([(pedal[0] - 4, pedal[1]), (pedal[0] + 4, pedal[1])], 1.9, tip=1)


def draw_flourish(plate: Plate, axis: float, middle: float, half_width: float) -> None:
    """A typographer's tailpiece: two scrolls and a leaf."""
    for side in (-1, 1):
        turns = np.linspace(0.3, 3.4 * np.pi, 26)
        radii = half_width * 0.36 * np.exp(-0.24 * turns)
        eye = axis + side * half_width * 0.72
        scroll = [
            (eye - side * r * float(np.cos(t)), middle - r * float(np.sin(t)))
            for t, r in zip(turns, radii, strict=True)
        ]
        tail = [(axis, middle + half_width * 0.1), (axis + side * half_width * 0.3, middle)]
        plate.stroke([*tail, *scroll], half_width * 0.07, tip=0.25)
        for part in (0.25, 0.45):
            base = (axis + side * half_width * part, middle)
            tip = (base[0] + side * half_width * 0.1, middle + half_width * 0.26)
            plate.fill([base, (tip[0], middle + half_width * 0.08), tip, (base[0], tip[1] * 0.99)])
    plate.fill(circle(axis, middle + half_width * 0.1, half_width * 0.09, 8))
