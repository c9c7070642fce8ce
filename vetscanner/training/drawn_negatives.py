"""Drawn pictures that show no cattle: uint8 RGB (H, W, 3), all from a seeded generator."""

from collections.abc import Iterator

import numpy as np
from PIL import Image, ImageDraw

from vetscanner.training.augment import Pixels


def iter_drawn_negatives(count: int, rng: np.random.Generator) -> Iterator[Pixels]:
    """Draw pictures that show no cattle: text pages, screens, gradients, noise, blanks.

    Args:
        count: How many.
        rng: Source of all randomness.
    """
    painters = (_draw_text_page, _draw_screen, _draw_gradient, _draw_noise, _draw_blank)
    for index in range(count):
        yield painters[index % len(painters)](rng)


def _draw_text_page(rng: np.random.Generator) -> Pixels:
    """Draw lines of dark strokes on paper, as a page of print looks from afar."""
    paper = tuple(int(v) for v in rng.integers(215, 256, 3))
    image = Image.new("RGB", (320, int(rng.integers(240, 420))), paper)
    pen = ImageDraw.Draw(image)
    pitch = int(rng.integers(7, 18))
    for y in range(10, image.height - pitch, pitch):
        x = 12.0
        while x < image.width - 20 - 60 * rng.random():
            word = float(rng.uniform(6, 34))
            pen.rectangle((x, y, x + word, y + pitch * 0.45), fill=(40, 38, 36))
            x += word + pitch * 0.4
    return np.asarray(image)


def _draw_screen(rng: np.random.Generator) -> Pixels:
    """Draw flat coloured boxes with labels, as on a screenshot."""
    image = Image.new("RGB", (320, 320), tuple(int(v) for v in rng.integers(0, 256, 3)))
    pen = ImageDraw.Draw(image)
    for _ in range(int(rng.integers(3, 14))):
        x, y = (int(v) for v in rng.integers(0, 280, 2))
        width, height = (int(v) for v in rng.integers(10, 160, 2))
        colour = tuple(int(v) for v in rng.integers(0, 256, 3))
        pen.rounded_rectangle((x, y, x + width, y + height), radius=6, fill=colour)
        pen.text((x + 4, y + 4), "Settings  12:45", fill=(255, 255, 255))
    return np.asarray(image)


def _draw_gradient(rng: np.random.Generator) -> Pixels:
    """Blend two colours over the picture."""
    first, second = rng.uniform(0, 255, (2, 3))
    angle = rng.uniform(0, 2 * np.pi)
    ys, xs = np.mgrid[-1:1:240j, -1:1:240j]
    share = np.clip(0.5 + 0.5 * (xs * np.cos(angle) + ys * np.sin(angle)), 0, 1)[..., None]
    return np.asarray(first + (second - first) * share, dtype=np.uint8)


def _draw_noise(rng: np.random.Generator) -> Pixels:
    """Scatter noise of a random grain."""
    grain = int(rng.choice([8, 24, 80, 240]))
    image = Image.fromarray(rng.integers(0, 256, (grain, grain, 3), dtype=np.uint8))
    return np.asarray(image.resize((240, 240), Image.Resampling.BICUBIC))


def _draw_blank(rng: np.random.Generator) -> Pixels:
    """Fill one colour with faint grain, often nearly black as a photo at night."""
    level = rng.uniform(0, 255) if rng.random() < 0.5 else rng.uniform(0, 18)
    tint = level + rng.uniform(-12, 12, 3)
    grain = rng.normal(0, rng.uniform(0, 6), (240, 240, 3))
    return np.clip(tint + grain, 0, 255).astype(np.uint8)
