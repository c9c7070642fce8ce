"""A ZIP file that only grows at its end and can be taken up again after a kill.

The standard library's `zipfile` writes it, with stored entries, fixed times and fixed attributes.
Its list of entries would grow with the pages and would be lost with the process; it is emptied
after each entry, and the directory at the end is written from entries that the caller has kept.
"""

import os
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import BinaryIO

from archive_tools.errors import DatasetWriteError
from archive_tools.journal import StoredEntry

_FIXED_TIME = (1980, 1, 1, 0, 0, 0)  # the earliest that a ZIP can state
_UNIX = 3
_REGULAR_FILE_0644 = 0o100644 << 16
_CHUNK_BYTES = 1 << 16
# APPNOTE 4.3.12, fixed part: CRC, both sizes, lengths of name and extra field, header offset.
_CENTRAL_HEADER = struct.Struct("<16xLLLHH10xL")
_IN_ZIP64 = 0xFFFFFFFF
# APPNOTE 4.3.7, fixed part: lengths of name and extra field.
_LOCAL_HEADER = struct.Struct("<26xHH")


class ZipStream:
    """Writes entries from the file's present end on.

    A failed write leaves it unusable: cut the file back and make a new one.
    """

    def __init__(self, file: BinaryIO, offset: int) -> None:
        """Begin to write.

        Args:
            file: Buffered file, open for reading and writing.
            offset: Size in bytes of what is already good in it; anything after is cut off.

        Raises:
            OSError: The file cannot be cut.
        """
        file.truncate(offset)
        file.seek(offset)
        self._file = file
        # With a file object in mode "w", zipfile takes the present position as its start.
        self._zip = zipfile.ZipFile(file, "w", zipfile.ZIP_STORED)

    def add(self, name: str, content: bytes) -> StoredEntry:
        """Write one entry.

        Args:
            name: ASCII path inside the ZIP.
            content: The entry's bytes.

        Returns:
            What the directory will need to know.

        Raises:
            OSError: The disk is full or gone.
        """
        entry = _zip_info(StoredEntry(name, 0, 0, 0))
        self._zip.writestr(entry, content)
        return self._forget(entry)

    def add_chunks(self, name: str, iter_chunks: Callable[[], Iterable[bytes]]) -> StoredEntry:
        """Write one entry piece by piece, of any size.

        Args:
            name: ASCII path inside the ZIP.
            iter_chunks: Gives the entry's bytes; asked twice, since the size comes first.

        Returns:
            What the directory will need to know.

        Raises:
            OSError: The disk is full or gone.
        """
        entry = _zip_info(StoredEntry(name, 0, 0, 0))
        entry.file_size = sum(map(len, iter_chunks()))  # zipfile chooses ZIP64 by it
        with self._zip.open(entry, "w") as target:
            for chunk in iter_chunks():
                target.write(chunk)
        return self._forget(entry)

    def flush(self) -> int:
        """Hand everything to the operating system.

        Returns:
            The size in bytes of what is good.

        Raises:
            OSError: The disk is full or gone.
        """
        self._file.flush()
        return self._file.tell()

    def close(self, iter_entries: Callable[[], Iterator[StoredEntry]]) -> None:
        """Write the directory; the ZIP is complete then. The file stays open.

        Args:
            iter_entries: Gives every entry of the ZIP, in order.

        Raises:
            OSError: The disk is full or gone.
        """
        self._zip.filelist = _Directory(iter_entries)
        self._zip.close()

    def abandon(self) -> None:
        """Give up without a directory, so that the file can be taken up again later."""
        # `fp` is what zipfile itself clears when it is closed; its finaliser would write otherwise.
        self._zip.fp = None

    def _forget(self, entry: zipfile.ZipInfo) -> StoredEntry:
        self._zip.filelist.clear()
        self._zip.NameToInfo.clear()
        return StoredEntry(entry.filename, entry.CRC, entry.file_size, entry.header_offset)


def holds_entry(file: BinaryIO, entry: StoredEntry) -> bool:
    """Say whether a small stored entry is whole in the file: its header and its bytes.

    Args:
        file: The ZIP, open for reading; its position changes.
        entry: The entry as it was written by `ZipStream.add`.

    Returns:
        Whether the file has just that.
    """
    header = _zip_info(entry).FileHeader(zip64=False)
    file.seek(entry.offset)
    if file.read(len(header)) != header:
        return False
    crc, left = 0, entry.size
    while left and (chunk := file.read(min(left, _CHUNK_BYTES))):
        crc = zlib.crc32(chunk, crc)
        left -= len(chunk)
    return left == 0 and crc == entry.crc


def iter_entry(file: BinaryIO, entry: StoredEntry) -> Iterator[bytes]:
    """Read an entry back piece by piece, of any size.

    Args:
        file: The ZIP, open for reading; nothing else may move its position meanwhile.
        entry: The entry as it was written.

    Yields:
        Its bytes.

    Raises:
        DatasetWriteError: They are not what was written; said after the last piece.
    """
    file.seek(entry.offset)
    name_size, extra_size = _LOCAL_HEADER.unpack(file.read(_LOCAL_HEADER.size).ljust(30))
    is_right = file.read(name_size) == entry.name.encode()
    file.seek(extra_size, os.SEEK_CUR)
    crc, left = 0, entry.size
    while left and (chunk := file.read(min(left, _CHUNK_BYTES))):
        yield chunk
        crc = zlib.crc32(chunk, crc)
        left -= len(chunk)
    if not is_right or left or crc != entry.crc:
        raise DatasetWriteError(
            f"The dataset failed its own check: {entry.name} is not on the disk as it was "
            "written. The disk may be faulty; run again with --resume."
        )


def read_entry(file: BinaryIO, entry: StoredEntry) -> bytes:
    """Read a small entry back.

    Args:
        file: The ZIP, open for reading; its position changes.
        entry: The entry as it was written.

    Raises:
        DatasetWriteError: It is not what was written.
    """
    return b"".join(iter_entry(file, entry))


def iter_directory(file: BinaryIO, start: int, count: int) -> Iterator[StoredEntry]:
    """Read back the directory of a complete ZIP, entry by entry.

    `zipfile` would hold all of it in memory.

    Args:
        file: The ZIP, open for reading; its position changes.
        start: Where the directory begins, in bytes.
        count: How many entries it should have.

    Yields:
        The entries in order, fewer where the directory ends early.
    """
    file.seek(start)
    for _ in range(count):
        fixed = file.read(_CENTRAL_HEADER.size)
        if len(fixed) < _CENTRAL_HEADER.size or not fixed.startswith(b"PK\x01\x02"):
            return
        crc, _, size, name_size, extra_size, offset = _CENTRAL_HEADER.unpack(fixed)
        name, extra = file.read(name_size).decode(), file.read(extra_size)
        # The ZIP64 field holds, in this order, whichever of these did not fit into 32 bits.
        large = iter(struct.unpack(f"<{max(0, extra_size - 4) // 8}Q", extra[4:]))
        size, _, offset = (next(large, v) if v == _IN_ZIP64 else v for v in (size, size, offset))
        yield StoredEntry(name, crc, size, offset)


class _Directory(list[zipfile.ZipInfo]):
    """What `zipfile` iterates and counts to write the directory, made on the way.

    It needs nothing of the list but `iter` and `len` (`ZipFile._write_end_record`, 3.11 to 3.14);
    test_zip_stream.py compares the result with that of a plain `ZipFile`.
    """

    def __init__(self, iter_entries: Callable[[], Iterator[StoredEntry]]) -> None:
        super().__init__()
        self._iter_entries = iter_entries

    def __iter__(self) -> Iterator[zipfile.ZipInfo]:
        return map(_zip_info, self._iter_entries())

    def __len__(self) -> int:
        return sum(1 for _ in self._iter_entries())


def _zip_info(entry: StoredEntry) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(entry.name, _FIXED_TIME)
    info.create_system = _UNIX
    info.external_attr = _REGULAR_FILE_0644
    info.CRC = entry.crc
    info.file_size = info.compress_size = entry.size
    info.header_offset = entry.offset
    return info
