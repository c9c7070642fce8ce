"""Pictures of odd modes come out as they are seen."""

import io

import numpy as np
import pytest
from PIL import Image

from style_lora.picture_modes import to_rgb, upright_size

GREY = 120


def store(picture: Image.Image, kind: str, **options: object) -> Image.Image:
    stored = io.BytesIO()
    picture.save(stored, kind, **options)
    return Image.open(stored)


def draw_16_bit() -> Image.Image:
    values = np.full((40, 60), GREY * 256 + 200, np.uint16)
    return store(Image.fromarray(values), "PNG")


def draw_palette() -> Image.Image:
    """The first half shows grey, the second is transparent with black below it."""
    picture = Image.new("P", (60, 40), 0)
    picture.putpalette([GREY, GREY, GREY, 0, 0, 0])
    picture.paste(1, (30, 0, 60, 40))
    return store(picture, "PNG", transparency=1)


def draw_with_alpha(mode: str) -> Image.Image:
    picture = Image.new("RGBA", (60, 40), (GREY, GREY, GREY, 255))
    picture.paste((0, 0, 0, 0), (30, 0, 60, 40))
    return store(picture.convert(mode), "PNG")


def read(picture: Image.Image) -> np.ndarray:
    seen = to_rgb(picture)
    assert seen.mode == "RGB"
    assert seen.size == upright_size(picture)
    return np.asarray(seen)


@pytest.mark.parametrize(
    "picture",
    [
        draw_16_bit(),
        store(Image.new("L", (60, 40), GREY), "PNG"),
        store(Image.new("CMYK", (60, 40), (0, 0, 0, 255 - GREY)), "JPEG"),
        store(Image.new("YCbCr", (60, 40), (GREY, 128, 128)), "JPEG"),
        store(Image.new("RGB", (60, 40), (GREY,) * 3), "WEBP", lossless=True),
        Image.new("I", (60, 40), GREY * 256),
    ],
    ids=["16 bit", "grey", "CMYK", "YCbCr", "WebP", "32 bit"],
)
def test_grey_is_the_same_grey(picture: Image.Image) -> None:
    assert np.abs(read(picture).astype(int) - GREY).max() <= 2


@pytest.mark.parametrize(
    "picture", [draw_palette(), draw_with_alpha("RGBA"), draw_with_alpha("LA")]
)
def test_what_is_transparent_is_paper(picture: Image.Image) -> None:
    pixels = read(picture)
    assert (pixels[:, :30] == GREY).all()
    assert (pixels[:, 30:] == 255).all()


def test_black_and_white_has_two_colours() -> None:
    picture = Image.new("1", (60, 40), 1)
    picture.paste(0, (0, 0, 30, 40))
    assert set(read(store(picture, "PNG")).ravel()) == {0, 255}


def test_a_picture_on_its_side_is_set_upright() -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    drawn = Image.new("L", (60, 40), 255)
    drawn.paste(0, (0, 0, 60, 10))
    picture = store(drawn, "JPEG", exif=exif)
    pixels = read(picture)
    assert pixels.shape == (60, 40, 3)
    assert pixels[:, 32:].max() < 20, "what was above is now to the right"


def test_what_has_no_eight_bits_is_refused() -> None:
    with pytest.raises(ValueError, match="floating-point"):
        to_rgb(Image.new("F", (4, 4)))
    with pytest.raises(ValueError, match="more than 16 bits"):
        to_rgb(Image.new("I", (4, 4), 1 << 20))
