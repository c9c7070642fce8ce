"""The map over the photo: coloured where the evidence is, the photo itself elsewhere."""

from base64 import b64decode
from io import BytesIO

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from vetscanner.heatmap import MAX_SIDE_PX, draw_heatmap

GREY = np.full((400, 800, 3), 128, np.uint8)


def open_uri(uri: str) -> Image.Image:
    kind, _, content = uri.partition(",")
    assert kind == "data:image/jpeg;base64"
    return Image.open(BytesIO(b64decode(content)))


def draw_pair(
    pixels: NDArray[np.uint8], evidence: NDArray[np.float32]
) -> tuple[Image.Image, Image.Image]:
    pictures = draw_heatmap(pixels, evidence)
    assert pictures
    return open_uri(pictures[0]), open_uri(pictures[1])


def test_the_place_of_the_evidence_is_red_and_the_rest_is_the_photo() -> None:
    evidence = np.full((7, 7), -1.0, np.float32)
    evidence[1, 5] = 3.0  # upper right
    plain, image = draw_pair(GREY, evidence)
    assert np.abs(np.asarray(plain, dtype=int) - 128).max() <= 6
    assert image.size == (MAX_SIDE_PX, MAX_SIDE_PX // 2)
    pixels = np.asarray(image, dtype=int)
    redness = pixels[..., 0] - pixels[..., 2]
    row, column = np.unravel_index(redness.argmax(), redness.shape)
    assert row / pixels.shape[0] == pytest.approx(1.5 / 7, abs=0.1)
    assert column / pixels.shape[1] == pytest.approx(5.5 / 7, abs=0.1)
    assert np.abs(pixels[100:, :150] - 128).max() <= 6  # JPEG rounds


@pytest.mark.parametrize("level", [0.0, -2.0, np.nan])
def test_without_evidence_there_is_no_map(level: float) -> None:
    assert draw_heatmap(GREY, np.full((7, 7), level, np.float32)) is None


def test_a_small_photo_keeps_its_size() -> None:
    photo, image = draw_pair(GREY[:50, :40], np.ones((3, 3), np.float32))
    assert photo.size == image.size == (40, 50)
