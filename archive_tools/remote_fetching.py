"""Which remote files are on disk at a time: those that are worked on, and the next one."""

import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from archive_tools.capacity import count_usable_cpus
from archive_tools.remote_source import RemoteFile

if TYPE_CHECKING:
    from archive_tools.remote_fetch import Fetch

_TICK_S = 0.1
_LEAST_AT_ONCE = 2


class FetchAhead:
    """Fetches files in order, the next one while others are worked on."""

    def __init__(self, remotes: Mapping[Path, RemoteFile]) -> None:
        """Plan; nothing is fetched yet.

        Args:
            remotes: Each file by the path of its copy, in the order in which they are asked for.
        """
        self._remotes = remotes
        self._order = list(remotes)
        self._at_once = max(_LEAST_AT_ONCE, count_usable_cpus())
        self._present: set[Path] = set()
        self._ahead: Fetch | None = None
        self._asked_count = 0

    def bring(self, copy: Path) -> Iterator[None]:
        """Fetch a file, and start on the one after it.

        Args:
            copy: The path of its copy; files are asked for in their order. Its folder exists.

        Yields:
            None while the file is on its way, or while there are as many as there may be.

        Raises:
            SourceError: It cannot be used.
            SourceUnreachableError: Its server does not answer.
            DatasetWriteError: The disk is full.
        """
        while len(self._present) >= self._at_once:
            # Until the pages of one of them are done, which the caller sees to.
            time.sleep(_TICK_S / 4)
            yield None
        self._asked_count = self._order.index(copy, self._asked_count) + 1
        fetch = self._take(copy)
        self._present.add(copy)
        while not fetch.wait(_TICK_S):
            yield None
        self._start_next()

    def release(self, copy: Path) -> None:
        """Forget a file whose copy is deleted."""
        self._present.discard(copy)

    def stop(self) -> None:
        """Break off what is on its way."""
        if self._ahead is not None:
            self._ahead.stop()
            self._ahead = None

    def _take(self, copy: Path) -> "Fetch":
        fetch, self._ahead = self._ahead, None
        if fetch is None or fetch.copy != copy:
            fetch = self._start(copy)
        # So that `stop` reaches it until it is there.
        self._ahead = fetch
        return fetch

    def _start_next(self) -> None:
        self._ahead = None
        if self._asked_count < len(self._order):
            self._ahead = self._start(self._order[self._asked_count])

    def _start(self, copy: Path) -> "Fetch":
        # Here and not above: a run over local files needs no HTTP client.
        from archive_tools.remote_fetch import Fetch

        return Fetch(self._remotes[copy], copy)
