"""The dataset card says how many of what, in whole words."""

from typing import Any

import pytest

from archive_tools.dataset_card import render_dataset_card
from archive_tools.schema import PageCounts


def report(**counts: int) -> dict[str, Any]:
    none = dict.fromkeys(("dropped", "near_duplicates", "failed", "files_failed"), 0)
    return {"counts": {**none, **counts, "splits": {"train": counts["images"]}}}


@pytest.mark.parametrize(
    ("counts", "told"),
    [
        (
            {"images": 1, "kept": 1, "pages": 1, "files": 1},
            "1 image from 1 of 1 page of 1 document, made",
        ),
        (
            {"images": 7, "kept": 6, "pages": 9, "files": 2},
            "7 images from 6 of 9 pages of 2 documents, made",
        ),
        (
            {"images": 1, "kept": 1, "pages": 2, "files": 1, "dropped": 1},
            "1 page was left out, 0 of them",
        ),
        (
            {"images": 1, "kept": 1, "pages": 2, "files": 1, "failed": 1, "files_failed": 1},
            "as near-duplicates. 1 page and 1 whole document failed",
        ),
    ],
)
def test_counts_are_told_in_the_right_number(counts: dict[str, int], told: str) -> None:
    assert told in render_dataset_card(report(**counts)).replace("\n", " ")


@pytest.mark.parametrize(("kept", "told"), [(1, "1 page: 1 kept"), (2, "2 pages: 2 kept")])
def test_so_does_the_progress_line(kept: int, told: str) -> None:
    assert PageCounts(kept, 0, 0).describe(1.0).startswith(told)
