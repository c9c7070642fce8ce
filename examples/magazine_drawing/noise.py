"""Smooth random fields: paper clouds, uneven inking, wobbling lines."""

import cv2
import numpy as np
from numpy.typing import NDArray

Field = NDArray[np.float32]


def cloud_field(shape: tuple[int, int], cell_px: float, rng: np.random.Generator) -> Field:
    """Draw smooth noise of mean about 0 and deviation about 1.

    Args:
        shape: Height and width in pixels.
        cell_px: Size of the largest blobs in pixels; two finer octaves are added.
        rng: Source of randomness.

    Returns:
        A float32 field (H, W).
    """
    height, width = shape
    total = np.zeros(shape, np.float32)
    for octave in range(3):
        cell = max(cell_px / 2**octave, 1.0)
        grid = (max(int(height / cell) + 3, 3), max(int(width / cell) + 3, 3))
        coarse = rng.standard_normal(grid).astype(np.float32)
        fine = cv2.resize(coarse, (width, height), interpolation=cv2.INTER_CUBIC)
        total += fine.astype(np.float32) / 2**octave
    return np.asarray(total / 0.95, np.float32)
