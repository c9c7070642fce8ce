"""What it costs to look for a near-duplicate among very many pictures: time and memory of a search.

python -m benchmarks.bench_many_pictures 100000 1000000
"""

import argparse
import random
import statistics
import time

from archive_tools.duplicate_memory import SIGNATURE_BYTES, DuplicateMemory

_SEARCHES = 9
_TURNED_VERSIONS = 5


def main() -> None:
    """Print one line for each number of pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("counts", type=int, nargs="+", help="pictures, ascending")
    draw = random.Random(0)
    memory = DuplicateMemory()
    for count in parser.parse_args().counts:
        while len(memory) < count:
            memory.add(draw.randbytes(SIGNATURE_BYTES))
        spent = []
        for _ in range(_SEARCHES):
            wanted = tuple(draw.randbytes(SIGNATURE_BYTES) for _ in range(_TURNED_VERSIONS))
            started = time.process_time()
            memory.find(wanted)
            spent.append(time.process_time() - started)
        print(f"{count} pictures: {1000 * statistics.median(spent):.2f} ms a search", flush=True)


if __name__ == "__main__":
    main()
