"""Views of training photos, healthy eye close-ups, and drawn pictures that show no cattle.

Everything is uint8 RGB (H, W, 3) and follows from a seeded generator.
"""

from collections.abc import Iterator
from io import BytesIO

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageEnhance, ImageFilter

from vetscanner.training.backbone import IMAGE_SIZE_PX

Pixels = NDArray[np.uint8]

# Shares of random views that get each change; small, so that most views stay plain photos.
ROTATED_SHARE = 0.25
BLURRED_SHARE = 0.15
COMPRESSED_SHARE = 0.25
MIN_AREA_SHARE = 0.35


def to_square(pixels: Pixels) -> Pixels:
    """Squash a picture to the square that the network sees, as its preprocessor does."""
    size = (IMAGE_SIZE_PX, IMAGE_SIZE_PX)
    return np.asarray(Image.fromarray(pixels).resize(size, Image.Resampling.BICUBIC))


def mirror(pixels: Pixels) -> Pixels:
    """Swap left and right."""
    return np.ascontiguousarray(pixels[:, ::-1])


def random_view(pixels: Pixels, rng: np.random.Generator) -> Pixels:
    """Make a random crop with small changes of angle, light, sharpness and compression.

    Args:
        pixels: A photo of any size.
        rng: Source of all randomness.

    Returns:
        A square of `IMAGE_SIZE_PX`.
    """
    image = Image.fromarray(pixels)
    if rng.random() < ROTATED_SHARE:
        # The sick eyes carry black or white rotation borders, the healthy animals none: give
        # them to every class, or a border means "sick".
        shade = int(rng.choice([0, 40, 255]))
        image = image.rotate(float(rng.uniform(-15, 15)), fillcolor=(shade, shade, shade))
    image = image.resize(
        (IMAGE_SIZE_PX, IMAGE_SIZE_PX), Image.Resampling.BICUBIC, box=_random_box(image.size, rng)
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
