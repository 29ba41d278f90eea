"""Which run an event belongs to: by our own run id where there is one, else by what foreign spans share.

Rule 1: traces, conversations and linked traces that meet in one span are one run from then on; two runs
that turn out to be one become the older, and our own runs are never joined to each other. Rule 2: a run
that is idle, or the longest unseen of too many, is put away; a late span counts as late and never starts
the run anew. Rule 3: no operation looks at all runs. It lives in host time, but for one question: whether
a run itself had paused.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from hashlib import blake2b
from types import MappingProxyType
from typing import Final

from spanfuse_processor.engine.calltree import CallTree
from spanfuse_processor.engine.events import CallEnded, CallOpen, CallStarted
from spanfuse_processor.engine.nouns import Identity, Instant
from spanfuse_processor.engine.policy import Bounds, ToolRule
from spanfuse_processor.engine.runs.living import Living
from spanfuse_processor.engine.runs.record import Record
from spanfuse_processor.engine.runs.run import Run, Tombstone
from spanfuse_processor.engine.runs.watches import Watch
from spanfuse_processor.engine.stats import EngineStats
from spanfuse_processor.engine.tree.spending import Amend, Spending

_TRACE_DIGITS = 32
NO_RULES: Final[Mapping[str, ToolRule]] = MappingProxyType({})


Farewell = Callable[[Record, str, bool], None]
"""Is told that the root of a run has ended, with which error, or that the run was put away (True).

`record.over` is whether it was over before: then nothing has begun since."""


class Runs:
    """The runs that live, in order of when they were last seen, and tombstones of those that do not.

    `merged` holds (survivor, absorbed) pairs until the engine has dealt with them. `farewell` is told of each
    run when its root ends, of each turn of a conversation anew, and when it is put away.
    """

    __slots__ = (
        "_bounds",
        "_dead",
        "_farewell",
        "_keys",
        "_live",
        "_new_watch",
        "_number",
        "_over",
        "_spending",
        "_stats",
        "_tools",
        "merged",
    )

    def __init__(
        self,
        bounds: Bounds,
        new_watch: Callable[[Identity], Watch],
        stats: EngineStats,
        tools: Mapping[str, ToolRule] = NO_RULES,
        amend: Amend | None = None,
        farewell: Farewell | None = None,
    ) -> None:
        self._farewell = farewell
        self._over = 0  # of those that live
        self._spending = Spending(stats, amend)
        self.merged: list[tuple[Run, Run]] = []
        self._bounds = bounds
        self._new_watch = new_watch
        self._stats = stats
        self._tools = tools
        self._number = 0
        self._live = Living()
        self._dead: OrderedDict[str, Tombstone] = OrderedDict()
        self._keys: dict[bytes | str, str] = {}  # trace, conversation or absorbed run -> id of a run

    def renew(
        self, bounds: Bounds, new_watch: Callable[[Identity], Watch], tools: Mapping[str, ToolRule]
    ) -> None:
        """Goes on within other bounds. Runs that live keep their watch; what tools are holds for all."""
        self._bounds, self._new_watch, self._tools = bounds, new_watch, tools
        for run in self._live.values():
            run.tools = tools

    def of(self, event: CallStarted, now: Instant) -> Run | None:
        """The run of an event, found or begun; None when this is a late span of one that was put away."""
        run_id = event.run_id or self._keys.get(event.trace_id, "")
        run = self._live.get(run_id) or self._search(run_id, event, now)
        if run is None:
            return None
        if event.trace_id != run.trace or (hash(event.joins) if event.joins else 0) != run.joins:
            run = self._tie(run, event)
        if run.last_seen != now:
            run.last_seen = now
            self._live.touch(run)
        return run

    def over(self, run: Run, event: CallEnded) -> None:
        """The root of a run has ended."""
        run.record.agent = event.agent or run.record.agent
        if not run.record.over:
            self._over += 1
            self._bid_farewell(run.record, event.error, False)

    def get(self, run_id: str) -> Run | Tombstone | None:
        """The run that goes by this id, also if it was put away or absorbed."""
        known = self._resolve(run_id)
        return self._live.get(known) or self._dead.get(known)

    def by_trace(self, trace_id: bytes) -> Run | None:
        """The living run that a trace is tied to."""
        return self._live.get(self._resolve(self._keys.get(trace_id, "")))

    def live(self) -> Iterator[Run]:
        """Those that live, longest unseen first."""
        return self._live.by_age()

    def tombstones(self) -> Iterator[Tombstone]:
        """Those that were put away, oldest first."""
        return iter(self._dead.values())

    def advance(self, now: Instant) -> None:
        """Puts away what has been idle too long, forgets what was put away long ago."""
        idle = self._bounds.idle
        while (oldest := self._live.oldest) is not None and oldest.last_seen + idle <= now:
            if oldest.open is not None and oldest.open.holds(now) and oldest.last_seen < now:
                oldest.last_seen = now  # it waits for something
                self._live.touch(oldest)
            else:
                self._put_away(oldest, now)
        while self._dead and next(iter(self._dead.values())).until <= now:
            self._forget_oldest()

    def next_deadline(self) -> Instant | None:
        """When `advance` is due."""
        due = []
        if self._live.oldest is not None:
            due.append(self._live.oldest.last_seen + self._bounds.idle)
        if self._dead:
            due.append(next(iter(self._dead.values())).until)
        return min(due, default=None)

    def counts(self) -> tuple[int, int]:
        """How many live, and how many tombstones there are."""
        return len(self._live), len(self._dead)

    @property
    def active(self) -> int:
        """How many of those that live are not over."""
        return len(self._live) - self._over

    def _search(self, run_id: str, event: CallStarted, now: Instant) -> Run | None:
        known = self._resolve(run_id)
        if not known and not event.run_id:
            known = next(filter(None, (self._resolve(self._keys.get(_key(j), "")) for j in event.joins)), "")
        if known in self._live:
            if event.trace_id in self._keys and not event.run_id:
                self._keys[event.trace_id] = known  # the way is shorter next time
            return self._live[known]
        if known in self._dead:
            return self._late(self._dead[known], event, now)
        return self._begin(event.run_id or event.trace_id.hex(), event, now)

    def _resolve(self, run_id: str) -> str:
        """The id under which a run is kept now, after however many unions; empty when there is none."""
        while run_id and run_id not in self._live and run_id not in self._dead:
            run_id = self._keys.get(run_id, "")
        return run_id

    def _late(self, tombstone: Tombstone, event: CallStarted, now: Instant) -> Run | None:
        """A span that comes after its run was put away.

        Delayed spans ended when the run was last active, and count as late. A run that had to make room, or
        that paused by the emitter's own clock for as long as we waited, goes on: the same run, with its
        totals and its verdict.
        """
        record = tombstone.record
        at_ns = event.ended_ns if isinstance(event, CallEnded) else event.started_ns
        if isinstance(event, CallOpen):
            at_ns += int(event.open_for * 1e9)
        if not tombstone.early and at_ns - record.last_ns < self._bounds.idle * 1e9:
            self._stats.late += 1
            return None
        self._stats.resumed += 1
        del self._dead[record.id]
        return self._enliven(record, now)

    def _begin(self, run_id: str, event: CallStarted, now: Instant) -> Run:
        self._number += 1
        record = Record(run_id, self._number, event.trace_id, event.identity, event.started_ns)
        return self._enliven(record, now)

    def _enliven(self, record: Record, now: Instant) -> Run:
        oldest = self._live.oldest
        if oldest is not None and len(self._live) >= self._bounds.runs:
            self._stats.evicted += 1
            self._put_away(oldest, now, early=True)
        record.over = False
        tree = CallTree(record.id, self._bounds.nodes_per_run, self._stats, record, self._spending)
        run = Run(record, tree, self._new_watch(record.identity), self._tools, now)
        self._live.enter(run)
        return run

    def _tie(self, run: Run, event: CallStarted) -> Run:
        """Makes what this event names lead to its run. Returns the run that it is in after that."""
        if run.record.over and event.trace_id != run.trace:  # another turn
            run.record.over = False
            self._over -= 1
        run.own = run.own or bool(event.run_id)
        run = self._claim(run, event.trace_id)
        if not event.run_id:  # a session may outlive our own runs, and hold several
            for join in event.joins:
                run = self._claim(run, _key(join))
        run.trace, run.joins = event.trace_id, hash(event.joins) if event.joins else 0
        return run

    def _claim(self, run: Run, key: bytes | str) -> Run:
        owner = self._keys.get(key)
        if owner is None:
            if key == run.record.trace_id:
                self._keys[key] = run.id
            elif len(run.record.keys) < self._bounds.nodes_per_run:
                self._keys[key] = run.id
                run.record.claim(key)
            return run
        other = self._live.get(self._resolve(owner))
        if other is None or other is run or (other.own and run.own):
            return run
        return self._union(run, other)

    def _union(self, one: Run, other: Run) -> Run:
        older, younger = (one, other) if one.record.number < other.record.number else (other, one)
        if younger.own:
            older, younger = younger, older
        self._live.leave(younger)
        self._over -= younger.record.over
        if self._owns_its_trace(younger.record):
            older.record.claim(younger.record.trace_id)
        older.record.merge(younger.record)
        older.record.claim(younger.id)
        self._keys[younger.id] = older.id
        older.tree.absorb(younger.tree)
        younger.tree.close()
        self.merged.append((older, younger))
        self._stats.merged += 1
        return older

    def _put_away(self, run: Run, now: Instant, early: bool = False) -> None:
        self._live.leave(run)
        self._over -= run.record.over
        self._bid_farewell(run.record, "", True)
        self._stats.orphans += run.tree.missing
        run.tree.close()
        self._dead[run.id] = Tombstone(run.record, now + self._bounds.tombstone, early)
        if len(self._dead) > self._bounds.tombstones:
            self._forget_oldest()

    def _bid_farewell(self, record: Record, error: str, gone: bool) -> None:
        if self._farewell is not None:
            self._farewell(record, error, gone)
        record.over = True

    def _forget_oldest(self) -> None:
        record = self._dead.popitem(last=False)[1].record
        if self._owns_its_trace(record):
            del self._keys[record.trace_id]
        for key in record.keys:
            self._keys.pop(key, None)

    def _owns_its_trace(self, record: Record) -> bool:
        """Whether the trace that came first leads to this run; several of our own may share one."""
        return self._keys.get(record.trace_id) == record.id


@lru_cache(maxsize=64)
def _key(join: str) -> bytes:
    """A join as it is looked up: a linked trace, in hex, is the trace itself, all else a digest as long.

    >>> len(_key("conversation-7")), _key("00" * 15 + "2a")[-2:]
    (16, b'\\x00*')
    """
    if len(join) == _TRACE_DIGITS:
        try:
            return bytes.fromhex(join)
        except ValueError:
            pass
    return blake2b(join.encode("utf-8", "surrogatepass"), digest_size=_TRACE_DIGITS // 2).digest()
