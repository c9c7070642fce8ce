"""Loading of photos: formats, orientation, modes, limits, damaged files, quality."""

import csv
import struct
import zlib
from pathlib import Path

import cv2
import numpy as np
import pillow_heif
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from vetscanner import config
from vetscanner.errors import InvalidPhotoError
from vetscanner.photo import judge_quality, load_photo
from vetscanner.schema import PhotoQuality

FORMATS = ["JPEG", "PNG", "WEBP", "TIFF", "AVIF", "HEIF"]
# The encoder; the opener of the app is another package.
Image.register_save("HEIF", pillow_heif.as_plugin._save_heif)


@pytest.fixture
def scene() -> Image.Image:
    """A sharp 400 x 300 picture: red left half, blue right half, a chequer in the middle."""
    picture = Image.new("RGB", (400, 300), (200, 30, 30))
    pen = ImageDraw.Draw(picture)
    pen.rectangle((200, 0, 399, 299), fill=(30, 30, 200))
    for x in range(120, 280, 20):
        for y in range(100, 200, 20):
            pen.rectangle((x, y, x + 9, y + 9), fill=(240, 240, 240))
    return picture


def corner_colours(pixels: NDArray[np.uint8]) -> tuple[str, str]:
    """Say which colour leads in the top left and in the bottom right corner."""
    names = "red", "green", "blue"
    top_left, bottom_right = pixels[5, 5], pixels[-6, -6]
    return names[int(top_left.argmax())], names[int(bottom_right.argmax())]


@pytest.mark.parametrize("picture_format", FORMATS)
def test_every_format_is_read_by_content_not_by_ending(
    scene: Image.Image, picture_format: str, tmp_path: Path
) -> None:
    path = tmp_path / "photo.jpg"
    scene.save(path, picture_format)
    photo = load_photo(path, "photo.jpg")
    assert (photo.name, photo.width, photo.height) == ("photo.jpg", 400, 300)
    assert (photo.pixels.shape, photo.pixels.dtype) == ((300, 400, 3), np.uint8)
    assert corner_colours(photo.pixels) == ("red", "blue")
    assert photo.quality is PhotoQuality.GOOD


@pytest.mark.parametrize("picture_format", FORMATS)
@pytest.mark.parametrize(
    ("orientation", "corners"),
    [
        (1, ("red", "blue")),
        (2, ("blue", "red")),
        (3, ("blue", "red")),
        (5, ("red", "blue")),
        (6, ("red", "blue")),
        (8, ("blue", "red")),
    ],
)
def test_orientation_is_applied(
    scene: Image.Image,
    picture_format: str,
    orientation: int,
    corners: tuple[str, str],
    tmp_path: Path,
) -> None:
    path = tmp_path / "photo"
    exif = Image.Exif()
    exif[0x0112] = orientation
    scene.save(path, picture_format, exif=exif.tobytes())
    photo = load_photo(path, "photo")
    size = (300, 400) if orientation >= 5 else (400, 300)
    assert (photo.width, photo.height) == size
    assert photo.pixels.shape == (size[1], size[0], 3)
    assert corner_colours(photo.pixels) == corners


@pytest.mark.parametrize(
    ("mode", "picture_format"),
    [
        ("CMYK", "JPEG"),
        ("L", "JPEG"),
        ("P", "PNG"),
        ("RGBA", "PNG"),
        ("RGBA", "WEBP"),
        ("LA", "PNG"),
        ("1", "PNG"),
        ("CMYK", "TIFF"),
        ("LAB", "TIFF"),
        ("F", "TIFF"),
        ("I", "TIFF"),
    ],
)
def test_every_mode_becomes_rgb(
    scene: Image.Image, mode: str, picture_format: str, tmp_path: Path
) -> None:
    path = tmp_path / "photo"
    source = scene if mode != "LAB" else scene.convert("RGB")
    converted = (
        Image.fromarray(cv2.cvtColor(np.asarray(source), cv2.COLOR_RGB2LAB), "LAB")
        if mode == "LAB"
        else source.convert("L").convert(mode)
        if mode in ("LA", "F", "I")
        else source.convert(mode)
    )
    converted.save(path, picture_format)
    pixels = load_photo(path, "photo").pixels
    assert (pixels.shape, pixels.dtype) == ((300, 400, 3), np.uint8)
    assert pixels.max() > 200
    assert pixels.min() < 120


def test_sixteen_bit_grey_keeps_its_contrast(tmp_path: Path) -> None:
    ramp = np.tile(np.linspace(0, 60_000, 200, dtype=np.uint16), (100, 1))
    Image.fromarray(ramp).save(tmp_path / "ramp.png")
    row = load_photo(tmp_path / "ramp.png", "ramp.png").pixels[50, :, 0].astype(int)
    assert (row[0], row[-1]) == (0, 255)
    assert np.diff(row).max() <= 2


def test_transparency_becomes_white(tmp_path: Path) -> None:
    picture = Image.new("RGBA", (120, 120), (10, 10, 10, 0))
    picture.paste((10, 10, 10, 255), (0, 0, 60, 120))
    picture.save(tmp_path / "half.png")
    pixels = load_photo(tmp_path / "half.png", "half.png").pixels
    assert pixels[60, 10].tolist() == [10, 10, 10]
    assert pixels[60, 110].tolist() == [255, 255, 255]


def test_animation_gives_its_first_frame(scene: Image.Image, tmp_path: Path) -> None:
    path = tmp_path / "moving.webp"
    scene.save(path, save_all=True, append_images=[Image.new("RGB", scene.size)], duration=50)
    assert corner_colours(load_photo(path, path.name).pixels) == ("red", "blue")


@pytest.mark.parametrize("picture_format", ["JPEG", "PNG"])
def test_large_photo_is_scaled_down_and_keeps_its_size_on_record(
    picture_format: str, tmp_path: Path
) -> None:
    path = tmp_path / "large"
    exif = Image.Exif()
    exif[0x0112] = 6
    Image.new("RGB", (4000, 2000), "white").save(path, picture_format, exif=exif)
    photo = load_photo(path, "large")
    assert (photo.width, photo.height) == (2000, 4000)
    assert photo.pixels.shape == (config.MAX_WORKING_SIDE_PX, config.MAX_WORKING_SIDE_PX // 2, 3)


def write_png_header(path: Path, width: int, height: int) -> Path:
    """Write a PNG that claims a size and holds almost nothing."""

    def chunk(name: bytes, body: bytes) -> bytes:
        return (
            struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
        )

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    packed = zlib.compress(b"\0" * 100)
    path.write_bytes(
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", packed) + chunk(b"IEND", b"")
    )
    return path


@pytest.mark.parametrize("size", [(30_000, 30_000), (8_000, 7_000), (2_000_000_000, 2_000_000_000)])
def test_bomb_is_refused_from_its_header(size: tuple[int, int], tmp_path: Path) -> None:
    # The body is empty: had the pixels been decoded, the message would be "damaged".
    path = write_png_header(tmp_path / "bomb.png", *size)
    with pytest.raises(InvalidPhotoError, match=r"bomb\.png: .*pixels.*megapixels"):
        load_photo(path, "bomb.png")


@pytest.mark.parametrize(
    ("claimed", "message"),
    [
        pytest.param((12_000, 9_000), "at most 50 megapixels", id="more-than-a-camera"),
        pytest.param((400, 300), "damaged or of an unusual kind", id="less-than-it-decodes-to"),
    ],
)
def test_heic_that_lies_about_its_size_is_refused(
    claimed: tuple[int, int], message: str, tmp_path: Path
) -> None:
    path = tmp_path / "bomb.heic"
    Image.new("RGB", (1600, 1200)).save(path, "HEIF", quality=10)
    content = bytearray(path.read_bytes())
    size = content.index(b"ispe") + 8  # after the name, version and flags
    content[size : size + 8] = struct.pack(">II", *claimed)
    path.write_bytes(content)
    with pytest.raises(InvalidPhotoError, match=rf"bomb\.heic: .*{message}"):
        load_photo(path, "bomb.heic")


def test_jpeg_of_many_megapixels_is_read_small(tmp_path: Path) -> None:
    path = tmp_path / "phone.jpg"
    Image.new("L", (12_000, 9_000), 128).save(path)
    photo = load_photo(path, "phone.jpg")
    assert (photo.width, photo.height) == (12_000, 9_000)
    assert photo.pixels.shape == (768, 1024, 3)


@pytest.mark.parametrize(
    ("content", "advice"),
    [
        pytest.param(b"a shopping list\n" * 9, "renaming a file does not convert", id="text"),
        pytest.param(b"", "empty", id="empty"),
        pytest.param(b"\xff\xd8\xff\xe0", "new photo|known format", id="jpeg-start"),
        pytest.param(b"\0\0\0\x18ftypheic" + bytes(50), "convert it to JPEG", id="heic"),
        pytest.param(b"GIF89a" + bytes(50), "known format", id="gif"),
        pytest.param(b"%PDF-1.7\n%%EOF", "known format", id="pdf"),
        pytest.param(b"%!PS-Adobe-3.0 EPSF-3.0\n", "known format", id="eps-needs-ghostscript"),
    ],
)
def test_what_is_no_photo_is_refused(content: bytes, advice: str, tmp_path: Path) -> None:
    path = tmp_path / "upload"
    path.write_bytes(content)
    with pytest.raises(InvalidPhotoError, match=rf"^cow\.jpg: .*({advice})"):
        load_photo(path, "cow.jpg")


@pytest.mark.parametrize("picture_format", FORMATS)
def test_truncated_photo_is_refused(
    scene: Image.Image, picture_format: str, tmp_path: Path
) -> None:
    path = tmp_path / "cut"
    scene.save(path, picture_format)
    path.write_bytes(path.read_bytes()[: path.stat().st_size * 2 // 3])
    with pytest.raises(InvalidPhotoError, match=r"cut: .*(again|known format)"):
        load_photo(path, "cut")


@pytest.mark.parametrize(("size", "advice"), [((1, 1), "thumbnail"), ((2000, 60), "whole photo")])
def test_useless_sizes_are_refused(size: tuple[int, int], advice: str, tmp_path: Path) -> None:
    Image.new("RGB", size).save(tmp_path / "odd.png")
    with pytest.raises(InvalidPhotoError, match=f"{size[0]} x {size[1]} pixels.*{advice}"):
        load_photo(tmp_path / "odd.png", "odd.png")


def test_missing_file_and_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidPhotoError, match="check the path"):
        load_photo(tmp_path / "missing.jpg", "missing.jpg")
    with pytest.raises(InvalidPhotoError, match="not a file"):
        load_photo(tmp_path, "folder")


@settings(
    max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    picture_format=st.sampled_from(FORMATS),
    damage=st.lists(st.tuples(st.floats(0, 1), st.integers(0, 255)), min_size=1, max_size=12),
)
@example(picture_format="TIFF", damage=[(0.0, 0)])
def test_damaged_bytes_give_a_photo_or_a_refusal(
    scene: Image.Image,
    picture_format: str,
    damage: list[tuple[float, int]],
    tmp_path: Path,
) -> None:
    path = tmp_path / "damaged"
    scene.resize((64, 48)).save(path, picture_format)
    content = bytearray(path.read_bytes())
    for place, value in damage:
        content[min(int(place * len(content)), len(content) - 1)] = value
    path.write_bytes(content)
    try:
        photo = load_photo(path, "damaged")
    except InvalidPhotoError:
        return
    assert max(photo.pixels.shape[:2]) <= config.MAX_WORKING_SIDE_PX


def test_quality_names_what_is_wrong(scene: Image.Image) -> None:
    sharp = np.asarray(scene)
    blurred = np.asarray(cv2.GaussianBlur(sharp, (0, 0), 6), dtype=np.uint8)
    dark = (sharp // 6).astype(np.uint8)
    assert judge_quality(sharp, 300) is PhotoQuality.GOOD
    assert judge_quality(blurred, 300) is PhotoQuality.BLURRED
    assert judge_quality(dark, 300) is PhotoQuality.DARK
    assert judge_quality(sharp, 80) is PhotoQuality.TINY
    assert judge_quality(sharp, 256) is PhotoQuality.SMALL
    assert judge_quality(blurred, 256) is PhotoQuality.BLURRED


def test_blur_is_judged_on_the_sharpest_part() -> None:
    # A portrait: the background is soft, the animal is not.
    pixels = np.full((320, 320, 3), 120, dtype=np.uint8)
    pixels[120:200:4, 120:200] = 200
    assert judge_quality(pixels, 320) is PhotoQuality.GOOD


@pytest.mark.parametrize("value", [0, 255], ids=["night", "white"])
def test_a_blank_picture_is_not_good(value: int) -> None:
    assert (
        judge_quality(np.full((300, 300, 3), value, dtype=np.uint8), 300) is not PhotoQuality.GOOD
    )


@pytest.mark.shared_data
def test_quality_check_lets_real_photos_pass_and_stops_them_when_blurred(shared_data: Path) -> None:
    folder = shared_data / "cattle"
    rows = list(csv.DictReader((folder / "labels.csv").read_text(encoding="utf-8").splitlines()))
    photos = [load_photo(folder / row["file"], row["file"]) for row in rows[::5]]
    assert len(photos) > 500
    flagged = [photo.name for photo in photos if not photo.quality.can_be_judged]
    assert len(flagged) / len(photos) < 0.02, flagged
    soft = [
        judge_quality(np.asarray(cv2.GaussianBlur(photo.pixels, (0, 0), 4)), photo.height)
        for photo in photos[::10]
    ]
    assert sum(not quality.can_be_judged for quality in soft) / len(soft) > 0.95
