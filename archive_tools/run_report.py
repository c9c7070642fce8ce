"""What a run tells people and programs: where it stands, and how it ended."""

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from archive_tools.schema import PageCounts, RunStatus, SourceFailure


@dataclass(frozen=True, slots=True)
class KeptPicture:
    """A picture that a run has just kept, to be shown while it goes on.

    Attributes:
        file_name: The file it is from.
        page_number: 1-based number of its page.
        encoded: The encoded file, JPEG or PNG.
    """

    file_name: str
    page_number: int
    encoded: bytes


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a run stands; made a few times a second, for people.

    Attributes:
        file_name: The file that is being worked on.
        file_number: Its 1-based number among the files of this run.
        file_count: Number of files of this run.
        page_number: 1-based number of the newest finished page, 0 before the first.
        page_count: Number of pages of this file.
        pages: Outcomes so far, over all files.
        elapsed_s: Seconds since the run began.
        resumed_count: Pages among them that an earlier, stopped run has done.
        newest_kept: The last few pictures, the newest last; of a run that resumes, its own.
    """

    file_name: str
    file_number: int
    file_count: int
    page_number: int
    page_count: int
    pages: PageCounts
    elapsed_s: float
    resumed_count: int = 0
    newest_kept: tuple[KeptPicture, ...] = ()

    @property
    def pages_per_s(self) -> float:
        """Pages a second of this run, start-up included."""
        return _speed(self.pages, self.resumed_count, self.elapsed_s)

    @property
    def seconds_left(self) -> float | None:
        """Seconds until the last page, were the files to come like those so far; None at first."""
        speed = self.pages_per_s
        if not speed or not self.page_count:
            return None
        earlier = max(0, self.pages.seen - self.page_number)
        pages_a_file = (earlier + self.page_count) / self.file_number
        left = self.page_count - self.page_number
        return (left + pages_a_file * (self.file_count - self.file_number)) / speed

    def to_json(self) -> dict[str, Any]:
        """Return it as plain values."""
        return {
            "file_name": self.file_name,
            "file_number": self.file_number,
            "file_count": self.file_count,
            "page_number": self.page_number,
            "page_count": self.page_count,
            "pages_seen": self.pages.seen,
            "pages_kept": self.pages.kept,
            "pages_dropped": self.pages.dropped,
            "pages_failed": self.pages.failed,
            "elapsed_s": round(self.elapsed_s, 3),
            "pages_per_s": self.pages_per_s,
            "seconds_left": None if self.seconds_left is None else round(self.seconds_left, 1),
        }


def _speed(pages: PageCounts, resumed_count: int, elapsed_s: float) -> float:
    """Return the pages a second of one run, those left out that an earlier one has done."""
    return round((pages.seen - resumed_count) / elapsed_s, 2) if elapsed_s > 0 else 0.0


@dataclass(frozen=True, slots=True)
class PageFailure:
    """A page that failed, for the run report."""

    file_name: str
    page_number: int
    reason: str


@dataclass(frozen=True, slots=True)
class RunReport:
    """How a run went, for the caller; unlike `report.json` it has times and a path.

    Attributes:
        status: Success, or partial when any page or file failed.
        out: The dataset, None when no page was usable and nothing was written.
        pages: Outcomes over all files.
        file_count: Files that were used.
        source_failures: Files that could not be used; only the first hundred are listed.
        source_failure_count: How many there are in all.
        page_failures: Pages that failed; only the first hundred are listed.
        elapsed_s: Seconds from start to the finished file.
        dataset: What `manifest/report.json` in the dataset says.
        resumed_count: Pages that an earlier, stopped run has done.
    """

    status: RunStatus
    out: Path | None
    pages: PageCounts
    file_count: int
    source_failures: tuple[SourceFailure, ...]
    source_failure_count: int
    page_failures: tuple[PageFailure, ...]
    elapsed_s: float
    dataset: dict[str, Any] = field(default_factory=dict)
    resumed_count: int = 0

    @property
    def pages_per_s(self) -> float:
        """Pages a second, start-up included."""
        return _speed(self.pages, self.resumed_count, self.elapsed_s)

    def to_json(self) -> dict[str, Any]:
        """Return the report as plain values; the path is reduced to the file's name."""
        return {
            "status": self.status.value,
            "out": self.out.name if self.out else None,
            "pages_seen": self.pages.seen,
            "pages_kept": self.pages.kept,
            "pages_dropped": self.pages.dropped,
            "pages_failed": self.pages.failed,
            "reduction_percent": self.pages.reduction_percent,
            "files_used": self.file_count,
            "files_failed": self.source_failure_count,
            "source_failures": [asdict(failure) for failure in self.source_failures],
            "page_failures": [asdict(failure) for failure in self.page_failures],
            "elapsed_s": round(self.elapsed_s, 3),
            "pages_per_s": self.pages_per_s,
            "pages_resumed": self.resumed_count,
            "dataset": self.dataset,
        }

    @classmethod
    def from_json(cls, fields: dict[str, Any], out: Path) -> "RunReport":
        """Return the report that `to_json` gave.

        Args:
            fields: Its values.
            out: Where the dataset lies, if the report has one.
        """
        counts = {name: fields[f"pages_{name}"] for name in ("kept", "dropped", "failed")}
        return cls(
            status=RunStatus(fields["status"]),
            out=out if fields["out"] else None,
            pages=PageCounts(**counts),
            file_count=fields["files_used"],
            source_failures=tuple(SourceFailure(**one) for one in fields["source_failures"]),
            source_failure_count=fields["files_failed"],
            page_failures=tuple(PageFailure(**one) for one in fields["page_failures"]),
            elapsed_s=fields["elapsed_s"],
            dataset=fields["dataset"],
            resumed_count=fields["pages_resumed"],
        )
