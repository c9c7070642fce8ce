"""Views of training photos, and healthy eye close-ups.

Everything is uint8 RGB (H, W, 3) and follows from a seeded generator.
"""

from io import BytesIO

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageEnhance, ImageFilter

from vetscanner.training.backbone import IMAGE_SIZE_PX

Pixels = NDArray[np.uint8]

# Shares of random views that get each change; small, so that most views stay plain photos.
ROTATED_SHARE = 0.25
BLURRED_SHARE = 0.15
COMPRESSED_SHARE = 0.25
MIN_AREA_SHARE = 0.35


def to_square(pixels: Pixels, side_px: int = IMAGE_SIZE_PX) -> Pixels:
    """Squash a picture to the square that the network sees, as its preprocessor does."""
    size = (side_px, side_px)
    return np.asarray(Image.fromarray(pixels).resize(size, Image.Resampling.BICUBIC))


def mirror(pixels: Pixels) -> Pixels:
    """Swap left and right."""
    return np.ascontiguousarray(pixels[:, ::-1])


def random_view(pixels: Pixels, rng: np.random.Generator, side_px: int = IMAGE_SIZE_PX) -> Pixels:
    """Make a random crop with small changes of angle, light, sharpness and compression.

    Args:
        pixels: A photo of any size.
        rng: Source of all randomness.
        side_px: Side of the square.

    Returns:
        A square of `side_px`.
    """
    image = Image.fromarray(pixels)
    if rng.random() < ROTATED_SHARE:
        # The sick eyes carry black or white rotation borders, the healthy animals none: give
        # them to every class, or a border means "sick".
        shade = int(rng.choice([0, 40, 255]))
        image = image.rotate(float(rng.uniform(-15, 15)), fillcolor=(shade, shade, shade))
    image = image.resize(
        (side_px, side_px), Image.Resampling.BICUBIC, box=_random_box(image.size, rng)
    )
    image = _change_light(image, rng)
    if rng.random() < BLURRED_SHARE:
        image = image.filter(ImageFilter.GaussianBlur(float(rng.uniform(0.3, 1.2))))
    if rng.random() < COMPRESSED_SHARE:
        image = _compress(image, int(rng.integers(35, 90)))
    view = np.asarray(image)
    return mirror(view) if rng.random() < 0.5 else view


def _random_box(
    size: tuple[int, int], rng: np.random.Generator
) -> tuple[float, float, float, float]:
    """Choose a crop of at least `MIN_AREA_SHARE` of the area, at most a third off its shape."""
    width, height = size
    area = rng.uniform(MIN_AREA_SHARE, 1.0) * width * height
    # Around the photo's own shape, because the preprocessor squashes whole photos.
    aspect = width / height * np.exp(rng.uniform(np.log(3 / 4), np.log(4 / 3)))
    crop_width = min(width, float(np.sqrt(area * aspect)))
    crop_height = min(height, float(np.sqrt(area / aspect)))
    x0 = rng.uniform(0, width - crop_width)
    y0 = rng.uniform(0, height - crop_height)
    return x0, y0, x0 + crop_width, y0 + crop_height


def _change_light(image: Image.Image, rng: np.random.Generator) -> Image.Image:
    """Vary brightness, contrast and saturation."""
    for enhancer in (ImageEnhance.Brightness, ImageEnhance.Contrast, ImageEnhance.Color):
        image = enhancer(image).enhance(float(rng.uniform(0.75, 1.25)))
    return image


def _compress(image: Image.Image, quality: int) -> Image.Image:
    """Pass a picture through JPEG."""
    buffer = BytesIO()
    image.save(buffer, "JPEG", quality=quality)
    return Image.open(buffer).convert("RGB")


def cut_eyes(face: Pixels) -> tuple[Pixels, Pixels]:
    """Cut the places of both eyes from a tight frontal face.

    There is no healthy eye close-up among the photos; without these a model learns that an eye
    close-up is sick.
    """
    height, width = face.shape[:2]
    side = max(8, int(0.45 * width))
    top = int(np.clip(0.38 * height - side / 2, 0, max(0, height - side)))
    return (
        np.ascontiguousarray(face[top : top + side, :side]),
        np.ascontiguousarray(face[top : top + side, width - side :]),
    )
