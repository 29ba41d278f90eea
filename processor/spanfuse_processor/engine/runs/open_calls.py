"""What is open in one run: calls that have begun and not ended, when each last showed life, and heartbeats.

Rule 1: host time. Rule 2: who tells of an open call tells of it again and again; when he falls silent the
call is lost, which is not stuck, until he speaks again; silence that was not watched is none. What was told
as a plain start is not lost: its end is as certain as its beginning was. Rule 3: what is inside of a call is
life of it; where a span between the two is not known, because it is none of ours or open itself, it is taken
to be inside. Rule 4: an end removes, a late start of what has ended adds nothing; bounded. It does not know
for how long anything may be silent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import inf
from typing import Final

from spanfuse_processor.engine.calls import Call, Open
from spanfuse_processor.engine.calltree import CallTree
from spanfuse_processor.engine.detectors.stuck import AGENTS
from spanfuse_processor.engine.events import CallEnded, CallOpen, CallStarted, Heartbeat
from spanfuse_processor.engine.nouns import Instant
from spanfuse_processor.engine.verdicts import Finding

LEASE: Final = 35.0
"""Seconds for which an open call is believed to be open when nobody tells of it again; they tell every 10."""
MOST: Final = 1_000
"""Open calls of one run that are kept."""
NOTED: Final = 256
"""Spans below which something has begun or ended, until it is found out what is around them."""
SOONEST: Final = 0.05
"""Seconds between two looks at one call, at least."""

Ask = Callable[[Open], tuple[tuple[Finding, ...], float]]
"""Says what there is to say of an open call, and in how many seconds to ask again."""


class _Held:
    """One open call."""

    __slots__ = ("alive", "began", "call", "due", "heard", "node")

    def __init__(self, call: Call, node: int, began: Instant) -> None:
        self.call = call
        self.node = node
        self.began = self.alive = began
        self.heard: Instant = -inf  # when it was last told of
        self.due: Instant = -inf  # when to look at it

    @property
    def contains(self) -> bool:
        """Whether it is an agent's: open for as long as there is work in it."""
        return self.call.event.kind in AGENTS


class OpenCalls:
    """The open calls of one run, by their place in its tree.

    Attributes:
        due: when to look.
        scheduled: when somebody will look, kept by whoever does.
    """

    __slots__ = ("_beat", "_from", "_held", "_stirred", "_stirs", "_tree", "_within", "due", "scheduled")

    def __init__(self, tree: CallTree, now: Instant) -> None:
        self.due: Instant = inf
        self.scheduled: Instant = inf
        self._tree = tree
        self._held: dict[bytes, _Held] = {}
        self._stirred = now  # when anything last began or ended
        # Below which span that was, and when the call had begun: who is around it is found out at a look.
        self._stirs: dict[tuple[bytes, bytes], tuple[Instant, int]] = {}
        self._beat: Instant | None = None
        self._from = b""  # inside of which span it was sent: when that ends, no further one is owed
        self._within = 0.0

    def __len__(self) -> int:
        return len(self._held)

    def holds(self, now: Instant) -> bool:
        """Whether anything is known to be open."""
        return any(now < held.heard + LEASE for held in self._held.values())

    def told(self, event: CallStarted, call: Call | None, now: Instant) -> None:
        """A call has begun, or goes on. `call` is None when it was known."""
        node = self._tree.find(event.trace_id, event.span_id)
        if node is None or not self._tree.is_open(node):
            return
        began = alive = now
        heard = inf
        if isinstance(event, CallOpen):
            began, alive, heard = now - event.open_for, now - event.quiet_for, now
        key = event.trace_id + event.span_id
        held = self._held.get(key)
        if held is None:
            if call is None or len(self._held) >= MOST:
                return
            held = self._held[key] = _Held(call, node, began)
            self._stir(event, began)
        elif not self.holds(now):
            self._come_back(now)
        if held.heard + LEASE <= now:  # silence that nobody here has watched may have been none
            alive = max(alive, now - LEASE)
        held.heard, held.alive = heard, max(held.alive, alive)
        self.due = min(self.due, max(held.due, now))

    def ended(self, event: CallEnded, now: Instant) -> None:
        """A call has ended, whether it was known to be open or not."""
        key = event.trace_id + event.span_id
        self._held.pop(key, None)
        if key == self._from:
            self._beat = None
        self._stir(event, now)

    def beat(self, event: Heartbeat, now: Instant) -> None:
        """The run says that it lives. So does what is open around the place where it says so."""
        node = self._tree.find(event.trace_id, event.span_id)
        if node is not None and self._tree.has_ended(node):
            return
        at, first = now - event.ago, self._beat is None
        if self._beat is None or at >= self._beat:
            if first or event.within != self._within:
                self._ask_anew(now)
            self._beat, self._from, self._within = at, event.trace_id + event.span_id, event.within
        for held in self._around(event.trace_id, event.span_id, inf):
            if not held.contains:
                held.alive = max(held.alive, at)

    def look(self, now: Instant, ask: Ask) -> Iterator[tuple[Call, Finding]]:
        """Asks about every call that is due."""
        self._settle()
        known = [held for held in self._held.values() if now < held.heard + LEASE]
        working = [held for held in known if not held.contains]
        busy = {around.node for held in working for around in self._outside(held)}
        idle = 0.0 if working else _since(self._stirred, now)
        beat = None if self._beat is None else _since(self._beat, now)
        for held in known:
            if held.due > now:
                continue
            quiet = 0.0 if held.node in busy else _since(held.alive, now)
            findings, again = ask(Open(held.call, _since(held.began, now), quiet, idle, beat, self._within))
            held.due = now + max(again, SOONEST)
            for finding in findings:
                yield held.call, finding
        self.due = min((held.due for held in known), default=inf)

    def renew(self, now: Instant) -> None:
        """What was silent before counts no more."""
        for held in self._held.values():
            held.began = held.alive = now
        self._come_back(now)
        self._ask_anew(now)

    def absorb(self, other: OpenCalls, now: Instant) -> None:
        """Takes over what is open in a run that turned out to be the same; its tree has been taken over."""
        for key, held in other._held.items():
            node = self._tree.find(held.call.event.trace_id, held.call.event.span_id)
            if node is not None and self._tree.is_open(node):
                held.node = node
                self._held.setdefault(key, held)
        for below, (at, started_ns) in other._stirs.items():
            self._note(below, at, started_ns)
        self._stirred = max(self._stirred, other._stirred)
        if other._beat is not None and (self._beat is None or other._beat > self._beat):
            self._beat, self._from, self._within = other._beat, other._from, other._within
        self._ask_anew(now)

    def _come_back(self, now: Instant) -> None:
        """The whole run had been out of sight."""
        self._stirred = now
        self._beat = None if self._beat is None else now

    def _ask_anew(self, now: Instant) -> None:
        for held in self._held.values():
            held.due = -inf
        self.due = now

    def _stir(self, event: CallStarted, at: Instant) -> None:
        """Something has begun or ended. This is done for every call, so it is only noted."""
        if at > self._stirred:
            self._stirred = at
        if event.parent_span_id:
            self._note((event.trace_id, event.parent_span_id), at, event.started_ns)
            if len(self._stirs) > NOTED:
                self._settle()

    def _note(self, below: tuple[bytes, bytes], at: Instant, started_ns: int) -> None:
        """Of several the latest counts, in whatever order they are told."""
        latest, last_ns = self._stirs.get(below, (at, started_ns))
        self._stirs[below] = max(at, latest), max(started_ns, last_ns)

    def _settle(self) -> None:
        """Gives life to whatever something has begun or ended in."""
        for (trace_id, span_id), (at, started_ns) in self._stirs.items():
            for held in self._around(trace_id, span_id, started_ns):
                held.alive = max(held.alive, at)
        self._stirs.clear()

    def _outside(self, held: _Held) -> Iterator[_Held]:
        event = held.call.event
        around = self._around(event.trace_id, event.span_id, event.started_ns)
        return (each for each in around if each is not held)

    def _around(self, trace_id: bytes, span_id: bytes, started_ns: float) -> Iterator[_Held]:
        """The calls that something in a span is inside of, as far as is known, the span's own included.

        Where not all of that is known, also those that it may be inside of because they began before it did.
        """
        node = self._tree.find(trace_id, span_id)
        way, whole = ([], False) if node is None else self._tree.way_up(node)
        for held in [*self._held.values()]:
            if held.node in way:
                yield held
            elif not whole and held.call.event.started_ns <= started_ns:
                below = self._tree.way_up(held.node)[0]
                if not way or way[-1] not in below:  # else it lies below what is known
                    yield held


def _since(then: Instant, now: Instant) -> float:
    """Seconds from then to now. In milliseconds, so that a deadline that was added up is reached."""
    return max(0.0, round(now - then, 3))
