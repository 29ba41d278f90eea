"""A judge of recordings: one engine under one policy, whose time is the recording's.

Rule 1: it hears of ends as a service does, or of starts too as a host inside the program does. Rule 2: no run
is forgotten, however long ago it was. It does not know files.
"""

from __future__ import annotations

import dataclasses
import sys
from typing import Final

from spanfuse_processor.engine import (
    CallEnded,
    CallStarted,
    Engine,
    GenaiPrices,
    Policy,
    PriceBook,
    RawSpan,
    RunView,
    dialects_for,
)
from spanfuse_processor.replaying.journal import Calls, Journal
from spanfuse_processor.replaying.pacing import Pace

FOREVER: Final = 1e12  # seconds


class Judge:
    """Is told of spans, and says of each run what the engine says.

    `key` is that of the digests of foreign content. With `journal` it keeps each run's calls, to be shown.
    """

    def __init__(
        self,
        policy: Policy | None = None,
        key: bytes = b"",
        prices: PriceBook | None = None,
        journal: bool = False,
    ) -> None:
        policy = policy or Policy()
        bounds = dataclasses.replace(policy.bounds, tombstone=FOREVER, tombstones=sys.maxsize)
        policy = dataclasses.replace(policy, bounds=bounds)
        dialects = dialects_for(policy, key)
        self._reads = tuple(dialect.read for dialect in dialects)
        self._reading = policy.tools, key
        self._journal = Journal(self._is_quiet) if journal else None
        observer = self._journal.note if self._journal is not None else None
        self._engine = Engine(policy, prices or GenaiPrices(), dialects, observer=observer)
        self._pace = Pace(self._engine)
        self._calls: dict[str, Calls] | None = None

    def reads_like(self, other: Judge) -> bool:
        """Whether what a span says is the same to both, so that one reading is enough."""
        return self._reading == other._reading

    def read(self, span: RawSpan) -> CallEnded | None:
        """The call that a span describes, or None when it is no call."""
        return next((event for read in self._reads if (event := read(span)) is not None), None)

    def hear(self, at_ns: int, told: CallStarted | RawSpan) -> None:
        """A call has begun or ended, or a span has ended that is no call."""
        self._calls = None
        now = self._pace.turn_to(at_ns)
        if isinstance(told, RawSpan):
            self._engine.ingest(told, now)
        else:
            self._engine.observe(told, now)

    def views(self) -> list[RunView]:
        """Every run, in the order in which they began to be judged."""
        return sorted(self._engine.runs(), key=lambda view: view.number)

    def calls(self, view: RunView) -> Calls:
        """The calls of a run; nothing without a journal."""
        if self._calls is None:
            self._calls = self._journal.by_run(self._now_called) if self._journal is not None else {}
        return self._calls.get(view.id) or Calls()

    def _is_quiet(self, run_id: str) -> bool:
        view = self._engine.run(run_id)
        return view is None or view.verdict == "ok"

    def _now_called(self, run_id: str) -> str:
        """The id of the run that a run is part of by now."""
        view = self._engine.run(run_id)
        return run_id if view is None else view.id
