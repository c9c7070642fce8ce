"""How the illustration filter bears bad scans, and what its score says that sigma does not.

    python -m benchmarks.bench_filter ../shared/data/scans/labels.csv [--every 5]
        [--figure docs/filter.svg]

Each labelled page is judged as it is and under each distortion; pages with ornaments only are left
out. The table is Markdown. The figure draws sigma against the score of the pages as they are.
"""

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import cv2
import numpy as np

from archive_tools.config import DEFAULT_MIN_SCORE
from archive_tools.evaluation import page_sigma
from archive_tools.illustrations import judge_page
from archive_tools.label_file import Grey, iter_labelled_pages, read_grey
from archive_tools.metrics import Judgement, page_figures

MIN_SIGMA = 45.0
COLOURS = {"illustration": "#c0392b", "mixed": "#e67e22", "text": "#2c6fbb"}
OTHER_COLOUR = "#888888"


@dataclass(frozen=True, slots=True)
class Dot:
    """One page of the figure."""

    sigma: float
    score: float
    label: str


def rotate(degrees: float) -> Callable[[Grey], Grey]:
    """Return a distortion that turns a page against the clock on a larger sheet."""

    def turn(grey: Grey) -> Grey:
        height, width = grey.shape
        matrix = cv2.getRotationMatrix2D((width / 2, height / 2), degrees, 1.0)
        cosine, sine = abs(matrix[0, 0]), abs(matrix[0, 1])
        size = (round(width * cosine + height * sine), round(width * sine + height * cosine))
        matrix[:, 2] += (size[0] - width) / 2, (size[1] - height) / 2
        turned = cv2.warpAffine(grey, matrix, size, borderMode=cv2.BORDER_REPLICATE)
        return np.asarray(turned, np.uint8)

    return turn


def shrink_to(long_side: int) -> Callable[[Grey], Grey]:
    """Return a distortion that brings the long side down to so many pixels."""

    def shrink(grey: Grey) -> Grey:
        scale = long_side / max(grey.shape)
        if scale >= 1:
            return grey
        small = cv2.resize(grey, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
        return np.asarray(small, np.uint8)

    return shrink


def grade(gain: float, offset: float) -> Callable[[Grey], Grey]:
    """Return a distortion that scales and shifts all greys."""
    return lambda grey: (grey * gain + offset).astype(np.uint8)


def add_noise(grey: Grey) -> Grey:
    """Add grain of 25 grey levels."""
    noise = np.random.default_rng(0).normal(0, 25, grey.shape)
    return np.clip(grey + noise, 0, 255).astype(np.uint8)


def compress(grey: Grey) -> Grey:
    """Store as JPEG of quality 20 and decode."""
    _, jpeg = cv2.imencode(".jpg", grey, [cv2.IMWRITE_JPEG_QUALITY, 20])
    return np.asarray(cv2.imdecode(jpeg, cv2.IMREAD_GRAYSCALE), np.uint8)


def cut_to_one_bit(grey: Grey) -> Grey:
    """Cut to black and white at Otsu's threshold."""
    _, bits = cv2.threshold(grey, 0, 255, cv2.THRESH_BINARY + cv2.THRESH_OTSU)
    return np.asarray(bits, np.uint8)


def light_from_one_side(grey: Grey) -> Grey:
    """Light the page from one corner: 44 % is left at the other."""
    height, width = grey.shape
    light = np.linspace(0.55, 1, width)[None, :] * np.linspace(0.8, 1, height)[:, None]
    return (grey * light).astype(np.uint8)


def frame(grey: Grey) -> Grey:
    """Lay the page on a black scanner bed."""
    edge = max(grey.shape) // 20
    sides = (edge, edge, edge, edge)
    return np.asarray(cv2.copyMakeBorder(grey, *sides, cv2.BORDER_CONSTANT, value=12), np.uint8)


DISTORTIONS: dict[str, Callable[[Grey], Grey]] = {
    "as it is": lambda grey: grey,
    "90 degrees": lambda grey: np.ascontiguousarray(np.rot90(grey, 1)),
    "180 degrees": lambda grey: np.ascontiguousarray(np.rot90(grey, 2)),
    "270 degrees": lambda grey: np.ascontiguousarray(np.rot90(grey, 3)),
    "skew 2 degrees": rotate(2),
    "skew 5 degrees": rotate(5),
    "negative": lambda grey: 255 - grey,
    "dark (x 0.45)": grade(0.45, 0),
    "yellow (x 0.78)": grade(0.78, 0),
    "low contrast (x 0.35)": grade(0.35, 110),
    "noise, sigma 25": add_noise,
    "JPEG quality 20": compress,
    "1 bit (Otsu)": cut_to_one_bit,
    "lit from one side": light_from_one_side,
    "black frame": frame,
    "1100 px": shrink_to(1100),
    "842 px": shrink_to(842),
    "600 px": shrink_to(600),
}


def measure(labels: Path, every: int, dots: list[Dot]) -> Iterator[str]:
    """Yield the table's rows, one a distortion; add the pages as they are to `dots`."""
    plain_f1 = 0.0
    for name, distort in DISTORTIONS.items():
        verdicts: list[Judgement] = []
        seconds = 0.0
        for page in islice(iter_labelled_pages(labels), 0, None, every):
            if not page.scored:
                continue
            grey = distort(read_grey(page.path))
            start = time.process_time()
            score = judge_page(grey).score
            seconds += time.process_time() - start
            verdicts.append(Judgement(page.illustrated, score >= DEFAULT_MIN_SCORE, score))
            if not plain_f1:
                dots.append(Dot(page_sigma(grey), score, page.label))
        figures = page_figures(verdicts)
        f1 = figures["f1"] or 0.0
        plain_f1 = plain_f1 or f1
        cells = (figures["precision"], figures["recall"], f1, f1 - plain_f1, figures["auc"])
        shown = " | ".join("-" if cell is None else f"{cell:.3f}" for cell in cells)
        yield f"| {name} | {len(verdicts)} | {shown} | {1000 * seconds / len(verdicts):.0f} |"


def draw_figure(dots: Sequence[Dot]) -> str:
    """Draw sigma (across) against the square root of the score (up) as SVG."""
    width, height, left, bottom = 760, 420, 60, 380
    scale_x, scale_y = (width - left - 20) / 100, bottom - 30

    def place(sigma: float, score: float) -> tuple[float, float]:
        return left + scale_x * min(sigma, 100.0), bottom - scale_y * min(score, 1.0) ** 0.5

    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        'font-family="sans-serif" font-size="13">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
    ]
    x, _ = place(MIN_SIGMA, 0)
    _, y = place(0, DEFAULT_MIN_SCORE)
    lines += [
        f'<path d="M{x:.0f} 20V{bottom}M{left} {y:.0f}H{width - 20}" stroke="black" '
        'stroke-dasharray="5 4" fill="none"/>',
        f'<path d="M{left} 20V{bottom}H{width - 20}" stroke="black" fill="none"/>',
        f'<text x="{x + 5:.0f}" y="32">sigma = {MIN_SIGMA:.0f}</text>',
        f'<text x="{width - 25}" y="{y - 6:.0f}" text-anchor="end">score = '
        f"{DEFAULT_MIN_SCORE:g}</text>",
        f'<text x="{width / 2:.0f}" y="{height - 8}">sigma of the page at 144 dpi</text>',
        f'<text transform="translate(20 {height / 2 + 70:.0f}) rotate(-90)">'
        "share of the page in pictures (root scale)</text>",
    ]
    for dot in dots:
        dot_x, dot_y = place(dot.sigma, dot.score)
        colour = COLOURS.get(dot.label, OTHER_COLOUR)
        lines.append(
            f'<circle cx="{dot_x:.1f}" cy="{dot_y:.1f}" r="3.2" fill="{colour}" opacity="0.6"/>'
        )
    for row, (label, colour) in enumerate(
        [*COLOURS.items(), ("blank, table, music", OTHER_COLOUR)]
    ):
        lines.append(f'<circle cx="80" cy="{34 + 18 * row}" r="5" fill="{colour}"/>')
        lines.append(f'<text x="92" y="{39 + 18 * row}">{label}</text>')
    return "\n".join([*lines, "</svg>", ""])


def main() -> None:
    """Print the table; draw the figure where one is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("labels", type=Path, metavar="LABELS.csv")
    parser.add_argument("--every", type=int, default=5, help="judge every nth page (default 5)")
    parser.add_argument("--figure", type=Path, help="SVG file to draw")
    options = parser.parse_args()
    dots: list[Dot] = []
    print("| pages | n | P | R | F1 | change | AUC | CPU ms |\n|---|---|---|---|---|---|---|---|")
    for row in measure(options.labels, options.every, dots):
        print(row, flush=True)
    if options.figure:
        options.figure.write_text(draw_figure(dots), encoding="utf-8")
        print(f"{options.figure}: {len(dots)} pages", file=sys.stderr)


if __name__ == "__main__":
    main()
