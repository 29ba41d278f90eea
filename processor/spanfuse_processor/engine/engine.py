"""The engine: events in, verdicts out, in a straight line.

    span -> dialect -> run -> price -> tree -> detectors -> breaker -> directive

Rule 1: it does nothing else: no I/O, no clock, no lock, no log. It is not thread-safe; its host sees to
that. Rule 2: detectors see event time only, breakers and evictions `now` only. Rule 3: the same input
gives the same output; bad input is counted (`stats`), never raised. What a detector raises comes out:
hosts guard.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence

from spanfuse_processor.engine.calls import Call
from spanfuse_processor.engine.calltree import EMBEDDINGS, MODEL, ROOTS
from spanfuse_processor.engine.detector import Detector
from spanfuse_processor.engine.detectors import DETECTORS
from spanfuse_processor.engine.dialect import Dialect
from spanfuse_processor.engine.dialects import dialects_for
from spanfuse_processor.engine.events import CallEnded, CallStarted, Heartbeat, RawSpan
from spanfuse_processor.engine.findings import flood
from spanfuse_processor.engine.names import BREAKER_SPAN, SCOPE
from spanfuse_processor.engine.nouns import BreakerKey, Instant, Level, MicroUsd
from spanfuse_processor.engine.orders import Order, OrderKind
from spanfuse_processor.engine.policy import DetectorLimits, Policy
from spanfuse_processor.engine.pricer import Pricer, Waiting
from spanfuse_processor.engine.pricing import PENDING, PriceBook
from spanfuse_processor.engine.regime import Regime
from spanfuse_processor.engine.runs.features import Features
from spanfuse_processor.engine.runs.record import Record
from spanfuse_processor.engine.runs.registry import Farewell, Runs
from spanfuse_processor.engine.runs.run import Run, RunView, view
from spanfuse_processor.engine.runs.stops import Stops
from spanfuse_processor.engine.runs.suspicion import confirmed, suspected
from spanfuse_processor.engine.runs.vigil import Vigil
from spanfuse_processor.engine.runs.watches import look, paid
from spanfuse_processor.engine.scoping import agent_of
from spanfuse_processor.engine.stats import EngineStats
from spanfuse_processor.engine.tree.spending import Amend, Amended
from spanfuse_processor.engine.verdicts import Finding, Verdict


class Engine:
    """Judges calls. One owner, one thread at a time.

    `dialects` are those of the registry unless given. `observer(call, event)` is told of each call that
    ended, once, whatever came of it: for counting by agent or model. `amend` is told when such a call comes
    to something else after all: a late price, a corrected usage, another telling of the same. `farewell` is
    told of each run that is over.
    """

    def __init__(
        self,
        policy: Policy,
        prices: PriceBook,
        dialects: Sequence[Dialect] | None = None,
        detectors: Mapping[str, tuple[type[Detector], type[DetectorLimits]]] = DETECTORS,
        observer: Callable[[Call, CallEnded], None] | None = None,
        amend: Amend | None = None,
        farewell: Farewell | None = None,
    ) -> None:
        self._registry = detectors
        self._regime = regime = Regime(policy, detectors)
        self._reads = tuple(dialect.read for dialect in dialects or dialects_for(policy))
        self._observer = observer
        self._stats = EngineStats()
        self._prices = prices
        self._pricer = Pricer(regime.book(prices), self._stats, policy.tools)
        self._amend = amend
        self._runs = Runs(policy.bounds, regime.of_run.begin, self._stats, policy.tools, amend, farewell)
        self._features = Features(regime.of_feature.begin)
        self._stops = Stops(policy.breaker, regime.scoping, self._stats)
        self._vigil = Vigil(self._runs.get)

    def renew(self, policy: Policy, dialects: Sequence[Dialect] | None = None) -> None:
        """Goes on by another policy: its modes, reactions, prices and tools at once, its thresholds for what
        begins from now on, and for features anew. `dialects` are as for a new engine.

        Raises:
            PolicyError: it cannot be obeyed; then nothing has changed.
        """
        regime = Regime(policy, self._registry)
        self._reads = tuple(dialect.read for dialect in dialects or dialects_for(policy))
        self._regime = regime
        self._pricer.renew(regime.book(self._prices), policy.tools)
        self._runs.renew(policy.bounds, regime.of_run.begin, policy.tools)
        self._features.begin_anew(regime.of_feature.begin)
        self._stops.renew(policy.breaker, regime.scoping)

    def ingest(self, span: RawSpan, now: Instant) -> tuple[Verdict, ...]:
        """A span has ended. Returns what there is to say, as a rule nothing."""
        self._stats.spans += 1
        if span.name == BREAKER_SPAN and span.scope == SCOPE:
            return ()  # what a breaker says of calls is none itself
        for read in self._reads:
            event = read(span)
            if event is not None:
                return self.observe(event, now)
        self._stats.unread += 1
        run = self._runs.by_trace(span.trace_id)
        if run is not None:  # it may stand between a call and its agent
            run.tree.link(span.trace_id, span.span_id, span.parent_span_id)
        return ()

    def observe(self, event: CallStarted | Heartbeat, now: Instant) -> tuple[Verdict, ...]:
        """A call has begun or goes on (`CallStarted`), or has ended (`CallEnded`); or a run lives."""
        if isinstance(event, Heartbeat):
            return self._beat(event, now)
        if self._pricer.waiting:
            self._pricer.settle(self._pay)
        run = self._runs.of(event, now)
        if run is None:
            return ()
        said = self._united(now) if self._runs.merged else ()
        call = self._ended(event, run) if isinstance(event, CallEnded) else run.tree.add(event)
        if run.open is not None or not isinstance(event, CallEnded):
            self._vigil.note(run, event, call, now)
        if call is None:
            return said
        for finding in self._found(run, call):
            said = (*said, self._stops.judge(run, run, call, finding, now))
        if event.identity.feature and (
            event.kind in self._regime.of_feature.heeded or self._stops.breakers.half_open
        ):
            said += self._of_feature(run, call, now)
        return said

    def _found(self, run: Run, call: Call) -> tuple[Finding, ...]:
        """What the detectors see in a call: those of the agent that made it, then those of the run."""
        lane = run.place(call)
        findings: tuple[Finding, ...] = ()
        renewed = call.event.user_turn and (lane is None or lane.watch is None)
        if lane is not None:
            watch = lane.watch or self._regime.of_lane.begin(call.event.identity, agent_of(call))
            lane.watch, findings = look(watch, call)
            run.record.count(call)
        run.watch, found = look(run.watch, call)
        findings += found
        if run.suspicion is not None or findings:
            findings += self._suspected(run, call, findings, renewed)
        if run.tree.folded and not run.flooded:
            run.flooded = True
            findings += (flood(call, self._regime.policy.bounds.nodes_per_run),)
        return findings

    def _suspected(
        self, run: Run, call: Call, findings: tuple[Finding, ...], renewed: bool
    ) -> tuple[Finding, ...]:
        """What a warning that stands has come to."""
        if run.suspicion is None or run.suspicion.cleared_by(call, renewed):
            run.suspicion = suspected(call, findings)
            return ()
        budget = call.event.budget if isinstance(call.event, CallEnded) else None
        stop = confirmed(run.suspicion, call, self._regime.policy.suspicion, budget)
        if stop is None:
            return ()
        run.suspicion = None
        return (stop,)

    def command(self, order: Order, now: Instant) -> tuple[Verdict, ...]:
        """An operator's order. () means that it changed nothing: it holds already, or nothing stood."""
        key, record = order.key, None
        if order.kind is OrderKind.THROTTLE:
            return ()
        if key.level is Level.RUN:
            known = self._runs.get(key.id)
            record = known.record if known is not None else None
            key = key if record is None else BreakerKey(Level.RUN, record.id)
        verdict = self._stops.order(order, key, record, now)
        if verdict is None:
            return ()
        if order.kind is not OrderKind.KILL:
            self._renew(key, now)
        elif record is not None:
            record.killed()
        return (verdict,)

    def advance(self, now: Instant) -> tuple[Verdict, ...]:
        """Time has passed: calls do not end, breakers cool, idle runs are put away, prices may have come."""
        self._pricer.settle(self._pay)
        said = [
            self._stops.judge(run, run, call, finding, now) for run, call, finding in self._vigil.advance(now)
        ]
        self._runs.advance(now)
        for key, verdict in self._stops.advance(now):
            if verdict.removal is not None:
                self._renew(key, now)
            said.append(verdict)
        return tuple(said)

    def next_deadline(self) -> Instant | None:
        """When `advance` is due next; None: time changes nothing."""
        rooms = (self._runs, self._stops.breakers, self._vigil)
        due = [room.next_deadline() for room in rooms]
        return min((when for when in due if when is not None), default=None)

    def run(self, run_id: str) -> RunView | None:
        """One run, alive or put away; also by the id of a run that it absorbed."""
        self._pricer.settle(self._pay)
        known = self._runs.get(run_id)
        if known is None:
            return None
        return self._view(known.record, isinstance(known, Run))

    def runs(self) -> Iterator[RunView]:
        """Every run that is known: those put away first, then from the longest unseen to the latest."""
        self._pricer.settle(self._pay)
        for tombstone in self._runs.tombstones():
            yield self._view(tombstone.record, False)
        for run in self._runs.live():
            yield self._view(run.record, True)

    def stats(self) -> EngineStats:
        """A copy of the counts. It only reads: another thread may ask."""
        runs, tombstones = self._runs.counts()
        return dataclasses.replace(
            self._stats,
            runs=runs,
            active=self._runs.active,
            tombstones=tombstones,
            features=len(self._features),
            prices_awaited=self._pricer.waiting,
            unpriced_models=dict(self._stats.unpriced_models),
        )

    def _ended(self, event: CallEnded, run: Run) -> Call | None:
        cost = self._pricer.cost(event)
        twins = self._stats.twins
        call = run.tree.add(event, None if cost is PENDING else cost)
        if call is None:
            run.tree.reconcile(event, self._pricer.price_now)
            return None
        kind = event.kind
        if kind is MODEL or kind is EMBEDDINGS:
            stopped = cost is PENDING and run.record.stopped  # else nobody asks
            self._pricer.account(call, event, cost, stopped)
        run.inform(call, event.ended_ns)
        if not event.parent_span_id and kind in ROOTS:
            self._runs.over(run, event)
        if self._observer is not None and self._stats.twins == twins:
            self._observer(call, event)
        return call

    def _pay(self, call: Waiting, cost: MicroUsd) -> None:
        """A price has come. What was spent before a stop stays before it."""
        known = self._runs.get(call.run)
        if known is None:
            return
        record, before = known.record, known.record.cost
        if isinstance(known, Run):
            known.tree.settle(call.trace_id, call.span_id, call.usage, cost, call.guessed)
            paid(known.watch, call.span_id, cost)
        else:
            record.settle(cost)
            if self._amend is not None:
                self._amend(Amended(call.trace_id, call.span_id, call.usage, cost, call.guessed))
        if record.said.cost_at_stop is not None and not call.stopped:
            record.said.cost_at_stop += record.cost - before

    def _of_feature(self, run: Run, call: Call, now: Instant) -> tuple[Verdict, ...]:
        feature = self._features.of(call.event.identity)
        feature.watch, findings = look(feature.watch, call)
        said = [self._stops.judge(feature, run, call, each, now) for each in findings] if findings else []
        if self._stops.breakers.half_open:
            verdict = self._stops.probe(feature.key, call, now)
            if verdict is not None:
                if verdict.removal is not None:
                    self._renew(feature.key, now)
                said.append(verdict)
        return tuple(said)

    def _united(self, now: Instant) -> tuple[Verdict, ...]:
        pairs, self._runs.merged = self._runs.merged, []
        for older, younger in pairs:
            self._vigil.united(older, younger, now)
        return tuple(v for older, younger in pairs for v in self._stops.united(older, younger, now))

    def _beat(self, event: Heartbeat, now: Instant) -> tuple[Verdict, ...]:
        run = self._runs.get(event.run_id)
        if isinstance(run, Run):
            self._vigil.beat(run, event, now)
        return ()

    def _renew(self, key: BreakerKey, now: Instant) -> None:
        """A stop is over: what detectors had seen before it counts no more."""
        if key.level is Level.FEATURE:
            self._features.renew(key)
        known = self._runs.get(key.id) if key.level is Level.RUN else None
        if known is not None:
            known.record.released()
            if isinstance(known, Run):
                known.begin_anew()
                self._vigil.renew(known, now)

    def _view(self, record: Record, live: bool) -> RunView:
        state = self._stops.breakers.state(BreakerKey(Level.RUN, record.id))
        return view(record, state, live, self._regime.scoping.resolution(record.identity).profile)
