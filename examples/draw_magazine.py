"""Draw a scanned magazine of 1895 as a PDF, for trying and testing the archive tools.

    python examples/draw_magazine.py --out examples/magazine.pdf

Nothing in it is copied: words, engravings, paper and stains come from the code in
`magazine_drawing/` and a seed.
"""

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from examples.magazine_drawing import ScanKind, write_magazine


def parse_arguments(arguments: list[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Draw a scanned magazine of 1895 as a PDF.")
    parser.add_argument("--out", type=Path, default=Path("magazine.pdf"), help="PDF to write")
    parser.add_argument("--pages", type=int, default=9, help="number of pages (default 9)")
    parser.add_argument("--dpi", type=int, default=150, help="resolution, 36 to 600 (default 150)")
    parser.add_argument("--kind", choices=list(ScanKind), default=ScanKind.COLOUR)
    parser.add_argument("--seed", type=int, default=0, help="same seed, same bytes (default 0)")
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> int:
    """Draw the magazine that the command line asks for; return the exit status."""
    options = parse_arguments(arguments)
    try:
        write_magazine(options.out, options.pages, options.dpi, options.kind, options.seed)
    except (OSError, ValueError) as error:
        print(f"draw_magazine: {error}", file=sys.stderr)
        return 2
    print(f"{options.out}: {options.pages} pages, {options.out.stat().st_size:,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
