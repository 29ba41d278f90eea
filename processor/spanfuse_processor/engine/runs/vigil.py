"""The vigil over what is open: which run is looked at when, so that what never ends is noticed all the same.

Rule 1: host time; what is said, and when to look again, is the detectors'. Rule 2: only runs of which
somebody told what is open cost anything. Rule 3: a look may come too early, never too late: life that is
shown in the meantime moves no deadline, the look finds it. It does not know what a finding moves.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from itertools import count
from math import inf

from spanfuse_processor.engine.calls import Call
from spanfuse_processor.engine.events import CallEnded, CallStarted, Heartbeat
from spanfuse_processor.engine.nouns import Instant
from spanfuse_processor.engine.runs.open_calls import OpenCalls
from spanfuse_processor.engine.runs.run import Run, Tombstone
from spanfuse_processor.engine.verdicts import Finding


class Vigil:
    """Over all runs of one engine. `find` is the registry's: a run by its id."""

    __slots__ = ("_deadlines", "_find", "_serial")

    def __init__(self, find: Callable[[str], Run | Tombstone | None]) -> None:
        self._find = find
        self._deadlines: list[tuple[Instant, int, str]] = []
        self._serial = count()  # so that ids are never compared

    def note(self, run: Run, event: CallStarted, call: Call | None, now: Instant) -> None:
        """A call of `run` has begun, goes on, or has ended. `call` is None when that was known."""
        open = run.open
        if isinstance(event, CallEnded):
            if open is not None:
                open.ended(event, now)
                if not open:
                    run.open = None
            return
        if open is None:
            open = run.open = OpenCalls(run.tree, now)
        open.told(event, call, now)
        self._schedule(run, open)

    def beat(self, run: Run, event: Heartbeat, now: Instant) -> None:
        """`run` says that it lives; where nothing of it is open, that says nothing."""
        if run.open is not None:
            run.open.beat(event, now)
            self._schedule(run, run.open)

    def renew(self, run: Run, now: Instant) -> None:
        """A stop of `run` is over."""
        if run.open is not None:
            run.open.renew(now)
            self._schedule(run, run.open)

    def united(self, older: Run, younger: Run, now: Instant) -> None:
        """Two runs are one."""
        if younger.open is not None:
            older.open = older.open or OpenCalls(older.tree, now)
            older.open.absorb(younger.open, now)
            younger.open = None
            self._schedule(older, older.open)

    def advance(self, now: Instant) -> Iterator[tuple[Run, Call, Finding]]:
        """What is to be said of what is open: the run, the call, and what was found."""
        while self._deadlines and self._deadlines[0][0] <= now:
            due, _, run_id = heapq.heappop(self._deadlines)
            run = self._find(run_id)
            if isinstance(run, Run) and run.open is not None and run.open.scheduled == due:
                run.open.scheduled = inf
                for call, finding in run.open.look(now, run.mind):
                    yield run, call, finding
                self._schedule(run, run.open)

    def next_deadline(self) -> Instant | None:
        """When `advance` is due."""
        return self._deadlines[0][0] if self._deadlines else None

    def _schedule(self, run: Run, open: OpenCalls) -> None:
        if open.due < open.scheduled:
            open.scheduled = open.due
            heapq.heappush(self._deadlines, (open.due, next(self._serial), run.id))
