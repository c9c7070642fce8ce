"""Write the six pictures of the photo guide as SVG files beside this script.

    python examples/photo_guide/draw_guide.py

Each picture shows where to point the phone (orange corners on the cow) and what its screen should
then show. They hold no words: the captions are in captions.json, in four languages. The card has
its own light ground, so that a picture looks the same in a light and in a dark page, and its
classes and ids are its own, so that several may be set into one page.
"""

import json
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from examples.photo_guide import pieces

FOLDER = Path(__file__).resolve().parent
_GRASS = "M0 168H320V186A14 14 0 0 1 306 200H14A14 14 0 0 1 0 186Z"


def card(name: str, content: str) -> str:
    """Wrap a drawing of 320 x 200 units into a self-contained SVG with a light card behind it."""
    lines = [
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 320 200" role="img">',
        f"<title>{name.capitalize()}</title>{pieces.STYLE}",
        f'<rect width="320" height="200" rx="14" fill="{pieces.GROUND}"/>',
        f'<path d="{_GRASS}" fill="{pieces.GRASS}"/>',
        content.strip(),
        "</svg>\n",
    ]
    # Where pictures are set into one HTML page, ids must not meet.
    svg = re.sub(r'id="(\w)"', rf'id="guide-{name}-\1"', "\n".join(lines))
    return re.sub(r"url\(#(\w)\)", rf"url(#guide-{name}-\1)", svg)


def place(x: float, y: float, content: str, scale: float = 1.0) -> str:
    """Move a drawing and make it larger or smaller."""
    return f'<g transform="translate({x:g} {y:g}) scale({scale:g})">{content}</g>'


def phone(x: float, y: float, screen: str) -> str:
    """A phone held upright, its top left corner at x, y; it is 84 x 150 units."""
    body = (
        f'<rect width="84" height="150" rx="11" fill="{pieces.LINE}"/>'
        '<clipPath id="s"><rect width="72" height="104" rx="3"/></clipPath>'
        f'<g transform="translate(6 16)" clip-path="url(#s)">{screen}</g>'
        '<path d="M34 8H50" stroke="#8fa0a1" stroke-width="3" stroke-linecap="round"/>'
        '<circle cx="42" cy="135" r="9" fill="#fff"/>'
        f'<circle cx="42" cy="135" r="6" fill="{pieces.ORANGE}"/>'
    )
    return place(x, y, body)


def frame(x: float, y: float, width: float, height: float) -> str:
    """Orange viewfinder corners round an area, with a white edge that parts them from the hide."""
    arm = min(width, height) * 0.32
    right, foot = x + width, y + height
    corners = (
        f"M{x:g} {y + arm:g}V{y:g}H{x + arm:g}M{right - arm:g} {y:g}H{right:g}V{y + arm:g}"
        f"M{right:g} {foot - arm:g}V{foot:g}H{right - arm:g}"
        f"M{x + arm:g} {foot:g}H{x:g}V{foot - arm:g}"
    )
    edge = (
        f'<path d="{corners}" stroke="#fff" stroke-width="8" stroke-linecap="round" fill="none"/>'
    )
    return f'{edge}<path class="guide-f" d="{corners}"/>'


def beam(right: float, top: float, foot: float) -> str:
    """The view from the framed area to the phone on the right."""
    outline = f"M{right:g} {top:g}L224 34V146L{right:g} {foot:g}Z"
    return f'<path d="{outline}" fill="{pieces.ORANGE}" opacity=".16"/>'


def with_phone(cow: str, area: tuple[float, float, float, float], screen: str) -> str:
    """A cow at the left, the framed area, and the phone that shows it."""
    x, y, width, height = area
    return beam(x + width, y, y + height) + cow + frame(*area) + phone(222, 24, screen)


def light_card() -> str:
    """The sun behind the phone, a short way to the cow, a sharp picture, both hands on it."""
    arrow = "M128 132H178M138 122L128 132L138 142M168 122L178 132L168 142"
    small = place(-9, 16, pieces.FRONT.replace("#f)", "#g)").replace('id="f"', 'id="g"'), 0.5)
    screen = f'<path d="M0 0H72V104H0Z" fill="#cfe6d5"/>{small}{frame(8, 12, 56, 80)}'
    return "".join(
        [
            place(276, 46, pieces.SUN),
            place(8, 38, pieces.FRONT, 0.84),
            f'<path d="{arrow}" class="guide-f"/>',
            phone(208, 22, screen),
            place(208, 22, pieces.HANDS),
            place(290, 92, pieces.TICK),
        ]
    )


def draw_guide() -> dict[str, str]:
    """Draw all pictures.

    Returns:
        SVG text by file name.
    """
    side, front = place(14, 28, pieces.COW), place(18, 26, pieces.FRONT)
    drawings = {
        "light": light_card(),
        "skin": with_phone(side, (74, 74, 44, 44), pieces.SCREEN_SKIN),
        "mouth": with_phone(front, (64, 118, 88, 60), pieces.SCREEN_MOUTH),
        "eye": with_phone(front, (108, 70, 42, 42), pieces.SCREEN_EYE),
        "udder": with_phone(side, (132, 118, 46, 42), pieces.SCREEN_UDDER),
        "foot": with_phone(side, (166, 148, 34, 34), pieces.SCREEN_FOOT),
    }
    return {f"{name}.svg": card(name, content) for name, content in drawings.items()}


def main() -> int:
    """Write the SVG files and check that each has its captions; return the exit status."""
    captions = json.loads((FOLDER / "captions.json").read_text(encoding="utf-8"))
    drawings = draw_guide()
    missing = drawings.keys() ^ {entry["file"] for entry in captions}
    if missing:
        print(f"captions.json and the drawings differ in: {sorted(missing)}", file=sys.stderr)
        return 1
    for name, svg in drawings.items():
        (FOLDER / name).write_text(svg, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
