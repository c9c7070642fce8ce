"""Memory of the pictures of a run, in which near-duplicates find their first copy; pure.

It takes 140 bytes for each picture that is kept. A search goes over all of them, since nothing less
is sure to miss none at this tolerance; but it touches 8 bytes of each, once for all turned versions
of the wanted picture, and all of a signature only where those agree.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

SIGNATURE_BYTES = 128
"""Size of one signature: the signs of 32 x 32 frequencies, row by row."""

_WORDS = SIGNATURE_BYTES // 8
_ROW_BYTES = 4
_COARSE_ROWS = 8
# Of 64 bits. Copies of 689 scanned pages (rescaled, JPEG again, darker, turned by a degree)
# differ in at most 14.
_MAX_COARSE_BITS = 16
# Of 1,023 bits. The nearest pair among 689 different pages differs in 282; of 3,445 copies one
# differs in more than 235, and half in fewer than 15.
_MAX_BITS = 235
# The coarse bits of a block and what is reckoned from them stay in the cache of a core.
_BLOCK_ROWS = 2**16
# Whole signatures that are compared at once: they stay there, too.
_COMPARED_ROWS = 2**12
_ONES = np.ones(_WORDS, dtype=np.float32)

Words = npt.NDArray[np.uint64]
Rows = npt.NDArray[np.intp]
_Match = tuple[int, int]


class DuplicateMemory:
    """Signatures of pictures, numbered from 0 in the order in which they were added."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self._count = 0
        # In blocks, so that nothing is copied when it grows.
        self._blocks: list[_Block] = []

    def __len__(self) -> int:
        """Return the number of pictures."""
        return self._count

    @property
    def size_in_bytes(self) -> int:
        """Memory that the pictures take."""
        return sum(block.size_in_bytes for block in self._blocks)

    def add(self, signature: bytes) -> int:
        """Remember a picture.

        Args:
            signature: Its first signature, 128 bytes; empty for one that nothing can match.

        Returns:
            Its number.
        """
        number = self._count
        if signature:
            if not self._blocks or self._blocks[-1].is_full:
                self._blocks.append(_Block())
            self._blocks[-1].add(number, signature)
        self._count += 1
        return number

    def find(self, signatures: tuple[bytes, ...]) -> int | None:
        """Find the picture that another one is a near-duplicate of.

        Args:
            signatures: Of the other picture: as it is, and turned a little.

        Returns:
            The number of the most similar picture, the earliest of several; None where none is
            similar enough.
        """
        if not signatures:
            return None
        wanted = _Wanted.of(signatures)
        found = [match for block in self._blocks if (match := block.find(wanted)) is not None]
        return min(found)[1] if found else None


@dataclass(frozen=True, slots=True)
class _Wanted:
    """The versions of a picture that is looked for, and the bits in which all of them agree.

    What is near any version is at least as near the first one in those bits.
    """

    words: Words
    coarse: Words
    common_words: Words
    common_coarse: Words

    @classmethod
    def of(cls, signatures: tuple[bytes, ...]) -> Self:
        words = np.stack([np.frombuffer(one, dtype=np.uint64) for one in signatures])
        coarse = np.array([_coarse_bits(one) for one in signatures], dtype=np.uint64)
        return cls(words, coarse, _find_common(words), _find_common(coarse))


class _Block:
    """A number of pictures in the order in which they were added."""

    def __init__(self) -> None:
        self._row_count = 0
        # Memory is taken by the rows that are written, not by those that are still zero.
        self._signatures = np.zeros((_BLOCK_ROWS, _WORDS), dtype=np.uint64)
        self._coarse = np.zeros(_BLOCK_ROWS, dtype=np.uint64)
        self._numbers = np.zeros(_BLOCK_ROWS, dtype=np.uint32)

    @property
    def is_full(self) -> bool:
        return self._row_count == len(self._coarse)

    @property
    def size_in_bytes(self) -> int:
        arrays = self._signatures, self._coarse, self._numbers
        return sum(array[: self._row_count].nbytes for array in arrays)

    def add(self, number: int, signature: bytes) -> None:
        row = self._row_count
        self._signatures[row] = np.frombuffer(signature, dtype=np.uint64)
        self._coarse[row] = _coarse_bits(signature)
        self._numbers[row] = number
        self._row_count += 1

    def find(self, wanted: _Wanted) -> _Match | None:
        """Return in how many bits the most similar picture differs, and its number."""
        rows = self._find_candidates(wanted)
        if not len(rows):
            return None
        differing = _count_bits(self._signatures[rows, None] ^ wanted.words).sum(axis=2)
        differing[~self._is_coarsely_near(rows, wanted)] = 8 * SIGNATURE_BYTES
        # The first of equals: rows are in the order of their numbers.
        row, version = divmod(int(np.argmin(differing)), len(wanted.words))
        bits = int(differing[row, version])
        return (bits, int(self._numbers[rows[row]])) if bits <= _MAX_BITS else None

    def _find_candidates(self, wanted: _Wanted) -> Rows:
        """Return the rows that may be near: a small part, which is then compared in full."""
        agreeing = self._coarse[: self._row_count] ^ wanted.coarse[0]
        agreeing &= wanted.common_coarse
        rows = np.flatnonzero(np.bitwise_count(agreeing) <= _MAX_COARSE_BITS)
        rows = rows[self._is_coarsely_near(rows, wanted).any(axis=1)]
        parts = range(0, len(rows), _COMPARED_ROWS)
        near = [self._leave_near(rows[one : one + _COMPARED_ROWS], wanted) for one in parts]
        return np.concatenate(near) if near else rows

    def _leave_near(self, rows: Rows, wanted: _Wanted) -> Rows:
        """Return those of the rows that agree in most of the bits that all versions have."""
        agreeing = self._signatures[rows]
        agreeing ^= wanted.words[0]
        agreeing &= wanted.common_words
        # A product, since it adds up a few numbers a row several times as fast as a sum does.
        differing = np.bitwise_count(agreeing).astype(np.float32) @ _ONES
        return rows[differing <= _MAX_BITS]

    def _is_coarsely_near(self, rows: Rows, wanted: _Wanted) -> npt.NDArray[np.bool_]:
        """Say of each row and each version whether they agree in the lowest frequencies."""
        differing = _count_bits(self._coarse[rows, None] ^ wanted.coarse)
        return np.asarray(differing <= _MAX_COARSE_BITS)


def _find_common(versions: Words) -> Words:
    """Return ones where all versions (the first axis) have the same bits."""
    differing = np.bitwise_or.reduce(versions ^ versions[0], axis=0)
    return np.asarray(~differing, dtype=np.uint64)


def _coarse_bits(signature: bytes) -> np.uint64:
    """Return the 8 x 8 lowest frequencies: the first byte of each of the first rows."""
    picked = signature[: _COARSE_ROWS * _ROW_BYTES : _ROW_BYTES]
    return np.uint64(int.from_bytes(picked, "big"))


def _count_bits(words: Words) -> npt.NDArray[np.int64]:
    """Return the number of ones of each word."""
    return np.bitwise_count(words).astype(np.int64)
