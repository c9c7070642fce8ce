"""The units of work of a large run, each named by what its result follows from.

A shard follows from the bytes of a document, a range of its pages and the options that decide
pages; its name says all three. So a shard that is there need never be made again, whoever asks.
"""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from archive_tools.config import DatasetConfig, WorkerLimits
from archive_tools.schema import DocumentDetails, PageCounts
from archive_tools.source_plan import PlannedFile
from archive_tools.writer import tool_versions

# They are decided when the shards are put together, or follow from the captions alone.
_OPTIONS_OF_THE_WHOLE = (
    "dedupe", "best_copy", "validation_share", "dataset_format", "trigger", "caption",
)  # fmt: skip
_HASH_CHARACTERS = 32


@dataclass(frozen=True, slots=True)
class ShardOptions:
    """What every task of a run shares; small and picklable.

    Attributes:
        config: What the dataset holds.
        limits: What one page may cost.
        store: Folder or address that shards are written to.
        options_hash: From `hash_options`; workers check that theirs is the same.
        pages_per_shard: Most pages of one shard.
    """

    config: DatasetConfig
    limits: WorkerLimits
    store: str
    options_hash: str
    pages_per_shard: int


@dataclass(frozen=True, slots=True)
class ShardKey:
    """What a shard follows from.

    Attributes:
        sha256: Hex digest of the document's bytes.
        first_page: Index of its first page.
        end_page: Index after its last page.
        options_hash: From `hash_options`.
    """

    sha256: str
    first_page: int
    end_page: int
    options_hash: str

    @property
    def name(self) -> str:
        """Name of the shard in the store."""
        return f"{self._stem}.tar"

    @property
    def split_name(self) -> str:
        """Name of the mark that the two halves are made instead."""
        return f"{self._stem}.split"

    @property
    def page_count(self) -> int:
        """Number of pages, at least 1."""
        return self.end_page - self.first_page

    def halve(self) -> tuple["ShardKey", "ShardKey"]:
        """Return the two halves of at least two pages."""
        middle = (self.first_page + self.end_page) // 2
        return replace(self, end_page=middle), replace(self, first_page=middle)

    @property
    def _stem(self) -> str:
        pages = f"{self.first_page:07d}-{self.end_page:07d}"
        return f"{self.sha256}-{pages}-{self.options_hash[:_HASH_CHARACTERS]}"


@dataclass(frozen=True, slots=True)
class DocumentTask:
    """A document to be opened and hashed; one that had to be fetched is worked on at once.

    Attributes:
        document: Where it is.
        is_opened_only: Leave its pages to other tasks even where it had to be fetched.
    """

    document: PlannedFile
    is_opened_only: bool = False


@dataclass(frozen=True, slots=True)
class ShardTask:
    """A range of pages to be made into a shard.

    Attributes:
        document: Where they are.
        key: Whose shard it is.
        is_anew: Make it even where one is there: that one is damaged.
    """

    document: PlannedFile
    key: ShardKey
    is_anew: bool = False


@dataclass(frozen=True, slots=True)
class DocumentFound:
    """What was found out about a document.

    Attributes:
        sha256: Hex digest of its bytes; empty where it cannot be used.
        page_count: Number of pages; 0 where it cannot be used.
        details: The document's own metadata.
        failure: Why it cannot be used; None where it can.
        pages: Outcomes of its pages, where its shards were made at once; else nothing seen.
        shards_made: How many shards that were.
        shards_found: How many an earlier run had made.
    """

    sha256: str = ""
    page_count: int = 0
    details: DocumentDetails = field(default_factory=DocumentDetails)
    failure: str | None = None
    pages: PageCounts = field(default_factory=PageCounts)
    shards_made: int = 0
    shards_found: int = 0


@dataclass(frozen=True, slots=True)
class ShardDone:
    """What became of a shard.

    Attributes:
        pages: Outcomes of its pages.
        was_there: Whether an earlier run had made it.
        is_split: Whether its halves are to be made instead, as an earlier run has noted.
    """

    pages: PageCounts = field(default_factory=PageCounts)
    was_there: bool = False
    is_split: bool = False


Task = DocumentTask | ShardTask
Result = DocumentFound | ShardDone


def hash_options(config: DatasetConfig) -> str:
    """Return the SHA-256 in hex of what decides pages beside the document.

    Options that only concern the whole dataset (near-duplicates, splits, captions, format) are left
    out: changing them needs no new shards.

    Args:
        config: What the dataset holds.
    """
    options = config.to_json()
    for name in _OPTIONS_OF_THE_WHOLE:
        del options[name]
    options |= {
        "signatures": config.wants_signatures,
        "text": config.wants_text,
        "sharpness": config.finishing.is_on or config.best_copy,
        "versions": tool_versions(),
    }
    return hashlib.sha256(json.dumps(options, sort_keys=True).encode()).hexdigest()


def iter_keys(sha256: str, page_count: int, options: ShardOptions) -> Iterator[ShardKey]:
    """Cut a document into the ranges of its shards.

    Args:
        sha256: Hex digest of its bytes.
        page_count: Number of its pages.
        options: How many pages a shard has.

    Yields:
        The keys in the order of the pages.
    """
    for first in range(0, page_count, options.pages_per_shard):
        end = min(page_count, first + options.pages_per_shard)
        yield ShardKey(sha256, first, end, options.options_hash)
