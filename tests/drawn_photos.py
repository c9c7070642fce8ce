"""Labelled folders of drawn photos, in which stripes and colours tell the sign."""

import csv
from pathlib import Path

import numpy as np
from PIL import Image

from vetscanner.schema import SignClass

SIGNS = tuple(SignClass)


def draw_sign_photo(sign: SignClass, seed: int) -> Image.Image:
    """Draw stripes whose direction, pitch and colour tell the sign."""
    rng = np.random.default_rng((SIGNS.index(sign), seed))
    ys, xs = np.mgrid[0:120, 0:160]
    kind = SIGNS.index(sign)
    wave = np.sin((xs * (kind % 3) + ys * (kind % 2 + 1)) / (2 + kind) + rng.uniform(0, 6))
    tint = np.array([kind * 36, 255 - kind * 36, (kind * 90) % 256])
    pixels = (wave[..., None] * 0.5 + 0.5) * tint + rng.normal(0, 8, (120, 160, 3))
    return Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8))


def write_labelled_folder(folder: Path, photos_per_sign: int) -> Path:
    """Write drawn photos of every sign with their labels.csv; the first of each is unsure."""
    with (folder / "labels.csv").open("w", encoding="utf-8", newline="") as table:
        writer = csv.writer(table)
        writer.writerow(["file", "label", "group", "source", "quality", "licence"])
        for sign in SIGNS:
            for number in range(photos_per_sign):
                name = f"{sign}_{number}.png"
                draw_sign_photo(sign, number).save(folder / name)
                quality = "weak" if number == 0 else "keep"
                writer.writerow([name, sign, f"{sign}-{number}", "drawn", quality, "CC0-1.0"])
    return folder
