"""What is for the calls of a reach, found by who pays for a call.

Rule 1: putting something in, or taking it out, costs the same however much is in: what a reach names outright
(a user, a tenant) is found by those names, together, and only patterns are looked through. Rule 2: whoever
has been looked up once is found at once, until something changes; what a payer is of no importance for is not
looked at, so that every run is not somebody new. Rule 3: one writes, any thread reads, without a lock: what
replaces something is in before that is out. It does not know what it holds.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from dataclasses import replace
from operator import itemgetter
from typing import Final, Generic, NamedTuple, TypeVar

from spanfuse_processor.engine.reach import PAYER_FIELDS, Payer, Reach

KNOWN: Final = 4_096
"""How many payers are remembered; then it begins anew."""
_WILD: Final = frozenset("*?[")
_QUOTED: Final = re.compile(r"\[([*?\[])\]")
_ALL: Final = Reach()

T = TypeVar("T")
_Fields = tuple[int, ...]
_Place = tuple[_Fields, Hashable]


class _Entry(NamedTuple, Generic[T]):
    """One thing: its turn, whom it is for beside what it is found by, and which fields that asks for."""

    number: int
    rest: Reach
    asks: _Fields
    thing: T


_Row = dict[str, tuple[_Entry[T], ...]]
"""By the name under which things were put in; replaced, never changed."""


class _Memory(NamedTuple, Generic[T]):
    """Who has been looked up, by what of a payer is asked for."""

    telling: Callable[[Payer], Hashable]
    known: dict[Hashable, tuple[T, ...]]


class Reached(Generic[T]):
    """Things and whom they are for, under names; they come out in the order in which they went in."""

    def __init__(self) -> None:
        self._rows: dict[_Fields, dict[Hashable, _Row[T]]] = {}
        self._shapes: tuple[tuple[Callable[[Payer], Hashable], dict[Hashable, _Row[T]]], ...] = ()
        self._places: dict[str, set[_Place]] = {}
        self._asked: Counter[int] = Counter()
        self._asks: dict[str, _Fields] = {}
        self._number = 0
        self._memory: _Memory[T] = _Memory(_teller(()), {})

    def __len__(self) -> int:
        return len(self._asks)

    def of(self, payer: Payer) -> tuple[T, ...]:
        """All that is for a call of `payer`."""
        telling, known = self._memory
        told = telling(payer)
        found = known.get(told)
        if found is None:
            found = self._find(payer)
            if len(known) >= KNOWN:
                known.clear()
            known[told] = found
        return found

    def put(self, name: str, given: Iterable[tuple[Reach, T]]) -> None:
        """What is under a name from now on, in place of what was; nothing takes it out."""
        wanted: dict[_Place, list[_Entry[T]]] = {}
        for reach, thing in given:
            self._number += 1
            found_by, values, rest = _split(reach)
            entry = _Entry(self._number, rest, _asked(reach), thing)
            wanted.setdefault((found_by, values), []).append(entry)
        places = self._places.setdefault(name, set())
        places.update(wanted)
        for place, entries in wanted.items():
            self._set(place, name, tuple(entries))
        for place in [each for each in places if each not in wanted]:
            self._set(place, name, ())
            places.discard(place)
        if not places:
            self._places.pop(name, None)
        self._forget(name, {index for entries in wanted.values() for each in entries for index in each.asks})

    def _find(self, payer: Payer) -> tuple[T, ...]:
        found: list[_Entry[T]] = []
        for telling, rows in self._shapes:
            row = rows.get(telling(payer))
            for entries in row.values() if row else ():
                found += [each for each in entries if each.rest is _ALL or each.rest.covers(payer)]
        found.sort(key=itemgetter(0))
        return tuple(each.thing for each in found)

    def _set(self, place: _Place, name: str, entries: tuple[_Entry[T], ...]) -> None:
        found_by, values = place
        rows = self._rows.get(found_by)
        if rows is None:
            rows = self._rows[found_by] = {}
            self._shapes = (*self._shapes, (_teller(found_by), rows))
        row = {each: held for each, held in rows.get(values, {}).items() if each != name}
        if entries:
            row[name] = entries
        if row:
            rows[values] = row
        else:
            rows.pop(values, None)

    def _forget(self, name: str, asks: set[int]) -> None:
        """What was known may be otherwise now: whoever is looking it up at this moment knows only himself."""
        self._asked.subtract(self._asks.pop(name, ()))
        if asks:
            self._asks[name] = tuple(asks)
        elif name in self._places:
            self._asks[name] = ()
        self._asked.update(asks)
        told = tuple(index for index in range(len(PAYER_FIELDS)) if self._asked[index] > 0)
        self._memory = _Memory(_teller(told), {})


def _teller(fields: _Fields) -> Callable[[Payer], Hashable]:
    return itemgetter(*fields) if fields else _nobody


def _nobody(payer: Payer) -> Hashable:
    """Who pays is of no importance."""
    return ()


def _asked(reach: Reach) -> _Fields:
    """The fields that a reach goes by."""
    return tuple(index for index, field in enumerate(PAYER_FIELDS) if getattr(reach, field))


def _split(reach: Reach) -> tuple[_Fields, Hashable, Reach]:
    """The fields that a reach names outright, by one name each, their values, and what remains to be asked.

    >>> _split(Reach(feature=("chat", "mail"), user=("a[*]",)))[:2]
    ((5,), 'a*')
    """
    named: dict[str, str] = {}
    for field in PAYER_FIELDS:
        patterns: tuple[str, ...] = getattr(reach, field)
        if len(set(patterns)) == 1:
            name = _QUOTED.sub("", patterns[0])
            if not _WILD.intersection(name):
                named[field] = _QUOTED.sub(r"\1", patterns[0])
    fields = tuple(index for index, field in enumerate(PAYER_FIELDS) if field in named)
    rest = replace(reach, **dict.fromkeys(named, ()))
    values = tuple(named.values())
    return fields, values[0] if len(values) == 1 else values, _ALL if rest == _ALL else rest
