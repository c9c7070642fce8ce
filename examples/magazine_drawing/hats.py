"""A trimmed hat: straw, satin bow, ostrich plumes, roses."""

from collections.abc import Callable

import numpy as np

from examples.magazine_drawing.engraving import Burin, Plate, smooth_curve

# Turns a hat's own coordinates (84 units wide) into the plate's.
Placing = Callable[[float, float], tuple[float, float]]


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


def _draw_plumes(plate: Plate, at: Placing, scale: float) -> None:
    """Three ostrich plumes: a spine that curls over, barbs that hang from it."""
    spines = (
        [at(-6, -6), at(-12, -32), at(-26, -44), at(-40, -38), at(-44, -28)],
        [at(-2, -6), at(0, -36), at(12, -48), at(26, -44), at(32, -32)],
        [at(-4, -6), at(-6, -34), at(-8, -50), at(-20, -56), at(-28, -50)],
    )
    barbs = int(14 + 84 * min(scale, 1))
    for spine in spines:
        knots = smooth_curve(spine, closed=False)
        where = np.linspace(0.06, 1, barbs) * (len(knots) - 1)
        xs, ys = (np.interp(where, range(len(knots)), knots[:, axis]) for axis in (0, 1))
        reaches = scale * (4 + 9 * np.linspace(0, 1, barbs) ** 0.6)
        # White first: the plume hides what is behind it, then its barbs are cut in fine lines.
        for width, ink in ((2.4, 0), (0.22, 255)):
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


def _draw_bow(plate: Plate, at: Placing, fine: float) -> None:
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
