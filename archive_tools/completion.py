"""What makes a dataset whole once all pages are in: its documents, and a check of every image."""

import functools
import io
import json
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice, zip_longest
from typing import Any, BinaryIO

from archive_tools import manifest
from archive_tools.capacity import count_usable_cpus
from archive_tools.config import DatasetConfig, DatasetFormat
from archive_tools.dataset_card import render_dataset_card, render_split_card
from archive_tools.errors import DatasetWriteError
from archive_tools.journal import Journal, PageDone, StoredEntry, StoredImage
from archive_tools.trainer_configs import iter_trainer_configs
from archive_tools.zip_stream import iter_entry, read_entry

Document = tuple[str, Callable[[], Iterable[bytes]]]
"""Name inside the dataset, and what gives its bytes, piece by piece, as often as it is asked."""

# Trainers take files in folders; shards and tables are for `datasets` and `webdataset`.
_FORMATS_OF_FILES = (DatasetFormat.ZIP, DatasetFormat.FOLDER)
_CHECKED_AT_ONCE = 8
# Decoded in grey at an eighth of the size: the whole file is unpacked, the pixels are not needed.
_CHECK_DIVISOR = 8


def iter_documents(
    config: DatasetConfig, trigger: str, journal: Journal, report: dict[str, Any]
) -> Iterator[Document]:
    """Make everything in a dataset that is not an image or a caption.

    Args:
        config: Options of the dataset.
        trigger: The trigger word as it stands in the captions.
        journal: What is in the dataset.
        report: Content of `manifest/report.json`.

    Yields:
        The documents in the order in which they are written.
    """
    splits: dict[str, int] = report["counts"]["splits"]
    if config.dataset_format in _FORMATS_OF_FILES:
        for split, image_count in splits.items():
            yield metadata_name(split), functools.partial(_iter_metadata, journal, split)
            card = render_split_card(split, image_count, config.image_format)
            yield f"{split}/README.md", _whole(card.encode())
    yield "manifest/pages.csv", lambda: manifest.iter_page_rows(journal.iter_lines())
    yield "manifest/report.json", _whole(to_json(report))
    if config.dataset_format in _FORMATS_OF_FILES:
        for name, text in iter_trainer_configs(config, trigger, tuple(splits)):
            yield f"configs/{name}", _whole(text.encode())
    card = render_dataset_card(report, config.image_format, config.dataset_format)
    yield "README.md", _whole(card.encode())


def metadata_name(split: str) -> str:
    """Return where the metadata of a split lies in a dataset."""
    return f"{split}/metadata.jsonl"


def iter_images(journal: Journal) -> Iterator[StoredImage]:
    """Yield every image of a dataset in order.

    Args:
        journal: What is in the dataset.
    """
    for line in journal.iter_lines():
        yield from line.images if isinstance(line, PageDone) else ()


def check_images(file: BinaryIO, journal: Journal) -> None:
    """Read every image and caption back from the disk and decode the image.

    The checksum shows that the bytes are those that were made, and decoding that they are a
    picture. The decoding is spread over the CPUs.

    Args:
        file: The partial ZIP, open for reading; its position changes.
        journal: What should be in it.

    Raises:
        DatasetWriteError: An image or a caption is not what was written.
    """
    with ThreadPoolExecutor(count_usable_cpus()) as pool:
        images = iter_images(journal)
        while some := list(islice(images, _CHECKED_AT_ONCE)):
            contents = [_read_back(file, image) for image in some]
            for image, is_right in zip(some, pool.map(_decodes, some, contents), strict=True):
                if not is_right:
                    raise _failed(f"{image.image.name} cannot be decoded")


def check_metadata(file: BinaryIO, journal: Journal, documents: Iterable[StoredEntry]) -> None:
    """Check that the rows of each split and its images are the same, one for one.

    Args:
        file: The partial ZIP, open for reading; its position changes.
        journal: What is in it.
        documents: The documents that were written.

    Raises:
        DatasetWriteError: A row lacks its image, or an image its row.
    """
    for document in documents:
        split, _, name = document.name.partition("/")
        if name != "metadata.jsonl":
            continue
        rows = (json.loads(line)["file_name"] for line in _iter_lines(iter_entry(file, document)))
        names = (
            image.image.name.removeprefix(f"{split}/")
            for image in iter_images(journal)
            if image.split == split
        )
        for row, image in zip_longest(rows, names):
            if row != image:
                raise _failed(f"{document.name} lists {row} where the image {image} is")


def to_json(value: object) -> bytes:
    """Return a JSON document as it is written into a dataset.

    Args:
        value: Plain JSON values.
    """
    return (json.dumps(value, ensure_ascii=False, indent=2) + "\n").encode()


def _read_back(file: BinaryIO, image: StoredImage) -> bytes:
    if read_entry(file, image.text) != image.caption.encode():
        raise _failed(f"{image.text.name} is not the caption that the metadata has")
    return read_entry(file, image.image)


def _iter_lines(chunks: Iterable[bytes]) -> Iterator[bytes]:
    rest = b""
    for chunk in chunks:
        *lines, rest = (rest + chunk).split(b"\n")
        yield from lines


def _decodes(image: StoredImage, content: bytes) -> bool:
    from PIL import Image

    try:
        with Image.open(io.BytesIO(content), formats=("JPEG", "PNG")) as picture:
            size = picture.size
            picture.draft("L", (size[0] // _CHECK_DIVISOR, size[1] // _CHECK_DIVISOR))
            picture.load()
    except (OSError, SyntaxError, ValueError):  # Pillow's ways of saying that it is damaged
        return False
    return size == (image.width, image.height)


def _failed(what: str) -> DatasetWriteError:
    return DatasetWriteError(
        f"The dataset failed its own check: {what}. The disk may be faulty; run again with "
        "--resume."
    )


def _iter_metadata(journal: Journal, split: str) -> Iterator[bytes]:
    return manifest.iter_metadata_rows(journal.iter_lines(), split)


def _whole(content: bytes) -> Callable[[], Iterable[bytes]]:
    return lambda: (content,)
