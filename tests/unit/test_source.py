"""Finding files and bringing them to disk; no PDF is opened here."""

import os
import struct
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archive_tools import capped_zip, source
from archive_tools.errors import DatasetWriteError
from archive_tools.file_kinds import clean_name
from archive_tools.schema import NamedFile, SourceFailure
from archive_tools.source import SourceFeed
from archive_tools.source_plan import PlannedFile, plan_sources

PDF = b"%PDF-1.4 stands for a document"


def write_files(folder: Path, *names: str) -> None:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(PDF + name.encode())


def write_zip(path: Path, members: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def plan_names(*inputs: Path | NamedFile, leave_out: Path | None = None) -> list[str]:
    return [planned.name for planned in plan_sources(inputs, leave_out)]


def bring_all(
    inputs: Sequence[Path], folder: Path, release: bool = True
) -> tuple[list[tuple[str, bytes]], list[SourceFailure]]:
    """Return the name and content of all files, and the failures."""
    files, failures = [], []
    with SourceFeed(plan_sources(inputs, None), folder) as feed:
        for brought in feed:
            if isinstance(brought, SourceFailure):
                failures.append(brought)
            elif brought is not None:
                files.append((brought.name, brought.path.read_bytes()))
                if release:
                    feed.release(brought.path)
                    assert not folder.exists() or list(folder.iterdir()) == []
    return files, failures


def test_folder_is_walked_in_the_order_of_names(tmp_path: Path) -> None:
    write_files(tmp_path, "b.pdf", "a/2.PDF", "a/10.pdf", "notes.txt", ".hidden.pdf", ".git/x.pdf")
    assert plan_names(tmp_path) == ["b.pdf", "a/10.pdf", "a/2.PDF"]


def test_inputs_keep_their_order(tmp_path: Path) -> None:
    write_files(tmp_path, "b.pdf", "a.pdf", "c.txt")
    assert plan_names(tmp_path / "c.txt", tmp_path / "b.pdf", tmp_path / "a.pdf") == [
        "c.txt",
        "b.pdf",
        "a.pdf",
    ]


def test_glob_is_expanded_by_us(tmp_path: Path) -> None:
    write_files(tmp_path, "x2.pdf", "x1.pdf", "y.pdf")
    assert plan_names(tmp_path / "x*.pdf") == ["x1.pdf", "x2.pdf"]


def test_file_whose_name_looks_like_a_glob_is_a_file(tmp_path: Path) -> None:
    write_files(tmp_path, "scan [1893].pdf", "scan 1.pdf")
    assert plan_names(tmp_path / "scan [1893].pdf") == ["scan [1893].pdf"]


def test_named_file_goes_by_its_name(tmp_path: Path) -> None:
    write_files(tmp_path, "000001")
    assert plan_sources([NamedFile(tmp_path / "000001", "Horse.pdf")], None) == [
        PlannedFile(tmp_path / "000001", "Horse.pdf")
    ]


def test_dataset_of_this_run_is_no_source(tmp_path: Path) -> None:
    write_files(tmp_path, "a.pdf")
    out = write_zip(tmp_path / "dataset.zip", {"x.pdf": PDF})
    assert plan_names(tmp_path, leave_out=out) == ["a.pdf"]


@pytest.mark.parametrize(
    ("wanted", "word"),
    [
        ("missing.pdf", "no such file"),
        ("*.pdf", "no such file"),
        ("https://example.org/scan.pdf", "Download"),
        ("empty", "no PDF"),
        ("pipe", "neither a file"),
    ],
)
def test_what_cannot_be_found_is_a_failure(wanted: str, word: str, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    os.mkfifo(tmp_path / "pipe")
    place = Path(wanted) if wanted.startswith("http") else tmp_path / wanted
    [failure] = plan_sources([place], None)
    assert isinstance(failure, SourceFailure)
    assert word in failure.message
    assert str(tmp_path) not in failure.name + failure.message


def test_members_come_one_at_a_time_and_go_when_released(tmp_path: Path) -> None:
    members = {f"deep/{name}.pdf": PDF + name.encode() for name in "cab"}
    scans = write_zip(tmp_path / "scans.zip", members | {"readme.txt": b"no"})
    files, failures = bring_all([scans], tmp_path / "work")
    assert files == [(f"scans.zip/deep/{name}.pdf", PDF + name.encode()) for name in "abc"]
    assert failures == []


def test_work_folder_goes_with_everything_in_it(tmp_path: Path) -> None:
    scans = write_zip(tmp_path / "scans.zip", {"a.pdf": PDF, "b.pdf": PDF})
    bring_all([scans], tmp_path / "work", release=False)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["scans.zip"]


def test_leftovers_of_a_killed_run_are_removed(tmp_path: Path) -> None:
    write_files(tmp_path / "work", "000007.pdf")
    with SourceFeed([], tmp_path / "work"):
        assert not (tmp_path / "work").exists()


def test_files_that_are_no_copies_are_never_deleted(tmp_path: Path) -> None:
    write_files(tmp_path, "a.pdf")
    bring_all([tmp_path / "a.pdf"], tmp_path / "work")
    assert (tmp_path / "a.pdf").exists()


@pytest.mark.parametrize("name", ["../../outside.pdf", "/tmp/outside.pdf", "a/../../b.pdf"])
def test_member_never_chooses_its_place(name: str, tmp_path: Path) -> None:
    scans = write_zip(tmp_path / "s.zip", {name: PDF})
    work = tmp_path / "deep" / "work"
    work.parent.mkdir()
    before = set(tmp_path.rglob("*"))
    with SourceFeed(plan_sources([scans], None), work) as feed:
        brought = [file for file in feed if isinstance(file, NamedFile)]
        assert [file.path.parent for file in brought] == [work]
        assert set(tmp_path.rglob("*")) - before == {work, brought[0].path}


def test_bomb_is_stopped_and_the_next_member_is_brought(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source, "HARMLESS_BYTES", 2**20)
    bomb = write_zip(tmp_path / "s.zip", {"a.pdf": bytes(2**26), "b.pdf": PDF})
    files, [failure] = bring_all([bomb], tmp_path / "work")
    assert files == [("s.zip/b.pdf", PDF)]
    assert failure.name == "s.zip/a.pdf"
    assert "100 times" in failure.message


def test_full_disk_stops_the_unpacking(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "LEAST_FREE_BYTES", 2**62)
    scans = write_zip(tmp_path / "s.zip", {"a.pdf": PDF})
    with pytest.raises(DatasetWriteError, match=r"s\.zip/a\.pdf"):
        bring_all([scans], tmp_path / "work")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["s.zip"]


def test_huge_table_of_contents_is_refused(tmp_path: Path) -> None:
    path = write_zip(tmp_path / "s.zip", {"a.pdf": PDF})
    whole = bytearray(path.read_bytes())
    end = whole.rfind(b"PK\5\6")
    # Size of the central directory, in the end record (APPNOTE 4.3.16).
    struct.pack_into("<I", whole, end + 12, capped_zip.MAX_CONTENTS_BYTES + 1)
    # Only a file that is large enough can claim it.
    path.write_bytes(bytes(capped_zip.MAX_CONTENTS_BYTES) + bytes(whole))
    [failure] = plan_sources([path], None)
    assert isinstance(failure, SourceFailure)
    assert "too large" in failure.message


def test_truncated_zip_is_named(tmp_path: Path) -> None:
    path = write_zip(tmp_path / "s.zip", {"a.pdf": os.urandom(5000)})
    path.write_bytes(path.read_bytes()[:2000])
    [failure] = plan_sources([path], None)
    assert isinstance(failure, SourceFailure)
    assert failure.name == "s.zip"
    assert "damaged" in failure.message


def test_damaged_member_costs_only_itself(tmp_path: Path) -> None:
    members = {"a.pdf": os.urandom(5000), "b.pdf": PDF}
    path = write_zip(tmp_path / "s.zip", members, zipfile.ZIP_STORED)
    content = bytearray(path.read_bytes())
    content[1000] ^= 0xFF
    path.write_bytes(content)
    files, [failure] = bring_all([path], tmp_path / "work")
    assert files == [("s.zip/b.pdf", PDF)]
    assert failure.name == "s.zip/a.pdf"
    assert "damaged" in failure.message


def test_encrypted_member_is_explained(tmp_path: Path) -> None:
    path = write_zip(tmp_path / "s.zip", {"a.pdf": PDF}, zipfile.ZIP_STORED)
    content = bytearray(path.read_bytes())
    for signature, offset in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        content[content.find(signature) + offset] |= 1
    path.write_bytes(content)
    _, [failure] = bring_all([path], tmp_path / "work")
    assert "encrypted" in failure.message


def test_zip_without_pdfs_is_explained(tmp_path: Path) -> None:
    path = write_zip(
        tmp_path / "s.zip",
        {"notes.txt": b"", "__MACOSX/._a.pdf": b"", "._b.pdf": b"", "d.pdf/": b""},
    )
    [failure] = plan_sources([path], None)
    assert isinstance(failure, SourceFailure)
    assert "holds no PDF" in failure.message


def test_zip_inside_a_zip_is_named_and_folder_entries_are_ignored(tmp_path: Path) -> None:
    path = write_zip(tmp_path / "s.zip", {"a.pdf": PDF, "b/inner.zip": b"PK", "c.pdf/": b""})
    good, nested = plan_sources([path], None)
    assert good == PlannedFile(path, "s.zip/a.pdf", 0)
    assert isinstance(nested, SourceFailure)
    assert nested.name == "s.zip/b/inner.zip"
    assert "Unpack" in nested.message


def test_link_to_nothing_is_called_that(tmp_path: Path) -> None:
    (tmp_path / "lost.pdf").symlink_to(tmp_path / "nowhere.pdf")
    for wanted in (tmp_path, tmp_path / "lost.pdf", tmp_path / "*.pdf"):
        [failure] = plan_sources([wanted], None)
        assert isinstance(failure, SourceFailure)
        assert failure.name == "lost.pdf"
        assert "link to a file that is not there" in failure.message


def test_linked_folder_is_named_and_not_entered(tmp_path: Path) -> None:
    write_files(tmp_path / "elsewhere", "a.pdf")
    write_files(tmp_path / "scans" / "deep", "b.pdf")
    (tmp_path / "scans" / "deep" / "link").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "scans" / "round").symlink_to(tmp_path / "scans")
    planned = plan_sources([tmp_path / "scans"], None)
    assert [one.name for one in planned] == ["round", "deep/b.pdf", "deep/link"]
    linked = [one for one in planned if isinstance(one, SourceFailure)]
    assert [one.name for one in linked] == ["round", "deep/link"]
    assert "link to a folder" in linked[0].message
    assert plan_names(tmp_path / "scans" / "deep" / "link") == ["a.pdf"]


def test_folder_that_cannot_be_read_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_files(tmp_path, "a.pdf", "closed/b.pdf")
    closed = tmp_path / "closed"
    scan = os.scandir

    def refuse(path: str | os.PathLike[str]) -> object:  # root may read everything
        if Path(path) == closed:
            raise PermissionError(13, "Permission denied", str(path))
        return scan(path)

    monkeypatch.setattr(os, "scandir", refuse)
    good, failure = plan_sources([tmp_path], None)
    assert good.name == "a.pdf"
    assert failure == SourceFailure("closed", "The folder cannot be read: Permission denied.")


def test_dataset_of_another_run_is_no_source(tmp_path: Path) -> None:
    members = dict.fromkeys(["train/000001.jpg", "manifest/pages.csv", "manifest/report.json"], b"")
    write_zip(tmp_path / "earlier.zip", members)
    for name in members:
        write_files(tmp_path / "folder", name)
    write_files(tmp_path, "a.pdf")
    planned = plan_sources([tmp_path], leave_out=tmp_path / "new.zip")
    assert [one.name for one in planned] == ["a.pdf", "earlier.zip", "folder"]
    messages = [one.message for one in planned if isinstance(one, SourceFailure)]
    assert len(messages) == 2
    assert all("this program has made" in message for message in messages)


def test_dataset_that_this_run_replaces_is_no_source(tmp_path: Path) -> None:
    write_files(tmp_path, "a.pdf", "new/train/000001.jpg", "new.building/train/000001.jpg")
    assert plan_names(tmp_path, leave_out=tmp_path / "new") == ["a.pdf"]


def test_images_of_a_zip_are_a_document_for_each_folder(tmp_path: Path) -> None:
    members = {"b/2.jpg": b"2", "b/10.jpg": b"10", "../c/1.png": b"c", "1.tif": b"1", "x.txt": b""}
    scans = write_zip(tmp_path / "s.zip", members)
    documents = {}
    with SourceFeed(plan_sources([scans], None), tmp_path / "work") as feed:
        for brought in feed:
            if isinstance(brought, NamedFile):
                inner = sorted(brought.path.iterdir())
                documents[brought.name] = {path.name: path.read_bytes() for path in inner}
                feed.release(brought.path)
                assert list((tmp_path / "work").iterdir()) == []
    assert documents == {
        "s.zip": {"1.tif": b"1"},
        "s.zip/../c": {"1.png": b"c"},
        "s.zip/b": {"2.jpg": b"2", "10.jpg": b"10"},
    }
    assert sorted(path.name for path in tmp_path.iterdir()) == ["s.zip"]


@pytest.mark.parametrize(
    "names",
    [["a/x.jpg", "a/X.jpg"], ["a/b:c.jpg"], ["a/" + 210 * "n" + ".jpg"], ["a\\..\\b.jpg"]],
)
def test_images_with_odd_names_get_plain_ones(names: list[str], tmp_path: Path) -> None:
    scans = write_zip(tmp_path / "s.zip", dict.fromkeys(names, b"x"))
    with SourceFeed(plan_sources([scans], None), tmp_path / "work") as feed:
        [document] = [brought for brought in feed if isinstance(brought, NamedFile)]
        found = sorted(path.name for path in document.path.iterdir())
    assert found == [f"{number:06d}.jpg" for number in range(1, len(names) + 1)]


def test_many_images_that_are_a_bomb_together_are_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(source, "HARMLESS_BYTES", 2**20)
    members = {f"{number}.png": bytes(2**19) for number in range(5)}
    bomb = write_zip(tmp_path / "s.zip", members | {"z.pdf": PDF})
    files, [failure] = bring_all([bomb], tmp_path / "work")
    assert files == [("s.zip/z.pdf", PDF)]
    assert "100 times" in failure.message


def test_file_whose_name_is_no_text_gets_a_link_with_a_plain_name(tmp_path: Path) -> None:
    old = tmp_path / os.fsdecode(b"M\xe4rz")
    old.mkdir()
    (old / "scan.pdf").write_bytes(PDF)
    work = tmp_path / "work"
    with SourceFeed(plan_sources([old / "scan.pdf"], None), work) as feed:
        [brought] = feed
        assert isinstance(brought, NamedFile)
        assert (brought.name, brought.path) == ("scan.pdf", work / "000000.pdf")
        assert brought.path.read_bytes() == PDF
        feed.release(brought.path)
        assert list(work.iterdir()) == []
    assert (old / "scan.pdf").read_bytes() == PDF
    assert not work.exists()


def test_unpacking_comes_up_for_air(tmp_path: Path) -> None:
    scans = write_zip(tmp_path / "s.zip", {"a.pdf": os.urandom(3 * source.CHUNK_BYTES)})
    with SourceFeed(plan_sources([scans], None), tmp_path / "work") as feed:
        assert [file is None for file in feed] == [True, True, True, False]


@given(st.text() | st.sampled_from(["a\udce9b.pdf", "a\x1b[2Jb.pdf", "line\nbreak.pdf"]))
def test_clean_names_can_be_printed_on_one_line(name: str) -> None:
    cleaned = clean_name(name)
    assert cleaned.encode("utf-8").decode("utf-8") == cleaned
    assert cleaned == "" or cleaned.isprintable()
    assert len(cleaned) == len(name)
