"""Datasets that are folders: plain files, tar shards for `webdataset`, Parquet for `datasets`.

They are made at the end from the partial ZIP, which has everything in order and survives a kill.
So these formats need room on the disk for the images twice while they are made.
"""

import importlib.util
import io
import json
import os
import shutil
import tarfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any, BinaryIO

from archive_tools import manifest
from archive_tools.config import DatasetFormat
from archive_tools.errors import InvalidOptionError
from archive_tools.journal import Journal, StoredEntry, StoredImage
from archive_tools.zip_stream import iter_entry, read_entry

# A shard of SDXL pictures is 200 to 500 MB then, as the Hub recommends.
_IMAGES_PER_SHARD = 1000
_ROWS_PER_GROUP = 100


@dataclass(frozen=True, slots=True)
class _Sample:
    """One image with all that belongs to it."""

    stored: StoredImage
    content: bytes
    row: dict[str, Any]

    @property
    def stem(self) -> str:
        """Its name without split and extension."""
        return self.stored.image.name.partition("/")[2].partition(".")[0]


def check_format(dataset_format: DatasetFormat) -> None:
    """Check that a format can be written here, before a run spends hours on pages.

    Args:
        dataset_format: What the dataset will be.

    Raises:
        InvalidOptionError: A package is missing.
    """
    if dataset_format is DatasetFormat.PARQUET and importlib.util.find_spec("pyarrow") is None:
        raise InvalidOptionError(
            "Parquet needs the package pyarrow, which is not installed. Run: pip install pyarrow"
        )


def export_folder(
    partial: BinaryIO,
    journal: Journal,
    documents: Iterable[StoredEntry],
    dataset_format: DatasetFormat,
    folder: Path,
) -> None:
    """Write a dataset as a folder.

    Args:
        partial: The partial ZIP, open for reading; its position changes.
        journal: What is in it.
        documents: Everything in it that is no image or caption.
        dataset_format: Any but ZIP.
        folder: Where it is made; what is there already is removed.

    Raises:
        DatasetWriteError: What is read back is not what was written.
        OSError: The disk is full or gone.
    """
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for document in documents:
        _write(folder / document.name, iter_entry(partial, document))
    if dataset_format is DatasetFormat.FOLDER:
        for sample in _iter_samples(partial, journal):
            stored = sample.stored
            _write(folder / stored.image.name, (sample.content,))
            _write(folder / stored.text.name, (stored.caption.encode(),))
        return
    export_shard = _export_tar if dataset_format is DatasetFormat.WEBDATASET else _export_parquet
    for split, count in _count_images(journal).items():
        samples = (one for one in _iter_samples(partial, journal) if one.stored.split == split)
        shard_count = -(-count // _IMAGES_PER_SHARD)
        for number, some in enumerate(_shards(samples)):
            export_shard(some, folder, split, (number, shard_count))


def _shards(samples: Iterator[_Sample]) -> Iterator[Iterator[_Sample]]:
    """Cut into shards without holding one in memory."""
    for first in samples:
        yield chain((first,), islice(samples, _IMAGES_PER_SHARD - 1))


def _iter_samples(partial: BinaryIO, journal: Journal) -> Iterator[_Sample]:
    for source, page in manifest.iter_pages(journal.iter_lines()):
        for image in page.images:
            content = read_entry(partial, image.image)
            yield _Sample(image, content, manifest.metadata_row(source, page, image))


def _export_tar(
    samples: Iterator[_Sample], folder: Path, split: str, place: tuple[int, int]
) -> None:
    """Write one shard; `datasets` and `webdataset` take the part before the dot as the key."""
    path = folder / f"{split}-{place[0]:05d}.tar"
    with tarfile.open(path, "w", format=tarfile.USTAR_FORMAT) as shard:
        for sample in samples:
            extension = sample.stored.image.name.rpartition(".")[2]
            row = json.dumps(sample.row, ensure_ascii=False).encode()
            _add_member(shard, f"{sample.stem}.{extension}", sample.content)
            _add_member(shard, f"{sample.stem}.txt", sample.stored.caption.encode())
            _add_member(shard, f"{sample.stem}.json", row)
    _sync(path)


def _add_member(shard: tarfile.TarFile, name: str, content: bytes) -> None:
    member = tarfile.TarInfo(name)  # time, owner and mode are fixed by default
    member.size = len(content)
    shard.addfile(member, io.BytesIO(content))


def _export_parquet(
    samples: Iterator[_Sample], folder: Path, split: str, place: tuple[int, int]
) -> None:
    """Write one table; the images are in it, and the schema tells `datasets` that they are."""
    # Here and not above: it takes 100 MB and a second, and no other format needs it.
    import pyarrow as pa
    import pyarrow.parquet as pq

    (folder / "data").mkdir(exist_ok=True)
    path = folder / "data" / f"{split}-{place[0]:05d}-of-{place[1]:05d}.parquet"
    writer: pq.ParquetWriter | None = None
    while some := list(islice(samples, _ROWS_PER_GROUP)):
        rows = [_table_row(sample) for sample in some]
        schema = _parquet_schema(rows[0])
        writer = writer or pq.ParquetWriter(path, schema, compression="none")
        writer.write_table(pa.Table.from_pylist(rows, schema=schema))
    if writer is not None:
        writer.close()
    _sync(path)


def _table_row(sample: _Sample) -> dict[str, Any]:
    name = sample.row["file_name"]
    others = {key: value for key, value in sample.row.items() if key != "file_name"}
    return {"image": {"bytes": sample.content, "path": name}, **others}


def _parquet_schema(row: dict[str, Any]) -> Any:
    """Return the schema; the types follow from the columns, not from what is null in a row."""
    import pyarrow as pa

    kinds = {int: ("int64", pa.int64()), float: ("float64", pa.float64()),
             str: ("string", pa.string()), type(None): ("float64", pa.float64())}  # fmt: skip
    fields = [pa.field("image", pa.struct([("bytes", pa.binary()), ("path", pa.string())]))]
    features: dict[str, Any] = {"image": {"_type": "Image"}}
    for name, value in list(row.items())[1:]:
        if isinstance(value, list):
            fields.append(pa.field(name, pa.list_(pa.int64())))
            features[name] = {"feature": {"dtype": "int64", "_type": "Value"}, "_type": "List"}
            continue
        dtype, kind = kinds[type(value)]
        fields.append(pa.field(name, kind))
        features[name] = {"dtype": dtype, "_type": "Value"}
    described = json.dumps({"info": {"features": features}})
    return pa.schema(fields, metadata={"huggingface": described})


def _count_images(journal: Journal) -> dict[str, int]:
    report = manifest.make_report(journal.iter_lines())
    counts: dict[str, int] = report["counts"]["splits"]
    return counts


def _write(path: Path, chunks: Iterable[bytes]) -> None:
    path.parent.mkdir(exist_ok=True)
    with path.open("wb") as file:
        for chunk in chunks:
            file.write(chunk)


def _sync(path: Path) -> None:
    with path.open("rb+") as file:
        os.fsync(file.fileno())
