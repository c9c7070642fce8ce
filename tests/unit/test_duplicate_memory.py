"""The search for near-duplicates against a plain one that compares every pair bit by bit."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archive_tools import duplicate_memory
from archive_tools.duplicate_memory import SIGNATURE_BYTES, DuplicateMemory

SIGNATURE_BITS = 8 * SIGNATURE_BYTES
# The first byte of each of the eight lowest rows of frequencies.
COARSE_MASK = int.from_bytes((b"\xff\0\0\0" * 8).ljust(SIGNATURE_BYTES, b"\0"), "big")
MOST_COARSE, MOST = 16, 235


def find_plainly(kept: list[bytes], wanted: tuple[bytes, ...]) -> int | None:
    """Return the most similar picture that is similar enough, the earliest of several."""
    found = []
    for number, signature in enumerate(kept):
        for version in wanted if signature else ():
            differing = int.from_bytes(signature, "big") ^ int.from_bytes(version, "big")
            bits = differing.bit_count()
            if (differing & COARSE_MASK).bit_count() <= MOST_COARSE and bits <= MOST:
                found.append((bits, number))
    return min(found)[1] if found else None


def flip(signature: bytes, coarse: int, fine: int, draw: random.Random) -> bytes:
    """Turn over some of the lowest frequencies, and some of the others."""
    places = range(SIGNATURE_BITS)
    low = [bit for bit in places if COARSE_MASK >> bit & 1]
    high = [bit for bit in places if not COARSE_MASK >> bit & 1]
    flipped = sum(1 << bit for bit in draw.sample(low, coarse) + draw.sample(high, fine))
    return (int.from_bytes(signature, "big") ^ flipped).to_bytes(SIGNATURE_BYTES, "big")


# Often at the limits, where a search that is a little wrong would show.
COARSE = st.sampled_from([0, 0, 1, 8, MOST_COARSE - 1, MOST_COARSE, MOST_COARSE + 1, 30])
FINE = st.sampled_from([0, 0, 1, 20, MOST - 17, MOST - 16, MOST - 15, MOST - 1, MOST, MOST + 1])
FLIPS = st.tuples(COARSE, FINE)


@given(
    seed=st.integers(0, 2**32),
    origins=st.integers(1, 3),
    kept=st.lists(st.one_of(st.none(), FLIPS), max_size=30),
    wanted=st.lists(FLIPS, max_size=5),
)
def test_it_decides_as_a_plain_search(
    seed: int,
    origins: int,
    kept: list[tuple[int, int] | None],
    wanted: list[tuple[int, int]],
) -> None:
    draw = random.Random(seed)
    pool = [draw.randbytes(SIGNATURE_BYTES) for _ in range(origins)]
    signatures = [flip(draw.choice(pool), *one, draw) if one else b"" for one in kept]
    # Some of those that are kept, too: more than one is then at the same distance.
    versions = tuple(
        flip(draw.choice([*pool, *filter(None, signatures)]), *one, draw) for one in wanted
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(duplicate_memory, "_BLOCK_ROWS", 4)
        memory = DuplicateMemory()
        numbers = [memory.add(signature) for signature in signatures]
    assert numbers == list(range(len(signatures)))
    assert memory.find(versions) == find_plainly(signatures, versions)
    for number, signature in enumerate(signatures):
        if signature:
            assert memory.find((signature,)) == signatures.index(signature) <= number


def test_it_takes_140_bytes_a_picture_and_nothing_for_flat_ones() -> None:
    memory = DuplicateMemory()
    for _ in range(100_000):
        memory.add(b"")
    assert memory.size_in_bytes == 0
    for seed in range(2_000):
        memory.add(random.Random(seed).randbytes(SIGNATURE_BYTES))
    assert memory.size_in_bytes == 2_000 * 140
