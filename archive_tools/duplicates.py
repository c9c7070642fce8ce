"""What pictures are recognised by: perceptual hash and signatures; pure."""

import cv2
import numpy as np
import numpy.typing as npt

_SAMPLE_PX = 32
_HASH_SIDE = 8

_SIGNATURE_SIDE = 32
_SIGNATURE_SAMPLE_PX = 128
# A page laid on the scanner twice differs by up to a degree; steps of half a degree are near
# enough for a match (measured on 689 scanned pages).
_ANGLES = (-1.0, -0.5, 0.5, 1.0)
# Grey levels; flatter pictures have nothing but noise to be recognised by.
_FLAT_DEVIATION = 2.0

GreySample = npt.NDArray[np.float32]


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


def picture_signatures(pixels: npt.NDArray[np.uint8]) -> tuple[bytes, ...]:
    """Return the signatures of a picture.

    Two text pages of one book have nearly the same 64-bit hash. The signs of 1,023 frequencies
    tell them apart, since those follow the words and not the shape of the type area.

    Args:
        pixels: uint8 RGB (H, W, 3) or grey (H, W).

    Returns:
        128 bytes for the picture as it is, then for the picture turned a little each way; nothing
        for a flat picture.
    """
    grey = cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY) if pixels.ndim == 3 else pixels
    size = (_SIGNATURE_SAMPLE_PX, _SIGNATURE_SAMPLE_PX)
    sample = cv2.resize(grey, size, interpolation=cv2.INTER_AREA).astype(np.float32)
    if float(sample.std()) < _FLAT_DEVIATION:
        return ()
    turned = (_turn(sample, angle) for angle in _ANGLES)
    return (_signature(sample), *map(_signature, turned))


def _turn(sample: GreySample, degrees: float) -> GreySample:
    """Turn a sample about its middle."""
    middle = (_SIGNATURE_SAMPLE_PX - 1) / 2
    matrix = cv2.getRotationMatrix2D((middle, middle), degrees, 1.0)
    turned = cv2.warpAffine(sample, matrix, sample.shape[::-1], borderMode=cv2.BORDER_REPLICATE)
    return np.asarray(turned, dtype=np.float32)


def _signature(sample: GreySample) -> bytes:
    """Return the signs of the lowest frequencies, a bit for each."""
    bits = cv2.dct(sample)[:_SIGNATURE_SIDE, :_SIGNATURE_SIDE] > 0
    bits[0, 0] = False  # the mean: always above zero
    return np.packbits(bits).tobytes()
