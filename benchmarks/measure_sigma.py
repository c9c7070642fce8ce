"""How near the cheap looks come to the sigma of MuPDF's own render at 144 dpi.

    python -m benchmarks.measure_sigma ../shared/data/scans [--every 3] [--csv looks.csv]

Each scan is wrapped into a PDF at several resolutions; each look's estimate and bounds are
compared with the exact sigma, and decisions with the article's over thresholds from 25 to 75.
"""

import argparse
import csv
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Any

from archive_tools.page_filter import Look
from archive_tools.page_views import PdfiumView, RenderedView, ScanView
from archive_tools.reader import open_document
from archive_tools.scan_decoder import ScanDecoder
from archive_tools.second_renderer import SecondRenderer
from benchmarks import make_inputs
from tests import pdf_writer

RESOLUTIONS = (72, 100, 150, 200, 240, 270, 300, 400)
SIDE_PX = 1024
THRESHOLDS = range(25, 76, 5)


def iter_rows(scans: Path, every: int) -> Iterator[dict[str, Any]]:
    """Yield one row a scan, resolution and kind of look."""
    with (scans / "labels.csv").open(encoding="utf-8", newline="") as file:
        paths = [scans / row["path"] for row in csv.DictReader(file)][::every]
    for number, path in enumerate(paths):
        dpi = RESOLUTIONS[number % len(RESOLUTIONS)]
        with tempfile.TemporaryDirectory() as folder:
            pdf = Path(folder) / "scan.pdf"
            pdf.write_bytes(pdf_writer.write_pdf([make_inputs.wrap_scan(path, dpi)]))
            for look in looks(pdf):
                yield {"path": path.name, "dpi": dpi, **look}


def looks(pdf: Path) -> Iterator[dict[str, Any]]:
    """Yield what each kind of look says of a one-page PDF."""
    with (
        closing(SecondRenderer(pdf, None)) as renderer,
        open_document(pdf) as document,
        document.open_page(0) as page,
    ):
        (exact,) = RenderedView(page).iter_looks()
        scan = page.find_scan()
        zoom = SIDE_PX / max(page.width_pt, page.height_pt)
        found: dict[str, Look | None] = {"pdfium": next(PdfiumView(page, renderer).iter_looks())}
        if scan is not None:
            view = ScanView(page, ScanDecoder(page, scan, zoom), glances=False)
            found |= {"scan": next(view.iter_looks()), "glance": view.glance()}
        density = round(scan.density, 2) if scan else 0
        for kind, look in found.items():
            if look is not None:
                yield {"kind": kind, "density": density, "exact": exact.sigma, **asdict(look)}


def report(rows: list[dict[str, Any]]) -> None:
    """Print errors, and the share of decisions that differ or stay open, for each kind."""
    kinds: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        kinds[row["kind"]].append(row)
    for kind, members in kinds.items():
        errors = sorted(row["sigma"] - row["exact"] for row in members)
        outside = sum(not row["least"] <= row["exact"] <= row["most"] for row in members)
        wrong, open_ = _count_decisions(members)
        total = len(members) * len(THRESHOLDS)
        print(
            f"{kind:7} {len(members)} pages: error {errors[0]:+.2f} to {errors[-1]:+.2f}, "
            f"outside the bounds {outside}; over {len(THRESHOLDS)} thresholds: "
            f"wrong {wrong / total:.2%}, finer look needed {open_ / total:.1%}"
        )


def _count_decisions(rows: list[dict[str, Any]]) -> tuple[int, int]:
    wrong = open_ = 0
    for row in rows:
        for threshold in THRESHOLDS:
            look = Look(row["sigma"], row["least"], row["most"])
            if not look.settles(threshold):
                open_ += 1
            elif (row["sigma"] > threshold) != (row["exact"] > threshold):
                wrong += 1
    return wrong, open_


def main() -> None:
    """Measure and print; save the rows where asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("scans", type=Path)
    parser.add_argument("--every", type=int, default=3)
    parser.add_argument("--csv", type=Path)
    options = parser.parse_args()
    rows = list(iter_rows(options.scans, options.every))
    report(rows)
    if options.csv:
        with options.csv.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, rows[0].keys())
            writer.writeheader()
            writer.writerows(rows)


if __name__ == "__main__":
    main()
