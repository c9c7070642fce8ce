"""A shard: a tar with the verdict on each of its pages and the pictures of those that are kept.

It opens with `webdataset`, too: the members of a page share its number, `0000012.json` before
`0000012.0.jpg`. The last member says whose shard it is; a file without it is not whole. Each member
is checked when it is read: tar checks its headers, the JSON itself, and the JSON the pictures.
"""

import io
import tarfile
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, BinaryIO

from archive_tools.errors import DatasetWriteError
from archive_tools.scale.checked_json import decode_checked, encode_checked
from archive_tools.scale.tasks import ShardKey
from archive_tools.schema import PageCounts, PageOutcome, PageResult, Record

_END_NAME = "end.json"
# Of a fixed size, so that it is found from the end of the file; tar pads with zeros behind it.
_END_BYTES = 1024
_TAIL_BYTES = _END_BYTES + 512 + 2 * tarfile.RECORDSIZE


class DamagedShardError(DatasetWriteError):
    """A shard has other bytes than were written."""

    def __init__(self, key: ShardKey) -> None:
        """Name the shard.

        Args:
            key: Whose shard it is.
        """
        super().__init__(
            f"The shard {key.name} is damaged. Delete it and run the same command again; the other "
            "shards are kept."
        )


def write_shard(path: Path, key: ShardKey, results: Iterable[PageResult]) -> PageCounts:
    """Write the pages of a shard as they come; only one is held in memory.

    Args:
        path: A file that is not the shard's own yet.
        key: Whose shard it is.
        results: Its pages in order.

    Returns:
        Their outcomes.

    Raises:
        OSError: The disk is full or gone.
    """
    outcomes = dict.fromkeys(PageOutcome, 0)
    with tarfile.open(path, "w", format=tarfile.USTAR_FORMAT) as shard:
        for result in results:
            outcomes[result.outcome] += 1
            _add(shard, f"{result.page_index:07d}.json", encode_checked(_to_row(result)))
            for number, record in enumerate(result.records):
                name = f"{result.page_index:07d}.{number}.{record.extension}"
                _add(shard, name, record.jpeg)
            _forget(shard)
        pages = PageCounts(**{outcome.value: count for outcome, count in outcomes.items()})
        end = encode_checked({**asdict(key), "pages": asdict(pages)})
        _add(shard, _END_NAME, end.ljust(_END_BYTES))
    return pages


def read_end(shard: BinaryIO, key: ShardKey) -> PageCounts | None:
    """Return the outcomes of a shard's pages without reading them.

    Args:
        shard: Open for reading, and seekable.
        key: Whose shard it should be.

    Returns:
        The counts; None where the file is cut short or is another shard.

    Raises:
        OSError: It cannot be read.
    """
    size = shard.seek(0, io.SEEK_END)
    shard.seek(max(0, size - _TAIL_BYTES))
    end = shard.read().rstrip(b"\0")[-_END_BYTES:]
    try:
        stated = decode_checked(end)
        pages = PageCounts(**stated.pop("pages"))
    except (ValueError, TypeError, KeyError, AttributeError):
        return None
    is_ours = stated == asdict(key) and pages.seen == key.page_count
    return pages if is_ours and size % tarfile.RECORDSIZE == 0 else None


def iter_shard(shard: BinaryIO, key: ShardKey, first_page: int = 0) -> Iterator[PageResult]:
    """Read a shard from its beginning, one page at a time.

    Args:
        shard: Open for reading at its beginning.
        key: Whose shard it is.
        first_page: Pages before this index are left out.

    Yields:
        Its pages in order, with their pictures.

    Raises:
        DamagedShardError: It is damaged.
        OSError: It cannot be read.
    """
    expected = key.first_page
    try:
        with tarfile.open(fileobj=shard, mode="r|") as members:
            for row in iter(lambda: _read_row(members), None):
                result = _from_row(row, members)
                if result.page_index != expected:
                    break
                expected += 1
                if result.page_index >= first_page:
                    yield result
    except (tarfile.TarError, ValueError, TypeError, KeyError, EOFError) as error:
        raise DamagedShardError(key) from error
    if expected != key.end_page:
        raise DamagedShardError(key)


def _to_row(result: PageResult) -> dict[str, Any]:
    """Return everything of a page but the bytes of its pictures."""
    row = {one.name: getattr(result, one.name) for one in fields(result)}
    del row["preview"]
    row["records"] = [_to_record_row(record) for record in result.records]
    return row


def _to_record_row(record: Record) -> dict[str, Any]:
    row = {one.name: getattr(record, one.name) for one in fields(record)}
    row["signatures"] = [signature.hex() for signature in record.signatures]
    row["crc"] = zlib.crc32(row.pop("jpeg"))
    return row


def _from_row(row: dict[str, Any], members: tarfile.TarFile) -> PageResult:
    records = tuple(_read_record(one, members) for one in row.pop("records"))
    outcome, traits = PageOutcome(row.pop("outcome")), tuple(row.pop("traits"))
    return PageResult(**row, outcome=outcome, traits=traits, records=records)


def _read_record(row: dict[str, Any], members: tarfile.TarFile) -> Record:
    content = _read_next(members)[1]
    if zlib.crc32(content) != row.pop("crc"):
        raise ValueError("a picture has other bytes than were written")
    x0, y0, x1, y1 = row.pop("bbox")
    signatures = tuple(map(bytes.fromhex, row.pop("signatures")))
    return Record(**row, jpeg=content, bbox=(x0, y0, x1, y1), signatures=signatures)


def _read_row(members: tarfile.TarFile) -> dict[str, Any] | None:
    """Return the next page; None at the end of the shard."""
    name, content = _read_next(members)
    if name == _END_NAME:
        return None
    return decode_checked(content)


def _read_next(members: tarfile.TarFile) -> tuple[str, bytes]:
    member = members.next()
    if member is None:
        raise EOFError
    file = members.extractfile(member)
    content = file.read() if file else b""
    _forget(members)
    return member.name, content


def _forget(shard: tarfile.TarFile) -> None:
    """Let go of the members so far; tarfile remembers every one."""
    vars(shard)["members"].clear()


def _add(shard: tarfile.TarFile, name: str, content: bytes) -> None:
    member = tarfile.TarInfo(name)
    member.size = len(content)
    shard.addfile(member, io.BytesIO(content))
