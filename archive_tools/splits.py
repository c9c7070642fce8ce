"""Which split a document or a picture goes into: whole documents where there are several; pure."""

from archive_tools.schema import TRAIN, VALIDATION


class SplitPlan:
    """Deals documents, or the pictures of a single one, into two splits as they come.

    Neighbouring pages resemble each other, so a document is never torn apart where there is
    another one. The same documents in the same order are always dealt alike.
    """

    def __init__(self, share: float, document_count: int) -> None:
        """Begin with nothing dealt.

        Args:
            share: Share of the pages that `validation` should have, 0 to 0.5.
            document_count: Documents that are expected, those that turn out unusable included.
        """
        self._share = share
        self._document_count = document_count
        self._documents_met = 0
        self._pages = {TRAIN: 0, VALIDATION: 0}

    def deal_document(self, page_count: int) -> str | None:
        """Choose the split of the next document.

        Args:
            page_count: Its number of pages; 0 for one that cannot be used.

        Returns:
            Its split; None where its pictures are dealt one by one.
        """
        self._documents_met += 1
        if self._share == 0:
            return TRAIN
        if self._document_count == 1:
            return None
        split = VALIDATION if self._is_wanted(page_count) else TRAIN
        self._pages[split] += page_count
        return split

    def move_to_train(self, page_count: int) -> None:
        """Deal the document that was dealt last to `train` instead of `validation`.

        Args:
            page_count: Its number of pages.
        """
        self._pages[VALIDATION] -= page_count
        self._pages[TRAIN] += page_count

    def deal_picture(self, number: int) -> str:
        """Choose the split of a picture of the only document.

        Args:
            number: How many pictures, near-duplicates left out, came before it.
        """
        if number == 0:
            return TRAIN  # a dataset of one picture is there to be trained on
        dealt = round_half_up(number * self._share)
        return VALIDATION if round_half_up((number + 1) * self._share) > dealt else TRAIN

    def _is_wanted(self, page_count: int) -> bool:
        """Whether `validation` comes nearer to its share with a document, or has none at all."""
        total = sum(self._pages.values()) + page_count
        is_short = self._pages[VALIDATION] + page_count / 2 <= self._share * total
        is_last_chance = self._documents_met == self._document_count and self._pages[TRAIN] > 0
        return is_short or (is_last_chance and self._pages[VALIDATION] == 0)


def round_half_up(value: float) -> int:
    """Round to the nearest whole number, a half upwards (`round` goes to the even one)."""
    return int(value + 0.5)
