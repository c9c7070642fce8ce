"""Every format of a dataset as the real `datasets`, `webdataset` and pyarrow read it."""

import io
import json
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import datasets
import pyarrow.parquet as pq
import pytest
import webdataset
from PIL import Image

from archive_tools import exports
from archive_tools.config import DatasetConfig, DatasetFormat, ImageFormat
from archive_tools.errors import DatasetWriteError, InvalidOptionError
from archive_tools.schema import PageOutcome, PageResult, Record, Source, SourceFailure
from archive_tools.trainer_configs import iter_trainer_configs
from archive_tools.writer import DatasetWriter, open_dataset_writer, partial_path
from tests.integration.test_writer import SOURCES, make_page, make_record, make_source

SPLITS = {"train": 7, "validation": 1}
FORMATS = [kind for kind in DatasetFormat if kind is not DatasetFormat.ZIP]


def make_config(dataset_format: DatasetFormat) -> DatasetConfig:
    return DatasetConfig(size_px=64, trigger="engrv", dataset_format=dataset_format)


def write_inputs(writer: DatasetWriter, sources: tuple[Source | SourceFailure, ...]) -> None:
    """The pages of test_writer.py; those of b.pdf are for validation."""
    for number, source in enumerate(sources):
        if isinstance(source, SourceFailure):
            writer.add_source_failure(source)
            continue
        split = "validation" if source.name == "b.pdf" else "train"
        for page_index in range(writer.begin_source(source), source.page_count):
            page = make_page(page_index, number)
            records = tuple(replace(record, split=split) for record in page.records)
            writer.add_page(source, replace(page, records=records))


def build(folder: Path, dataset_format: DatasetFormat, resume: bool = False) -> Path:
    out = folder / ("dataset.zip" if dataset_format is DatasetFormat.ZIP else "dataset")
    with open_dataset_writer(out, make_config(dataset_format), resume) as writer:
        write_inputs(writer, SOURCES)
        writer.finish()
    assert [path.name for path in folder.iterdir()] == [out.name]
    if dataset_format is not DatasetFormat.ZIP:
        return out
    with zipfile.ZipFile(out) as dataset:
        dataset.extractall(folder / "unzipped")
    return folder / "unzipped"


@pytest.fixture(scope="module", params=list(DatasetFormat))
def root(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("root"), request.param)


@pytest.fixture(scope="module")
def shards(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("shards"), DatasetFormat.WEBDATASET)


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("tables"), DatasetFormat.PARQUET)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("folder"), DatasetFormat.FOLDER)


def find_image(row: dict[str, object]) -> Image.Image:
    image = row.get("image") or row["jpg"]
    assert isinstance(image, Image.Image)
    return image


def test_both_splits_load_from_the_root(root: Path, tmp_path: Path) -> None:
    loaded = datasets.load_dataset(str(root), cache_dir=str(tmp_path))
    assert {name: split.num_rows for name, split in loaded.items()} == SPLITS
    for split in loaded.values():
        for row in split:
            assert find_image(row).size == (64, 64)
            assert (row.get("text") or row["txt"]).startswith("engrv, illustration, Harper")
        assert all(getattr(kind, "dtype", "") != "null" for kind in split.features.values())


@pytest.mark.parametrize("split", SPLITS)
def test_one_split_loads_alone(folder: Path, tmp_path: Path, split: str) -> None:
    loaded = datasets.load_dataset(str(folder / split), cache_dir=str(tmp_path))
    assert {name: rows.num_rows for name, rows in loaded.items()} == {split: SPLITS[split]}
    assert {"image", "text"} <= set(loaded[split].column_names)


def test_no_document_is_in_both_splits(folder: Path) -> None:
    def documents(split: str) -> set[str]:
        rows = (folder / split / "metadata.jsonl").read_text("utf-8").splitlines()
        return {json.loads(row)["source_sha256"] for row in rows}

    assert documents("train")
    assert documents("validation")
    assert not documents("train") & documents("validation")


def test_webdataset_reads_the_shards(shards: Path) -> None:
    for split, count in SPLITS.items():
        names = sorted(str(path) for path in shards.glob(f"{split}-*.tar"))
        reader = webdataset.WebDataset(names, shardshuffle=False, empty_check=True)
        samples = list(reader.decode("pil").to_tuple("__key__", "jpg", "txt", "json"))
        assert len(samples) == count
        for key, image, text, row in samples:
            assert "." not in key  # all after the first dot would become part of the columns
            assert image.size == (64, 64)
            assert text == row["text"]
            assert row["file_name"] == f"{key}.jpg"


def test_columns_of_the_shards_are_the_extensions(shards: Path, tmp_path: Path) -> None:
    loaded = datasets.load_dataset(str(shards), cache_dir=str(tmp_path))
    assert set(loaded["train"].column_names) == {"jpg", "txt", "json", "__key__", "__url__"}


def test_parquet_has_the_bytes_and_no_path_of_this_machine(tables: Path) -> None:
    table = pq.read_table(tables / "data" / "train-00000-of-00001.parquet")
    assert table.num_rows == SPLITS["train"]
    for number, image in enumerate(table["image"].to_pylist()):
        assert image["path"] == f"{number + 1:06d}.jpg"
        assert Image.open(io.BytesIO(image["bytes"])).size == (64, 64)
    described = json.loads(table.schema.metadata[b"huggingface"])["info"]["features"]
    assert list(described) == table.column_names
    assert described["image"] == {"_type": "Image"}


def test_many_images_make_many_shards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exports, "_IMAGES_PER_SHARD", 3)
    monkeypatch.setattr(exports, "_ROWS_PER_GROUP", 2)
    for kind in (DatasetFormat.WEBDATASET, DatasetFormat.PARQUET):
        place = tmp_path / kind.value
        place.mkdir()
        built = build(place, kind)
        names = sorted(path.name for path in built.rglob("train-*"))
        if kind is DatasetFormat.PARQUET:
            assert names == [f"train-{n:05d}-of-00003.parquet" for n in range(3)]
        else:
            assert names == [f"train-{n:05d}.tar" for n in range(3)]
        loaded = datasets.load_dataset(str(built), cache_dir=str(tmp_path / "cache"))
        assert {name: rows.num_rows for name, rows in loaded.items()} == SPLITS


def read_all(root: Path) -> dict[str, bytes]:
    files = sorted(path for path in root.rglob("*") if path.is_file())
    return {str(path.relative_to(root)): path.read_bytes() for path in files}


@pytest.mark.parametrize("kind", FORMATS)
def test_the_same_bytes_each_time_and_after_a_kill_while_it_was_made(
    kind: DatasetFormat, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    one = build(tmp_path / "one", kind)

    def die(*_: object) -> Iterator[None]:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(exports, "_iter_samples", die)
        with pytest.raises(KeyboardInterrupt):
            build(tmp_path / "two", kind)
    assert not (tmp_path / "two" / "dataset").exists()
    assert read_all(build(tmp_path / "two", kind, resume=True)) == read_all(one)


def test_folder_and_zip_hold_the_same(folder: Path, tmp_path: Path) -> None:
    unzipped = read_all(build(tmp_path, DatasetFormat.ZIP))
    in_folder = read_all(folder)
    assert unzipped.keys() == in_folder.keys()
    assert {n for n in unzipped if unzipped[n] != in_folder[n]} == {"manifest/report.json"}


@pytest.mark.parametrize("kind", FORMATS)
def test_an_existing_folder_is_not_touched(kind: DatasetFormat, tmp_path: Path) -> None:
    (tmp_path / "dataset").mkdir()
    (tmp_path / "dataset" / "mine.txt").write_text("mine")
    with pytest.raises(DatasetWriteError, match="exists already"):
        build(tmp_path, kind)
    assert read_all(tmp_path) == {"dataset/mine.txt": b"mine"}


def test_discarding_leaves_nothing(tmp_path: Path) -> None:
    out, config = tmp_path / "dataset", make_config(DatasetFormat.PARQUET)
    with open_dataset_writer(out, config, False) as writer:
        (tmp_path / "dataset.building").mkdir()
        writer.discard()
    assert list(tmp_path.iterdir()) == []


def test_missing_pyarrow_is_said_before_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    config = make_config(DatasetFormat.PARQUET)
    with (
        pytest.raises(InvalidOptionError, match="pip install pyarrow"),
        open_dataset_writer(tmp_path / "dataset", config, False),
    ):
        pass


class TestSelfCheck:
    def test_a_byte_that_changed_on_the_disk(self, tmp_path: Path) -> None:
        out = tmp_path / "dataset.zip"
        with open_dataset_writer(out, make_config(DatasetFormat.ZIP), False) as writer:
            write_inputs(writer, SOURCES)
            with partial_path(out).open("rb+") as file:
                file.seek(5000)
                byte = file.read(1)[0]
                file.seek(5000)
                file.write(bytes([byte ^ 1]))
            with pytest.raises(DatasetWriteError, match=r"own check: train/000002\.jpg"):
                writer.finish()
        assert not out.exists()

    def test_an_image_that_cannot_be_decoded(self, tmp_path: Path) -> None:
        out, source = tmp_path / "dataset.zip", make_source("a.pdf", 1)
        with open_dataset_writer(out, make_config(DatasetFormat.ZIP), False) as writer:
            writer.begin_source(source)
            page = PageResult(0, PageOutcome.KEPT, 64, 64, 60, 60, "", (broken_png(),))
            writer.add_page(source, page)
            with pytest.raises(DatasetWriteError, match="cannot be decoded"):
                writer.finish()
        assert not out.exists()


def broken_png() -> Record:
    """A PNG whose head and end are right."""
    target = io.BytesIO()
    Image.effect_noise((64, 64), 80).convert("RGB").save(target, "PNG")
    content = bytearray(target.getvalue())
    content[len(content) // 2] ^= 0xFF
    return replace(make_record(1), jpeg=bytes(content), extension="png")


def test_png_images_are_listed_as_such(tmp_path: Path) -> None:
    config = DatasetConfig(size_px=64, image_format=ImageFormat.PNG)
    target = io.BytesIO()
    Image.effect_noise((64, 64), 80).convert("RGB").save(target, "PNG")
    record = replace(make_record(1), jpeg=target.getvalue(), extension="png")
    source = make_source("a.pdf", 1)
    with open_dataset_writer(tmp_path / "dataset.zip", config, False) as writer:
        writer.begin_source(source)
        writer.add_page(source, replace(make_page(0), records=(record,)))
        writer.finish()
    with zipfile.ZipFile(tmp_path / "dataset.zip") as dataset:
        dataset.extractall(tmp_path / "root")
    for place in ("root", "root/train"):
        loaded = datasets.load_dataset(str(tmp_path / place), cache_dir=str(tmp_path / "cache"))
        assert loaded["train"][0]["image"].format == "PNG"


def test_validation_goes_where_a_trainer_has_a_place_for_it() -> None:
    written = dict(iter_trainer_configs(DatasetConfig(), "", ("train", "validation")))
    concepts = json.loads(written["onetrainer_concepts.json"])
    assert [(one["path"], one["type"]) for one in concepts] == [
        ("train", "STANDARD"),
        ("validation", "VALIDATION"),
    ]
    backends = json.loads(written["simpletuner_multidatabackend.json"])
    assert [one["dataset_type"] for one in backends] == ["image", "eval", "text_embeds"]
    assert len({one["id"] for one in backends}) == 3
    for name in ("kohya_dataset.toml", "ai_toolkit.yaml", "diffusers_command.sh"):
        assert "validation" not in written[name]
