"""Shards that turn out damaged while they are put together: made again, here, one at a time."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from archive_tools.scale.documents import iter_documents
from archive_tools.scale.shard import DamagedShardError
from archive_tools.scale.shard_worker import close_workshops, run_task
from archive_tools.scale.tasks import (
    DocumentFound,
    DocumentTask,
    ShardKey,
    ShardOptions,
    ShardTask,
)
from archive_tools.source_plan import PlannedFile


@dataclass(frozen=True, slots=True)
class Notice:
    """Something that the run has put right; people should know.

    Attributes:
        text: One sentence.
    """

    text: str


class ShardRepair:
    """Makes damaged shards again, from the documents they were made of."""

    def __init__(self, sources: Sequence[str], out: Path, options: ShardOptions) -> None:
        """Prepare.

        Args:
            sources: Those of the run.
            out: The dataset of the run.
            options: What all tasks of the run share.
        """
        self._sources, self._out, self._options = sources, out, options
        self.notices: list[Notice] = []

    def __call__(self, number: int, key: ShardKey) -> None:
        """Make a shard again; it replaces the damaged one.

        Args:
            number: Place of its document in the run, from 0.
            key: Whose shard it is.

        Raises:
            DamagedShardError: Its document is not what it was.
            DatasetWriteError: The store refuses.
        """
        document = next(islice(iter_documents(self._sources, self._out), number, None), None)
        if not isinstance(document, PlannedFile):
            raise DamagedShardError(key)
        try:
            found = run_task(self._options, DocumentTask(document, is_opened_only=True))
            if not isinstance(found, DocumentFound) or found.sha256 != key.sha256:
                raise DamagedShardError(key)
            run_task(self._options, ShardTask(document, key, is_anew=True))
        finally:
            close_workshops((threading.get_ident(),))
        pages = f"pages {key.first_page + 1} to {key.end_page} of {document.name}"
        self.notices.append(Notice(f"The shard with {pages} was damaged and was made again."))
