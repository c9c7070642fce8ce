"""What flows through one run: Source -> PageTask -> PageResult -> DatasetWriter.

Arrays are uint8 RGB (H, W, 3); sizes are (width, height); boxes are x0, y0, x1, y1 in pixels of
the upright page at the resolution it was cut from, top-left origin, half-open. `page_index` is
0-based, `page_number` is 1-based and for people.
"""

from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

TRAIN, VALIDATION = "train", "validation"
"""The splits of a dataset, each a folder of it."""

NEAR_DUPLICATE = "near-duplicate of"
"""How the reason begins of a page that was dropped as a copy."""


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


class Purpose(StrEnum):
    """How far a page is worked on."""

    JUDGE = "judge"  # only decide: a kept page comes back without its pictures
    PREVIEW = "preview"  # decide, and show the page in small
    SHOW = "show"  # its pictures come back in small, beside the page as it was scanned
    MEASURE = "measure"  # its pictures come back measured, but not encoded
    BUILD = "build"


@dataclass(frozen=True, slots=True)
class PageTask:
    """One page to be worked on; small and picklable.

    Attributes:
        path: The document.
        page_index: 0-based.
        purpose: How far the work goes.
    """

    path: Path
    page_index: int
    purpose: Purpose = Purpose.BUILD


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
        signatures: What near-duplicates are recognised by: of the picture as it is, then of the
            picture turned a little; empty where it is not asked for or the picture is flat.
        sharpness: How sharp it is, None where it was not measured.
        finishing: Which finishing steps changed it, for the metadata; None with finishing off.
        flags: What is doubtful about it, for the metadata; empty when nothing is.
        text: Text of the page beside it, empty where there is none or it is not asked for.
        split: The folder that it goes into: `train` or `validation`.
        is_copy: Whether it is a near-duplicate of an earlier one, and kept all the same.
        extension: `jpg` or `png`: what `jpeg` is encoded as.
        part: `left` or `right` where it shows that page of a two-page spread, else empty.
    """

    jpeg: bytes
    width: int
    height: int
    bbox: tuple[int, int, int, int]
    page_width: int
    page_height: int
    phash: str
    signatures: tuple[bytes, ...] = ()
    sharpness: float | None = None
    finishing: str | None = None
    flags: str = ""
    text: str = ""
    split: str = TRAIN
    is_copy: bool = False
    extension: str = "jpg"
    part: str = ""


@dataclass(frozen=True, slots=True)
class PagePreview:
    """A page in small.

    Attributes:
        jpeg: The encoded picture.
        width: Its width in pixels.
        height: Its height in pixels.
        found: What was found on the page, in words that hold for any threshold.
        boxes: Its illustrations, x0, y0, x1, y1 as shares of the page's width and height.
        rejection: Why it gives no picture at any threshold; empty where it may give one.
    """

    jpeg: bytes
    width: int
    height: int
    found: str = ""
    boxes: tuple[tuple[float, float, float, float], ...] = ()
    rejection: str = ""


@dataclass(frozen=True, slots=True)
class PageResult:
    """The whole outcome of one page.

    Attributes:
        page_index: 0-based page index in its document.
        outcome: Kept, dropped or failed.
        width: Page width in pixels at 144 dpi (the reference resolution), 0 when it failed early.
        height: Page height in pixels at 144 dpi, 0 when it failed early.
        sigma: Standard deviation of the grey page at 144 dpi, None when it failed early. Where a
            cheaper look was certain it is an estimate: within 3, or of a page that is dropped at a
            glance within about 10.
        score: The filter's score, None when it failed early.
        reason: Why it was kept, dropped or failed, in a few words.
        records: The images that it gives; empty unless kept.
        preview: The page in small, where that was asked for.
        traits: What was noticed of the scan, where it was looked for: negative, skewed, ...
    """

    page_index: int
    outcome: PageOutcome
    width: int
    height: int
    sigma: float | None
    score: float | None
    reason: str
    records: tuple[Record, ...] = ()
    preview: PagePreview | None = None
    traits: tuple[str, ...] = ()

    @property
    def page_number(self) -> int:
        """1-based page number."""
        return self.page_index + 1


@dataclass(frozen=True, slots=True)
class NamedFile:
    """A file on disk together with the name that people know it by (an upload, say)."""

    path: Path
    name: str


@dataclass(frozen=True, slots=True)
class ProbeTask:
    """One file to be opened in a worker; small and picklable."""

    path: Path
    size_bytes: int


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """What a worker found out about a file.

    Attributes:
        page_count: Number of pages, 0 when the file cannot be used.
        details: The document's own metadata.
        failure: Why the file cannot be used and what to do; None when it can.
    """

    page_count: int = 0
    details: DocumentDetails = field(default_factory=DocumentDetails)
    failure: str | None = None


@dataclass(frozen=True, slots=True)
class HashTask:
    """One file to be hashed in a worker; small and picklable."""

    path: Path
    size_bytes: int


@dataclass(frozen=True, slots=True)
class HashResult:
    """The fingerprint of a file.

    Attributes:
        sha256: Hex digest of the file's bytes, empty when they cannot be read.
        failure: Why they cannot be read; None when they can.
    """

    sha256: str = ""
    failure: str | None = None


Task = PageTask | ProbeTask | HashTask
Reply = PageResult | ProbeResult | HashResult


def failed_reply(task: Task, reason: str) -> Reply:
    """Return the reply to a task that came to nothing."""
    if isinstance(task, ProbeTask):
        return ProbeResult(failure=reason)
    if isinstance(task, HashTask):
        return HashResult(failure=reason)
    return PageResult(task.page_index, PageOutcome.FAILED, 0, 0, None, None, reason)


@dataclass(frozen=True, slots=True)
class WorkerReady:
    """A worker's first word: it has started and waits for tasks."""


@dataclass(frozen=True, slots=True)
class PageCounts:
    """How many pages a run has met so far; `kept + dropped + failed == seen`."""

    kept: int = 0
    dropped: int = 0
    failed: int = 0

    @property
    def seen(self) -> int:
        """Pages that have an outcome."""
        return self.kept + self.dropped + self.failed

    def __add__(self, other: "PageCounts") -> "PageCounts":
        """Return the outcomes of both together."""
        return PageCounts(
            self.kept + other.kept, self.dropped + other.dropped, self.failed + other.failed
        )

    def describe(self, elapsed_s: float) -> str:
        """Return the outcomes and their speed in words.

        Args:
            elapsed_s: Seconds that they have taken.
        """
        speed = self.seen / elapsed_s if elapsed_s > 0 else 0.0
        pages = "page" if self.seen == 1 else "pages"
        return (
            f"{self.seen} {pages}: {self.kept} kept, {self.dropped} dropped, "
            f"{self.failed} failed | {speed:.1f} pages/s"
        )

    @property
    def reduction_percent(self) -> float:
        """Share of the pages that was not kept, 0 to 100."""
        return round(100 * (1 - self.kept / self.seen), 1) if self.seen else 0.0


@dataclass(frozen=True, slots=True)
class ResumePoint:
    """How far a stopped run came; all zero for a new run.

    Attributes:
        source_count: Files that are recorded to their end: those with every page, and those that
            could not be used.
        page_count: Pages that are recorded of the file after those.
        pages: Outcomes of all recorded pages.
    """

    source_count: int = 0
    page_count: int = 0
    pages: PageCounts = PageCounts()
