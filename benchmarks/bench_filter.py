"""How the illustration filter bears bad scans, and what its score says that sigma does not.

    python -m benchmarks.bench_filter LABELS.csv [--every 10] [--figure docs/filter.svg]

Every nth page that is not ornaments only is judged as it is and under each distortion; the table is
Markdown. With --figure, sigma is drawn against the score of every second page as it is, and the
shares that the article's claims are about are printed.
"""

import argparse
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import cv2

from archive_tools.config import DEFAULT_MIN_SCORE
from archive_tools.evaluation import page_sigma
from archive_tools.illustrations import judge_page
from archive_tools.label_file import Grey, LabelledPage, iter_labelled_pages, read_grey
from archive_tools.metrics import Judgement, page_figures
from benchmarks.distortions import DISTORTIONS
from benchmarks.filter_figure import Dot, draw_figure

MIN_SIGMA = 45.0
DRAWN_EVERY = 2


@dataclass(slots=True)
class Row:
    """What was judged under one distortion so far."""

    verdicts: list[Judgement] = field(default_factory=list)
    seconds: float = 0.0

    def judge(self, page: LabelledPage, grey: Grey) -> None:
        """Judge one distorted page."""
        start = time.process_time()
        score = judge_page(grey).score
        self.seconds += time.process_time() - start
        self.verdicts.append(Judgement(page.illustrated, score >= DEFAULT_MIN_SCORE, score))


def measure(pages: Iterable[LabelledPage]) -> Iterator[str]:
    """Yield the table's rows, one a distortion."""
    rows = {name: Row() for name in DISTORTIONS}
    for page in pages:
        grey = read_grey(page.path)
        for name, distort in DISTORTIONS.items():
            rows[name].judge(page, distort(grey))
    plain = page_figures(rows["as it is"].verdicts)["f1"] or 0.0
    for name, row in rows.items():
        figures, n = page_figures(row.verdicts), len(row.verdicts)
        f1 = figures["f1"] or 0.0
        cells = (figures["precision"], figures["recall"], f1, f1 - plain, figures["auc"])
        shown = " | ".join("-" if cell is None else f"{cell:.3f}" for cell in cells)
        yield f"| {name} | {n} | {shown} | {1000 * row.seconds / max(1, n):.0f} |"


def look_at(pages: Iterable[LabelledPage]) -> list[Dot]:
    """Judge pages as they are by both rules."""
    dots = []
    for page in pages:
        grey = read_grey(page.path)
        name = f"{page.source}/{page.path.name}"
        dots.append(Dot(name, page_sigma(grey), judge_page(grey).score, page.label))
    return dots


def iter_claims(dots: list[Dot]) -> Iterator[str]:
    """Yield what the pages say of the article's ranges of sigma and of its reduction."""
    text = [dot.sigma for dot in dots if dot.label == "text"]
    pictures = [dot.sigma for dot in dots if dot.label in ("illustration", "mixed")]
    for name, sigmas, low, high in (("text", text, 15, 30), ("illustrated", pictures, 50, 90)):
        inside = sum(low <= sigma <= high for sigma in sigmas)
        yield f"{name} pages with sigma {low} to {high}: {inside} of {len(sigmas)}"
    by_sigma = sum(dot.sigma <= MIN_SIGMA for dot in dots)
    by_auto = sum(dot.score < DEFAULT_MIN_SCORE for dot in dots)
    yield f"pages dropped: by sigma {by_sigma}, by auto {by_auto} of {len(dots)}"
    yield f"pages without a picture: {len(dots) - len(pictures)} of {len(dots)}"


def main() -> None:
    """Draw the figure where one is asked for; print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("labels", type=Path, metavar="LABELS.csv")
    parser.add_argument("--every", type=int, default=10, help="judge every nth page (default 10)")
    parser.add_argument("--figure", type=Path, help="SVG file to draw")
    options = parser.parse_args()
    cv2.setNumThreads(1)
    pages = [page for page in iter_labelled_pages(options.labels) if page.scored]
    if options.figure:
        dots = look_at(pages[::DRAWN_EVERY])
        drawn = draw_figure(dots, MIN_SIGMA, DEFAULT_MIN_SCORE)
        options.figure.write_text(drawn, encoding="utf-8")
        print("\n".join(iter_claims(dots)), flush=True)
    print("| pages | n | P | R | F1 | change | AUC | CPU ms |\n|---|---|---|---|---|---|---|---|")
    for row in measure(islice(pages, 0, None, options.every)):
        print(row, flush=True)


if __name__ == "__main__":
    main()
