"""A boned corset with busk and lace."""

import numpy as np

from examples.magazine_drawing.engraving import Burin, Plate, mirrored
from examples.magazine_drawing.noise import Field


def draw_corset(plate: Plate, axis: float) -> None:
    """A boned corset, front view, 88 units tall, with busk, lace and ribbon."""
    half = [
        (axis + 6, 13),
        (axis + 14, 8),
        (axis + 24, 14),
        (axis + 26, 26),
        (axis + 20, 42),
        (axis + 15, 52),
        (axis + 18, 66),
        (axis + 25, 82),
        (axis + 16, 90),
        (axis + 6, 95),
    ]

    def bones(x: Field, y: Field) -> Field:
        waist = np.interp(y, [8, 26, 52, 82, 95], [22, 26, 15, 25, 26])
        across = np.clip((x - axis) / waist, -1, 1)
        return np.asarray(0.55 * np.abs(np.sin(8 * np.pi * np.arcsin(across))), np.float32)

    satin = Burin(tone=0.1, contrast=0.72, angle_deg=0, pitch=1.13, bend=0.9, edge=0.45)
    plate.form(mirrored(half, axis), satin, bones)
    _draw_lace(plate, axis, [(axis + u * 25, 11.5 + 5 * (1 - abs(u)) ** 2) for u in _across(27)])
    _draw_lace(plate, axis, [(axis + u * 24, 84 + 8 * (1 - u * u)) for u in _across(25)])
    busk = [(axis + 1.6, 13), (axis + 1.7, 95), (axis - 1.7, 95), (axis - 1.6, 13)]
    plate.form([p for p in busk for _ in (0, 1)], Burin(0.02, 0.5, 90, 1.07, 0.3, 0.3))
    for y in np.linspace(21, 86, 6):
        plate.fill([(axis - 2.6, y), (axis, y - 0.9), (axis + 2.6, y), (axis, y + 0.9)])
        plate.fill([(axis - 1, y), (axis, y - 0.5), (axis + 1, y), (axis, y + 0.5)], ink=0)


def _across(count: int) -> list[float]:
    """Evenly spaced positions from -1 to 1."""
    return [float(u) for u in np.linspace(-1, 1, count)]


def _draw_lace(plate: Plate, axis: float, edge: list[tuple[float, float]]) -> None:
    """Scallops of lace along an edge, with a ribbon threaded through and a bow in front."""
    for x, y in edge:
        turns = np.linspace(0, 2 * np.pi, 7)[:-1]
        for radius, ink in ((1.9, 255), (1.55, 0), (0.95, 255), (0.65, 0)):
            ring = [(x + radius * np.cos(t), y - 1 + radius * 1.2 * np.sin(t)) for t in turns]
            plate.fill(ring, ink=ink)
    plate.stroke([(x, y + 1.6) for x, y in edge], 1.3, tip=0.9)
    plate.stroke([(x, y + 1.6) for x, y in edge], 0.7, tip=0.9, ink=0)
    middle = edge[len(edge) // 2][1] + 1.6
    for side in (-1, 1):
        loop = [(axis, middle), (axis + 4 * side, middle - 2.6), (axis + 6 * side, middle)]
        plate.form(
            [*loop, (axis + 4 * side, middle + 2)], Burin(0.0, 0.8, 40 * side, 0.93, 0.8, 0.3)
        )
