"""The journal: what is read back is what was written, up to the first damaged byte."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archive_tools.errors import DatasetWriteError
from archive_tools.journal import (
    Journal,
    JournalLine,
    PageDone,
    RunBegun,
    SourceBegun,
    SourceFailed,
    StoredEntry,
    StoredImage,
    open_journal,
)
from archive_tools.schema import DocumentDetails, PageOutcome

ENTRY = StoredEntry("train/000001.jpg", 0xDEADBEEF, 123, 5_000_000_000)
IMAGE = StoredImage(ENTRY, ENTRY, "a caption", 64, 64, (0, 0, 5, 9), 10, 10, "00ff")
DETAILS = DocumentDetails("Titel \udcff", "\n", "D:1900", "x", ("OCR", "Ebene 2"))
LINES: tuple[JournalLine, ...] = (
    RunBegun({"min_sigma": 45.0, "hide_layers": []}, {"pillow": "1"}),
    SourceBegun("a\n\udce9.pdf", "0" * 64, 2, DETAILS),
    PageDone(
        0, PageOutcome.KEPT, 10, 10, 61.0, 61.0, "", (IMAGE, IMAGE), 5_000_000_123, ("negative",)
    ),
    PageDone(1, PageOutcome.FAILED, 0, 0, None, None, "damaged", (), 5_000_000_123),
    SourceFailed("b.pdf", 'no "PDF"'),
)


def write(path: Path, lines: tuple[JournalLine, ...] = LINES) -> list[int]:
    with open_journal(path) as journal:
        for line in lines:
            journal.append(line)
        return [end for _, end in journal.iter_lines_with_end()]


def read(path: Path) -> list[JournalLine]:
    with open_journal(path) as journal:
        return list(journal.iter_lines())


def test_round_trip(tmp_path: Path) -> None:
    ends = write(tmp_path / "journal")
    assert tuple(read(tmp_path / "journal")) == LINES
    assert ends[-1] == (tmp_path / "journal").stat().st_size


def test_a_line_can_be_read_as_soon_as_it_is_added(tmp_path: Path) -> None:
    with open_journal(tmp_path / "journal") as journal:
        for count, line in enumerate(LINES):
            assert len(list(journal.iter_lines())) == count
            journal.append(line)


def test_lines_are_added_at_the_end(tmp_path: Path) -> None:
    write(tmp_path / "journal", LINES[:3])
    write(tmp_path / "journal", LINES[3:])
    assert tuple(read(tmp_path / "journal")) == LINES


@given(st.data())
def test_any_cut_gives_whole_lines(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("cut") / "journal"
    ends = write(path)
    size = data.draw(st.integers(0, ends[-1]))
    path.write_bytes(path.read_bytes()[:size])
    assert tuple(read(path)) == LINES[: sum(end <= size for end in ends)]


@given(st.data())
def test_any_flipped_bit_ends_the_reading(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("flip") / "journal"
    ends = write(path)
    position = data.draw(st.integers(0, ends[-1] - 1))
    content = bytearray(path.read_bytes())
    content[position] ^= 1 << data.draw(st.integers(0, 7))
    path.write_bytes(content)
    assert tuple(read(path)) == LINES[: sum(end <= position for end in ends)]


def test_cut_and_go_on(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    ends = write(path)
    with path.open("ab") as file:
        file.write(b"torn")
    with open_journal(path) as journal:
        journal.cut(ends[1])
        journal.append(LINES[4])
    assert tuple(read(path)) == (*LINES[:2], LINES[4])


def test_one_run_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "dataset.zip.journal"
    with (
        open_journal(path),
        pytest.raises(DatasetWriteError, match=r"is writing dataset\.zip at"),
        open_journal(path),
    ):
        pass
    with open_journal(path) as journal:
        assert isinstance(journal, Journal)


def test_remove(tmp_path: Path) -> None:
    with open_journal(tmp_path / "journal") as journal:
        journal.remove()
    assert not list(tmp_path.iterdir())
