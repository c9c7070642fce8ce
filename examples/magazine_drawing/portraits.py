"""A lady's head in profile."""

from collections.abc import Callable

import numpy as np

from examples.magazine_drawing.engraving import Burin, Plate
from examples.magazine_drawing.hats import draw_hat
from examples.magazine_drawing.noise import Field

# Turns coordinates round x = 50 into the plate's.
Placing = Callable[[float, float], tuple[float, float]]
GOWN = Burin(tone=0.48, contrast=0.7, angle_deg=84, pitch=1.0, bend=0.5, edge=0.3)
GOWN_CLOTH = Burin(tone=0.48, contrast=0.7, angle_deg=84, pitch=1.0, bend=0.5, edge=0.3)


def draw_portrait(plate: Plate, axis: float, with_hat: bool = False) -> None:
    """A lady's head in profile to the left, shoulders at the foot of the plate.

    Args:
        plate: The block; with a hat it needs some 14 units of headroom.
        axis: The middle of the drawing in plate units.
        with_hat: Whether she wears one.
    """

    def at(x: float, y: float) -> tuple[float, float]:
        return axis + x - 50, y

    head = [
        at(40, 20), at(35.5, 27), at(33.6, 33), at(34.2, 36.6), at(31.6, 40.5), at(28.6, 44.6),
        at(29.4, 46.4), at(32, 47.2), at(31.8, 48.6), at(29.9, 50.4), at(31.6, 52), at(30.4, 54.2),
        at(32, 56.2), at(31.8, 59.5), at(34.2, 62.8), at(38.5, 63), at(44.5, 60.5), at(47, 64),
        at(47, 72), at(45, 84), at(54, 92), at(65, 84), at(64, 70), at(64, 55), at(63, 38),
        at(58, 24), at(50, 18),
    ]  # fmt: skip
    plate.form(head, Burin(-0.03, 0.62, 16, 0.96, 0.45, 0.26))
    _draw_bust(plate, at)
    _draw_face(plate, at)
    _draw_hair(plate, at)
    if with_hat:
        draw_hat(plate, at(51, 21), 0.62)


def _draw_bust(plate: Plate, at: Placing) -> None:
    """Shoulders in a dark gown with a high ruffled collar."""
    gown = [at(44, 74), at(33, 80), at(18, 87), at(10, 104), at(94, 104), at(88, 88), at(76, 80)]

    def drape(x: Field, y: Field) -> Field:
        return np.asarray(0.7 * np.cos((x + 0.6 * y) / 2.3), np.float32)

    plate.form([*gown, at(66, 74)], GOWN, drape)
    for row, (height, count) in enumerate(((78, 11), (74.5, 9))):
        for step in range(count):
            x = 54.5 + (step - (count - 1) / 2) * 2.7
            lift = 0.02 * (x - 54.5) ** 2
            ruffle = [at(x - 2, height), at(x - 1.4, height - 6), at(x + 1.6, height - 6.4 + row)]
            ruffle += [at(x + 2.2, height), at(x, height + 2 - lift)]
            plate.form(ruffle, Burin(-0.02, 0.65, 70, 0.93, 0.8, 0.25))


def _draw_face(plate: Plate, at: Placing) -> None:
    """Eye, brow, nostril, lips, ear."""
    plate.stroke([at(35.5, 31.8), at(39, 30.2), at(43.5, 31.4)], 0.75, tip=0.15)
    plate.stroke([at(35.8, 36.6), at(37.8, 34.6), at(42, 36.4)], 0.55, tip=0.3)
    plate.stroke([at(36.4, 38), at(38.5, 38.6), at(41, 37.4)], 0.3, tip=0.3)
    plate.fill([at(36.4, 36.4), at(37.4, 35.2), at(38.6, 36.4), at(37.4, 38)])
    plate.fill([at(36.8, 36.1), at(37.1, 35.8), at(37.4, 36.1), at(37.1, 36.5)], ink=0)
    plate.stroke([at(36, 33.8), at(39, 32.8), at(42.5, 34.6)], 0.25, tip=0.2)
    plate.stroke([at(30.6, 46.2), at(31.6, 45.2), at(33, 45.9)], 0.6, tip=0.2)
    plate.stroke([at(33.6, 43.6), at(34.5, 45), at(33.6, 46.6)], 0.3, tip=0.2)
    plate.stroke([at(31.2, 51.9), at(33, 51.5), at(35.2, 52.3)], 0.55, tip=0.2)
    for x in np.linspace(31.7, 33.2, 3):
        plate.stroke([at(x, 53), at(x + 0.4, 54.2), at(x, 54.8)], 0.16, tip=0.2)
    ear = [at(51.5, 39), at(54.6, 38.6), at(55, 43), at(52.8, 47.6), at(51.4, 45)]
    plate.form(ear, Burin(0.0, 0.6, 60, 0.8, 0.8, 0.3))
    plate.stroke([at(52.4, 40.6), at(54, 41), at(53, 45)], 0.4)
    plate.fill([at(51.7, 48.6), at(52.5, 47.9), at(53.3, 48.6), at(52.5, 49.6)])


def _draw_hair(plate: Plate, at: Placing) -> None:
    """Hair swept up to a knot, wave after wave of strokes over a dark mass."""
    mass = [
        at(41, 28), at(38.5, 21), at(42, 14), at(50, 11), at(60, 13), at(67, 22), at(68.5, 36),
        at(65, 50), at(61, 55), at(57, 52), at(55.5, 42), at(52, 37), at(47, 33), at(44, 29),
    ]  # fmt: skip

    def waves(x: Field, y: Field) -> Field:
        run = (x + 1.3 * y) / 2.6
        return np.asarray(0.8 * np.sin(run + 1.1 * np.sin((x - y) / 5)), np.float32)

    curls = Burin(tone=0.28, contrast=0.85, angle_deg=-38, pitch=0.93, bend=1.1, edge=0.25)
    plate.form(mass, curls, waves)
    knot = [at(57, 12), at(60, 5), at(69, 4), at(74, 11), at(71, 19), at(63, 20)]
    plate.form(knot, Burin(0.35, 0.8, 30, 0.93, 1.3, 0.3), waves)
    plate.stroke([at(60, 17), at(66, 12), at(71, 6)], 0.8, tip=0.4, ink=0)
    hairline = [
        (41, 27),
        (44, 28.5),
        (47.5, 32.5),
        (52, 36),
        (55.5, 41),
        (57, 50),
        (60, 53),
        (65, 48),
    ]
    for number in range(120):
        x, y = hairline[number % len(hairline)]
        x, y = x + float(plate.rng.normal(0, 1.3)), y - float(plate.rng.uniform(0, 2))
        end = 61 + float(plate.rng.normal(0, 2)), 17 + float(plate.rng.normal(0, 2))
        # Swept back over the crown from the brow, up and outwards from the nape.
        bulge = (-3, -4) if y < 34 else (4, 2)
        knee = (0.5 * (x + end[0]) + bulge[0], 0.5 * (y + end[1]) + bulge[1])
        ink = 0 if number % 2 else 255
        plate.stroke([at(x, y), at(*knee), at(*end)], 0.26, tip=0.05, ink=ink)
    for x, y in ((57.5, 56), (60, 58)):
        plate.stroke([at(x, y), at(x - 2.2, y + 2), at(x - 1, y + 4)], 0.35, tip=0.1)
