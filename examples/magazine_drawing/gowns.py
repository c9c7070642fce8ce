"""A walking dress of 1895: bell skirt, boned bodice, leg-of-mutton sleeves."""

from collections.abc import Callable

import numpy as np

from examples.magazine_drawing.engraving import Burin, Plate, Relief, mirrored
from examples.magazine_drawing.hats import draw_hat
from examples.magazine_drawing.noise import Field

SKIN = Burin(tone=-0.02, contrast=0.5, angle_deg=12, pitch=0.83, bend=0.7, edge=0.22)
DARK_CLOTH = Burin(tone=0.48, contrast=0.7, angle_deg=84, pitch=1.0, bend=0.5, edge=0.3)
LIGHT_CLOTH = Burin(tone=0.08, contrast=0.75, angle_deg=80, pitch=1.0, bend=0.55, edge=0.28)


def pleats(axis: float, top: float, spread: Callable[[Field], Field], count: float) -> Relief:
    """Folds that fall from a waist: `spread` gives the half width of the cloth at each y."""

    def relief(x: Field, y: Field) -> Field:
        across = (x - axis) / np.maximum(spread(y), 1)
        deep = np.clip((y - top) / 14, 0, 1) * np.maximum(spread(y), 1) / 18
        wave = np.cos(count * np.pi * across + 0.9 * np.sin(3 * across + y / 17))
        return np.asarray(deep * (1.3 * wave + 0.5 * np.cos(2.7 * count * across + 1)), np.float32)

    return relief


def draw_walking_dress(plate: Plate, axis: float, darkness: float = 0.2) -> None:
    """A full figure, about 96 units tall, in a bell skirt and leg-of-mutton sleeves.

    Args:
        plate: The block; give it some 12 units of headroom for the plumes.
        axis: Where the figure stands, in plate units.
        darkness: Tone of skirt and sleeves, 0..1.
    """
    _draw_ground(plate, axis)
    _draw_skirt(plate, axis, darkness)
    _draw_bodice(plate, axis)
    for side in (-1, 1):
        _draw_sleeve(plate, axis, side, darkness)
    _draw_small_head(plate, axis)
    _draw_parasol(plate, axis)


def _draw_ground(plate: Plate, axis: float) -> None:
    """Strokes of turf and shadow under the hem."""
    for _ in range(170):
        x = axis + float(plate.rng.normal(4, 15))
        y = 96 + float(plate.rng.normal(0, 1.3))
        length = float(plate.rng.uniform(2, 7))
        plate.stroke([(x - length, y), (x, y + 0.2), (x + length, y)], 0.28, tip=0.1)


def _draw_skirt(plate: Plate, axis: float, darkness: float) -> None:
    """A bell skirt with a trimmed hem."""
    half = [
        (axis + 3.6, 38.5),
        (axis + 7, 44),
        (axis + 11.5, 58),
        (axis + 16, 76),
        (axis + 21, 93),
        (axis + 20.5, 95),
        (axis + 10, 96.5),
        (axis + 1, 97),
    ]

    def spread(y: Field) -> Field:
        return np.asarray(np.interp(y, [38, 44, 76, 96], [4, 7.5, 16.5, 21.5]), np.float32)

    burin = Burin(tone=darkness, contrast=0.85, angle_deg=2, pitch=0.96, bend=0.7, edge=0.3)
    plate.form(mirrored(half, axis), burin, pleats(axis, 40, spread, 6))
    for drop, width in ((0, 0.7), (2.2, 0.4)):
        hem = [
            (axis + u * (19.6 - 0.5 * drop), 92.6 - drop + 1.9 * (1 - u * u))
            for u in np.linspace(-1, 1, 13)
        ]
        plate.stroke(hem, width, tip=0.8)


def _draw_bodice(plate: Plate, axis: float) -> None:
    """A boned bodice with revers, a row of buttons, a belt with a buckle."""
    half = [
        (axis + 2.4, 17.5),
        (axis + 5.5, 19.5),
        (axis + 6.6, 24),
        (axis + 6.2, 29),
        (axis + 4, 37),
        (axis + 3.8, 39),
        (axis + 0.2, 40.2),
    ]
    plate.form(mirrored(half, axis), DARK_CLOTH)
    for side in (-1, 1):
        lapel = [
            (axis + 0.3 * side, 20),
            (axis + 2.4 * side, 18),
            (axis + 7.5 * side, 22),
            (axis + 7.5 * side, 22),
            (axis + 3.6 * side, 29),
            (axis + 0.4 * side, 33),
        ]
        plate.form(lapel, Burin(0.02, 0.5, 30 * side, 0.93, 0.4, 0.3))
    for y in np.arange(21, 37, 2.1):
        plate.fill([(axis - 0.4, y), (axis, y - 0.4), (axis + 0.4, y), (axis, y + 0.4)])
    plate.form(mirrored([(axis + 4.1, 37), (axis + 4.2, 39), (axis + 0.1, 40)], axis), LIGHT_CLOTH)


def _draw_sleeve(plate: Plate, axis: float, side: int, darkness: float) -> None:
    """A balloon to the elbow, a tight forearm, a gloved hand."""

    def at(x: float, y: float) -> tuple[float, float]:
        return axis + side * x, y

    forearm = [at(10, 30), at(14, 31), at(13, 36), at(9.2, 41.5), at(7.2, 40.6), at(9.6, 35)]
    plate.form(forearm, DARK_CLOTH)
    hand = [at(9.4, 40.6), at(7.2, 40.2), at(5, 42.4), at(4.6, 44.6), at(6.6, 44.6), at(8.6, 42.8)]
    plate.form(hand, SKIN)
    balloon = [
        at(4.6, 19),
        at(8, 16.6),
        at(13.2, 18),
        at(16.4, 24),
        at(15.6, 30.5),
        at(12.6, 34),
        at(9.4, 33),
        at(6.6, 27),
    ]

    def gathers(x: Field, y: Field) -> Field:
        turn = np.arctan2(y - 19, side * (x - axis) - 6)
        depth = np.clip(np.hypot(y - 19, side * (x - axis) - 6) / 7, 0, 1)
        return np.asarray(0.75 * depth * np.cos(9 * turn), np.float32)

    burin = Burin(
        tone=darkness - 0.04, contrast=0.8, angle_deg=18 * side, pitch=0.96, bend=0.9, edge=0.3
    )
    plate.form(balloon, burin, gathers)


def _draw_small_head(plate: Plate, axis: float) -> None:
    """A head three quarters to the left under a plumed hat."""

    def at(x: float, y: float) -> tuple[float, float]:
        return axis + 1.22 * x, 17 + 1.22 * (y - 17)

    plate.form([at(-1.5, 13), at(1.8, 13), at(1.9, 18.5), at(-1.6, 18.5)], SKIN)
    collar = [at(-1.9, 16), at(2.1, 16), at(2.7, 19.2), at(-2.5, 19.2)]
    plate.form(collar, LIGHT_CLOTH)
    plate.form(
        [at(1.6, 8), at(4, 8.6), at(4.2, 12), at(2, 13)], Burin(0.5, 0.6, 60, 0.8, 0.9, 0.25)
    )
    face = [at(-2.3, 8), at(-2.75, 10.4), at(-2.6, 12.4), at(-1.7, 14.6), at(-0.5, 15.5)]
    face += [at(0.7, 15.1), at(2.2, 13), at(2.6, 10), at(2, 7)]
    plate.form(face, Burin(-0.1, 0.45, 12, 0.83, 0.5, 0.2))
    for x in (-1.5, 0.45):
        plate.stroke([at(x - 0.55, 10.7), at(x, 10.45), at(x + 0.55, 10.75)], 0.42)
        plate.stroke([at(x - 0.7, 9.9), at(x, 9.6), at(x + 0.7, 9.9)], 0.2)
    plate.stroke([at(-0.75, 10.6), at(-1.15, 12.3), at(-0.6, 12.5)], 0.18)
    plate.stroke([at(-1.2, 13.6), at(-0.6, 13.7), at(0, 13.5)], 0.34)
    hair = [
        at(-2.7, 9.2),
        at(-2.2, 6.6),
        at(2.4, 6),
        at(3.3, 10),
        at(2.4, 12),
        at(2, 9),
        at(-0.4, 7.9),
    ]
    plate.form(hair, Burin(0.4, 0.6, 30, 0.8, 1, 0.2))
    draw_hat(plate, at(0.2, 6.6), 0.15)


def _draw_parasol(plate: Plate, axis: float) -> None:
    """A closed parasol in the right hand, its point on the ground."""
    plate.stroke([(axis + 5.6, 43.6), (axis + 11, 70), (axis + 16.5, 95.5)], 0.5, tip=0.9)
    furled = [
        (axis + 7, 52),
        (axis + 10, 55),
        (axis + 14.9, 84),
        (axis + 13.8, 86),
        (axis + 8.6, 66),
    ]
    plate.form(furled, Burin(0.3, 0.8, 78, 0.87, 0.8, 0.3))
    plate.stroke([(axis + 5.6, 43.6), (axis + 4.6, 40.6), (axis + 6.2, 39.8)], 0.6, tip=0.8)
