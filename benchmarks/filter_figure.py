"""The figure of the README: sigma against the filter's score, every second labelled page a dot."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from zlib import crc32

COLOURS = {"illustration": "#c0392b", "mixed": "#e08214", "text": "#2c6fbb"}
NAMES = {"illustration": "a picture", "mixed": "picture and text", "text": "text only"}
OTHER_COLOUR = "#888888"
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 780, 500, 64, 756, 40, 360
BAND = 46
"""Below the axis: pages without any picture found, spread out so that each can be seen."""
MOST_SIGMA = 130.0


@dataclass(frozen=True, slots=True)
class Dot:
    """One page.

    Attributes:
        name: What places it in the band, always alike.
        sigma: Standard deviation of its grey values at 144 dpi.
        score: The share of it that pictures cover.
        label: What it shows in truth.
    """

    name: str
    sigma: float
    score: float
    label: str


def draw_figure(dots: Sequence[Dot], min_sigma: float, min_score: float) -> str:
    """Draw sigma (across) against the square root of the score (up) as SVG.

    Args:
        dots: The pages.
        min_sigma: Threshold of the sigma rule.
        min_score: Threshold of the filter.
    """
    ordered = sorted(dots, key=lambda dot: dot.label in ("illustration", "mixed"))
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        'font-family="sans-serif" font-size="13">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        *_draw_fields(min_sigma, min_score),
        *map(_draw_dot, ordered),
        *_draw_axes(min_sigma, min_score),
        *_draw_legend(dots, min_sigma, min_score),
    ]
    return "\n".join([*parts, "</svg>", ""])


def _x(sigma: float) -> float:
    return LEFT + (RIGHT - LEFT) * min(sigma, MOST_SIGMA) / MOST_SIGMA


def _y(score: float) -> float:
    return BOTTOM - (BOTTOM - TOP) * min(score, 1.0) ** 0.5


def _draw_dot(dot: Dot) -> str:
    y = _y(dot.score) if dot.score else BOTTOM + 4 + crc32(dot.name.encode()) % (BAND - 8)
    colour = COLOURS.get(dot.label, OTHER_COLOUR)
    return f'<circle cx="{_x(dot.sigma):.1f}" cy="{y:.1f}" r="3" fill="{colour}" opacity=".6"/>'


def _draw_fields(min_sigma: float, min_score: float) -> Iterable[str]:
    """Shade what each rule keeps: a band above for `auto`, a frame at the right for sigma."""
    top, right = _y(min_score), RIGHT - _x(min_sigma)
    yield (
        f'<rect x="{LEFT}" y="{TOP}" width="{RIGHT - LEFT}" height="{top - TOP:.0f}" '
        'fill="#e9f5e9"/>'
    )
    yield (
        f'<rect x="{_x(min_sigma):.0f}" y="{TOP}" width="{right:.0f}" '
        f'height="{BOTTOM + BAND - TOP}" fill="none" stroke="#555" stroke-dasharray="5 4"/>'
    )


def _draw_axes(min_sigma: float, min_score: float) -> Iterable[str]:
    middle = (LEFT + RIGHT) / 2
    yield f'<path d="M{LEFT} {TOP}V{BOTTOM + BAND}H{RIGHT}" stroke="black" fill="none"/>'
    yield f'<path d="M{LEFT} {BOTTOM}H{RIGHT}" stroke="#bbb" fill="none"/>'
    for sigma in range(0, 121, 20):
        yield _text(_x(sigma), BOTTOM + BAND + 16, f"{sigma}", "middle")
    for score in (0.05, 0.2, 0.5, 1.0):
        yield _text(LEFT - 6, _y(score) + 4, f"{100 * score:.0f} %", "end")
    yield _text(LEFT - 6, BOTTOM + BAND / 2 + 4, "none", "end")
    yield _text(middle, HEIGHT - 60, "sigma of the page: spread of its grey values", "middle")
    yield _text(
        _x(min_sigma) + 6, TOP - 8, f"the sigma rule keeps what lies right (> {min_sigma:g})"
    )
    yield _text(LEFT + 6, TOP - 8, f"auto keeps the green part (from {100 * min_score:g} % up)")
    yield (
        f'<text transform="translate(16 {BOTTOM - 60}) rotate(-90)">'
        "share of the page in pictures (root scale)</text>"
    )


def _draw_legend(dots: Sequence[Dot], min_sigma: float, min_score: float) -> Iterable[str]:
    """Say of each kind of page how much each rule keeps."""
    for place, (label, colour) in enumerate([*COLOURS.items(), (None, OTHER_COLOUR)]):
        pages = [dot for dot in dots if (dot.label if dot.label in COLOURS else None) == label]
        by_sigma = sum(dot.sigma > min_sigma for dot in pages)
        by_auto = sum(dot.score >= min_score for dot in pages)
        x, y = LEFT + 8 + place % 2 * 350, HEIGHT - 34 + place // 2 * 20
        name = NAMES[label] if label else "blank, table, music"
        told = f"{name}: of {len(pages)} sigma keeps {by_sigma}, auto {by_auto}"
        yield f'<circle cx="{x}" cy="{y - 4}" r="5" fill="{colour}"/>'
        yield _text(x + 10, y, told)


def _text(x: float, y: float, text: str, anchor: str = "start") -> str:
    escaped = text.replace(">", "&gt;")
    return f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}">{escaped}</text>'
