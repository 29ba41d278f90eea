"""The ledger beyond a life of its process: what it was is read at the start, what changes is handed over.

Rule 1: a ledger is its newest dump and the entries after it, whoever wrote them. Rule 2: a store that is away
at the start is the caller's to decide about. Rule 3: it is called where the ledger lives, by whoever owns it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from spanfuse_processor.engine.budgets.journal import Entry
from spanfuse_processor.store import Seen, Store, Written
from spanfuse_processor.writing.writer import Writer


class Kept(Protocol):
    """A ledger, as far as it is needed here."""

    def drain(self) -> list[Entry]:
        """What changed since the last time."""

    def dump(self, since: float = 0.0) -> dict[str, Any]:
        """All of it."""


class Restored(NamedTuple):
    """What a store has of the ledger.

    Attributes:
        dump: what the ledger was; None: there was none.
        entries: what changed after that, numbered on from the dump.
        seen: what both include.
    """

    dump: Mapping[str, Any] | None
    entries: Sequence[Entry]
    seen: Seen


def restore(store: Store) -> Restored:
    """Reads the ledger.

    Raises:
        StoreError: the store is away.
    """
    saved = store.load_ledger()
    tail = store.read_ledger(saved.seen)
    entries = numbered_on(saved.dump, (), [each.entry for each in in_order(tail)])
    return Restored(saved.dump, entries, seen_after(saved.seen, tail))


def numbered_on(
    dump: Mapping[str, Any] | None, entries: Sequence[Entry], fresh: Sequence[Entry]
) -> list[Entry]:
    """`fresh`, numbered as what came after a dump and its entries.

    Each writer's ledger counted for itself; here they are one.
    """
    last = entries[-1].number if entries else int((dump or {}).get("number", 0))
    return [entry._replace(number=number) for number, entry in enumerate(fresh, last + 1)]


def in_order(tail: Iterable[Written]) -> list[Written]:
    """Entries of several writers in the order of time; each writer's own order stays."""
    latest: dict[str, float] = {}
    timed: list[tuple[float, Written]] = []
    for each in tail:
        latest[each.writer] = max(latest.get(each.writer, 0.0), each.entry.wall, each.entry.at)
        timed.append((latest[each.writer], each))
    return [each for _, each in sorted(timed, key=lambda pair: pair[0])]


def seen_after(seen: Seen, tail: Iterable[Written]) -> dict[str, int]:
    """What is included once the entries beyond `seen` are.

    >>> seen_after({"a": 3}, [])
    {'a': 3}
    """
    return {**seen, **{each.writer: each.number for each in tail}}


class Keeper:
    """Hands over what changes in a ledger. `seen` is what it included when this writer began."""

    def __init__(self, writer: Writer, seen: Seen) -> None:
        self._writer = writer
        self._seen: dict[str, int] = dict(seen)

    @property
    def seen(self) -> Seen:
        """Which entries of other writers the ledger includes."""
        return self._seen

    def saw(self, tail: Iterable[Written]) -> None:
        """The ledger includes these now, too."""
        self._seen = seen_after(self._seen, tail)

    def keep(self, ledger: Kept, wall: float) -> None:
        """Hands over what changed since the last time; several times a second. `wall` is now."""
        self._writer.ledger(ledger.drain())
        if self._writer.wants_dump:
            self._writer.dump(ledger.dump(), self._seen, wall)
