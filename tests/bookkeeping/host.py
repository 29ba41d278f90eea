"""An engine with a journal, as a host joins them, and a run that repeats itself until it is stopped."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tests.engine.making import NOON, SECOND, Book, agent, ended, model

from spanfuse_processor.bookkeeping.journal import Journal, Keeping
from spanfuse_processor.engine import Engine, Policy
from spanfuse_processor.engine.events import CallEnded, CallStarted
from spanfuse_processor.engine.nouns import BreakerKey, Fingerprints, Identity, Level
from spanfuse_processor.engine.orders import Order, OrderKind
from spanfuse_processor.engine.verdicts import Directive, Verdict
from spanfuse_processor.store import EventRow
from spanfuse_processor.stores.memory import MemoryStore
from spanfuse_processor.writing import Writer

WALL = 1_800_000_000.0
ANN = Identity(tenant="acme", service="chat", namespace="prod", feature="mail", user="ann")
SAME = Fingerprints("a" * 16, "a" * 16, "b" * 16, "b" * 16, result_size=120)
SOON = 5.0


class Host:
    """Judges, records, and has everything kept in memory. `published` revisions are not the engine's."""

    def __init__(self, policy: Policy | None = None, **keeping: Any) -> None:
        self.policy = policy or Policy()
        self.store = MemoryStore()
        self.faults: list[BaseException] = []
        self.writer = Writer(lambda: self.store, lambda: 0.0, self.faults.append, every=0.0)
        self.published: dict[str, Directive] = {}
        self.wall = WALL
        keeping_ = Keeping(**keeping)
        self.journal = Journal(keeping_, self.writer, self.policy, self._view, self.published.get)
        self.engine = Engine(self.policy, Book(), observer=self._ended, amend=self._amended)
        self.ids: list[str] = []

    def tell(self, *events: CallStarted) -> list[Verdict]:
        """Some calls ended."""
        said = []
        for event in events:
            said += self._said(self.engine.observe(event, 0.0))
        return said

    def loop(self, calls: int = 5, *, of: int = 1) -> list[Verdict]:
        """An agent asks a tool for the same again and again; another one has asked a model once."""
        first = [agent(1, of=of, name="planner", agent="planner"), model(2, of=of, agent="critic")]
        return self.tell(*first, *(_again(number, of) for number in range(3, 3 + calls)))

    def order(self, kind: OrderKind, key: BreakerKey) -> list[Verdict]:
        """Alice gives an order, and it is recorded."""
        order = Order(kind, key, "it was enough", "alice")
        said = self._said(self.engine.command(order, 0.0))
        self.ids.append(self.journal.order(order, order.issuer, bool(said), self.wall))
        return said

    def advance(self, seconds: float) -> list[Verdict]:
        """Time passes."""
        self.wall += seconds
        return self._said(self.engine.advance(seconds))

    def kept(self, *kinds: str) -> list[EventRow]:
        """The events that are kept, in the order in which they were recorded."""
        self.journal.keep()
        assert self.writer.flush(SOON)
        rows = self.store.events(0.0, 2 * WALL, kinds)
        return sorted(rows, key=lambda row: (row.at, self.ids.index(row.id) if row.id in self.ids else 0))

    def snapshot(self, name: str) -> Mapping[str, Any] | None:
        """The snapshot of a trip."""
        self.journal.keep()
        assert self.writer.flush(SOON)
        row = self.store.snapshot(name)
        found: Mapping[str, Any] | None = json.loads(row.body) if row else None
        return found

    def _said(self, verdicts: tuple[Verdict, ...]) -> list[Verdict]:
        self.journal.settle()
        for verdict in verdicts:
            if verdict.directive is not None:
                self.published[verdict.directive.id] = _stamped(verdict.directive)
            if name := self.journal.verdict(verdict, self.wall):
                self.ids.append(name)
        return list(verdicts)

    def _view(self, run: str) -> Any:
        return self.engine.run(run)

    def _ended(self, call: Any, event: Any) -> None:
        self.journal.ended(call, event)

    def _amended(self, told: Any) -> None:
        self.journal.amended(told)


def _again(number: int, of: int) -> CallEnded:
    at = NOON + 4 * number * SECOND
    times = {"started_ns": at, "ended_ns": at + SECOND}
    return ended(number, 1, of=of, name="read_page", agent="planner", identity=ANN, prints=SAME, **times)


def _stamped(directive: Directive) -> Directive:
    return replace(directive, revision=directive.revision + 1_000)


def body(row: EventRow) -> Mapping[str, Any]:
    """What an event says beside its columns."""
    read: Mapping[str, Any] = json.loads(row.body)
    return read


def run_of(number: int = 1) -> BreakerKey:
    """The run of trace `number`."""
    return BreakerKey(Level.RUN, number.to_bytes(16, "big").hex())
