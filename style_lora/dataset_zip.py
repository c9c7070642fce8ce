"""Reads a dataset ZIP in place: names and captions at once, pictures one at a time."""

import hashlib
import json
import lzma
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from PIL import Image, UnidentifiedImageError

from style_lora.data_order import derive_seed
from style_lora.errors import DatasetError, first_line
from style_lora.picture_modes import to_rgb, upright_size
from style_lora.schema import Example, Examples

# Pictures of a dataset have about a million pixels; more than this is no dataset of pages.
_MOST_PIXELS: Final = 100_000_000
_MOST_ROW_BYTES: Final = 1_000_000
# Validation costs time; this many pictures tell the loss well enough.
_MOST_VALIDATION: Final = 32
# Smaller sets cannot spare a picture.
_LEAST_TO_HOLD_OUT: Final = 5
_UNHELD: Final = 8
# A bucket has at least that side, and a picture is never enlarged.
_LEAST_SIDE_PX: Final = 32
# What reading one entry raises where the ZIP is damaged, encrypted or packed in an unknown way.
_UNREADABLE: Final = (
    OSError,
    EOFError,
    RuntimeError,
    NotImplementedError,
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
)
_NO_PICTURE: Final = (ValueError, SyntaxError, UnidentifiedImageError, Image.DecompressionBombError)
# Whatever its name says: Pillow hands PostScript to another program, which runs it.
_FORMATS: Final = ("JPEG", "PNG", "WEBP", "TIFF", "BMP")
_PICTURE_ENDINGS: Final = (".jpg", ".jpeg", ".png", ".webp")


@dataclass(frozen=True, slots=True)
class _Row:
    name: str
    caption: str


class DatasetZip:
    """A dataset ZIP that is open for reading."""

    def __init__(self, path: Path) -> None:
        """Open the ZIP.

        Args:
            path: The file.

        Raises:
            DatasetError: It is not there or is no ZIP.
        """
        self._path = path
        try:
            self._zip = zipfile.ZipFile(path)
        except FileNotFoundError as error:
            raise DatasetError(f"{path} does not exist.") from error
        except zipfile.BadZipFile as error:
            raise DatasetError(f"{path} is no ZIP file, or only part of one: {error}.") from error
        except IsADirectoryError as error:
            raise DatasetError(f"{path} is a folder: give the dataset as a ZIP file.") from error
        except OSError as error:
            raise DatasetError(f"{path} cannot be read: {error.strerror or error}.") from error
        counts = Counter(self._zip.namelist())
        self._names = frozenset(counts)
        self._twice = frozenset(name for name, count in counts.items() if count > 1)

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the ZIP."""
        self._zip.close()

    def fingerprint(self) -> str:
        """Return 16 letters that change with any name or content in the ZIP."""
        content = sorted((entry.filename, entry.CRC) for entry in self._zip.infolist())
        return hashlib.sha256(repr(content).encode()).hexdigest()[:16]

    def read_examples(
        self,
        validation_share: float,
        seed: int,
        on_checked: Callable[[int, int], None],
        decode: bool = True,
    ) -> Examples:
        """Read all captions and decode every picture once, so that no broken one costs hours.

        Args:
            validation_share: Share held out where the ZIP has no validation pictures.
            seed: Decides which.
            on_checked: Told how many pictures are checked, and of how many.
            decode: Decode all; without it only their sizes are read.

        Raises:
            DatasetError: Captions are missing, or a picture is missing or broken.
        """
        rows = list(self._read_rows("train/"))
        if not rows:
            raise DatasetError(f"{self._path}: train/metadata.jsonl names no picture.")
        held = list(self._read_rows("validation/"))
        self._require_once(rows + held)
        total = len(rows) + len(held)
        checked: list[Example] = []
        for row in rows + held:
            checked.append(self._check(row, decode))
            on_checked(len(checked), total)
        training, validation = checked[: len(rows)], checked[len(rows) :]
        if validation:
            return Examples(tuple(training), tuple(validation[:_MOST_VALIDATION]), held_out=True)
        return _hold_out(training, validation_share, seed)

    def open_picture(self, name: str) -> Image.Image:
        """Return a picture as RGB, decoded.

        Args:
            name: Of its entry.

        Raises:
            DatasetError: It is broken, or larger than any picture of a dataset.
        """
        with self._open(name) as picture:
            return to_rgb(picture)

    @contextmanager
    def _open(self, name: str) -> Iterator[Image.Image]:
        """Open a picture, and tell what is wrong with it in words."""
        try:
            with self._zip.open(name) as stream, Image.open(stream, formats=_FORMATS) as picture:
                if picture.width * picture.height > _MOST_PIXELS:
                    raise DatasetError(f"{self._path}: {name} has too many pixels.")
                yield picture
        except (*_UNREADABLE, *_NO_PICTURE) as error:
            raise DatasetError(
                f"{self._path}: the picture {name} is broken ({first_line(error)}). Build the "
                "dataset again, or take the picture and its row out."
            ) from error

    def _check(self, row: _Row, decode: bool) -> Example:
        with self._open(row.name) as picture:
            size = to_rgb(picture).size if decode else upright_size(picture)
        if min(size) < _LEAST_SIDE_PX:
            raise DatasetError(
                f"{self._path}: {row.name} has {size[0]} x {size[1]} px; what is smaller than "
                f"{_LEAST_SIDE_PX} px teaches nothing. Take the picture and its row out."
            )
        return Example(row.name, row.caption, size, self._zip.getinfo(row.name).CRC)

    def _read_rows(self, folder: str) -> Iterator[_Row]:
        listing = f"{folder}metadata.jsonl"
        if listing not in self._names:
            if folder == "train/":
                raise DatasetError(self._tell_what_is_missing())
            return
        try:
            with self._zip.open(listing) as lines:
                for number, line in enumerate(
                    iter(lambda: lines.readline(_MOST_ROW_BYTES), b""), 1
                ):
                    if line.strip():
                        yield self._read_row(line, folder, f"{listing}, line {number}")
        except _UNREADABLE as error:
            raise DatasetError(
                f"{self._path}: {listing} cannot be read: {first_line(error)}."
            ) from error

    def _read_row(self, line: bytes, folder: str, place: str) -> _Row:
        row = self._parse(line, place)
        name, text = (
            (row.get("file_name"), row.get("text")) if isinstance(row, dict) else (None, None)
        )
        if not isinstance(name, str) or f"{folder}{name}" not in self._names:
            raise DatasetError(f"{self._path}: {place}, names no picture of the ZIP ({name!r}).")
        if not isinstance(text, str) or not text.strip():
            raise DatasetError(
                f"{self._path}: {name} has no caption ({place}). Build the dataset with --trigger "
                "or --caption."
            )
        return _Row(f"{folder}{name}", " ".join(text.split()))

    def _parse(self, line: bytes, place: str) -> object:
        try:
            text = line.decode("utf-8-sig")
            row = json.loads(text)
            # Half a character, written as an escape, is no text either.
            json.dumps(row, ensure_ascii=False).encode()
        except UnicodeError as error:
            raise DatasetError(
                f"{self._path}: {place}, is not UTF-8. Save the file as UTF-8."
            ) from error
        except (ValueError, RecursionError) as error:
            raise DatasetError(f"{self._path}: {place}, is no JSON.") from error
        return row

    def _require_once(self, rows: list[_Row]) -> None:
        """Refuse names that stand for two pictures, or pictures that stand in two rows."""
        counts = Counter(row.name for row in rows)
        for name, count in counts.items():
            if name in self._twice:
                raise DatasetError(f"{self._path} holds two files of the name {name}.")
            if count > 1:
                raise DatasetError(
                    f"{self._path}: {name} stands in {count} rows of metadata.jsonl. Keep one."
                )

    def _tell_what_is_missing(self) -> str:
        pictures = sum(name.lower().endswith(_PICTURE_ENDINGS) for name in self._names)
        if not self._names:
            return f"{self._path} is an empty ZIP."
        if not pictures:
            return f"{self._path} has no pictures. Give the ZIP of python -m archive_tools build."
        return (
            f"{self._path} has {pictures} pictures but no captions: train/metadata.jsonl is "
            "missing. Give the ZIP of python -m archive_tools build."
        )


def _hold_out(examples: list[Example], share: float, seed: int) -> Examples:
    """Take validation pictures out of the training ones, the same for equal seed and names."""
    drawn = sorted(examples, key=lambda one: derive_seed(seed, "validation", one.name))
    count = min(round(share * len(examples)), _MOST_VALIDATION)
    if share > 0 and len(examples) >= _LEAST_TO_HOLD_OUT:
        count = max(1, count)
    if count == 0 or count >= len(examples):
        return Examples(tuple(examples), tuple(drawn[:_UNHELD]), held_out=False)
    held = frozenset(one.name for one in drawn[:count])
    rest = tuple(one for one in examples if one.name not in held)
    return Examples(rest, tuple(drawn[:count]), held_out=True)
