"""Options of one run, checked where they are made."""

from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from archive_tools.errors import InvalidOptionError
from archive_tools.schema import HashTask, ProbeTask, Task

# A slow network disk; hashing alone reaches 500 MB/s on one core.
SLOWEST_READ_BYTES_PER_S = 20_000_000

DEFAULT_MIN_SIZE_SHARE = 3 / 8
"""384 x 384 px for 1024: at 144 dpi a page of 68 x 68 mm, smaller than any ordinary book's."""

MIN_REGION_SIZE_SHARE = 1 / 4
"""256 x 256 px for 1024: a woodcut of 43 x 43 mm at 150 dpi, small but whole and sharp. With the
size asked of pages, 113 of 296 illustrations found on labelled pages were lost; with this, 35."""

DEFAULT_MIN_REGION_AREA = 0.012
"""Initials and head-pieces cover less of a page."""

DEFAULT_MIN_SCORE = 0.015
"""Share of a page that its pictures must cover, the scanner's frame left out."""


class PageFilter(StrEnum):
    """Which rule decides whether a page is kept."""

    AUTO = "auto"
    SIGMA = "sigma"
    NONE = "none"


class Content(StrEnum):
    """What the images of a dataset show."""

    PAGES = "pages"
    REGIONS = "regions"


class Spreads(StrEnum):
    """What becomes of a scan that shows two pages."""

    SPLIT = "split"
    KEEP = "keep"


class Fit(StrEnum):
    """How a picture is brought to its final size."""

    SQUARE = "square"
    CROP = "crop"
    STRETCH = "stretch"
    BUCKET = "bucket"


class ImageFormat(StrEnum):
    """How a picture is encoded; the value is the file's extension."""

    JPEG = "jpg"
    PNG = "png"


class DatasetFormat(StrEnum):
    """What the dataset is on disk: one ZIP file, or a folder of one of three kinds."""

    ZIP = "zip"
    FOLDER = "folder"
    WEBDATASET = "webdataset"
    PARQUET = "parquet"


@dataclass(frozen=True, slots=True)
class Finishing:
    """Steps that clean a picture before it is fitted; each is left out where it has nothing to do.

    Attributes:
        trim: Cut off the scanner's dark borders and shadows.
        deskew: Turn a page upright that was scanned at a slant.
        neutral_paper: Take the yellow out of aged paper; what has a colour of its own is kept.
        descreen: Smooth the dots of a printed halftone. Off by default: cross-hatching in an
            engraving repeats just as regularly, and would be smoothed too.
    """

    trim: bool = True
    deskew: bool = True
    neutral_paper: bool = True
    descreen: bool = False

    @property
    def is_on(self) -> bool:
        """Whether any step is asked for."""
        return self.trim or self.deskew or self.neutral_paper or self.descreen


NO_FINISHING = Finishing(trim=False, deskew=False, neutral_paper=False, descreen=False)


@dataclass(frozen=True, slots=True)
class DatasetConfig:
    """Everything that decides what the dataset holds; nothing here changes speed alone.

    Attributes:
        filter: The rule that decides whether a page is kept.
        min_sigma: Pages with `gray.std()` above this at 144 dpi are kept by the sigma rule.
        min_score: Pages whose pictures cover this share, 0 to 1, are kept by `auto`.
        content: Whole pages, or each illustration cut out.
        min_region_area: Illustrations that cover less of the page, 0 to 1, are not cut out;
            on pages of tables or music, those that cover less than 0.04 are not either.
        spreads: Whether `auto` judges and saves each page of a two-page spread by itself.
        fit: How a picture is brought to `size_px`.
        size_px: Side of the square images in pixels; buckets have about as many pixels.
        image_format: JPEG or PNG.
        jpeg_quality: JPEG quality, 1 to 100.
        upscale: Enlarge what is smaller than `size_px` asks for.
        min_size_px: Pictures with fewer pixels than a square of this side are dropped; None asks
            for `DEFAULT_MIN_SIZE_SHARE` of `size_px`, of regions `MIN_REGION_SIZE_SHARE`.
        finishing: How a picture is cleaned.
        dedupe: Drop near-duplicates of pictures that the run has met before.
        best_copy: Of near-duplicates keep the largest and sharpest instead of the first.
        validation_share: Share of the pages that goes into `validation/`, 0 for none.
        dataset_format: What the dataset is on disk.
        trigger: Trigger word put first in every caption; may be empty.
        caption: Caption template; fields are trigger, title, author, year, kind, page_number,
            text.
        password: Password for encrypted files.
        hide_layers: Names of optional-content layers that are switched off.
    """

    filter: PageFilter = PageFilter.AUTO
    min_sigma: float = 45.0
    min_score: float = DEFAULT_MIN_SCORE
    content: Content = Content.PAGES
    min_region_area: float = DEFAULT_MIN_REGION_AREA
    spreads: Spreads = Spreads.SPLIT
    fit: Fit = Fit.SQUARE
    size_px: int = 1024
    image_format: ImageFormat = ImageFormat.JPEG
    jpeg_quality: int = 92
    upscale: bool = False
    min_size_px: int | None = None
    finishing: Finishing = Finishing()
    dedupe: bool = True
    best_copy: bool = False
    validation_share: float = 0.0
    dataset_format: DatasetFormat = DatasetFormat.ZIP
    trigger: str = ""
    caption: str = "{trigger}, {kind}, {title}, {year}"
    password: str | None = None
    hide_layers: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Check the values.

        Raises:
            InvalidOptionError: A value cannot work.
        """
        if not 0 <= self.min_sigma <= 128:
            raise InvalidOptionError(
                f"min_sigma is {self.min_sigma}, but a grey page's standard deviation lies "
                "between 0 and 127.5. Choose a number in that range; 45 is the default."
            )
        if not 0 <= self.min_score <= 1:
            raise InvalidOptionError(
                f"min_score is {self.min_score}. Choose a share of the page, 0 to 1; "
                f"{DEFAULT_MIN_SCORE:g} is the default."
            )
        if not 0 <= self.min_region_area <= 1:
            raise InvalidOptionError(
                f"min_region_area is {self.min_region_area}. Choose a share of the page, 0 to 1; "
                f"{DEFAULT_MIN_REGION_AREA:g} leaves ornaments out."
            )
        if not 64 <= self.size_px <= 4096:
            raise InvalidOptionError(
                f"size_px is {self.size_px}. Choose 64 to 4096; 1024 fits SDXL."
            )
        if not 1 <= self.jpeg_quality <= 100:
            raise InvalidOptionError(f"jpeg_quality is {self.jpeg_quality}. Choose 1 to 100.")
        if not 0 <= self.least_side_px <= 4096:
            raise InvalidOptionError(f"min_size_px is {self.min_size_px}. Choose 0 to 4096.")
        if not 0 <= self.validation_share <= 0.5:
            raise InvalidOptionError(
                f"validation_share is {self.validation_share}. Choose 0 to 0.5; 0.1 is usual."
            )
        if self.best_copy and not self.dedupe:
            raise InvalidOptionError(
                "best_copy chooses among near-duplicates, and dedupe is off. Leave one of them out."
            )

    @property
    def least_side_px(self) -> int:
        """Pictures with fewer pixels than a square of this side are dropped."""
        if self.min_size_px is None:
            by_region = self.content is Content.REGIONS
            share = MIN_REGION_SIZE_SHARE if by_region else DEFAULT_MIN_SIZE_SHARE
            return round(self.size_px * share)
        return self.min_size_px

    @property
    def wants_signatures(self) -> bool:
        """Whether near-duplicates must be known: to drop them, or to keep them in one split."""
        return self.dedupe or self.validation_share > 0

    @property
    def wants_text(self) -> bool:
        """Whether captions have text of the page in them."""
        return "{text}" in self.caption

    def to_json(self) -> dict[str, Any]:
        """Return the options for the report; the password is left out."""
        options = asdict(self)
        options.pop("password")
        return options

    @classmethod
    def from_json(cls, options: dict[str, Any], password: str | None = None) -> "DatasetConfig":
        """Return the options that `to_json` gave.

        Args:
            options: Its values, also after a journey through JSON text.
            password: What `to_json` leaves out.

        Raises:
            InvalidOptionError: A value cannot work.
        """
        kinds = {
            "filter": PageFilter, "content": Content, "spreads": Spreads, "fit": Fit,
            "image_format": ImageFormat, "dataset_format": DatasetFormat, "hide_layers": tuple,
        }  # fmt: skip
        typed = {name: kind(options[name]) for name, kind in kinds.items()}
        typed["finishing"] = Finishing(**options["finishing"])
        return cls(**{**options, **typed, "password": password})


@dataclass(frozen=True, slots=True)
class WorkerLimits:
    """What one page may cost before it is given up.

    Attributes:
        page_time_s: Seconds for one page.
        page_memory_mb: Megabytes (2**20 bytes) that a worker may take above what it holds
            when it has just started.
        niceness: How far the workers stand back behind other processes, 0 (not at all) to 19.
    """

    page_time_s: float = 60.0
    page_memory_mb: int = 1024
    niceness: int = 0

    def __post_init__(self) -> None:
        """Check the values.

        Raises:
            InvalidOptionError: A value cannot work.
        """
        if not 0.1 <= self.page_time_s <= 86_400:
            raise InvalidOptionError(
                f"The page time limit is {self.page_time_s} s. Choose 0.1 to 86400 seconds."
            )
        if not 32 <= self.page_memory_mb <= 1_048_576:
            raise InvalidOptionError(
                f"The page memory limit is {self.page_memory_mb} MB. Choose 32 or more."
            )
        if not 0 <= self.niceness <= 19:
            raise InvalidOptionError(f"The niceness is {self.niceness}. Choose 0 to 19.")

    def time_s(self, task: Task) -> float:
        """Return the seconds that a task may take; reading a large file may take longer."""
        if isinstance(task, ProbeTask | HashTask):
            return self.page_time_s + task.size_bytes / SLOWEST_READ_BYTES_PER_S
        return self.page_time_s


ON_THE_PAGE: Final = WorkerLimits(niceness=10)
"""For runs that share a machine with people who wait for a triage: they keep all cores busy, and
stand back as soon as somebody asks."""


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How a run is carried out; nothing here changes what the dataset holds.

    Attributes:
        workers: Number of worker processes; None follows the CPUs of this machine, 0 works in
            this process (for debugging: nothing protects it from a hostile file).
        resume: Continue the killed or cancelled run that left its journal beside `out`.
        limits: What one page may cost.
        keep_partial: Keep the partial file and its journal when the run is stopped, so that it
            can be resumed; otherwise nothing is left behind.
        scores: What a preview recorded of the same pages; those that it knows to be dropped are
            not looked at again.
    """

    workers: int | None = None
    resume: bool = False
    limits: WorkerLimits = WorkerLimits()
    keep_partial: bool = False
    scores: Path | None = None

    def __post_init__(self) -> None:
        """Check the values.

        Raises:
            InvalidOptionError: A value cannot work.
        """
        if self.workers is not None and not 0 <= self.workers <= 256:
            raise InvalidOptionError(f"workers is {self.workers}. Choose 0 to 256.")
