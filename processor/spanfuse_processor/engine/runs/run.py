"""One run: what is known of it while it lives, what is left when it was put away, and how it looks from
outside.

Rule 1: a view is plain data, made on demand. Rule 2: what must outlive a run is its record's. It does not
know how runs are found, nor what moves a breaker.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

from spanfuse_processor.engine.calls import Call, Open
from spanfuse_processor.engine.calltree import CallTree
from spanfuse_processor.engine.lanes.lanes import Lanes
from spanfuse_processor.engine.nouns import BreakerKey, Identity, Instant, Level, MicroUsd
from spanfuse_processor.engine.policy import Profile, ToolRule
from spanfuse_processor.engine.runs.open_calls import OpenCalls
from spanfuse_processor.engine.runs.record import Judged, Light, Mark, Record
from spanfuse_processor.engine.runs.suspicion import Suspicion
from spanfuse_processor.engine.runs.watches import Watch, anew, mind
from spanfuse_processor.engine.verdicts import BreakerState, Finding, Severity


class Run(Lanes):
    """A run that lives, and its lanes: there are many runs."""

    __slots__ = (
        "ended_ns",
        "flooded",
        "joins",
        "last_seen",
        "newer",
        "older",
        "open",
        "own",
        "record",
        "suspicion",
        "trace",
        "tree",
        "watch",
    )

    def __init__(
        self, record: Record, tree: CallTree, watch: Watch, tools: Mapping[str, ToolRule], now: Instant
    ) -> None:
        super().__init__(tools)
        self.record = record
        self.tree = tree
        self.watch = watch
        self.last_seen = now
        self.older: Run | None = None  # seen before it, and after it: the registry's
        self.newer: Run | None = None
        self.ended_ns = 0  # event time: the latest end of a call since it began, or was released
        self.own = False  # named by our own library, not put together from foreign spans
        self.trace = b""  # of the latest event
        self.joins = 0  # and what else that named to be found by, as a hash
        self.flooded = False
        self.open: OpenCalls | None = None  # calls that began and did not end, where anybody tells of them
        self.suspicion: Suspicion | None = None  # a warning of a loop that stands

    @property
    def id(self) -> str:
        """By which it is known."""
        return self.record.id

    @property
    def key(self) -> BreakerKey:
        """Whose breaker it moves."""
        return BreakerKey(Level.RUN, self.id)

    def inform(self, call: Call, ended_ns: int) -> None:
        """Says on a call that has ended what the run has come to."""
        call.before_ns = self.ended_ns
        if ended_ns > self.ended_ns:
            self.ended_ns = ended_ns
        record = self.record
        if not record.agent:
            record.agent = call.event.agent
        if ended_ns > record.last_ns:
            record.last_ns = ended_ns
        call.run_cost = record.cost
        call.run_tokens = record.input_tokens + record.output_tokens - record.cached_tokens

    def mind(self, open: Open) -> tuple[tuple[Finding, ...], float]:
        """What its detectors say of a call that is open, and in how many seconds to ask them again."""
        self.watch, findings, again = mind(self.watch, open)
        return findings, again

    def begin_anew(self) -> None:
        """A stop is over: what was seen before it counts no more."""
        self.watch = anew(self.watch)
        self.clear()
        self.ended_ns = 0
        self.suspicion = None

    @property
    def ordered(self) -> bool:
        """A directive was issued and not taken back."""
        return self.record.said.ordered

    @ordered.setter
    def ordered(self, ordered: bool) -> None:
        self.record.say().ordered = ordered


class Tombstone(NamedTuple):
    """A run that was put away: its record, and until when it is kept. `early`: it had to make room."""

    record: Record
    until: Instant
    early: bool


@dataclass(frozen=True, slots=True)
class RunView:
    """A run as others see it. Money in micro-dollars, times in nanoseconds of event time.

    `stop` and `warn` say where it was first stopped (or would have been) and first warned of;
    `cost_after` is what calls cost that came after the stop. `live` is False for a run that was put away.
    `level` is what is the case now, `profile` the kind of run that it is judged as. `judged` is of which
    calls of tools and models it could be told whether they repeat: of none when names are all that is sent.
    `agent` is whose run it is, as far as is known; `over`: its root has ended.
    """

    id: str
    number: int
    trace_id: bytes
    identity: Identity
    verdict: Literal["stop", "warn", "ok"]
    state: BreakerState
    stop: Mark | None
    warn: Mark | None
    findings: tuple[Finding, ...]
    calls: int
    input_tokens: int
    output_tokens: int
    cost: MicroUsd
    cost_after: MicroUsd
    unpriced_calls: int
    started_ns: int
    last_ns: int
    live: bool
    level: Light = Light.GREEN
    profile: Profile = Profile.INTERACTIVE
    judged: Judged = "all"
    agent: str = ""
    over: bool = False

    @property
    def why(self) -> Finding | None:
        """What the verdict rests on: the finding of the first stop, else of the first warning."""
        severity = Severity.STOP if self.stop else Severity.WARN
        return next((each for each in self.findings if each.severity is severity), None)


def view(record: Record, state: BreakerState, live: bool, profile: Profile) -> RunView:
    """What `record` says."""
    said = record.said
    return RunView(
        id=record.id,
        number=record.number,
        trace_id=record.trace_id,
        identity=record.identity,
        verdict="stop" if said.stop else "warn" if said.warn else "ok",
        state=state,
        stop=said.stop,
        warn=said.warn,
        findings=tuple(said.findings),
        calls=record.calls,
        input_tokens=record.input_tokens,
        output_tokens=record.output_tokens,
        cost=record.cost,
        cost_after=record.spent_after(),
        unpriced_calls=record.unpriced,
        started_ns=record.started_ns,
        last_ns=record.last_ns,
        live=live,
        level=record.light,
        agent=record.agent,
        over=record.over,
        profile=profile,
        judged=record.judged,
    )
