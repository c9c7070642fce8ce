"""Memory of the pictures of a run, in which near-duplicates find their first copy; pure.

It takes 136 bytes for each picture that is kept, and a comparison touches 8 of them: only pictures
that agree in the lowest frequencies are compared bit by bit.
"""

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
_CAPACITY_AT_START = 1024


class DuplicateMemory:
    """Signatures of pictures, numbered from 0 in the order in which they were added."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self._count = 0
        self._signatures = np.zeros((_CAPACITY_AT_START, _WORDS), dtype=np.uint64)
        self._coarse = np.zeros(_CAPACITY_AT_START, dtype=np.uint64)

    def __len__(self) -> int:
        """Return the number of pictures."""
        return self._count

    def add(self, signature: bytes) -> int:
        """Remember a picture.

        Args:
            signature: Its first signature, 128 bytes; empty for one that nothing can match.

        Returns:
            Its number.
        """
        number = self._count
        if number == len(self._coarse):
            self._signatures = np.concatenate((self._signatures, np.zeros_like(self._signatures)))
            self._coarse = np.concatenate((self._coarse, np.zeros_like(self._coarse)))
        if signature:
            self._signatures[number] = np.frombuffer(signature, dtype=np.uint64)
            self._coarse[number] = _coarse_bits(signature)
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
        found = [match for match in map(self._nearest, signatures) if match[0] <= _MAX_BITS]
        return min(found)[1] if found else None

    def _nearest(self, signature: bytes) -> tuple[int, int]:
        """Return how many bits the nearest candidate differs in, and its number."""
        # One byte each: there may be millions.
        coarse = np.bitwise_count(self._coarse[: self._count] ^ _coarse_bits(signature))
        candidates = np.flatnonzero(coarse <= _MAX_COARSE_BITS)
        if not len(candidates):
            return 8 * SIGNATURE_BYTES, 0
        words = np.frombuffer(signature, dtype=np.uint64)
        differing = _count_bits(self._signatures[candidates] ^ words).sum(axis=1)
        nearest = int(np.argmin(differing))
        return int(differing[nearest]), int(candidates[nearest])


def _coarse_bits(signature: bytes) -> np.uint64:
    """Return the 8 x 8 lowest frequencies: the first byte of each of the first rows."""
    picked = signature[: _COARSE_ROWS * _ROW_BYTES : _ROW_BYTES]
    return np.uint64(int.from_bytes(picked, "big"))


def _count_bits(words: npt.NDArray[np.uint64]) -> npt.NDArray[np.int64]:
    """Return the number of ones of each word."""
    return np.bitwise_count(words).astype(np.int64)
