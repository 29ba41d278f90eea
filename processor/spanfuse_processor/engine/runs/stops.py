"""What stands: from findings, orders and time to breakers moved and directives issued or taken back.

Rule 1: a stop is issued once for each generation of a breaker, however often it is deserved. Rule 2: only
ENFORCE moves a breaker; WARN and SHADOW issue a directive that says so. Rule 3: revisions only grow, across
all directives of an engine. It does not know how findings come about, nor whose detectors must forget.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from spanfuse_processor.engine import directives
from spanfuse_processor.engine.breaker import OrderError, Signal
from spanfuse_processor.engine.calls import Call
from spanfuse_processor.engine.events import CallEnded
from spanfuse_processor.engine.nouns import BreakerKey, Instant, Level
from spanfuse_processor.engine.orders import Order, OrderKind
from spanfuse_processor.engine.policy import BreakerLimits
from spanfuse_processor.engine.runs.breakers import Breakers
from spanfuse_processor.engine.runs.features import Feature
from spanfuse_processor.engine.runs.record import Record
from spanfuse_processor.engine.runs.run import Run
from spanfuse_processor.engine.scoping import Scoping
from spanfuse_processor.engine.stats import EngineStats
from spanfuse_processor.engine.verdicts import (
    BreakerState,
    Directive,
    Finding,
    Mode,
    Severity,
    Transition,
    Verdict,
)

_SHUT: Final = (BreakerState.OPEN, BreakerState.FORCED_OPEN)
COOLED, EXPIRED, RELEASED = "COOLED", "EXPIRED", "RELEASED"


class Stops:
    """The breakers of one engine and the directives that they stand for.

    `scoping` says how to react to what is seen, where.
    """

    __slots__ = ("_limits", "_revision", "_scoping", "_standing", "_stats", "breakers")

    def __init__(self, limits: BreakerLimits, scoping: Scoping, stats: EngineStats) -> None:
        self.breakers = Breakers(limits)
        self._limits = limits
        self._scoping = scoping
        self._stats = stats
        self._revision = 0
        self._standing: dict[BreakerKey, Directive] = {}  # the latest of each breaker that is not CLOSED

    def renew(self, limits: BreakerLimits, scoping: Scoping) -> None:
        """Goes by other words on how to react; what stands stays, and cools down as it began to."""
        self.breakers.limits = self._limits = limits
        self._scoping = scoping

    def judge(self, unit: Run | Feature, run: Run, call: Call, finding: Finding, now: Instant) -> Verdict:
        """What comes of a finding about `unit` at a call of `run`."""
        self._stats.findings += 1
        finding, mode = self._weighed(unit, run, call, finding)
        stops = finding.severity is Severity.STOP
        if unit is run:
            run.record.note(finding, ("stop" if mode is Mode.ENFORCE else mode.value) if stops else "warn")
        transition = directive = None
        if stops and mode is Mode.ENFORCE:
            transition = self.breakers.apply(unit.key, Signal.TRIP, now)
            due = transition is not None
        else:  # a mere warning never takes the place of a stop
            due = stops and not unit.ordered and self.breakers.state(unit.key) is BreakerState.CLOSED
        if due:
            unit.ordered = True
            directive = self._issue(unit.key, finding, mode, run.record, now)
        event = call.event
        return Verdict(
            run=run.id,
            finding=finding,
            transition=transition,
            directive=directive,
            ended_ns=event.ended_ns if isinstance(event, CallEnded) else 0,
            agent=event.agent or (call.agents[-1] if call.agents else ""),
            key=unit.key,
            trace_id=event.trace_id,
        )

    def _weighed(self, unit: Run | Feature, run: Run, call: Call, finding: Finding) -> tuple[Finding, Mode]:
        """A finding as policy takes it, with what the run has cost by now; and what is done about it.

        A warning about a feature stays one: a stop would be of all its runs.
        """
        reaction = self._scoping.reaction(call, finding.detector)
        stays = unit is not run and finding.severity is Severity.WARN
        severity = finding.severity if stays else reaction.severity(finding)
        return replace(finding, severity=severity, cost=run.record.cost), reaction.mode

    def order(self, order: Order, key: BreakerKey, record: Record | None, now: Instant) -> Verdict | None:
        """What comes of an order. None: it holds already, or nothing stood."""
        stood = self.breakers.state(key) in _SHUT or (record is not None and record.said.ordered)
        try:
            transition = self.breakers.order(key, order.kind, now)
        except OrderError:
            if not (order.kind is OrderKind.RELEASE and stood):  # a mere warning may stand: no breaker moved
                return None
            transition = None
        run, agent = (record.id, record.agent) if record is not None else ("", "")
        if order.kind is OrderKind.KILL:
            directive = self._kill(order, key, record)
            return Verdict(run=run, transition=transition, directive=directive, key=key, agent=agent)
        self._standing.pop(key, None)
        removal = directives.removal(key, self._next(), order.reason or RELEASED) if stood else None
        return Verdict(run=run, transition=transition, removal=removal, key=key, agent=agent)

    def advance(self, now: Instant) -> list[tuple[BreakerKey, Verdict]]:
        """What time has moved."""
        done = []
        for moved in self.breakers.advance(now):
            if isinstance(moved, Transition):
                reason = COOLED if moved.after is BreakerState.HALF_OPEN else Signal.HALF_OPEN_TIMEOUT.name
                done.append((moved.key, self._moved(moved, reason, now)))
            else:
                self._standing.pop(moved, None)
                removal = directives.removal(moved, self._next(), EXPIRED)
                done.append((moved, Verdict(run=_run_of(moved), removal=removal, key=moved)))
        return done

    def probe(self, key: BreakerKey, call: Call, now: Instant) -> Verdict | None:
        """While `key` is half-open, each call under it is a probe."""
        event = call.event
        if not isinstance(event, CallEnded):
            self.breakers.probe(key, now)
            return None
        transition = self.breakers.probed(key, not event.error, now)
        if transition is None:
            return None
        good = transition.after is BreakerState.CLOSED
        return self._moved(transition, (Signal.PROBES_CLEAN if good else Signal.PROBE_FAILED).name, now)

    def united(self, older: Run, younger: Run, now: Instant) -> list[Verdict]:
        """Two runs are one: a stop of the younger becomes one of the older."""
        directive = self._standing.pop(younger.key, None)
        self.breakers.forget(younger.key)
        if directive is None:
            return []
        removal = directives.removal(younger.key, self._next(), f"now part of {older.id}")
        verdicts = [Verdict(run=younger.id, removal=removal)]
        transition = self.breakers.apply(older.key, Signal.TRIP, now)
        if transition is not None:
            older.ordered = True
            renamed = replace(
                directive, id=directives.directive_id(older.key), key=older.key, revision=self._next()
            )
            self._standing[older.key] = renamed
            verdicts.append(Verdict(run=older.id, transition=transition, directive=renamed))
        return verdicts

    def _moved(self, transition: Transition, reason: str, now: Instant) -> Verdict:
        """A move without a finding: back to OPEN the last directive holds anew, else it is taken back."""
        key, after = transition.key, transition.after
        if after in _SHUT:
            again = replace(
                self._standing[key], revision=self._next(), reason=reason, ttl=self._ttl(key, now)
            )
            self._standing[key] = again
            return Verdict(run=_run_of(key), transition=transition, directive=again, key=key)
        if after is not BreakerState.HALF_OPEN:
            self._standing.pop(key, None)
        removal = directives.removal(key, self._next(), reason)
        return Verdict(run=_run_of(key), transition=transition, removal=removal, key=key)

    def _issue(
        self, key: BreakerKey, finding: Finding, mode: Mode, record: Record, now: Instant
    ) -> Directive:
        ttl = self._ttl(key, now)
        directive = directives.stop(key, finding, mode, self._next(), ttl, record.trace_id)
        if mode is Mode.ENFORCE:
            self._stats.stops += 1
            self._standing[key] = directive
        return directive

    def _kill(self, order: Order, key: BreakerKey, record: Record | None) -> Directive:
        trace_id, cost = (record.trace_id, record.cost) if record is not None else (b"", 0)
        directive = directives.kill(order, key, self._next(), self._limits.run_ttl, trace_id, cost)
        self._stats.stops += 1
        self._standing[key] = directive
        return directive

    def _ttl(self, key: BreakerKey, now: Instant) -> float:
        """Seconds that a stop of `key` holds: until its breaker has cooled, or a run's life."""
        breaker = self.breakers.get(key)
        until = breaker.until if breaker is not None else None
        return self._limits.run_ttl if until is None else max(0.0, until - now)

    def _next(self) -> int:
        self._revision += 1
        return self._revision


def _run_of(key: BreakerKey) -> str:
    return key.id if key.level is Level.RUN else ""
