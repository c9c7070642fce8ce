"""What flows through one run: Source -> PageTask -> PageResult -> DatasetWriter.

Arrays are uint8 RGB (H, W, 3); sizes are (width, height); boxes are x0, y0, x1, y1 in pixels of
the upright page at the resolution it was cut from, top-left origin, half-open. `page_index` is
0-based, `page_number` is 1-based and for people.
"""

from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path


class PageOutcome(StrEnum):
    """What became of a page; every page of a run has exactly one."""

    KEPT = "kept"
    DROPPED = "dropped"
    FAILED = "failed"


class RunStatus(StrEnum):
    """How a run ended; a run with recorded failures is never a success."""

    SUCCESS = "success"
    PARTIAL = "partial"


@dataclass(frozen=True, slots=True)
class DocumentDetails:
    """Document properties from the PDF's own metadata; empty where it states none."""

    title: str = ""
    author: str = ""
    created: str = ""
    producer: str = ""
    layers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Source:
    """One document on disk, opened by each worker for itself.

    Attributes:
        path: Where the file lies while it is being worked on.
        name: The name for people and for the manifest (`file.pdf`, or `scans.zip/file.pdf`).
        sha256: Hex digest of the file's bytes.
        page_count: Number of pages, at least 1.
        details: The document's own metadata.
    """

    path: Path
    name: str
    sha256: str
    page_count: int
    details: DocumentDetails = field(default_factory=DocumentDetails)


@dataclass(frozen=True, slots=True)
class SourceFailure:
    """A source that could not be used; the run goes on without it."""

    name: str
    message: str


@dataclass(frozen=True, slots=True)
class PageTask:
    """One page to be worked on; small and picklable."""

    path: Path
    page_index: int


@dataclass(frozen=True, slots=True)
class Decision:
    """What the filter said of a page, and why."""

    keep: bool
    score: float
    reason: str


@dataclass(frozen=True, slots=True)
class Record:
    """One image for the dataset, already encoded.

    Attributes:
        jpeg: The encoded file.
        width: Width of the encoded image in pixels.
        height: Height of the encoded image in pixels.
        bbox: The part of the page that it shows, in pixels of the page as it was rendered.
        page_width: Width in pixels of the page as it was rendered for this image.
        page_height: Height in pixels of the page as it was rendered for this image.
        phash: 64-bit perceptual hash of the image as 16 hex digits.
    """

    jpeg: bytes
    width: int
    height: int
    bbox: tuple[int, int, int, int]
    page_width: int
    page_height: int
    phash: str


@dataclass(frozen=True, slots=True)
class PageResult:
    """The whole outcome of one page.

    Attributes:
        page_index: 0-based page index in its document.
        outcome: Kept, dropped or failed.
        width: Page width in pixels at 144 dpi (the reference resolution), 0 when it failed early.
        height: Page height in pixels at 144 dpi, 0 when it failed early.
        sigma: Standard deviation of the grey page at 144 dpi, None when it failed early.
        score: The filter's score, None when it failed early.
        reason: Why it was kept, dropped or failed, in a few words.
        records: The images that it gives; empty unless kept.
    """

    page_index: int
    outcome: PageOutcome
    width: int
    height: int
    sigma: float | None
    score: float | None
    reason: str
    records: tuple[Record, ...] = ()

    @property
    def page_number(self) -> int:
        """1-based page number."""
        return self.page_index + 1
