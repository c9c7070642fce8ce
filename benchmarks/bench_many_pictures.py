"""What it costs to look for a near-duplicate among very many pictures: time and memory of a search.

python -m benchmarks.bench_many_pictures 10000 40000 160000 640000

`random` pictures have nothing in common. Those of `layouts` share their lowest frequencies with one
in a hundred others, as pages of an archive do. Those of `one layout` share them with all: the pages
of one book of text, which is the worst that can come.
"""

import argparse
import statistics
import time

import numpy as np
import numpy.typing as npt

from archive_tools.duplicate_memory import SIGNATURE_BYTES, DuplicateMemory

_SEARCHES = 15
_TURNED_VERSIONS = 5
# Name -> how many layouts there are; none: each picture has its own.
_KINDS = {"random": None, "layouts": 100, "one layout": 1}
# Bits that change from page to page of one layout, and when a picture is turned (689 real pages:
# 6 of 64 coarse bits and 222 of 1,023 change in one of four turned versions).
_CHANGED = 0.05
_TURNED = 0.06
_COARSE_BYTES = tuple(range(0, 32, 4))
_BATCH = 10_000

Signatures = npt.NDArray[np.uint8]


def main() -> None:
    """Print one line for each kind and number of pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("counts", type=int, nargs="+", help="pictures, ascending")
    counts = parser.parse_args().counts
    for kind, layout_count in _KINDS.items():
        draw = np.random.default_rng(0)
        layouts = draw.integers(0, 256, (layout_count, SIGNATURE_BYTES), dtype=np.uint8) if (
            layout_count
        ) else None  # fmt: skip
        memory = DuplicateMemory()
        for count in counts:
            while len(memory) < count:
                for picture in make_pictures(min(_BATCH, count - len(memory)), layouts, draw):
                    memory.add(picture.tobytes())
            spent_s = [time_search(memory, layouts, draw) for _ in range(_SEARCHES)]
            print(
                f"{kind}, {count} pictures: {1000 * statistics.median(spent_s):.2f} ms a search, "
                f"{memory.size_in_bytes / count:.0f} bytes a picture",
                flush=True,
            )


def make_pictures(count: int, layouts: Signatures | None, draw: np.random.Generator) -> Signatures:
    """Return first signatures, uint8 (count, 128)."""
    pictures = draw.integers(0, 256, (count, SIGNATURE_BYTES), dtype=np.uint8)
    if layouts is not None:
        chosen = layouts[draw.integers(0, len(layouts), count)]
        changed = np.packbits(draw.random((count, 8 * SIGNATURE_BYTES)) < _CHANGED, axis=1)
        pictures[:, _COARSE_BYTES] = (chosen ^ changed)[:, _COARSE_BYTES]
    return pictures


def time_search(
    memory: DuplicateMemory, layouts: Signatures | None, draw: np.random.Generator
) -> float:
    """Return the processor time in seconds of a search that finds nothing."""
    picture = make_pictures(1, layouts, draw)[0]
    turned = draw.random((_TURNED_VERSIONS - 1, 8 * SIGNATURE_BYTES)) < _TURNED
    wanted = (picture, *(picture ^ np.packbits(one) for one in turned))
    started_s = time.process_time()
    found = memory.find(tuple(one.tobytes() for one in wanted))
    spent_s = time.process_time() - started_s
    assert found is None
    return spent_s


if __name__ == "__main__":
    main()
