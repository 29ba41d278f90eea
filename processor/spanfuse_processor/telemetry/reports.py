"""What is said of verdicts and of their effects: one log line each, and the figures.

Rule 1: a kill's latency is counted once per application and revision, however often it is reported.
Rule 2: counts in reports are totals so far; only what is new is added. What is remembered is bounded.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Callable
from typing import Final, TypeVar

from spanfuse_processor.engine.budgets.orders import OF_BUDGETS
from spanfuse_processor.engine.nouns import Level
from spanfuse_processor.engine.runs.record import Light
from spanfuse_processor.engine.verdicts import Action, Directive, Finding, Mode, Severity, Verdict
from spanfuse_processor.telemetry.counters import (
    DEFERRED,
    DEGRADED,
    DENIED,
    NOT_DEGRADED,
    OPERATOR,
    SPENT,
    Metrics,
)
from spanfuse_processor.telemetry.gates import Gates
from spanfuse_processor.telemetry.log import say
from spanfuse_processor.wire.effects import Effect, EffectState
from spanfuse_processor.wire.messages import Instance

K = TypeVar("K")
V = TypeVar("V")

REMEMBERED = 10_000
_PATTERN: Final = frozenset("*?[")
_DECIDED: Final[dict[tuple[str, str], Callable[[Effect], int]]] = {
    DENIED: lambda effect: effect.calls_refused,
    DEFERRED: lambda effect: effect.calls_throttled,
    DEGRADED: lambda effect: effect.calls_degraded,
    NOT_DEGRADED: lambda effect: effect.calls_not_degraded,
}


class Reports:
    """Turns verdicts and effects into metrics and lines. `find` gives the directive under an id.

    Attributes:
        gates: does so with what gates answered.
    """

    def __init__(self, metrics: Metrics, find: Callable[[str], Directive | None]) -> None:
        self._metrics = metrics
        self._find = find
        self.gates = Gates(metrics)
        self._seen: OrderedDict[tuple[str, str, int], Effect] = OrderedDict()
        self._stopped: OrderedDict[str, str] = OrderedDict()  # directives of one agent: whose label

    def verdict(self, verdict: Verdict, wall_ns: int) -> None:
        """The engine, or an operator through it, has spoken."""
        finding, directive = verdict.finding, verdict.directive
        agent = self._metrics.agents.bounded(_agent_of(verdict))
        detector = finding.detector if finding else OPERATOR
        if finding is not None:
            self._saw(finding, directive)
        if directive is not None and directive.mode is Mode.ENFORCE:
            self._stop(verdict, directive, agent, detector, wall_ns)
        self._metrics.breakers.heard(verdict, agent, detector)
        if finding is not None:
            level = logging.WARNING if finding.severity is Severity.STOP else logging.INFO
            say(level, finding.message, **_fields(verdict))
        elif directive is not None:
            say(logging.WARNING, directive.message or "stopped by order", key=str(directive.key))
        elif verdict.removal is not None:
            say(logging.WARNING, "released", directive=verdict.removal.id, reason=verdict.removal.reason)

    def effects(self, instance: Instance, effects: list[Effect]) -> None:
        """An application says what came of directives."""
        for effect in effects:
            key = (instance.id, effect.directive_id, effect.revision)
            before = self._seen.get(key)
            _remember(self._seen, key, effect)
            self._count(effect, before)
            if effect.state is EffectState.REJECTED and before is None:
                say(logging.WARNING, "directive rejected", directive=effect.directive_id, error=effect.error)

    def _saw(self, finding: Finding, directive: Directive | None) -> None:
        light = Light.RED if finding.severity is Severity.STOP else Light.YELLOW
        self._metrics.findings.add(finding.detector, light.value)
        if directive is not None and directive.mode is not Mode.ENFORCE:
            self._metrics.stops_withheld.add(finding.detector, directive.mode.value)

    def _stop(self, verdict: Verdict, directive: Directive, agent: str, detector: str, wall_ns: int) -> None:
        trace_id = directive.evidence.trace_id
        self._metrics.tripped(agent, detector, trace_id)
        if _agent_of(verdict):
            _remember(self._stopped, directive.id, agent)
        if verdict.finding and verdict.ended_ns:
            late = max(0, wall_ns - verdict.ended_ns) / 1e9
            self._metrics.detection_latency.observe(detector, seconds=late, trace_id=trace_id)

    def _count(self, effect: Effect, before: Effect | None) -> None:
        directive = self._find(effect.directive_id)
        agent, trace_id = self._whose(effect.directive_id, directive), _trace_of(directive)
        for decision, count in _DECIDED.items():
            news = count(effect) - (count(before) if before else 0)
            if news > 0:
                if decision is DENIED:
                    tool = directive is not None and directive.action is Action.BLOCK_TOOL
                    self._metrics.meter.refused(agent, tool, news)
                    decision = SPENT if effect.directive_id.startswith(OF_BUDGETS) else DENIED
                self._metrics.gate(agent, decision, news, trace_id)
        if effect.kill_latency is not None and (before is None or before.kill_latency is None):
            detector = (directive.evidence.detector if directive else "") or OPERATOR
            self._metrics.kill_latency.observe(detector, seconds=effect.kill_latency, trace_id=trace_id)

    def _whose(self, directive_id: str, directive: Directive | None) -> str:
        """The agent that an order is for: whose run was stopped, or the one that the order names."""
        known = self._stopped.get(directive_id)
        if known is not None:
            return known
        names = directive.reach.agent if directive is not None and directive.reach is not None else ()
        exact = len(names) == 1 and not set(names[0]) & _PATTERN
        return self._metrics.agents.bounded(names[0] if exact else "")


def _agent_of(verdict: Verdict) -> str:
    if verdict.agent or verdict.key is None or verdict.key.level is not Level.AGENT:
        return verdict.agent
    return verdict.key.id


def _trace_of(directive: Directive | None) -> bytes:
    return directive.evidence.trace_id if directive is not None else b""


def _remember(known: OrderedDict[K, V], key: K, value: V) -> None:
    """Keeps it, and of all no more than REMEMBERED, the latest."""
    known[key] = value
    known.move_to_end(key)
    if len(known) > REMEMBERED:
        known.popitem(last=False)


def _fields(verdict: Verdict) -> dict[str, object]:
    finding = verdict.finding
    fields: dict[str, object] = {"run": verdict.run}
    if verdict.key is not None and verdict.level is not Level.RUN:
        fields["key"] = str(verdict.key)  # else a feature's warning looks like its run's
    if verdict.agent:
        fields["agent"] = verdict.agent
    if finding:
        fields |= _evidence(finding)
    if verdict.directive:
        fields["mode"] = verdict.directive.mode.value
    return fields


def _evidence(finding: Finding) -> dict[str, object]:
    """What a finding rests on; what it does not say is left out."""
    said = {
        "detector": finding.detector,
        "rule": finding.rule,
        "severity": finding.severity.value,
        "call": finding.call,
        "span": finding.span_id.hex(),
        "first_span": finding.first_span_id.hex(),
        "prints": ",".join(finding.prints),
        "cost_usd": finding.cost / 1_000_000 or "",
        "cleared_by": finding.cleared_by,
    }
    return {name: value for name, value in said.items() if value != ""}
