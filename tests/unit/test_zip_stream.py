"""The growing ZIP is, byte for byte, what a plain `zipfile.ZipFile` writes."""

import io
import zipfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from archive_tools.journal import StoredEntry
from archive_tools.zip_stream import ZipStream, holds_entry, iter_directory

CONTENTS = st.lists(st.binary(max_size=300), max_size=6)


def plain_zip(contents: list[bytes]) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as plain:
        for number, content in enumerate(contents):
            info = zipfile.ZipInfo(f"train/{number}.jpg", (1980, 1, 1, 0, 0, 0))
            info.create_system, info.external_attr = 3, 0o100644 << 16
            plain.writestr(info, content)
    return target.getvalue()


def add_all(stream: ZipStream, contents: list[bytes], first: int = 0) -> list[StoredEntry]:
    return [stream.add(f"train/{first + n}.jpg", one) for n, one in enumerate(contents)]


@given(CONTENTS)
def test_same_as_zipfile(contents: list[bytes]) -> None:
    file = io.BytesIO()
    stream = ZipStream(file, 0)
    entries = add_all(stream, contents)
    start = stream.flush()
    stream.close(lambda: iter(entries))
    assert file.getvalue() == plain_zip(contents)
    assert list(iter_directory(file, start, len(entries))) == entries


@given(CONTENTS, CONTENTS, st.binary(max_size=50))
def test_taken_up_again(before: list[bytes], after: list[bytes], torn: bytes) -> None:
    file = io.BytesIO()
    stream = ZipStream(file, 0)
    entries = add_all(stream, before)
    offset = stream.flush()
    stream.abandon()
    file.write(torn)

    stream = ZipStream(file, offset)
    entries += add_all(stream, after, len(before))
    stream.close(lambda: iter(entries))
    assert file.getvalue() == plain_zip(before + after)


@given(st.lists(st.binary(max_size=50)))
def test_chunks_are_one_entry(chunks: list[bytes]) -> None:
    file = io.BytesIO()
    stream = ZipStream(file, 0)
    entry = stream.add_chunks("train/0.jpg", lambda: chunks)
    stream.close(lambda: iter([entry]))
    assert file.getvalue() == plain_zip([b"".join(chunks)])


@settings(max_examples=200)
@given(CONTENTS.filter(len), st.data())
def test_a_changed_byte_is_noticed(contents: list[bytes], data: st.DataObject) -> None:
    file = io.BytesIO()
    stream = ZipStream(file, 0)
    entries = add_all(stream, contents)
    end = stream.flush()
    stream.abandon()
    assert all(holds_entry(file, entry) for entry in entries)
    position = data.draw(st.integers(0, end - 1))
    file.getbuffer()[position] ^= 1 << data.draw(st.integers(0, 7))
    wrong = [entry for entry in entries if not holds_entry(file, entry)]
    assert wrong == [entry for entry in entries if entry.offset <= position][-1:]


def test_abandoned_file_gets_no_directory() -> None:
    file = io.BytesIO()
    stream = ZipStream(file, 0)
    entry = stream.add("train/0.jpg", b"content")
    stream.abandon()
    del stream
    assert len(file.getvalue()) == 30 + len(entry.name) + entry.size


def test_beyond_four_gigabytes(tmp_path: Path) -> None:
    """A hole stands for what was written before, so that the test needs no disk."""
    hole = 5 * 2**30
    with (tmp_path / "large.zip").open("w+b") as file:
        stream = ZipStream(file, hole)
        entries = add_all(stream, [b"one", b"two"])
        start = stream.flush()
        stream.close(lambda: iter(entries))
        assert [entry.offset for entry in entries] == [hole, start - 30 - 11 - 3]
        assert list(iter_directory(file, start, 2)) == entries
    with zipfile.ZipFile(tmp_path / "large.zip") as dataset:
        assert dataset.read("train/1.jpg") == b"two"


def test_more_entries_than_the_old_format_counts() -> None:
    file = io.BytesIO()
    stream = ZipStream(file, 0)
    entry = stream.add("train/0.jpg", b"")
    stream.close(lambda: iter([entry] * 70_000))
    with zipfile.ZipFile(file) as dataset:
        assert len(dataset.filelist) == 70_000


@pytest.mark.parametrize("missing", [1, 40])
def test_a_short_directory_is_noticed(missing: int) -> None:
    file = io.BytesIO()
    stream = ZipStream(file, 0)
    entries = add_all(stream, [b"one"])
    start = stream.flush()
    stream.close(lambda: iter(entries))
    assert len(list(iter_directory(file, start, 1 + missing))) == 1
