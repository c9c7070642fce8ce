"""Views that take the shortcuts out of the photos: what tells the source must not tell the sign.

Some classes come from few sources, so a network could learn their watermarks, their sharpness or
one telling spot instead of the animal. Every class gets all of them at random.
"""

import numpy as np
from PIL import Image, ImageDraw

from vetscanner.training.augment import Pixels, random_view

# Shares of views that get each disguise.
COARSENED_SHARE = 0.2
MARKED_SHARE = 0.12
COVERED_SHARE = 0.3
GREYED_SHARE = 0.04
_MARKS = ("eufmd", "STOCK", "photo", "(c) vet", "sample", "farm.com", "2019-06-14")


def disguised_view(pixels: Pixels, rng: np.random.Generator, side_px: int) -> Pixels:
    """Make a random view in which source, sharpness and single spots tell less.

    Args:
        pixels: A photo of any size.
        rng: Source of all randomness.
        side_px: Side of the square that comes back.
    """
    if rng.random() < COARSENED_SHARE:
        pixels = coarsen(pixels, rng)
    if rng.random() < MARKED_SHARE:
        pixels = mark(pixels, rng)
    view = random_view(pixels, rng, side_px)
    if rng.random() < GREYED_SHARE:
        view = np.asarray(Image.fromarray(view).convert("L").convert("RGB"))
    return cover(view, rng) if rng.random() < COVERED_SHARE else view


def coarsen(pixels: Pixels, rng: np.random.Generator) -> Pixels:
    """Shrink a photo to 96 to 224 px: some sources are sharper than others."""
    image = Image.fromarray(pixels)
    side = int(rng.integers(96, 225))
    image.thumbnail((side * 2, side), Image.Resampling.BILINEAR)
    return np.asarray(image)


def mark(pixels: Pixels, rng: np.random.Generator) -> Pixels:
    """Write a watermark across a photo, as agencies do."""
    image = Image.fromarray(pixels)
    layer = Image.new("L", image.size, 0)
    pen = ImageDraw.Draw(layer)
    text = str(rng.choice(_MARKS))
    height = float(rng.uniform(0.05, 0.16)) * image.height
    repeats = int(rng.choice([1, 1, 2, 6]))
    for _ in range(repeats):
        place = (rng.uniform(0, 0.7) * image.width, rng.uniform(0, 0.9) * image.height)
        pen.text(place, text, fill=255, font_size=max(8.0, height))
    strength = float(rng.uniform(0.25, 0.9))
    shade = (255, 255, 255) if rng.random() < 0.7 else (0, 0, 0)
    image.paste(shade, mask=layer.point([round(level * strength) for level in range(256)]))
    return np.asarray(image)


def cover(view: Pixels, rng: np.random.Generator) -> Pixels:
    """Cover a random rectangle of 2 to 20 % of a square view with one colour or with noise."""
    side = view.shape[0]
    area = rng.uniform(0.02, 0.2) * side**2
    aspect = np.exp(rng.uniform(np.log(0.4), np.log(2.5)))
    height, width = (int(min(side, v)) for v in (np.sqrt(area * aspect), np.sqrt(area / aspect)))
    top, left = int(rng.integers(side - height + 1)), int(rng.integers(side - width + 1))
    covered = view.copy()
    patch = covered[top : top + height, left : left + width]
    if rng.random() < 0.5:
        patch[:] = rng.integers(0, 256, 3)
    else:
        patch[:] = rng.integers(0, 256, patch.shape)
    return covered
