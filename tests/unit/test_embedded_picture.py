import io

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageCms

from archive_tools.embedded_jpeg2000 import decode_jpeg2000
from archive_tools.embedded_picture import (
    MAX_HALVINGS,
    Placement,
    count_halvings,
    decode_jpeg,
    is_decodable,
    is_plain_profile,
    read_jpeg_header,
)
from archive_tools.resampling import halve, resize_lanczos, resize_triangle
from tests import pdf_fixtures, pdf_writer

PAGE = pdf_fixtures.draw_page(300, 420)


def a_jpeg(image=PAGE, mode="RGB", **options):
    buffer = io.BytesIO()
    Image.fromarray(image).convert(mode).save(buffer, "JPEG", quality=95, **options)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("stored", "channels", "progressive", "decodable"),
    [
        (a_jpeg(), 3, False, True),
        (a_jpeg(mode="L"), 1, False, True),
        (a_jpeg(progressive=True), 3, True, True),
        (a_jpeg(mode="CMYK"), 4, False, False),
        (a_jpeg(exif=b"Exif\x00\x00" + b"\xff\xc0" * 40), 3, False, True),
    ],
    ids=["RGB", "grey", "progressive", "CMYK", "markers inside EXIF"],
)
def test_header_of_a_jpeg(stored, channels, progressive, decodable):
    header = read_jpeg_header(stored)
    assert header is not None
    assert (header.width, header.height) == (300, 420)
    assert (header.channels, header.progressive) == (channels, progressive)
    assert is_decodable(header) is decodable


@given(garbage=st.binary(max_size=64))
def test_header_of_garbage_is_none_or_harmless(garbage):
    read_jpeg_header(b"\xff\xd8" + garbage)
    assert read_jpeg_header(b"\x89PNG" + garbage) is None


@pytest.mark.parametrize("halvings", range(MAX_HALVINGS + 1))
@pytest.mark.parametrize("channels", [1, 3])
def test_reduced_decoding_shows_the_averaged_picture(halvings, channels):
    smooth = cv2.GaussianBlur(PAGE, (0, 0), 4)
    pixels = decode_jpeg(a_jpeg(smooth), channels, halvings)
    assert pixels is not None
    expected = halve(smooth if channels == 3 else pdf_writer.to_grey(smooth), halvings)
    rows, columns = expected.shape[:2]
    assert np.abs(pixels[:rows, :columns].astype(int) - expected).mean() < 3


@pytest.mark.parametrize("halvings", [0, 1, 2, 3])
@pytest.mark.parametrize(
    "options",
    [{"subsampling": 0}, {"subsampling": 1}, {"subsampling": 2}, {"progressive": True}],
    ids=["4:4:4", "4:2:2", "4:2:0", "progressive"],
)
@pytest.mark.parametrize("mode", ["RGB", "L"])
def test_a_jpeg_has_the_pixels_of_another_decoder(mode, options, halvings):
    stored = a_jpeg(PAGE[:419, :299], mode, **options)
    # Stray bytes before a marker: OpenCV's decoder passes over them, simplejpeg refuses.
    with_a_fault = stored.replace(b"\xff\xda", b"\x00\x00\xff\xda", 1)
    channels = 3 if mode == "RGB" else 1
    pixels = decode_jpeg(stored, channels, halvings)
    assert pixels is not None
    assert pixels.shape[:2] == (-(-419 >> halvings), -(-299 >> halvings))
    np.testing.assert_array_equal(pixels, decode_jpeg(with_a_fault, channels, halvings))


def test_a_cameras_orientation_mark_is_ignored_as_in_pdf():
    exif = Image.Exif()
    exif[0x0112] = 6
    pixels = decode_jpeg(a_jpeg(exif=exif), 3, 0)
    assert pixels is not None
    assert pixels.shape == (420, 300, 3)


def test_a_truncated_jpeg_is_none():
    assert decode_jpeg(a_jpeg()[:2000], 3, 0) is None


@pytest.mark.parametrize("halvings", [0, 1, 2])
def test_jpeg2000_is_decoded_in_place_at_each_size(halvings):
    # Without moving the wavelet's samples the halved picture is 8 levels off at sharp edges.
    stored = pdf_writer.jpx_stream(PAGE, rate=4).stored
    pixels = decode_jpeg2000(stored, (300, 420), halvings)
    assert pixels is not None
    expected = halve(PAGE, halvings)
    assert pixels.shape == expected.shape
    difference = np.abs(cv2.blur(pixels, (3, 3)).astype(int) - cv2.blur(expected, (3, 3)))
    assert difference.mean() < 3


def jpeg2000(pixels, **options):
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "JPEG2000", **options)
    return buffer.getvalue()


def decode_with_pillow(stored, halvings):
    """Return what Pillow's decoder gives, moved to the middle of each block."""
    image = Image.open(io.BytesIO(stored))
    image.reduce = halvings
    offset = (1 - 0.5**halvings) / 2
    matrix = np.array([[1, 0, -offset], [0, 1, -offset]], np.float32)
    pixels = np.asarray(image)
    size = pixels.shape[1::-1]
    return cv2.warpAffine(
        pixels, matrix, size, flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE
    )


@pytest.mark.parametrize("halvings", [0, 1])
@pytest.mark.parametrize(
    "options",
    [
        {"irreversible": False},
        {"irreversible": True, "quality_mode": "rates", "quality_layers": [40, 12]},
        {"irreversible": True, "no_jp2": True},
        {"tile_size": (128, 128)},
    ],
    ids=["reversible", "layers", "bare codestream", "tiles"],
)
@pytest.mark.parametrize("is_grey", [False, True], ids=["colour", "grey"])
@pytest.mark.parametrize(("height", "width"), [(420, 300), (419, 299)], ids=["even", "odd"])
def test_jpeg2000_has_the_pixels_of_another_decoder(height, width, is_grey, options, halvings):
    page = (pdf_writer.to_grey(PAGE) if is_grey else PAGE)[:height, :width]
    stored = jpeg2000(page, **options)
    pixels = decode_jpeg2000(stored, (width, height), halvings)
    expected = decode_with_pillow(stored, halvings)
    np.testing.assert_array_equal(pixels, expected)


@pytest.mark.parametrize("halvings", [2, 3])
def test_jpeg2000_of_odd_size_is_rounded_up(halvings):
    page = cv2.GaussianBlur(PAGE[:417, :297], (0, 0), 6)
    pixels = decode_jpeg2000(jpeg2000(page), (297, 417), halvings)
    assert pixels is not None
    assert pixels.shape == (-(-417 >> halvings), -(-297 >> halvings), 3)
    whole_blocks = halve(page, halvings)
    rows, columns = whole_blocks.shape[:2]
    assert np.abs(pixels[:rows, :columns].astype(int) - whole_blocks).mean() < 3


def test_jpeg2000_without_coarser_scales_is_none():
    assert decode_jpeg2000(jpeg2000(PAGE, num_resolutions=1), (300, 420), 1) is None
    assert decode_jpeg2000(jpeg2000(PAGE, num_resolutions=1), (300, 420), 0) is not None


@pytest.mark.parametrize("pixels", [np.dstack([PAGE, PAGE[:, :, :1]]), PAGE[:, :, 0] > 99])
def test_jpeg2000_with_other_channels_is_none(pixels):
    pixels = pixels.astype(np.uint16) if pixels.ndim == 2 else pixels
    assert decode_jpeg2000(jpeg2000(pixels), (300, 420), 1) is None


@pytest.mark.parametrize(
    ("stored", "size"),
    [
        (pdf_writer.jpx_stream(PAGE).stored, (300, 421)),
        (pdf_writer.jpx_stream(PAGE).stored[:400], (300, 420)),
        (b"\x00\x00\x00\x0cjP  \r\n\x87\n", (300, 420)),
        (b"", (300, 420)),
    ],
    ids=["other size", "truncated", "header only", "empty"],
)
def test_jpeg2000_that_is_not_what_the_pdf_says_is_none(stored, size):
    assert decode_jpeg2000(stored, size, 1) is None


@given(
    density=st.floats(0.01, 100),
    least=st.floats(0.1, 10),
)
def test_halvings_leave_the_density_that_is_asked_for(density, least):
    halvings = count_halvings(density, least)
    assert 0 <= halvings <= MAX_HALVINGS
    if halvings:
        assert density / 2**halvings >= least
    if halvings < MAX_HALVINGS:
        assert density / 2 ** (halvings + 1) < least


shares = st.floats(0, 1)


@given(
    corners=st.tuples(shares, shares, shares, shares),
    rotation=st.sampled_from([0, 90, 180, 270]),
    size=st.tuples(st.integers(1, 60), st.integers(1, 60)),
)
def test_a_placed_picture_is_part_of_the_turned_one(corners, rotation, size):
    left, right = sorted(corners[:2])
    top, bottom = sorted(corners[2:])
    pixels = np.arange(size[0] * size[1], dtype=np.uint16).reshape(size[::-1]).astype(np.uint8)
    placed = Placement(rotation, (left, top, right, bottom)).apply(pixels)
    turned = np.rot90(pixels, -rotation // 90)
    assert 1 <= placed.shape[0] <= turned.shape[0]
    assert 1 <= placed.shape[1] <= turned.shape[1]
    whole = Placement(rotation).apply(pixels)
    np.testing.assert_array_equal(whole, turned)


def test_srgb_is_a_plain_profile_and_others_are_not():
    srgb = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    lab = ImageCms.ImageCmsProfile(ImageCms.createProfile("LAB")).tobytes()
    assert is_plain_profile(srgb, 3)
    assert not is_plain_profile(srgb, 1)
    assert not is_plain_profile(lab, 3)
    assert not is_plain_profile(swap_red_and_blue(srgb), 3)
    assert not is_plain_profile(b"no profile at all", 3)


def swap_red_and_blue(profile):
    """Return a profile whose red and blue colourants are exchanged (ICC.1, tag table)."""
    return profile.replace(b"rXYZ", b"????").replace(b"bXYZ", b"rXYZ").replace(b"????", b"bXYZ")


def assert_same_picture(ours, pillows):
    difference = np.abs(ours.astype(int) - np.asarray(pillows))
    # Both round to 8 bits between their two passes, in different order.
    assert difference.mean() < 0.4
    assert difference.max() <= 16


@pytest.mark.parametrize("size", [(150, 210), (90, 100), (300, 420), (512, 700)])
@pytest.mark.parametrize("picture", [PAGE, pdf_writer.to_grey(PAGE)], ids=["RGB", "grey"])
def test_lanczos_is_pillows_lanczos(size, picture):
    ours = resize_lanczos(picture, (0, 0, 300, 420), size)
    assert_same_picture(ours, Image.fromarray(picture).resize(size, Image.Resampling.LANCZOS))


def test_lanczos_takes_only_the_box():
    ours = resize_lanczos(PAGE, (30, 40, 230, 340), (100, 150))
    part = Image.fromarray(PAGE[40:340, 30:230])
    assert_same_picture(ours, part.resize((100, 150), Image.Resampling.LANCZOS))


def test_triangle_keeps_the_mean():
    grey = pdf_writer.to_grey(PAGE)
    for size in ((280, 390), (150, 210), (100, 140)):
        assert resize_triangle(grey, size).mean() == pytest.approx(grey.mean(), abs=1.5)
