"""Perceptual hashes of pictures; pure."""

import cv2
import numpy as np
import numpy.typing as npt

_SAMPLE_PX = 32
_HASH_SIDE = 8


def perceptual_hash(rgb: npt.NDArray[np.uint8]) -> str:
    """Return the 64-bit DCT hash of a picture as 16 hex digits.

    Near-duplicates differ in few bits: each bit says whether one of the 64 lowest frequencies
    lies above their median.

    Args:
        rgb: Pixels, uint8 RGB (H, W, 3).
    """
    grey = cv2.cvtColor(rgb, cv2.COLOR_RGB2GRAY)
    sample = cv2.resize(grey, (_SAMPLE_PX, _SAMPLE_PX), interpolation=cv2.INTER_AREA)
    frequencies = cv2.dct(sample.astype(np.float32))[:_HASH_SIDE, :_HASH_SIDE]
    bits = (frequencies > np.median(frequencies)).ravel()
    return np.packbits(bits).tobytes().hex()
