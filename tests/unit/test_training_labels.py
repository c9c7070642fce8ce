"""labels.csv: what is read, and what is refused with the line."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from vetscanner.errors import InvalidOptionError
from vetscanner.schema import SignClass
from vetscanner.training.augment import (
    cut_eyes,
    mirror,
    random_view,
    to_square,
)
from vetscanner.training.backbone import IMAGE_SIZE_PX
from vetscanner.training.drawn_negatives import iter_drawn_negatives
from vetscanner.training.fit import assign_folds
from vetscanner.training.labels import read_labels, read_pixels


def write_folder(folder: Path, text: str) -> Path:
    Image.new("RGB", (8, 6), (10, 200, 30)).save(folder / "a.png")
    (folder / "labels.csv").write_text(text, encoding="utf-8")
    return folder


def test_only_file_and_label_are_needed(tmp_path: Path) -> None:
    (photo,) = read_labels(write_folder(tmp_path, "file,label\na.png,eye\n"))
    assert photo.sign is SignClass.EYE
    assert (photo.group, photo.source, photo.is_weak) == ("a.png", "unknown", False)


def test_optional_columns_are_read(tmp_path: Path) -> None:
    text = "file,label,quality,group,source,licence\na.png,eye,weak,g1,farm,CC0\n"
    (photo,) = read_labels(write_folder(tmp_path, text))
    assert (photo.group, photo.source, photo.licence, photo.is_weak) == ("g1", "farm", "CC0", True)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        pytest.param("file,name\na.png,eye\n", "'label'", id="column-missing"),
        pytest.param("file,label\n", "no rows", id="empty"),
        pytest.param("file,label\na.png,cow\n", "line 2: label 'cow'", id="unknown-label"),
        pytest.param("file,label\na.png,eye\nb.png,eye\n", "line 3: no file", id="no-such-file"),
    ],
)
def test_unusable_tables_are_refused(tmp_path: Path, text: str, word: str) -> None:
    with pytest.raises(InvalidOptionError, match=word):
        read_labels(write_folder(tmp_path, text))


def test_folder_without_table_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidOptionError, match=r"labels\.csv"):
        read_labels(tmp_path)


def test_text_that_claims_to_be_a_photo_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.jpg").write_text("not a photo", encoding="utf-8")
    with pytest.raises(InvalidOptionError, match=r"a\.jpg"):
        read_pixels(tmp_path / "a.jpg")


def test_no_group_stands_on_two_sides(tmp_path: Path) -> None:
    rows = [f"a.png,{sign},g{number // 3}" for sign in SignClass for number in range(30)]
    photos = read_labels(write_folder(tmp_path, "file,label,group\n" + "\n".join(rows)))
    folds = assign_folds(photos)
    assert set(folds) == set(range(5))
    for group in {photo.group for photo in photos}:
        assert len({fold for fold, p in zip(folds, photos, strict=True) if p.group == group}) == 1


@pytest.mark.parametrize("shape", [(40, 300), (300, 40), (1, 1), (224, 224)])
def test_views_are_squares_of_the_network_size(shape: tuple[int, int]) -> None:
    pixels = np.random.default_rng(0).integers(0, 256, (*shape, 3), dtype=np.uint8)
    expected = (IMAGE_SIZE_PX, IMAGE_SIZE_PX, 3)
    rng = np.random.default_rng(1)
    assert to_square(pixels).shape == expected
    assert {random_view(pixels, rng).shape for _ in range(20)} == {expected}
    np.testing.assert_array_equal(mirror(mirror(pixels)), pixels)


def test_eyes_are_cut_from_both_sides_of_a_face() -> None:
    face = np.zeros((200, 100, 3), dtype=np.uint8)
    face[60:90, 5:35, 0] = 255
    face[60:90, 65:95, 1] = 255
    left, right = cut_eyes(face)
    assert left.shape == right.shape == (45, 45, 3)
    assert left[..., 0].max() == 255
    assert left[..., 1].max() == 0
    assert right[..., 1].max() == 255


def test_drawn_negatives_are_varied_pictures() -> None:
    drawn = list(iter_drawn_negatives(10, np.random.default_rng(0)))
    assert all(picture.dtype == np.uint8 and picture.shape[2] == 3 for picture in drawn)
    assert len({picture.tobytes() for picture in drawn}) == 10
