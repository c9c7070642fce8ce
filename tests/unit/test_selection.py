"""Near-duplicates, best copies and splits, decided page by page."""

import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archive_tools.config import DatasetConfig
from archive_tools.duplicate_memory import SIGNATURE_BYTES, DuplicateMemory
from archive_tools.journal import PageDone, SourceBegun, StoredEntry, StoredImage
from archive_tools.schema import (
    DocumentDetails,
    PageOutcome,
    PageResult,
    Record,
    Source,
)
from archive_tools.selection import Selection, Survey
from archive_tools.splits import SplitPlan

BOX = (0, 0, 600, 800)
BITS_APART = 235


def signature(seed: int, flipped: int = 0) -> bytes:
    """Random bits, of which some are then turned over (never among the lowest frequencies)."""
    rng = random.Random(seed)
    bits = bytearray(rng.randbytes(SIGNATURE_BYTES))
    places = [bit for bit in range(8 * SIGNATURE_BYTES) if bit >= 256]
    for bit in rng.sample(places, flipped):
        bits[bit // 8] ^= 1 << bit % 8
    return bytes(bits)


def record(*signatures: bytes, sharpness: float = 1.0, box: tuple[int, ...] = BOX) -> Record:
    return Record(b"", 64, 64, box, 600, 800, "0" * 16, signatures, sharpness)  # type: ignore[arg-type]


def page(page_index: int, *records: Record) -> PageResult:
    return PageResult(page_index, PageOutcome.KEPT, 600, 800, 60.0, 60.0, "sigma 60", records)


def source(name: str, page_count: int = 5) -> Source:
    return Source("unused.pdf", name, name, page_count)  # type: ignore[arg-type]


class TestMemory:
    def test_finds_what_differs_little_and_nothing_else(self) -> None:
        memory = DuplicateMemory()
        for seed in range(3000):  # more than it has room for at the start
            assert memory.find((signature(seed),)) is None
            assert memory.add(signature(seed)) == seed
        assert len(memory) == 3000
        assert memory.find((signature(7, BITS_APART),)) == 7
        assert memory.find((signature(7, BITS_APART + 1),)) is None
        assert memory.find((signature(9999), signature(2999, 40))) == 2999

    def test_nearest_wins_and_the_earliest_of_equals(self) -> None:
        memory = DuplicateMemory()
        for flipped in (100, 20, 20):
            memory.add(signature(1, flipped))
        assert memory.find((signature(1),)) == 1

    def test_nothing_matches_a_flat_picture(self) -> None:
        memory = DuplicateMemory()
        memory.add(b"")
        assert memory.find(()) is None
        assert memory.find((signature(1),)) is None


class TestSplits:
    @given(
        page_counts=st.lists(st.integers(1, 300), min_size=2, max_size=60),
        share=st.sampled_from([0.05, 0.1, 0.25, 0.5]),
    )
    def test_documents_stay_whole_and_both_splits_get_some(
        self, page_counts: list[int], share: float
    ) -> None:
        plan = SplitPlan(share, len(page_counts))
        splits = [plan.deal_document(count) for count in page_counts]
        assert set(splits) == {"train", "validation"}
        again = SplitPlan(share, len(page_counts))
        assert [again.deal_document(count) for count in page_counts] == splits

    def test_share_is_kept_over_many_documents(self) -> None:
        plan = SplitPlan(0.1, 1000)
        splits = [plan.deal_document(10) for _ in range(1000)]
        assert splits.count("validation") == 100

    def test_without_a_share_everything_is_for_training(self) -> None:
        assert SplitPlan(0, 1).deal_document(3) == "train"

    def test_pictures_of_one_document_are_dealt_evenly(self) -> None:
        plan = SplitPlan(0.1, 1)
        assert plan.deal_document(100) is None
        splits = [plan.deal_picture(number) for number in range(100)]
        assert splits.count("validation") == 10
        assert splits[:5] == ["train"] * 4 + ["validation"]


@given(
    kept=st.lists(st.lists(st.booleans(), min_size=1, max_size=4), min_size=1, max_size=6),
    share=st.sampled_from([0.05, 0.1, 0.3, 0.5]),
    stopped_at=st.integers(0, 24),
)
def test_train_is_never_empty_and_a_resumed_run_deals_alike(
    kept: list[list[bool]], share: float, stopped_at: int
) -> None:
    config = DatasetConfig(validation_share=share)
    whole = deal_all(Selection(config, len(kept)), kept)
    assert not whole or whole[0][1] == "train"
    resumed = Selection(config, len(kept))
    resumed.recall(journal_of(kept, whole[:stopped_at]))
    assert deal_all(resumed, kept, after=stopped_at) == whole[stopped_at:]
    if len(kept) > 1:
        for document in range(len(kept)):
            assert len({split for place, split in whole if place[0] == document}) <= 1


def deal_all(
    selection: Selection, kept: list[list[bool]], after: int = 0
) -> list[tuple[tuple[int, int], str]]:
    """Return the place of each picture and its split; the first `after` pictures are done."""
    dealt, met = [], 0
    for document, pages in enumerate(kept):
        selection.begin_source(source(f"{document}.pdf", len(pages)))
        for page_index, is_kept in enumerate(pages):
            met += is_kept
            if is_kept and met > after:
                place = (document, page_index)
                given_page = page(page_index, record(signature(100 * document + page_index)))
                selected = selection.select(source(f"{document}.pdf"), given_page)
                dealt.append((place, selected.records[0].split))
    return dealt


def journal_of(
    kept: list[list[bool]], dealt: list[tuple[tuple[int, int], str]]
) -> list[SourceBegun | PageDone]:
    """Return what a run that was stopped after these pictures has recorded of them."""
    lines: list[SourceBegun | PageDone] = []
    for document, pages in enumerate(kept):
        lines.append(SourceBegun(f"{document}.pdf", "", len(pages), DocumentDetails()))
        for place, split in dealt:
            if place[0] == document:
                seed = 100 * document + place[1]
                entry = StoredEntry(f"{split}/1.jpg", 0, 0, 0)
                stored = StoredImage(
                    entry, entry, "", 1, 1, BOX, 1, 1, "", signature(seed).hex()
                )  # fmt: skip
                lines.append(PageDone(place[1], PageOutcome.KEPT, 1, 1, 60, 60, "", (stored,), 0))
    return lines


def select_all(config: DatasetConfig, *pages: tuple[str, PageResult]) -> list[PageResult]:
    selection = Selection(config, 1)
    for name in dict.fromkeys(name for name, _ in pages):
        selection.begin_source(source(name))
    return [selection.select(source(name), result) for name, result in pages]


class TestSelection:
    def test_later_copies_are_dropped_with_a_pointer_across_files(self) -> None:
        pages = (
            ("a.pdf", page(0, record(signature(1)))),
            ("a.pdf", page(1, record(signature(2)))),
            ("b.pdf", page(0, record(signature(9), signature(2, 100)))),
        )
        first, second, copy = select_all(DatasetConfig(), *pages)
        assert (first, second) == (pages[0][1], pages[1][1])
        assert copy.outcome is PageOutcome.DROPPED
        assert copy.reason == "near-duplicate of a.pdf page 2"
        assert copy.records == ()

    def test_page_with_one_new_picture_stays(self) -> None:
        pages = (
            ("a.pdf", page(0, record(signature(1)))),
            ("a.pdf", page(1, record(signature(1, 9)), record(signature(2)))),
        )
        _, second = select_all(DatasetConfig(), *pages)
        assert second.outcome is PageOutcome.KEPT
        assert [one.signatures for one in second.records] == [(signature(2),)]
        assert "1 of 2 pictures near-duplicate of a.pdf page 1" in second.reason

    def test_switched_off_nothing_is_compared(self) -> None:
        pages = [("a.pdf", page(n, record(signature(1)))) for n in range(3)]
        assert select_all(DatasetConfig(dedupe=False), *pages) == [result for _, result in pages]

    def test_copies_that_are_kept_share_their_split(self) -> None:
        config = DatasetConfig(dedupe=False, validation_share=0.5)
        pages = [("a.pdf", page(n, record(signature(n % 4, n)))) for n in range(40)]
        splits = [one.records[0].split for one in select_all(config, *pages)]
        assert set(splits) == {"train", "validation"}
        assert splits == splits[:4] * 10

    @pytest.mark.parametrize("dedupe", [True, False])
    @pytest.mark.parametrize("stop", [1, 5, 17])
    def test_a_resumed_run_decides_alike(self, dedupe: bool, stop: int) -> None:
        config = DatasetConfig(dedupe=dedupe, validation_share=0.3)
        pages = [page(n, record(signature(n % 7, n), signature(n % 5, n))) for n in range(20)]
        whole = select_all(config, *(("a.pdf", one) for one in pages))
        resumed = Selection(config, 1)
        resumed.recall([
            SourceBegun("a.pdf", "a.pdf", 20, DocumentDetails()),
            *map(recorded, whole[:stop]),
        ])  # fmt: skip
        resumed.begin_source(source("a.pdf"))
        assert [resumed.select(source("a.pdf"), one) for one in pages[stop:]] == whole[stop:]


def recorded(result: PageResult) -> PageDone:
    """What the journal keeps of a page."""
    images = tuple(
        StoredImage(
            StoredEntry(f"{one.split}/000001.jpg", 0, 0, 0), StoredEntry("", 0, 0, 0), "", 64, 64,
            BOX, 600, 800, one.phash, one.signatures[0].hex(), is_copy=one.is_copy,
        )
        for one in result.records
    )  # fmt: skip
    return PageDone(result.page_index, result.outcome, 600, 800, None, None, "", images, 0)


class TestBestCopy:
    def test_the_largest_then_the_sharpest_is_kept(self) -> None:
        small, large = (0, 0, 300, 400), (0, 0, 1200, 1600)
        pages = {
            "a.pdf": [page(0, record(signature(1), box=small, sharpness=9.0))],
            "b.pdf": [
                page(0, record(signature(1, 9), box=large, sharpness=2.0)),
                page(1, record(signature(2))),
            ],
            "c.pdf": [page(0, record(signature(1, 5), box=large, sharpness=3.0))],
        }
        survey = Survey()
        for name, results in pages.items():
            survey.begin_source()
            for result in results:
                survey.add(source(name), result)
        selection = Selection(DatasetConfig(best_copy=True), 3, survey.find_worse())
        decided = {}
        for name, results in pages.items():
            selection.begin_source(source(name))
            for result in results:
                decided[name, result.page_index] = selection.select(source(name), result)
        kept = [place for place, result in decided.items() if result.outcome is PageOutcome.KEPT]
        assert kept == [("b.pdf", 1), ("c.pdf", 0)]
        assert decided["a.pdf", 0].reason == "near-duplicate of c.pdf page 1"
        assert decided["b.pdf", 0].reason == "near-duplicate of c.pdf page 1"

    def test_failed_documents_keep_the_places_apart(self) -> None:
        survey = Survey()
        for _ in range(3):
            survey.begin_source()
        survey.add(source("c.pdf"), page(0, record(signature(1))))
        survey.add(source("c.pdf"), page(1, record(signature(1))))
        assert list(survey.find_worse()) == [(2, 1, 0)]


def test_a_dropped_page_stays_as_it_is() -> None:
    dropped = replace(page(0), outcome=PageOutcome.DROPPED)
    assert select_all(DatasetConfig(), ("a.pdf", dropped)) == [dropped]
