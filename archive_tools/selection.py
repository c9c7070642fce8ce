"""Which pictures of the pages go into the dataset, and into which split.

Pages come in order and nothing is held back, so the first of near-duplicates is kept and the later
ones are dropped with a pointer to it. For the best copy instead, a survey meets all pages before.
"""

import math
from array import array
from collections.abc import Iterable
from dataclasses import dataclass, replace

from archive_tools.config import DatasetConfig
from archive_tools.journal import JournalLine, PageDone, RunBegun
from archive_tools.schema import (
    NEAR_DUPLICATE,
    TRAIN,
    VALIDATION,
    PageOutcome,
    PageResult,
    Record,
    Source,
)
from archive_tools.splits import SplitPlan

# Copies whose areas differ by less than this factor count as equally large: the sharper one wins.
_LARGER_BY = 1.2

Place = tuple[int, int, int]
"""Number of the document in the run, page index, number of the picture on the page."""


class Selection:
    """Drops near-duplicates and deals the rest into splits, page by page."""

    def __init__(
        self, config: DatasetConfig, document_count: int, worse: dict[Place, str] | None = None
    ) -> None:
        """Begin with nothing met.

        Args:
            config: Options of the run.
            document_count: Documents that are expected.
            worse: From `Survey.find_worse`: the copies that are dropped; None where the first copy
                is the one to keep.
        """
        self._config = config
        self._worse = worse
        self._plan = SplitPlan(config.validation_share, document_count)
        if config.wants_signatures:  # else nothing is compared, and numpy need not be loaded
            self._copies = _CopyIndex()
        self._document = -1
        self._split: str | None = None
        self._page_count = 0
        # The document of the first picture is trained on, whatever it was dealt: how many pages of
        # a document are kept is known only then, and `train` must never be empty.
        self._first_document: int | None = None

    def recall(self, lines: Iterable[JournalLine]) -> None:
        """Meet again what a stopped run has recorded; nothing is dealt by this.

        Args:
            lines: The journal.
        """
        name, document = "", -1
        for line in lines:
            if isinstance(line, PageDone):
                self._recall_page(name, line)
                if line.images and self._first_document is None:
                    self._first_document = document
            elif not isinstance(line, RunBegun):
                name, document = line.name, document + 1

    def _recall_page(self, name: str, page: PageDone) -> None:
        for image in page.images if self._config.wants_signatures else ():
            if not image.is_copy:
                signature = bytes.fromhex(image.signature)
                self._copies.add(signature, name, page.page_index, image.split)

    def begin_source(self, source: Source) -> None:
        """Begin a document; in a resumed run the recorded ones are begun again, in order.

        Args:
            source: The document.
        """
        self._document += 1
        self._page_count = source.page_count
        self._split = self._plan.deal_document(source.page_count)
        if self._document == self._first_document:
            self._train_on_document()

    def skip_source(self) -> None:
        """Pass a document that cannot be used."""
        self._document += 1
        self._plan.deal_document(0)

    def select(self, source: Source, result: PageResult) -> PageResult:
        """Decide about the pictures of a page.

        Args:
            source: The document that was begun last.
            result: Its next page.

        Returns:
            The page with the pictures that are left, each with its split; dropped where none is
            left.
        """
        if not self._config.wants_signatures or not result.records:
            return result
        kept: list[Record] = []
        originals: list[str] = []
        for number, record in enumerate(result.records):
            place = self._document, result.page_index, number
            decided = self._decide(source.name, place, record)
            if isinstance(decided, str):
                originals.append(decided)
            else:
                kept.append(decided)
        return _with_pictures(result, tuple(kept), originals)

    def _decide(self, name: str, place: Place, record: Record) -> Record | str:
        """Return the picture with its split, or the place of which it is a dropped copy."""
        if self._worse is not None:
            return self._worse.get(place) or self._deal_new(name, place, record)
        first = self._copies.find(record.signatures)
        if first is None:
            return self._deal_new(name, place, record)
        if self._config.dedupe:
            return self._copies.describe(first)
        # Kept, but on the same side: validation on a copy of what is trained on says nothing.
        return replace(record, split=self._copies.split_of(first), is_copy=True)

    def _deal_new(self, name: str, place: Place, record: Record) -> Record:
        if self._first_document is None:
            self._first_document = self._document
            self._train_on_document()
        split = self._split or self._plan.deal_picture(len(self._copies))
        signature = record.signatures[0] if record.signatures else b""
        self._copies.add(signature, name, place[1], split)
        return replace(record, split=split)

    def _train_on_document(self) -> None:
        """Take the current document out of `validation`."""
        if self._split == VALIDATION:
            self._plan.move_to_train(self._page_count)
            self._split = TRAIN


@dataclass(frozen=True, slots=True)
class _BestCopy:
    """The best of near-duplicates so far."""

    place: Place
    name: str
    rank: tuple[int, float]


class Survey:
    """Meets every picture of a run before any is written, and finds the best of its copies.

    A few hundred bytes are held for each picture that is no near-duplicate, and for each copy.
    """

    def __init__(self) -> None:
        """Begin with nothing met."""
        from archive_tools.duplicate_memory import DuplicateMemory

        self._copies = DuplicateMemory()
        self._best: list[_BestCopy] = []
        self._beaten: list[tuple[Place, int]] = []
        self._document = -1

    def begin_source(self) -> None:
        """Begin a document, or pass one that cannot be used."""
        self._document += 1

    def add(self, source: Source, result: PageResult) -> None:
        """Meet the pictures of a page.

        Args:
            source: The document that was begun last.
            result: Its next page.
        """
        for number, record in enumerate(result.records):
            place = self._document, result.page_index, number
            met = _BestCopy(place, source.name, _rank(record))
            first = self._copies.find(record.signatures)
            if first is None:
                self._copies.add(record.signatures[0] if record.signatures else b"")
                self._best.append(met)
            elif met.rank > self._best[first].rank:
                self._beaten.append((self._best[first].place, first))
                self._best[first] = met
            else:
                self._beaten.append((place, first))

    def find_worse(self) -> dict[Place, str]:
        """Return each picture of which there is a better copy, with the name of that copy."""
        return {place: self._describe(first) for place, first in self._beaten}

    def _describe(self, first: int) -> str:
        best = self._best[first]
        return _describe(best.name, best.place[1])


class _CopyIndex:
    """Where the pictures of the memory came from; a few bytes each."""

    def __init__(self) -> None:
        # Here, since numpy then loads while the workers start, and not before.
        from archive_tools.duplicate_memory import DuplicateMemory

        self._memory = DuplicateMemory()
        self._name_numbers: dict[str, int] = {}
        self._names: list[str] = []
        self._sources = array("L")
        self._pages = array("L")
        self._is_validation = bytearray()

    def __len__(self) -> int:
        return len(self._memory)

    def find(self, signatures: tuple[bytes, ...]) -> int | None:
        return self._memory.find(signatures)

    def add(self, signature: bytes, name: str, page_index: int, split: str) -> None:
        if name not in self._name_numbers:
            self._name_numbers[name] = len(self._names)
            self._names.append(name)
        self._memory.add(signature)
        self._sources.append(self._name_numbers[name])
        self._pages.append(page_index)
        self._is_validation.append(split == VALIDATION)

    def describe(self, number: int) -> str:
        return _describe(self._names[self._sources[number]], self._pages[number])

    def split_of(self, number: int) -> str:
        return VALIDATION if self._is_validation[number] else TRAIN


def _rank(record: Record) -> tuple[int, float]:
    """Return what makes a copy better: its size, in steps, then its sharpness."""
    x0, y0, x1, y1 = record.bbox
    area = max(1, (x1 - x0) * (y1 - y0))
    return round(math.log(area, _LARGER_BY)), record.sharpness or 0.0


def _describe(name: str, page_index: int) -> str:
    return f"{name} page {page_index + 1}"


def _with_pictures(
    result: PageResult, kept: tuple[Record, ...], originals: list[str]
) -> PageResult:
    if not originals:
        return replace(result, records=kept)
    what = f"{NEAR_DUPLICATE} {', '.join(dict.fromkeys(originals))}"
    if not kept:
        return replace(result, outcome=PageOutcome.DROPPED, reason=what, records=())
    reason = f"{result.reason}; {len(originals)} of {len(result.records)} pictures {what}"
    return replace(result, reason=reason, records=kept)
