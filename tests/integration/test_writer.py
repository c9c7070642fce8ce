"""The dataset ZIP: layout, bytes, kill and resume, bad disks."""

import csv
import errno
import gc
import hashlib
import io
import json
import os
import resource
import shutil
import subprocess
import sys
import tracemalloc
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from archive_tools.config import DatasetConfig
from archive_tools.disk_errors import explained_disk_errors
from archive_tools.errors import DatasetWriteError, InvalidOptionError
from archive_tools.schema import (
    DocumentDetails,
    PageCounts,
    PageOutcome,
    PageResult,
    Record,
    ResumePoint,
    Source,
    SourceFailure,
)
from archive_tools.writer import DatasetWriter, journal_path, open_dataset_writer, partial_path

CONFIG = DatasetConfig(size_px=64, trigger="engrv")
SIZE_PX = 64


def encode_jpeg(seed: int) -> bytes:
    pixels = np.random.default_rng(seed).integers(0, 256, (SIZE_PX, SIZE_PX, 3), dtype=np.uint8)
    target = io.BytesIO()
    Image.fromarray(pixels).save(target, "JPEG", quality=92)
    return target.getvalue()


def make_record(seed: int) -> Record:
    return Record(encode_jpeg(seed), SIZE_PX, SIZE_PX, (0, 0, 600, 800), 600, 800, f"{seed:016x}")


def make_source(name: str, page_count: int, title: str = "Harper's Weekly 1863") -> Source:
    sha256 = hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()
    details = DocumentDetails(title=title, author="A. Nast", created="D:20090101", layers=("OCR",))
    return Source(Path("unused.pdf"), name, sha256, page_count, details)


def make_page(page_index: int, seed: int = 0) -> PageResult:
    """Kept, dropped, failed, kept with two images, and so on."""
    match page_index % 4:
        case 1:
            return PageResult(
                page_index, PageOutcome.DROPPED, 600, 800, 12.5, 12.5, "sigma 12.5 is not above 45"
            )
        case 2:
            return PageResult(page_index, PageOutcome.FAILED, 0, 0, None, None, "damaged image")
    count = 2 if page_index % 4 == 3 else 1
    records = tuple(make_record(seed * 1000 + page_index * 10 + n) for n in range(count))
    return PageResult(
        page_index, PageOutcome.KEPT, 600, 800, 61.25, 61.25, "sigma 61.2 is above 45", records
    )


SOURCES: tuple[Source | SourceFailure, ...] = (
    make_source("a.pdf", 5),
    SourceFailure("broken.pdf", "broken.pdf is no PDF. Leave it out."),
    make_source("b.pdf", 1),
    make_source("deep/c.pdf", 4),
)


class StoppedHereError(Exception):
    """Stands for whatever ends a run."""


def write_inputs(
    writer: DatasetWriter,
    sources: tuple[Source | SourceFailure, ...] = SOURCES,
    stop_after: int | None = None,
) -> None:
    """Do what the pipeline does; `stop_after` pages of this run, stop."""
    pages_left = -1 if stop_after is None else stop_after
    for number, source in enumerate(sources):
        if isinstance(source, SourceFailure):
            writer.add_source_failure(source)
            continue
        for page_index in range(writer.begin_source(source), source.page_count):
            if pages_left == 0:
                raise StoppedHereError
            writer.add_page(source, make_page(page_index, number))
            pages_left -= 1


def build(out: Path, resume: bool = False, config: DatasetConfig = CONFIG) -> dict[str, object]:
    with open_dataset_writer(out, config, resume) as writer:
        write_inputs(writer)
        return writer.finish()


def stop_after(out: Path, pages: int) -> None:
    with pytest.raises(StoppedHereError), open_dataset_writer(out, CONFIG, False) as writer:
        write_inputs(writer, stop_after=pages)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("whole") / "dataset.zip"
    build(out)
    return out


def read_rows(dataset: zipfile.ZipFile) -> list[dict[str, object]]:
    return [json.loads(line) for line in dataset.read("train/metadata.jsonl").splitlines()]


def read_pages(dataset: zipfile.ZipFile) -> list[dict[str, str]]:
    text = io.StringIO(dataset.read("manifest/pages.csv").decode(), newline="")
    return list(csv.DictReader(text))


class TestLayout:
    def test_files(self, whole: Path) -> None:
        with zipfile.ZipFile(whole) as dataset:
            names = dataset.namelist()
            assert dataset.testzip() is None
        images = [f"train/{n:06d}{end}" for n in range(1, 9) for end in (".jpg", ".txt")]
        assert names == [
            *images,
            "train/metadata.jsonl",
            "train/README.md",
            "manifest/pages.csv",
            "manifest/report.json",
            "configs/kohya_dataset.toml",
            "configs/simpletuner_multidatabackend.json",
            "configs/onetrainer_concepts.json",
            "configs/ai_toolkit.yaml",
            "configs/diffusers_command.sh",
            "README.md",
        ]

    def test_entries_are_stored_with_fixed_times_and_attributes(self, whole: Path) -> None:
        with zipfile.ZipFile(whole) as dataset:
            for entry in dataset.infolist():
                assert entry.compress_type == zipfile.ZIP_STORED
                assert entry.date_time == (1980, 1, 1, 0, 0, 0)
                assert (entry.create_system, entry.external_attr) == (3, 0o100644 << 16)
                assert not entry.extra

    def test_every_page_is_accounted_for(self, whole: Path) -> None:
        with zipfile.ZipFile(whole) as dataset:
            pages = read_pages(dataset)
            report = json.loads(dataset.read("manifest/report.json"))
        assert [(page["file"], page["page_number"]) for page in pages] == [
            *(("a.pdf", str(n)) for n in range(1, 6)),
            ("b.pdf", "1"),
            *(("deep/c.pdf", str(n)) for n in range(1, 5)),
        ]
        assert [page["decision"] for page in pages[:3]] == ["kept", "dropped", "failed"]
        assert pages[3]["regions"] == (
            "train/000002.jpg 0 0 600 800 of 600 800; train/000003.jpg 0 0 600 800 of 600 800"
        )
        assert report["counts"] == {
            "files": 3,
            "files_failed": 1,
            "pages": 10,
            "kept": 6,
            "dropped": 2,
            "failed": 2,
            "near_duplicates": 0,
            "images": 8,
            "splits": {"train": 8},
        }
        assert report["status"] == "partial"

    def test_rows_match_images(self, whole: Path) -> None:
        with zipfile.ZipFile(whole) as dataset:
            rows = read_rows(dataset)
            for row in rows:
                stem = str(row["file_name"]).removesuffix(".jpg")
                assert dataset.read(f"train/{stem}.txt").decode() == row["text"]
                with Image.open(dataset.open(f"train/{stem}.jpg")) as image:
                    image.load()
                    assert image.size == (row["width"], row["height"])
        assert len(rows) == 8
        assert rows[0] == {
            "file_name": "000001.jpg",
            "text": "engrv, illustration, Harper's Weekly 1863",
            "width": 64,
            "height": 64,
            "source_file": "a.pdf",
            "source_sha256": hashlib.sha256(b"a.pdf").hexdigest(),
            "page_number": 1,
            "bbox": [0, 0, 600, 800],
            "part": "",
            "page_width": 600,
            "page_height": 800,
            "sigma": 61.25,
            "score": 61.25,
            "phash": "0000000000000000",
            "document_title": "Harper's Weekly 1863",
            "document_author": "A. Nast",
            "document_date": "D:20090101",
        }

    def test_report_follows_from_input_and_options_alone(self, tmp_path: Path, whole: Path) -> None:
        out = tmp_path / "elsewhere" / "other name.zip"
        out.parent.mkdir()
        report = build(out)
        assert out.read_bytes() == whole.read_bytes()
        with zipfile.ZipFile(out) as dataset:
            assert json.loads(dataset.read("manifest/report.json")) == report

    def test_password_stays_out(self, tmp_path: Path) -> None:
        out = tmp_path / "dataset.zip"
        with open_dataset_writer(out, DatasetConfig(password="s3cret"), False) as writer:
            write_inputs(writer, stop_after=None)
            assert b"s3cret" not in journal_path(out).read_bytes()
            writer.finish()
        assert b"s3cret" not in out.read_bytes()

    def test_other_tools_read_it(self, whole: Path) -> None:
        unzip = shutil.which("unzip")
        command = [unzip, "-tqq"] if unzip else [sys.executable, "-m", "zipfile", "-t"]
        assert subprocess.run([*command, str(whole)], check=False).returncode == 0

    def test_no_images_is_a_valid_dataset(self, tmp_path: Path) -> None:
        out = tmp_path / "dataset.zip"
        with open_dataset_writer(out, CONFIG, False) as writer:
            source = make_source("text.pdf", 1)
            writer.begin_source(source)
            writer.add_page(source, PageResult(0, PageOutcome.DROPPED, 9, 9, 1.0, 1.0, "blank"))
            report = writer.finish()
        assert report["status"] == "success"
        assert report["reduction_percent"] == 100.0
        with zipfile.ZipFile(out) as dataset:
            assert dataset.read("train/metadata.jsonl") == b""


ODD_NAMES = (
    "=cmd|' /C calc'!A0.pdf",
    "-1+1.pdf",
    "@SUM(A1).pdf",
    'new\nline, "quote".pdf',
    "журнал 😀.pdf",
    "bad\udce9.pdf",
)


class TestOddNames:
    @pytest.fixture
    def dataset(self, tmp_path: Path) -> Iterator[zipfile.ZipFile]:
        out = tmp_path / "dataset.zip"
        sources = tuple(make_source(name, 1, title=name) for name in ODD_NAMES)
        with open_dataset_writer(out, CONFIG, False) as writer:
            write_inputs(writer, (*sources, SourceFailure(ODD_NAMES[-1], "no \udce9 PDF")))
            writer.finish()
        with zipfile.ZipFile(out) as dataset:
            yield dataset

    def test_no_cell_is_a_formula(self, dataset: zipfile.ZipFile) -> None:
        cells = [page["file"] for page in read_pages(dataset)]
        assert cells == [
            "'=cmd|' /C calc'!A0.pdf",
            "'-1+1.pdf",
            "'@SUM(A1).pdf",
            'new\nline, "quote".pdf',
            "журнал 😀.pdf",
            "bad\\udce9.pdf",
        ]

    def test_rows_and_captions_survive(self, dataset: zipfile.ZipFile) -> None:
        rows = read_rows(dataset)
        assert [row["source_file"] for row in rows[:5]] == list(ODD_NAMES[:5])
        assert rows[3]["text"] == 'engrv, illustration, new line, "quote".pdf'


class TestResume:
    @pytest.mark.parametrize("pages", range(10))
    def test_after_any_page_gives_the_same_bytes(
        self, tmp_path: Path, whole: Path, pages: int
    ) -> None:
        out = tmp_path / "dataset.zip"
        stop_after(out, pages)
        assert not out.exists()
        build(out, resume=True)
        assert out.read_bytes() == whole.read_bytes()
        assert [path.name for path in tmp_path.iterdir()] == ["dataset.zip"]

    def test_resume_point(self, tmp_path: Path) -> None:
        out = tmp_path / "dataset.zip"
        points = []
        for pages in (2, 5, 6, 8):
            stop_after(out, pages)
            with open_dataset_writer(out, CONFIG, True) as writer:
                points.append(writer.resume_point)
        assert points == [
            ResumePoint(0, 2, PageCounts(1, 1, 0)),
            ResumePoint(2, 0, PageCounts(3, 1, 1)),
            ResumePoint(3, 0, PageCounts(4, 1, 1)),
            ResumePoint(3, 2, PageCounts(5, 2, 1)),
        ]

    @pytest.mark.parametrize("kept_bytes", [0, 1, 0.3, 0.5, 0.9, 0.999])
    def test_partial_zip_cut_anywhere(self, tmp_path: Path, whole: Path, kept_bytes: float) -> None:
        """As after a power cut, where the journal reached the disk and the ZIP did not."""
        out = tmp_path / "dataset.zip"
        stop_after(out, 9)
        with partial_path(out).open("r+b") as file:
            size = file.seek(0, 2)
            file.truncate(int(kept_bytes if kept_bytes >= 1 else kept_bytes * size))
        build(out, resume=True)
        assert out.read_bytes() == whole.read_bytes()

    def test_partial_zip_with_a_flipped_byte(self, tmp_path: Path, whole: Path) -> None:
        out = tmp_path / "dataset.zip"
        stop_after(out, 9)
        with partial_path(out).open("r+b") as file:
            file.seek(5_000)
            byte = file.read(1)
            file.seek(5_000)
            file.write(bytes([byte[0] ^ 1]))
        build(out, resume=True)
        assert out.read_bytes() == whole.read_bytes()

    def test_partial_zip_ends_mid_entry(self, tmp_path: Path, whole: Path) -> None:
        """Killed while an entry was written: the ZIP is ahead of the journal."""
        out = tmp_path / "dataset.zip"
        stop_after(out, 4)
        with partial_path(out).open("ab") as file:
            file.write(encode_jpeg(1)[:1000])
        build(out, resume=True)
        assert out.read_bytes() == whole.read_bytes()

    @pytest.mark.parametrize("torn_bytes", [1, 2, 40, 300, 2_000])
    def test_torn_journal(self, tmp_path: Path, whole: Path, torn_bytes: int) -> None:
        out = tmp_path / "dataset.zip"
        stop_after(out, 8)
        with journal_path(out).open("r+b") as file:
            file.truncate(file.seek(0, 2) - torn_bytes)
        build(out, resume=True)
        assert out.read_bytes() == whole.read_bytes()

    @pytest.mark.parametrize("lost", [journal_path, partial_path])
    def test_half_of_the_state_is_lost(
        self, tmp_path: Path, whole: Path, lost: Callable[[Path], Path]
    ) -> None:
        out = tmp_path / "dataset.zip"
        stop_after(out, 8)
        lost(out).unlink()
        build(out, resume=True)
        assert out.read_bytes() == whole.read_bytes()

    def test_stopped_again_and_again(self, tmp_path: Path, whole: Path) -> None:
        out = tmp_path / "dataset.zip"
        stop_after(out, 1)
        for _ in range(4):
            with pytest.raises(StoppedHereError), open_dataset_writer(out, CONFIG, True) as writer:
                write_inputs(writer, stop_after=2)
        build(out, resume=True)
        assert out.read_bytes() == whole.read_bytes()

    def test_nothing_to_resume(self, tmp_path: Path, whole: Path) -> None:
        out = tmp_path / "dataset.zip"
        build(out, resume=True)
        assert out.read_bytes() == whole.read_bytes()

    def test_without_resume_starts_afresh(self, tmp_path: Path, whole: Path) -> None:
        out = tmp_path / "dataset.zip"
        stop_after(out, 7)
        build(out)
        assert out.read_bytes() == whole.read_bytes()

    def test_a_failed_finish_can_be_repeated(self, tmp_path: Path, whole: Path) -> None:
        out = tmp_path / "dataset.zip"
        with open_dataset_writer(out, CONFIG, False) as writer:
            write_inputs(writer)
            out.mkdir()
            with pytest.raises(DatasetWriteError):
                writer.finish()
        out.rmdir()
        build(out, resume=True)
        assert out.read_bytes() == whole.read_bytes()

    def test_killed_by_sigkill(self, tmp_path: Path, whole: Path) -> None:
        out = tmp_path / "dataset.zip"
        script = (
            "import os, signal, sys; from pathlib import Path\n"
            "from tests.integration.test_writer import CONFIG, open_dataset_writer, write_inputs\n"
            "with open_dataset_writer(Path(sys.argv[1]), CONFIG, False) as writer:\n"
            "    try: write_inputs(writer, stop_after=6)\n"
            "    except Exception: os.kill(os.getpid(), signal.SIGKILL)\n"
        )
        command = [sys.executable, "-c", script, str(out)]
        root = Path(__file__).parents[2]
        assert subprocess.run(command, cwd=root, check=False).returncode == -9
        with open_dataset_writer(out, CONFIG, True) as writer:
            assert writer.resume_point.pages.seen == 6
            write_inputs(writer)
            writer.finish()
        assert out.read_bytes() == whole.read_bytes()


class TestResumeRefused:
    @pytest.fixture
    def out(self, tmp_path: Path) -> Path:
        out = tmp_path / "dataset.zip"
        stop_after(out, 7)
        return out

    def resume_with(self, out: Path, *sources: Source | SourceFailure) -> None:
        before = journal_path(out).read_bytes()
        try:
            with open_dataset_writer(out, CONFIG, True) as writer:
                write_inputs(writer, sources)
                writer.finish()
        finally:
            assert journal_path(out).read_bytes() == before

    def test_other_options(self, out: Path) -> None:
        before = partial_path(out).read_bytes()
        config = DatasetConfig(size_px=64, trigger="engrv", min_sigma=50)
        with pytest.raises(DatasetWriteError, match=r"min_sigma was 45.0 and is 50.*afresh"):
            build(out, resume=True, config=config)
        assert partial_path(out).read_bytes() == before

    def test_other_content(self, out: Path) -> None:
        changed = Source(Path("a.pdf"), "a.pdf", "0" * 64, 5)
        with pytest.raises(DatasetWriteError, match=r"'a.pdf' has other content now \(file 1\)"):
            self.resume_with(out, changed, *SOURCES[1:])

    def test_other_order(self, out: Path) -> None:
        with pytest.raises(DatasetWriteError, match=r"'broken.pdf' where there is now 'b.pdf'"):
            self.resume_with(out, SOURCES[0], SOURCES[2], SOURCES[1], SOURCES[3])

    def test_repaired_file(self, out: Path) -> None:
        with pytest.raises(DatasetWriteError, match=r"'broken.pdf' could not be used then"):
            self.resume_with(out, SOURCES[0], make_source("broken.pdf", 2), *SOURCES[2:])

    def test_file_that_broke(self, out: Path) -> None:
        with pytest.raises(DatasetWriteError, match=r"'a.pdf' could be used then .*: encrypted"):
            self.resume_with(out, SourceFailure("a.pdf", "encrypted"), *SOURCES[1:])

    def test_missing_file(self, out: Path) -> None:
        with pytest.raises(DatasetWriteError, match=r"'b.pdf' \(file 3\) is no longer among"):
            self.resume_with(out, SOURCES[0], SOURCES[1])

    def test_more_files_are_welcome(self, out: Path) -> None:
        with open_dataset_writer(out, CONFIG, True) as writer:
            write_inputs(writer, (*SOURCES, make_source("d.pdf", 1)))
            counts = writer.finish()["counts"]
        assert (counts["files"], counts["pages"]) == (4, 11)


class TestMisuse:
    def test_two_runs_on_the_same_name(self, tmp_path: Path) -> None:
        out = tmp_path / "dataset.zip"
        with open_dataset_writer(out, CONFIG, False) as writer:
            with (
                pytest.raises(DatasetWriteError, match=r"Another run is writing dataset\.zip"),
                open_dataset_writer(out, CONFIG, False),
            ):
                pass
            write_inputs(writer)
            writer.finish()
        assert zipfile.ZipFile(out).testzip() is None

    def test_pages_come_in_order(self, tmp_path: Path) -> None:
        source = make_source("a.pdf", 3)
        with open_dataset_writer(tmp_path / "dataset.zip", CONFIG, False) as writer:
            writer.begin_source(source)
            writer.add_page(source, make_page(0))
            for wrong in (0, 2):
                with pytest.raises(ValueError, match="not the next page"):
                    writer.add_page(source, make_page(wrong))

    def test_no_page_is_forgotten(self, tmp_path: Path) -> None:
        source = make_source("a.pdf", 3)
        with open_dataset_writer(tmp_path / "dataset.zip", CONFIG, False) as writer:
            writer.begin_source(source)
            writer.add_page(source, make_page(0))
            for finish in (writer.finish, lambda: writer.begin_source(make_source("b.pdf", 1))):
                with pytest.raises(ValueError, match=r"1 of 3 pages of 'a\.pdf'"):
                    finish()

    @pytest.mark.parametrize("part", [slice(0), slice(-9), slice(1, None)])
    def test_a_torn_image_is_an_error(self, tmp_path: Path, part: slice) -> None:
        source, jpeg = make_source("a.pdf", 1), encode_jpeg(0)[part]
        record = Record(jpeg, SIZE_PX, SIZE_PX, (0, 0, 1, 1), 1, 1, "0" * 16)
        page = PageResult(0, PageOutcome.KEPT, 1, 1, 50.0, 50.0, "", (record,))
        with open_dataset_writer(tmp_path / "dataset.zip", CONFIG, False) as writer:
            writer.begin_source(source)
            with pytest.raises(DatasetWriteError, match=r"page 1 of 'a\.pdf' is no whole RGB JPEG"):
                writer.add_page(source, page)
            with pytest.raises(DatasetWriteError, match="takes no more pages"):
                writer.add_page(source, make_page(0))

    def test_discard_leaves_nothing(self, tmp_path: Path) -> None:
        with open_dataset_writer(tmp_path / "dataset.zip", CONFIG, False) as writer:
            writer.begin_source(make_source("a.pdf", 3))
            writer.discard()
        assert list(tmp_path.iterdir()) == []

    def test_bad_caption_is_told_before_anything_is_written(self, tmp_path: Path) -> None:
        config = DatasetConfig(caption="{titel}")
        with (
            pytest.raises(InvalidOptionError, match="titel"),
            open_dataset_writer(tmp_path / "dataset.zip", config, False),
        ):
            pass
        assert list(tmp_path.iterdir()) == []


class TestBadPlaces:
    def open_at(self, out: Path) -> None:
        with open_dataset_writer(out, CONFIG, False):
            pass

    def test_missing_folder(self, tmp_path: Path) -> None:
        with pytest.raises(DatasetWriteError, match=r"folder for x\.zip does not exist"):
            self.open_at(tmp_path / "missing" / "x.zip")

    def test_a_folder_in_its_place(self, tmp_path: Path) -> None:
        with pytest.raises(DatasetWriteError, match="is a folder"):
            self.open_at(tmp_path)


@contextmanager
def file_size_limit(limit_bytes: int) -> Iterator[None]:
    """A disk that takes no more, as real as the operating system can make it without a mount."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


class TestDiskFull:
    # From the first journal line over every page to the directory at the very end.
    LIMITS_BYTES = (100, 700, *range(2_000, 46_000, 4_000), *range(44_500, 52_000, 500), -1)

    @pytest.mark.parametrize("limit_bytes", LIMITS_BYTES)
    def test_stays_resumable(self, tmp_path: Path, whole: Path, limit_bytes: int) -> None:
        out = tmp_path / "dataset.zip"
        limit_bytes %= whole.stat().st_size
        with (
            file_size_limit(limit_bytes),
            pytest.raises(DatasetWriteError, match=r"dataset\.zip has become larger than"),
        ):
            build(out)
        assert not out.exists()
        build(out, resume=True)
        assert out.read_bytes() == whole.read_bytes()
        assert [path.name for path in tmp_path.iterdir()] == ["dataset.zip"]

    @pytest.mark.parametrize(
        ("number", "message"),
        [
            (errno.ENOSPC, r"^The disk is full: \d+ MB are free where d\.zip .* --resume"),
            (errno.EDQUOT, "^The disk is full"),
            (errno.EACCES, r"^There is no permission to write d\.zip .* another output file"),
            (errno.EROFS, "^There is no permission"),
            (errno.EIO, "cannot be written: Input/output error.* Check the disk"),
        ],
    )
    def test_each_reason_has_its_advice(self, tmp_path: Path, number: int, message: str) -> None:
        with (
            pytest.raises(DatasetWriteError, match=message),
            explained_disk_errors(tmp_path / "d.zip"),
        ):
            raise OSError(number, os.strerror(number))


class TestMemory:
    def test_a_page_leaves_nothing_behind(self, tmp_path: Path) -> None:
        """Python's own count of what is held, after 100 pages and after 500."""
        source = make_source("long.pdf", 500)
        record = make_record(1)
        with open_dataset_writer(tmp_path / "dataset.zip", CONFIG, False) as writer:
            writer.begin_source(source)

            def add_pages(first: int, stop: int) -> int:
                for index in range(first, stop):
                    page = PageResult(index, PageOutcome.KEPT, 9, 9, 60.0, 60.0, "", (record,))
                    writer.add_page(source, page)
                gc.collect()
                return tracemalloc.get_traced_memory()[0]

            tracemalloc.start()
            try:
                growth_bytes = -add_pages(0, 100) + add_pages(100, 500)
                tracemalloc.reset_peak()
                held_bytes, _ = tracemalloc.get_traced_memory()
                writer.finish()
                finish_bytes = tracemalloc.get_traced_memory()[1] - held_bytes
            finally:
                tracemalloc.stop()
        assert growth_bytes < 20_000  # 50 bytes a page; its two entries in zipfile take 800
        assert finish_bytes < 600_000  # a few images and rows are read back at a time
