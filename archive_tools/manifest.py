"""The documents inside a dataset that list its pages and images, made from the journal.

Everything here is a stream over journal lines: rows are made one at a time.
"""

import csv
import io
import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from archive_tools.journal import (
    JournalLine,
    PageDone,
    RunBegun,
    SourceBegun,
    SourceFailed,
    StoredImage,
)
from archive_tools.schema import (
    NEAR_DUPLICATE,
    TRAIN,
    PageCounts,
    PageOutcome,
    RunStatus,
)

PAGE_COLUMNS = (
    "file", "sha256", "page_number", "width", "height", "sigma", "score", "decision", "reason",
    "regions", "traits",
)  # fmt: skip
# The report is held in memory: these keep it small. `pages.csv` has every page.
MAX_LISTED_DOCUMENTS = 1_000
MAX_LISTED_FAILURES = 100
# A spreadsheet runs what begins so (OWASP, "CSV Injection").
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n")


def iter_metadata_rows(lines: Iterable[JournalLine], split: str = TRAIN) -> Iterator[bytes]:
    """Make `metadata.jsonl` of one split.

    Args:
        lines: The journal.
        split: `train` or `validation`.

    Yields:
        One line of JSON in UTF-8 for each image.
    """
    for source, page in iter_pages(lines):
        for image in page.images:
            if image.split != split:
                continue
            row = metadata_row(source, page, image)
            yield json.dumps(row, ensure_ascii=False).encode() + b"\n"


def iter_page_rows(lines: Iterable[JournalLine]) -> Iterator[bytes]:
    """Make `manifest/pages.csv`.

    Args:
        lines: The journal.

    Yields:
        The header, then one row for each page, in UTF-8.
    """
    yield _csv_row(PAGE_COLUMNS)
    for source, page in iter_pages(lines):
        yield _csv_row((
            safe_cell(source.name), source.sha256, page.page_index + 1, page.width, page.height,
            _rounded(page.sigma), _rounded(page.score), page.outcome.value,
            safe_cell(page.reason), "; ".join(map(_region_cell, page.images)),
            "; ".join(page.traits),
        ))  # fmt: skip


def make_report(lines: Iterable[JournalLine], is_stopped_early: bool = False) -> dict[str, Any]:
    """Make `manifest/report.json`: only what follows from the input and the options.

    Args:
        lines: The journal.
        is_stopped_early: Whether pages are left that nobody will look at.

    Returns:
        Plain JSON values, the same for the same input and options.
    """
    report = _Tally(lines).to_json()
    if is_stopped_early:
        report |= {"status": RunStatus.PARTIAL.value, "stopped_early": True}
    return report


def safe_cell(text: str) -> str:
    """Make text harmless in a spreadsheet.

    Args:
        text: A file name or a reason, from anywhere.

    Returns:
        Text that UTF-8 can hold, with an apostrophe before what would be run as a formula.
    """
    text = printable(text)
    return f"'{text}" if text.startswith(_FORMULA_STARTS) else text


def printable(text: str) -> str:
    r"""Replace what UTF-8 cannot hold, as in a file name of another encoding, by `\udcXX`.

    Args:
        text: Any text.

    Returns:
        The text, unchanged if it is valid Unicode.
    """
    return text.encode("utf-8", "backslashreplace").decode()


class _Tally:
    """Counts over a journal, and the first failures by name."""

    def __init__(self, lines: Iterable[JournalLine]) -> None:
        self._run = RunBegun({}, {})
        self._outcomes = dict.fromkeys(PageOutcome, 0)
        self._images: Counter[str] = Counter({TRAIN: 0})
        self._traits: Counter[str] = Counter()
        self._documents = self._file_failures = self._near_duplicates = 0
        self._document_list: list[dict[str, Any]] = []
        self._page_failure_list: list[dict[str, Any]] = []
        self._file_failure_list: list[dict[str, Any]] = []
        self._source_name = ""
        for line in lines:
            self._add(line)

    def _add(self, line: JournalLine) -> None:
        match line:
            case RunBegun():
                self._run = line
            case SourceBegun():
                self._add_source(line)
            case SourceFailed():
                self._add_failed_source(line)
            case PageDone():
                self._add_page(line)

    def _add_source(self, source: SourceBegun) -> None:
        self._source_name = source.name
        self._documents += 1
        if len(self._document_list) < MAX_LISTED_DOCUMENTS:
            details = source.details
            self._document_list.append({
                "file": printable(source.name),
                "sha256": source.sha256,
                "page_count": source.page_count,
                "title": printable(details.title),
                "author": printable(details.author),
                "created": printable(details.created),
                "producer": printable(details.producer),
                "layers": [printable(layer) for layer in details.layers],
            })  # fmt: skip

    def _add_failed_source(self, failure: SourceFailed) -> None:
        self._file_failures += 1
        if len(self._file_failure_list) < MAX_LISTED_FAILURES:
            self._file_failure_list.append(
                {"file": printable(failure.name), "message": printable(failure.message)}
            )

    def _add_page(self, page: PageDone) -> None:
        self._outcomes[page.outcome] += 1
        self._images.update(image.split for image in page.images)
        self._traits.update(trait.partition(" by ")[0] for trait in page.traits)
        is_dropped = page.outcome is PageOutcome.DROPPED
        self._near_duplicates += is_dropped and page.reason.startswith(NEAR_DUPLICATE)
        is_failed = page.outcome is PageOutcome.FAILED
        if is_failed and len(self._page_failure_list) < MAX_LISTED_FAILURES:
            self._page_failure_list.append({
                "file": printable(self._source_name),
                "page_number": page.page_index + 1,
                "reason": printable(page.reason),
            })  # fmt: skip

    def to_json(self) -> dict[str, Any]:
        counts = PageCounts(
            kept=self._outcomes[PageOutcome.KEPT],
            dropped=self._outcomes[PageOutcome.DROPPED],
            failed=self._outcomes[PageOutcome.FAILED],
        )
        is_partial = counts.failed or self._file_failures
        return {
            "status": (RunStatus.PARTIAL if is_partial else RunStatus.SUCCESS).value,
            "options": self._run.options,
            "versions": self._run.versions,
            "counts": {
                "files": self._documents,
                "files_failed": self._file_failures,
                "pages": counts.seen,
                "kept": counts.kept,
                "dropped": counts.dropped,
                "failed": counts.failed,
                "near_duplicates": self._near_duplicates,
                "images": self._images.total(),
                "splits": dict(self._images),
            },
            "reduction_percent": counts.reduction_percent,
            "traits": dict(sorted(self._traits.items())),
            "documents": self._document_list,
            "documents_not_listed": self._documents - len(self._document_list),
            "file_failures": self._file_failure_list,
            "file_failures_not_listed": self._file_failures - len(self._file_failure_list),
            "page_failures": self._page_failure_list,
            "page_failures_not_listed": counts.failed - len(self._page_failure_list),
        }


def iter_pages(lines: Iterable[JournalLine]) -> Iterator[tuple[SourceBegun, PageDone]]:
    """Yield each page with its document.

    Args:
        lines: The journal.

    Yields:
        The document and the page, in order.
    """
    source: SourceBegun | None = None
    for line in lines:
        if isinstance(line, SourceBegun):
            source = line
        elif isinstance(line, PageDone) and source is not None:
            yield source, line


def metadata_row(source: SourceBegun, page: PageDone, image: StoredImage) -> dict[str, Any]:
    """Return the row of one image; every row of a dataset has the same columns.

    Args:
        source: The document.
        page: The page.
        image: The image.
    """
    row = {
        "file_name": image.image.name.rpartition("/")[2],
        "text": image.caption,
        "width": image.width,
        "height": image.height,
        "source_file": printable(source.name),
        "source_sha256": source.sha256,
        "page_number": page.page_index + 1,
        "bbox": list(image.bbox),
        "part": image.part,
        "page_width": image.page_width,
        "page_height": image.page_height,
        "sigma": _rounded(page.sigma),
        "score": _rounded(page.score),
        "phash": image.phash,
        # Never null: a column of nulls alone has no type for `datasets`.
        "document_title": printable(source.details.title),
        "document_author": printable(source.details.author),
        "document_date": printable(source.details.created),
    }
    if image.finishing is not None:
        row["finishing"], row["flags"] = image.finishing, image.flags
    if image.sharpness is not None:
        row["sharpness"] = _rounded(image.sharpness)
    return row


def _rounded(value: float | None) -> float | None:
    # JSON has no NaN.
    return None if value is None or not math.isfinite(value) else round(float(value), 4)


def _region_cell(image: StoredImage) -> str:
    box = " ".join(map(str, image.bbox))
    return f"{image.image.name} {box} of {image.page_width} {image.page_height}"


def _csv_row(cells: Iterable[object]) -> bytes:
    text = io.StringIO(newline="")
    # Lines end in CRLF (RFC 4180): with "\n" alone, csv leaves a "\r" in a name unquoted.
    csv.writer(text, lineterminator="\r\n").writerow(cells)
    return text.getvalue().encode()
