"""DatasetWriter: the ZIP that grows page by page beside its journal and appears when it is whole.

`<out>.partial` is the ZIP so far, `<out>.journal` says what is in it. Both stay when a run dies.
The partial file becomes the dataset by a rename; no second copy is ever made.
"""

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, BinaryIO

from archive_tools import __version__, completion, exports, manifest
from archive_tools.captions import caption_fields, check_caption, clean_trigger, render_caption
from archive_tools.config import DatasetConfig, DatasetFormat
from archive_tools.disk_errors import check_place, explained_disk_errors
from archive_tools.errors import DatasetWriteError
from archive_tools.image_check import check_image
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
from archive_tools.recovery import Recovery, Replay, recover
from archive_tools.schema import PageResult, Record, ResumePoint, Source, SourceFailure
from archive_tools.zip_stream import ZipStream, iter_directory

# What decides the bytes of an image, beside the input and the options.
_TOOLS = (
    "pymupdf",
    "pypdfium2",
    "opencv-python-headless",
    "simplejpeg",
    "cykooz-resizer",
    "pillow",
    "numpy",
)
# A message of a broken library must not blow up the journal.
_MAX_REASON_CHARACTERS = 500


class DatasetWriter:
    """Takes the pages of a run in order and leaves a dataset; made by `open_dataset_writer`."""

    def __init__(
        self, out: Path, config: DatasetConfig, journal: Journal, partial: BinaryIO, found: Recovery
    ) -> None:
        """Continue after what was found.

        Args:
            out: Where the dataset will appear.
            config: What the dataset holds.
            journal: The locked journal.
            partial: The partial ZIP, open for reading and writing.
            found: What both already hold.
        """
        self._out = out
        self._config = config
        self._journal = journal
        self._partial = partial
        self._zip = ZipStream(partial, found.zip_end)
        self._trigger = clean_trigger(config.trigger)
        self._resume_point = found.resume_point
        self._image_counts = found.image_counts
        self._replay = Replay(journal)
        self._source: Source | None = None
        self._next_page_index = 0
        self._is_usable = True

    @property
    def resume_point(self) -> ResumePoint:
        """How far a stopped run came, when this one resumes it."""
        return self._resume_point

    def iter_recorded(self) -> Iterator[JournalLine]:
        """Yield what is recorded so far.

        Yields:
            The lines of the journal.
        """
        return self._journal.iter_lines()

    def begin_source(self, source: Source) -> int:
        """Begin a document; in a resumed run the recorded ones are begun again, in order.

        Args:
            source: The document.

        Returns:
            How many of its pages are recorded already; `add_page` expects the one after them.

        Raises:
            DatasetWriteError: It is not the document that the stopped run had here, or the disk
                is full.
            ValueError: The document before it lacks pages.
        """
        self._check_source_is_complete()
        begun = SourceBegun(source.name, source.sha256, source.page_count, source.details)
        self._next_page_index = self._match_or_append(begun)
        self._source = source
        return self._next_page_index

    def add_page(self, source: Source, result: PageResult) -> None:
        """Write what became of a page; it survives a kill once this returns.

        Args:
            source: The document that was begun last.
            result: Its next page, with the images.

        Raises:
            DatasetWriteError: The disk is full, or an image is not what it claims to be.
            ValueError: It is not the next page of this document.
        """
        if source != self._source or result.page_index != self._next_page_index:
            raise ValueError(f"page {result.page_number} of {source.name!r} is not the next page")
        with self._writing():
            images = tuple(self._add_image(source, result, record) for record in result.records)
            self._journal.append(_page_done(result, images, self._zip.flush()))
        self._next_page_index += 1

    def add_source_failure(self, failure: SourceFailure) -> None:
        """Record a document that could not be used.

        Args:
            failure: Which, and why.

        Raises:
            DatasetWriteError: The stopped run had something else here, or the disk is full.
            ValueError: The document before it lacks pages.
        """
        self._check_source_is_complete()
        self._match_or_append(SourceFailed(failure.name, failure.message[:_MAX_REASON_CHARACTERS]))
        self._source = None

    def finish(self) -> dict[str, Any]:
        """Complete the ZIP, check it and give it its name.

        Returns:
            The content of `manifest/report.json`.

        Raises:
            DatasetWriteError: The disk is full, the check failed, or a document of the stopped
                run is missing in this one. The partial file stays resumable.
            ValueError: The last document lacks pages.
        """
        self._check_source_is_complete()
        self._replay.check_over()
        return self._complete(is_stopped_early=False)

    def finish_early(self) -> dict[str, Any]:
        """Complete the ZIP with the pages that are in it and give the others up.

        Returns:
            The content of `manifest/report.json`, which says so.

        Raises:
            DatasetWriteError: The disk is full, or the check failed.
        """
        return self._complete(is_stopped_early=True)

    def _complete(self, is_stopped_early: bool) -> dict[str, Any]:
        """Write the documents, check everything and give the dataset its name."""
        with self._writing():
            report = manifest.make_report(self._journal.iter_lines(), is_stopped_early)
            documents = tuple(
                self._zip.add_chunks(name, iter_chunks)
                for name, iter_chunks in completion.iter_documents(
                    self._config, self._trigger, self._journal, report
                )
            )
            self._zip.flush()
            completion.check_images(self._partial, self._journal)
            completion.check_metadata(self._partial, self._journal, documents)
            self._publish(documents)
            self._journal.remove()
        self._is_usable = False
        return report

    def discard(self) -> None:
        """Remove the partial file and the journal; the run cannot be resumed."""
        self.close()
        partial_path(self._out).unlink(missing_ok=True)
        shutil.rmtree(building_path(self._out), ignore_errors=True)
        self._journal.remove()

    def close(self) -> None:
        """Let go of the partial file as it is; `open_dataset_writer` calls it."""
        self._is_usable = False
        self._zip.abandon()
        with suppress(OSError):  # of a full disk: what is not yet written was never recorded
            self._partial.close()

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Explain a failing disk, and refuse to go on after a write that was cut short."""
        if not self._is_usable:
            raise DatasetWriteError(f"{self._out.name} takes no more pages; run again to resume.")
        self._is_usable = False
        with explained_disk_errors(self._out):
            yield
        self._is_usable = True

    def _check_source_is_complete(self) -> None:
        if self._source is not None and self._next_page_index != self._source.page_count:
            raise ValueError(
                f"{self._next_page_index} of {self._source.page_count} pages of "
                f"{self._source.name!r} were given"
            )

    def _match_or_append(self, line: SourceBegun | SourceFailed) -> int:
        if not self._replay.is_over:
            return self._replay.match(line)
        with self._writing():
            self._journal.append(line)
        return 0

    def _add_image(self, source: Source, result: PageResult, record: Record) -> StoredImage:
        stem = f"{record.split}/{self._image_counts[record.split] + 1:06d}"
        check_image(record, f"page {result.page_number} of {source.name!r}")
        fields = caption_fields(source.details, result.page_number, self._trigger, text=record.text)
        caption = render_caption(self._config.caption, fields)
        x0, y0, x1, y1 = map(int, record.bbox)
        stored = StoredImage(
            image=self._zip.add(f"{stem}.{record.extension}", record.jpeg),
            text=self._zip.add(f"{stem}.txt", caption.encode()),
            caption=caption,
            width=record.width,
            height=record.height,
            bbox=(x0, y0, x1, y1),
            page_width=record.page_width,
            page_height=record.page_height,
            phash=record.phash,
            signature=record.signatures[0].hex() if record.signatures else "",
            sharpness=None if record.sharpness is None else float(record.sharpness),
            finishing=record.finishing,
            flags=record.flags,
            is_copy=record.is_copy,
            part=record.part,
        )
        self._image_counts[record.split] += 1
        return stored

    def _publish(self, documents: tuple[StoredEntry, ...]) -> None:
        """Give the dataset its name."""
        if self._config.dataset_format is DatasetFormat.ZIP:
            self._complete_zip(documents)
            os.fsync(self._partial.fileno())
            self._partial.close()  # Windows renames no open file
            partial_path(self._out).replace(self._out)
            return
        folder, dataset_format = building_path(self._out), self._config.dataset_format
        exports.export_folder(self._partial, self._journal, documents, dataset_format, folder)
        folder.replace(self._out)
        self.close()
        partial_path(self._out).unlink()

    def _complete_zip(self, documents: tuple[StoredEntry, ...]) -> None:
        def iter_entries() -> Iterator[StoredEntry]:
            for stored in completion.iter_images(self._journal):
                yield stored.image
                yield stored.text
            yield from documents

        # Reading back has moved the position that the ZIP is written at.
        start = self._partial.seek(0, os.SEEK_END)
        self._zip.close(iter_entries)
        entry_count = 2 * self._image_counts.total() + len(documents)
        found = iter_directory(self._partial, start, entry_count)
        if any(one != other for one, other in zip(found, iter_entries(), strict=True)):
            raise DatasetWriteError(
                f"{self._out.name} failed its own check: its directory does not list what was "
                "written. The disk may be faulty; run again with --resume."
            )


@contextmanager
def open_dataset_writer(out: Path, config: DatasetConfig, resume: bool) -> Iterator[DatasetWriter]:
    """Open the writer of one dataset.

    When the context is left without `finish` or `discard`, the partial file and the journal stay
    beside `out`, so that the run can be resumed.

    Args:
        out: Where the dataset will appear.
        config: What it holds.
        resume: Continue the stopped run of the same name; begin anew where there is none.

    Yields:
        The writer.

    Raises:
        InvalidOptionError: The caption template or the trigger cannot work.
        DatasetWriteError: The place cannot be written, another run is writing there, or the
            stopped run had other options.
    """
    check_dataset(out, config)
    with ExitStack() as stack:
        with explained_disk_errors(out):
            journal = stack.enter_context(open_journal(journal_path(out)))
            partial = _open_partial(partial_path(out))
            stack.callback(_close_quietly, partial)
            found = _recover_or_begin(journal, partial, config, resume)
            writer = DatasetWriter(out, config, journal, partial, found)
            stack.callback(writer.close)
        yield writer


def check_dataset(out: Path, config: DatasetConfig) -> None:
    """Check that a dataset can be written there, before a run spends hours on pages.

    Args:
        out: Where the dataset will appear.
        config: What it holds.

    Raises:
        InvalidOptionError: The caption template, the trigger or the format cannot work.
        DatasetWriteError: The place cannot be written.
    """
    check_caption(config.caption, config.trigger)
    exports.check_format(config.dataset_format)
    with explained_disk_errors(out):
        check_place(out, config.dataset_format)


def partial_path(out: Path) -> Path:
    """Return where the dataset grows before it is whole.

    Args:
        out: Where it will appear.

    Returns:
        A path beside it.
    """
    return out.with_name(f"{out.name}.partial")


def journal_path(out: Path) -> Path:
    """Return where the journal of a dataset lies.

    Args:
        out: Where the dataset will appear.

    Returns:
        A path beside it.
    """
    return out.with_name(f"{out.name}.journal")


def building_path(out: Path) -> Path:
    """Return where a dataset that is a folder is put together from the partial file.

    Args:
        out: Where it will appear.

    Returns:
        A path beside it.
    """
    return out.with_name(f"{out.name}.building")


def work_folder(out: Path) -> Path:
    """Return the folder for unpacked sources: beside the dataset, where there is room for it.

    Args:
        out: Where the dataset will appear.

    Returns:
        A path beside it.
    """
    return out.with_name(f".{out.name}.sources")


def _recover_or_begin(
    journal: Journal, partial: BinaryIO, config: DatasetConfig, resume: bool
) -> Recovery:
    # Through JSON, so that it compares equal to what a journal gives back.
    run = RunBegun(json.loads(completion.to_json(config.to_json())), tool_versions())
    found = recover(journal, partial, run) if resume else Recovery()
    if not found.journal_end:
        journal.cut(0)
        journal.append(run)
    return found


def tool_versions() -> dict[str, str]:
    """Return the versions of what decides the bytes of an image."""
    versions = {"archive_tools": __version__}
    for tool in _TOOLS:
        with suppress(PackageNotFoundError):
            versions[tool] = version(tool)
    return versions


def _page_done(result: PageResult, images: tuple[StoredImage, ...], end_offset: int) -> PageDone:
    return PageDone(
        page_index=result.page_index,
        outcome=result.outcome,
        width=int(result.width),
        height=int(result.height),
        # Scalars of numpy are no JSON numbers.
        sigma=None if result.sigma is None else float(result.sigma),
        score=None if result.score is None else float(result.score),
        reason=result.reason[:_MAX_REASON_CHARACTERS],
        images=images,
        end_offset=end_offset,
        traits=result.traits,
    )


def _open_partial(path: Path) -> BinaryIO:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o666)
    return os.fdopen(descriptor, "r+b")


def _close_quietly(file: BinaryIO) -> None:
    with suppress(OSError):
        file.close()
