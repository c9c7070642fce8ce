"""People of 1895 for the plates: a walking dress, a portrait in profile, a corset."""

from collections.abc import Callable

import numpy as np

from examples.magazine_drawing.engraving import Burin, Plate, Points, Relief, smooth_curve
from examples.magazine_drawing.noise import Field

SKIN = Burin(tone=-0.02, contrast=0.5, angle_deg=12, pitch=0.83, bend=0.7, edge=0.22)
DARK_CLOTH = Burin(tone=0.48, contrast=0.7, angle_deg=84, pitch=1.0, bend=0.5, edge=0.3)
LIGHT_CLOTH = Burin(tone=0.08, contrast=0.75, angle_deg=80, pitch=1.0, bend=0.55, edge=0.28)


def mirrored(half: Points, axis: float) -> list[tuple[float, float]]:
    """Complete a right half, listed from top to bottom, to a closed symmetrical outline."""
    return [*half, *((2 * axis - x, y) for x, y in reversed(half))]


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


def draw_hat(plate: Plate, middle: tuple[float, float], scale: float) -> None:
    """A trimmed hat; `middle` is the middle of its brim, at scale 1 it is 84 units wide."""
    cx, cy = middle

    def at(x: float, y: float) -> tuple[float, float]:
        return cx + x * scale, cy + y * scale

    fine = 0.5 + 0.5 * min(scale * 2, 1)
    _draw_plumes(plate, at, scale)
    straw = Burin(tone=0.5, contrast=0.6, angle_deg=0, pitch=1.07 * fine, bend=1.2, edge=0.3 * fine)
    crown = [
        at(-20, 2),
        at(-19, -16),
        at(-15, -24),
        at(0, -26),
        at(15, -24),
        at(19, -15),
        at(20, 2),
    ]
    plate.form(crown, straw)
    band = [at(-20.5, 3), at(-20, -6), at(0, -3.5), at(20, -6), at(20.5, 3), at(0, 6)]
    plate.form(band, Burin(0.1, 0.7, 85, 0.8 * fine, 0.6, 0.3 * fine))
    brim = [at(-42, -1), at(-30, 0), at(0, 4), at(30, -1), at(43, -7), at(41, 0), at(22, 9)]
    plate.form([*brim, at(0, 11), at(-24, 8)], straw)
    _draw_bow(plate, at, fine)
    for x, y, size in ((13, -3, 5.5), (21, -5, 4.6), (17, 2, 4.2)):
        _draw_rose(plate, at(x, y), size * scale)


def _draw_plumes(
    plate: Plate, at: Callable[[float, float], tuple[float, float]], scale: float
) -> None:
    """Three ostrich plumes: a spine that curls over, barbs that hang from it."""
    spines = (
        [at(-6, -6), at(-12, -32), at(-26, -44), at(-40, -38), at(-44, -28)],
        [at(-2, -6), at(0, -36), at(12, -48), at(26, -44), at(32, -32)],
        [at(-4, -6), at(-6, -34), at(-8, -50), at(-20, -56), at(-28, -50)],
    )
    barbs = int(40 + 130 * min(scale * 1.5, 1))
    for spine in spines:
        knots = smooth_curve(spine, closed=False)
        where = np.linspace(0.06, 1, barbs) * (len(knots) - 1)
        xs, ys = (np.interp(where, range(len(knots)), knots[:, axis]) for axis in (0, 1))
        reaches = scale * (4 + 9 * np.linspace(0, 1, barbs) ** 0.6)
        # White first: the plume hides what is behind it, then its barbs are cut in fine lines.
        for width, ink in ((2.4, 0), (0.32, 255)):
            for x, y, reach in zip(xs, ys, reaches, strict=True):
                _draw_barbs(
                    plate, (x, y), reach * float(plate.rng.uniform(0.8, 1.1)), scale, (width, ink)
                )
        plate.stroke(spine, 0.9 * scale + 0.05, tip=0.5)


def _draw_barbs(
    plate: Plate, root: tuple[float, float], reach: float, scale: float, cut: tuple[float, int]
) -> None:
    """A barb to either side of the spine, hanging over."""
    x, y = root
    width, ink = cut
    for lean in (-1, 1):
        knee = (x + lean * reach * 0.6, y + 0.05 * reach)
        tip = (x + lean * reach, y + float(plate.rng.uniform(0.6, 0.9)) * reach)
        plate.stroke([root, knee, tip], width * scale + 0.03, tip=0.3, ink=ink)


def _draw_bow(plate: Plate, at: Callable[[float, float], tuple[float, float]], fine: float) -> None:
    """Ribbon loops at the left of the crown."""
    satin = Burin(tone=0.0, contrast=0.85, angle_deg=50, pitch=1.0 * fine, bend=1, edge=0.35 * fine)
    loops = (
        [at(-12, 0), at(-22, -16), at(-31, -15), at(-30, -4), at(-20, 2)],
        [at(-11, 0), at(-14, -18), at(-6, -22), at(-2, -14), at(-6, -2)],
        [at(-12, 1), at(-28, 3), at(-34, 9), at(-24, 10), at(-12, 4)],
        [at(-14, -3), at(-8, -4), at(-7, 3), at(-13, 4)],
    )
    for loop in loops:
        plate.form(loop, satin)


def _draw_rose(plate: Plate, middle: tuple[float, float], radius: float) -> None:
    """A rose: a ball with petals cut in arcs round its heart."""
    cx, cy = middle
    turns = np.linspace(0, 2 * np.pi, 9)[:-1]
    ball = [(cx + radius * np.cos(t), cy + radius * np.sin(t)) for t in turns]
    plate.form(ball, Burin(0.0, 0.7, 20, max(0.5, radius * 0.14), 1, max(0.15, radius * 0.05)))
    for ring in (0.85, 0.6, 0.35):
        for start in plate.rng.uniform(0, 2 * np.pi, 4):
            arc = [
                (
                    cx + radius * ring * np.cos(start + s),
                    cy + radius * ring * 0.9 * np.sin(start + s),
                )
                for s in (0, 0.5, 1.0)
            ]
            plate.stroke(arc, radius * 0.13, tip=0.1)


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


def _draw_bust(plate: Plate, at: Callable[[float, float], tuple[float, float]]) -> None:
    """Shoulders in a dark gown with a high ruffled collar."""
    gown = [at(44, 74), at(33, 80), at(18, 87), at(10, 104), at(94, 104), at(88, 88), at(76, 80)]

    def drape(x: Field, y: Field) -> Field:
        return np.asarray(0.7 * np.cos((x + 0.6 * y) / 2.3), np.float32)

    plate.form([*gown, at(66, 74)], DARK_CLOTH, drape)
    for row, (height, count) in enumerate(((78, 11), (74.5, 9))):
        for step in range(count):
            x = 54.5 + (step - (count - 1) / 2) * 2.7
            lift = 0.02 * (x - 54.5) ** 2
            ruffle = [at(x - 2, height), at(x - 1.4, height - 6), at(x + 1.6, height - 6.4 + row)]
            ruffle += [at(x + 2.2, height), at(x, height + 2 - lift)]
            plate.form(ruffle, Burin(-0.02, 0.65, 70, 0.93, 0.8, 0.25))


def _draw_face(plate: Plate, at: Callable[[float, float], tuple[float, float]]) -> None:
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
    for x in np.linspace(31.6, 33.4, 4):
        plate.stroke([at(x, 53), at(x + 0.4, 54.2), at(x, 55)], 0.22, tip=0.2)
    ear = [at(51.5, 39), at(54.6, 38.6), at(55, 43), at(52.8, 47.6), at(51.4, 45)]
    plate.form(ear, Burin(0.0, 0.6, 60, 0.8, 0.8, 0.3))
    plate.stroke([at(52.4, 40.6), at(54, 41), at(53, 45)], 0.4)
    plate.fill([at(51.7, 48.6), at(52.5, 47.9), at(53.3, 48.6), at(52.5, 49.6)])


def _draw_hair(plate: Plate, at: Callable[[float, float], tuple[float, float]]) -> None:
    """Hair swept up to a knot, wave after wave of strokes over a dark mass."""
    mass = [
        at(41, 28), at(38.5, 21), at(42, 14), at(50, 11), at(60, 13), at(67, 22), at(68.5, 36),
        at(65, 50), at(61, 55), at(57, 52), at(55.5, 42), at(52, 37), at(47, 33), at(44, 29),
    ]  # fmt: skip

    def waves(x: Field, y: Field) -> Field:
        run = (x + 1.3 * y) / 2.6
        return np.asarray(0.8 * np.sin(run + 1.1 * np.sin((x - y) / 5)), np.float32)

    curls = Burin(tone=0.42, contrast=0.75, angle_deg=-38, pitch=0.93, bend=1.1, edge=0.25)
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
    for number in range(70):
        x, y = hairline[number % len(hairline)]
        x, y = x + float(plate.rng.normal(0, 1.2)), y - float(plate.rng.uniform(0, 3))
        end = 61 + float(plate.rng.normal(0, 2)), 17 + float(plate.rng.normal(0, 2))
        bulge = -5 if y < 34 else 3
        knee = (0.5 * (x + end[0]) + 0.5 * bulge, 0.5 * (y + end[1]) + 0.8 * bulge)
        plate.stroke([at(x, y), at(*knee), at(*end)], 0.42, 0.1, ink=255 if number % 3 else 0)
    for x, y in ((39, 25), (40.5, 28), (57.5, 56), (60, 58)):
        plate.stroke([at(x, y), at(x - 2.2, y + 2), at(x - 1, y + 4)], 0.35, tip=0.1)
