"""What is wrong with a dataset is told before anything slow, with the name of the file."""

import io
import json
import zipfile
from pathlib import Path

import pytest
from PIL import Image

from style_lora.dataset_zip import DatasetZip
from style_lora.errors import DatasetError
from style_lora.schema import Examples


def draw_picture(shade: int = 200) -> bytes:
    stored = io.BytesIO()
    Image.effect_noise((96, 64), shade).convert("RGB").save(stored, "JPEG")
    return stored.getvalue()


def write_zip(path: Path, entries: dict[str, bytes], rows: dict[str, list[object]]) -> Path:
    with zipfile.ZipFile(path, "w") as dataset:
        for name, content in entries.items():
            dataset.writestr(name, content)
        for folder, listed in rows.items():
            dataset.writestr(f"{folder}/metadata.jsonl", "\n".join(map(json.dumps, listed)))
    return path


def write_dataset(path: Path, count: int, validation: int = 0) -> Path:
    names = [f"{number:06}.jpg" for number in range(count)]
    held = names[:validation]
    entries = {f"train/{name}": draw_picture() for name in names}
    entries |= {f"validation/{name}": draw_picture() for name in held}
    rows = {"train": [{"file_name": name, "text": f"ink  {name}\n"} for name in names]}
    if held:
        rows["validation"] = [{"file_name": name, "text": "ink"} for name in held]
    return write_zip(path, entries, rows)


def read(path: Path, share: float = 0.1, seed: int = 0) -> Examples:
    with DatasetZip(path) as dataset:
        return dataset.read_examples(share, seed, lambda _done, _total: None)


def test_captions_become_one_line_and_sizes_are_read(tmp_path: Path) -> None:
    examples = read(write_dataset(tmp_path / "set.zip", 3))
    assert [one.caption for one in examples.training] == [f"ink 00000{n}.jpg" for n in range(3)]
    assert {one.size for one in examples.training} == {(96, 64)}
    assert not examples.held_out


def test_pictures_are_held_out_once_and_always_the_same(tmp_path: Path) -> None:
    path = write_dataset(tmp_path / "set.zip", 20)
    examples, again = read(path), read(path)
    assert examples == again
    assert (len(examples.training), len(examples.validation)) == (18, 2)
    assert not set(examples.training) & set(examples.validation)
    assert read(path, seed=1).validation != examples.validation


def test_the_validation_of_the_dataset_is_taken(tmp_path: Path) -> None:
    examples = read(write_dataset(tmp_path / "set.zip", 6, validation=2))
    assert (len(examples.training), len(examples.validation)) == (6, 2)
    assert examples.held_out


def test_sizes_are_the_same_without_decoding(tmp_path: Path) -> None:
    path = write_dataset(tmp_path / "set.zip", 2)
    with DatasetZip(path) as dataset:
        assert dataset.read_examples(0, 0, lambda _done, _total: None, decode=False) == read(
            path, 0
        )


@pytest.mark.parametrize(
    ("entries", "rows", "told"),
    [
        ({}, {}, "empty ZIP"),
        ({"notes.txt": b"x"}, {}, "no pictures"),
        ({"train/1.jpg": b"x"}, {}, "no captions"),
        ({"train/1.jpg": b"x"}, {"train": []}, "names no picture"),
        ({"train/1.jpg": b"x"}, {"train": [{"file_name": "1.jpg", "text": " "}]}, "1.jpg has no"),
        ({"train/1.jpg": b"x"}, {"train": [{"file_name": "2.jpg", "text": "ink"}]}, "2.jpg"),
        ({"train/1.jpg": b"x"}, {"train": ["ink"]}, "line 1"),
        ({"train/1.jpg": b"x"}, {"train": [{"file_name": "1.jpg", "text": "ink"}]}, "is broken"),
    ],
)
def test_each_fault_is_told_in_words(
    tmp_path: Path, entries: dict[str, bytes], rows: dict[str, list[object]], told: str
) -> None:
    with pytest.raises(DatasetError, match=told):
        read(write_zip(tmp_path / "set.zip", entries, rows))


def test_a_picture_that_is_cut_short_is_named(tmp_path: Path) -> None:
    entries = {"train/1.jpg": draw_picture(), "train/2.jpg": draw_picture()[:-400]}
    rows = {"train": [{"file_name": f"{n}.jpg", "text": "ink"} for n in (1, 2)]}
    with pytest.raises(DatasetError, match=r"train/2\.jpg is broken"):
        read(write_zip(tmp_path / "set.zip", entries, rows))


def test_what_is_no_zip_or_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="does not exist"):
        DatasetZip(tmp_path / "set.zip")
    (tmp_path / "set.zip").write_bytes(b"%PDF-1.7")
    with pytest.raises(DatasetError, match="is no ZIP"):
        DatasetZip(tmp_path / "set.zip")


ROW = {"file_name": "1.jpg", "text": "ink"}


def mark_encrypted(path: Path, name: str) -> Path:
    """Set the flag of encryption of one entry, in the list and before its content."""
    with zipfile.ZipFile(path) as dataset:
        start = dataset.getinfo(name).header_offset
    content = bytearray(path.read_bytes())
    content[start + 6] |= 1
    listed = content.index(b"PK\x01\x02")
    while content[listed + 46 : listed + 46 + len(name)] != name.encode():
        listed = content.index(b"PK\x01\x02", listed + 1)
    content[listed + 8] |= 1
    path.write_bytes(content)
    return path


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        (b'{"file_name": "1.jpg", "text": "d\xe9j\xe0"}', "line 1, is not UTF-8"),
        (b'{"file_name": "1.jpg", "text": "\\ud800"}', "line 1, is not UTF-8"),
        (b"[" * 100_000, "line 1, is no JSON"),
        (b'{"file_name": "1.jpg"}', "1.jpg has no caption"),
        (b'{"file_name": "../../1.jpg", "text": "ink"}', "names no picture"),
        (b'{"file_name": "/train/1.jpg", "text": "ink"}', "names no picture"),
        (b'{"file_name": 1, "text": "ink"}', "names no picture"),
        (json.dumps(ROW).encode() + b"\n" + json.dumps(ROW).encode(), "stands in 2 rows"),
        (b'{"file_name": "1.jpg", "text": "' + b"x" * 2_000_000 + b'"}', "is no JSON"),
    ],
    ids=range(9),
)
def test_rows_that_cannot_be_right_are_told(tmp_path: Path, lines: bytes, told: str) -> None:
    entries = {"train/1.jpg": draw_picture(), "train/metadata.jsonl": lines}
    with pytest.raises(DatasetError, match=told):
        read(write_zip(tmp_path / "set.zip", entries, {}))


def test_a_byte_order_mark_is_passed_over(tmp_path: Path) -> None:
    lines = b"\xef\xbb\xbf" + json.dumps(ROW).encode()
    entries = {"train/1.jpg": draw_picture(), "train/metadata.jsonl": lines}
    (example,) = read(write_zip(tmp_path / "set.zip", entries, {})).training
    assert example.caption == "ink"


@pytest.mark.parametrize("name", ["train/1.jpg", "train/metadata.jsonl"])
def test_an_encrypted_zip_is_told(tmp_path: Path, name: str) -> None:
    path = write_zip(tmp_path / "set.zip", {"train/1.jpg": draw_picture()}, {"train": [ROW]})
    with pytest.raises(DatasetError, match=rf"{name}.*encrypted"):
        read(mark_encrypted(path, name))


@pytest.mark.parametrize("kind", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_packed_entry_that_is_damaged_is_told(tmp_path: Path, kind: int) -> None:
    path = tmp_path / "set.zip"
    with zipfile.ZipFile(path, "w", kind) as dataset:
        dataset.writestr("train/metadata.jsonl", json.dumps(ROW) * 9)
        end = dataset.start_dir
        dataset.writestr("train/1.jpg", draw_picture())
    content = bytearray(path.read_bytes())
    content[60:end] = bytes(end - 60)
    path.write_bytes(content)
    with pytest.raises(DatasetError, match=r"metadata\.jsonl"):
        read(path)


def test_two_files_of_one_name_are_told(tmp_path: Path) -> None:
    path = write_zip(tmp_path / "set.zip", {"train/1.jpg": draw_picture()}, {"train": [ROW]})
    with pytest.warns(UserWarning, match="Duplicate"), zipfile.ZipFile(path, "a") as dataset:
        dataset.writestr("train/1.jpg", draw_picture(90))
    with pytest.raises(DatasetError, match=r"two files of the name train/1\.jpg"):
        read(path)


def test_a_picture_of_one_pixel_is_refused(tmp_path: Path) -> None:
    for size in ((1, 1), (2000, 8)):
        stored = io.BytesIO()
        Image.new("RGB", size).save(stored, "JPEG")
        path = write_zip(tmp_path / "set.zip", {"train/1.jpg": stored.getvalue()}, {"train": [ROW]})
        with pytest.raises(DatasetError, match=rf"{size[0]} x {size[1]} px"):
            read(path)


def test_postscript_under_the_name_of_a_picture_is_not_run(tmp_path: Path) -> None:
    stored = io.BytesIO()
    Image.new("RGB", (64, 64)).save(stored, "EPS")
    assert Image.open(io.BytesIO(stored.getvalue())).format == "EPS"
    path = write_zip(tmp_path / "set.zip", {"train/1.jpg": stored.getvalue()}, {"train": [ROW]})
    with pytest.raises(DatasetError, match=r"train/1\.jpg is broken \(cannot identify"):
        read(path)


def test_a_folder_is_no_zip(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="is a folder"):
        DatasetZip(tmp_path)
