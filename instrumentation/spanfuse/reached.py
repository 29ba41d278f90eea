"""What is for the calls of a reach, found by who pays for a call.

Rule 1: never changed: a board that changes makes another. Rule 2: whoever has been looked up once is found
at once; what a payer is of no importance for is not looked at, so that every run is not somebody new.
Rule 3: what names its payers outright is found by the name, however many there are. It does not know what it
holds.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from operator import itemgetter
from typing import Final, Generic, TypeVar

from spanfuse_processor.engine.reach import PAYER_FIELDS, Payer, Reach

KNOWN: Final = 4_096
"""How many payers are remembered; then it begins anew."""
_WILD: Final = frozenset("*?[")

T = TypeVar("T")


def _nobody(payer: Payer) -> Hashable:
    """Who pays is of no importance."""
    return ()


class Reached(Generic[T]):
    """Things and whom they are for; they come out in the order in which they went in. Any thread may ask."""

    def __init__(self, given: Iterable[tuple[Reach, T]]) -> None:
        self._given = tuple(given)
        self._told = tuple(
            index
            for index, field in enumerate(PAYER_FIELDS)
            if any(getattr(reach, field) for reach, _ in self._given)
        )
        self._telling: Callable[[Payer], Hashable] = itemgetter(*self._told) if self._told else _nobody
        self._named: dict[tuple[int, str], list[int]] = {}
        self._rest: list[int] = []
        for number, (reach, _) in enumerate(self._given):
            self._list(number, reach)
        self._known: dict[Hashable, tuple[T, ...]] = {}

    def of(self, payer: Payer) -> tuple[T, ...]:
        """All that is for a call of `payer`."""
        told = self._telling(payer)
        found = self._known.get(told)
        if found is None:
            found = self._find(payer)
            if len(self._known) >= KNOWN:
                self._known.clear()
            self._known[told] = found
        return found

    def _find(self, payer: Payer) -> tuple[T, ...]:
        likely = list(self._rest)
        for index in self._told:
            likely += self._named.get((index, payer[index]), ())
        return tuple(
            self._given[number][1] for number in sorted(likely) if self._given[number][0].covers(payer)
        )

    def _list(self, number: int, reach: Reach) -> None:
        """Under the names of one field, where it has one whose patterns are plain names."""
        for index, field in enumerate(PAYER_FIELDS):
            patterns: tuple[str, ...] = getattr(reach, field)
            if patterns and not any(_WILD.intersection(pattern) for pattern in patterns):
                for name in dict.fromkeys(patterns):
                    self._named.setdefault((index, name), []).append(number)
                return
        self._rest.append(number)
