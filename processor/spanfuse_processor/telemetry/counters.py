"""All that is counted of one service, and the rows of its page. It is filled where things happen.

Rule 1: counters that something watches exist at zero: from the start, or for each agent as soon as it is
heard of. Rule 2: what others count anyway is read when somebody asks; only what nobody else knows is counted
here. Rule 3: it lives on the service's loop and is asked for rows there, a few at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Final

from spanfuse_processor.clock import Clock, SystemClock
from spanfuse_processor.config import Cardinality
from spanfuse_processor.engine.detectors import DETECTORS
from spanfuse_processor.engine.findings import FLOOD
from spanfuse_processor.engine.nouns import BreakerKey, Level
from spanfuse_processor.engine.runs.record import Record
from spanfuse_processor.telemetry.breakers import Breakers
from spanfuse_processor.telemetry.budgets import BudgetBoard
from spanfuse_processor.telemetry.build import revision, version
from spanfuse_processor.telemetry.declaring import UNKNOWN
from spanfuse_processor.telemetry.labels import Labels
from spanfuse_processor.telemetry.meter import Meter
from spanfuse_processor.telemetry.metrics import metric
from spanfuse_processor.telemetry.tally import Counter, Histogram, Row, rows_of

OPERATOR: Final = "operator"  # the `detector` label of a stop that a person ordered
# `decision` and `reason` of what applications did to calls, by the orders that they obey.
ALLOWED: Final = ("allow", "ok")
DENIED: Final = ("deny", "tripped")
SPENT: Final = ("deny", "budget")
DEFERRED: Final = ("defer", "velocity")
DEGRADED: Final = ("allow", "degraded")
NOT_DEGRADED: Final = ("allow", "not_degraded")  # nothing to give up, or the provider would not have that
FAIL_OPEN: Final = ("allow", "fail_open")  # nobody could be asked
FAIL_CLOSED: Final = ("deny", "fail_closed")
DECISIONS: Final = (
    ALLOWED,
    DENIED,
    SPENT,
    DEFERRED,
    DEGRADED,
    NOT_DEGRADED,
    FAIL_OPEN,
    FAIL_CLOSED,
)
MAX_ALERTS: Final = 50
Source = Callable[[], Iterator[Row]]


class Metrics:
    """Counts. `limits` bound what may be a label's value.

    Attributes:
        meter: calls and runs.
        breakers: what is not closed, by agent.
        agents: names of agents.
        findings, stops_withheld, gate_decisions, kill_latency, detection_latency, span_lag: filled by whoever
            comes to know.
    """

    def __init__(self, limits: Cardinality | None = None, clock: Clock | None = None) -> None:
        limits, clock = limits or Cardinality(), clock or SystemClock()
        wall = partial(_wall, clock)
        self._trips = Counter(metric("trips_total"), wall)
        self._alert_orders = Counter(metric("alert_orders_total"), wall)
        self._gate_duration = Histogram(metric("gate_duration_seconds"), wall)
        self.findings = Counter(metric("findings_total"), wall)
        self.stops_withheld = Counter(metric("stops_withheld_total"), wall)
        self.gate_decisions = Counter(metric("gate_decisions_total"), wall)
        self.kill_latency = Histogram(metric("kill_latency_seconds"), wall)
        self.detection_latency = Histogram(metric("detection_latency_seconds"), wall)
        self.span_lag = Histogram(metric("span_lag_seconds"), wall)
        self.breakers = Breakers(wall)
        self.agents = Labels("agent", limits.agents, self._begin)
        self.meter = Meter(wall, self.agents, Labels("model", limits.models))
        self._alerts = Labels("alert", MAX_ALERTS)
        self._folded = [self.agents, self.meter.model_names, self.meter.providers, self._alerts]
        self._own: tuple[Counter | Histogram, ...] = (
            self._trips,
            self.gate_decisions,
            self.findings,
            self.stops_withheld,
            self._alert_orders,
            self.kill_latency,
            self.detection_latency,
            self.span_lag,
            self._gate_duration,
        )
        self._sources: list[Source] = []
        self._begin_at_zero()

    def over(self, record: Record, error: str, gone: bool) -> None:
        """A run is over: its root has ended, or it was put away."""
        if not record.over:
            self.meter.over(record, error)
        if gone:
            self.breakers.forget(BreakerKey(Level.RUN, record.id))

    def tripped(self, agent: str, detector: str, trace_id: bytes = b"") -> None:
        """One breaker opened."""
        self._trips.add(agent, detector, trace_id=trace_id)

    def gate(self, agent: str, decision: tuple[str, str], count: int = 1, trace_id: bytes = b"") -> None:
        """An application reports what its gate answered: one of DECISIONS."""
        self.gate_decisions.add(agent, *decision, by=count, trace_id=trace_id)

    def observe_gate(self, decision: str, counts: Sequence[int], seconds: float) -> None:
        """An application reports how long its gate took for answers (allow, deny, defer).

        So many fell into each bucket of the metric, the last beyond all; they took `seconds` together. What
        was told before is not told again.
        """
        self._gate_duration.observe_many(decision, counts=counts, seconds=seconds)

    def alert_order(self, alert: str, outcome: str) -> None:
        """Alertmanager told of an alert; `outcome` is obeyed, ignored, refused or cleared."""
        self._alert_orders.add(self._alerts.bounded(alert), outcome)

    def expose(self, source: Source, budgets: BudgetBoard) -> None:
        """Adds what others count."""
        self._sources += (source, budgets.rows)
        self._folded.append(budgets.names)

    def rows(self, shown: bool = False) -> Iterator[Row]:
        """The page's rows. `shown`: to whoever asks for increases; then what is new begins at zero."""
        for agent, count in self.meter.allowed.items():
            self.gate_decisions.counts[agent, *ALLOWED] = count
        yield from self.meter.rows(shown)
        yield from self.breakers.rows(shown)
        for each in self._own:
            yield from each.rows(shown)
        for source in self._sources:
            yield from source()
        overflow = {each.name: each.overflow for each in self._folded}
        yield from rows_of(metric("label_overflow_total").name, overflow)
        yield metric("build_info").name, (version(), revision()), 1.0, None

    def _begin(self, agent: str) -> None:
        """This agent is new: what may happen to it is there before it does."""
        self.meter.begin(agent)
        self.breakers.begin(agent)
        self._trips.begin((agent,), (*DETECTORS, OPERATOR))
        for decision, reason in DECISIONS:
            self.gate_decisions.begin((agent,), (decision,), (reason,))

    def _begin_at_zero(self) -> None:
        """What something watches is there before it happens."""
        self._begin(UNKNOWN)
        for counter in (self.findings, self.stops_withheld):
            (words,) = counter.metric.values.values()
            counter.begin((*DETECTORS, FLOOD), words)
        self.span_lag.begin()
        self._gate_duration.begin(metric("gate_duration_seconds").values["decision"])
        for each in (*self._own, *self.meter.own):
            each.show()


def _wall(clock: Clock) -> float:
    return clock.wall_ns() / 1e9
