"""A bounded sample of pages, spread over their scores, that depends on the pages alone; pure."""

import hashlib
from dataclasses import dataclass
from typing import Generic, TypeVar

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class _Sampled(Generic[Item]):
    rank: bytes
    order: int
    item: Item


class SpreadSample(Generic[Item]):
    """At most so many items, from each stratum about as many: small strata are kept whole.

    Which items of a stratum stay is decided by a hash of their names, so it is a fair sample and
    the same one each time.
    """

    def __init__(self, most: int) -> None:
        """Begin empty.

        Args:
            most: Items that are held.
        """
        self._most = most
        self._strata: dict[int, list[_Sampled[Item]]] = {}
        self._met = 0

    def wants(self, stratum: int, name: str) -> bool:
        """Whether an item would be taken in if it were added now.

        Args:
            stratum: What it is alike with.
            name: Its name.
        """
        if len(self) < self._most or not self._is_fullest_with_one_more(stratum):
            return True
        held = self._strata.get(stratum, [])
        return bool(held) and _rank(name) < _last(held).rank

    def add(self, stratum: int, name: str, item: Item) -> None:
        """Meet an item; another one may have to go.

        Args:
            stratum: What it is alike with.
            name: Its name, alone of its kind.
            item: What is sampled.
        """
        self._met += 1
        if not self.wants(stratum, name):
            return
        if len(self) == self._most:
            is_own = self._is_fullest_with_one_more(stratum)
            fullest = self._strata[stratum] if is_own else max(self._strata.values(), key=len)
            fullest.remove(_last(fullest))
        self._strata.setdefault(stratum, []).append(_Sampled(_rank(name), self._met, item))

    def items(self) -> list[Item]:
        """Return what is left, in the order in which it was met."""
        sampled = [one for stratum in self._strata.values() for one in stratum]
        return [one.item for one in sorted(sampled, key=lambda one: one.order)]

    def __len__(self) -> int:
        """Return how many are held."""
        return sum(map(len, self._strata.values()))

    def _is_fullest_with_one_more(self, stratum: int) -> bool:
        """Whether an item more would have to replace one of its own stratum."""
        largest = max(map(len, self._strata.values()), default=0)
        return len(self._strata.get(stratum, ())) + 1 >= largest


def _last(stratum: list[_Sampled[Item]]) -> _Sampled[Item]:
    return max(stratum, key=lambda one: one.rank)


def _rank(name: str) -> bytes:
    return hashlib.blake2b(name.encode("utf-8", "backslashreplace"), digest_size=16).digest()
