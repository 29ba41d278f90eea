"""What is said of verdicts and of their effects: one log line each, and the figures.

Rule 1: a kill's latency is counted once per application and revision, however often it is reported.
Rule 2: counts in reports are totals so far; only what is new is added. What is remembered is bounded.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Callable
from typing import Final

from spanfuse_processor.engine.budgets.orders import OF_BUDGETS
from spanfuse_processor.engine.nouns import Level
from spanfuse_processor.engine.runs.record import Light
from spanfuse_processor.engine.verdicts import Directive, Finding, Mode, Severity, Verdict
from spanfuse_processor.telemetry.log import say
from spanfuse_processor.telemetry.registry import (
    DEFERRED,
    DEGRADED,
    DENIED,
    NOT_DEGRADED,
    OPERATOR,
    SPENT,
    Metrics,
)
from spanfuse_processor.wire.effects import Effect, EffectState
from spanfuse_processor.wire.messages import Instance

REMEMBERED = 10_000
_DECIDED: Final[dict[tuple[str, str], Callable[[Effect], int]]] = {
    DENIED: lambda effect: effect.calls_refused,
    DEFERRED: lambda effect: effect.calls_throttled,
    DEGRADED: lambda effect: effect.calls_degraded,
    NOT_DEGRADED: lambda effect: effect.calls_not_degraded,
}


class Reports:
    """Turns verdicts and effects into metrics and lines. `find` gives the directive under an id."""

    def __init__(self, metrics: Metrics, find: Callable[[str], Directive | None]) -> None:
        self._metrics = metrics
        self._find = find
        self._seen: OrderedDict[tuple[str, str, int], Effect] = OrderedDict()

    def verdict(self, verdict: Verdict, wall_ns: int) -> None:
        """The engine, or an operator through it, has spoken."""
        finding, directive = verdict.finding, verdict.directive
        if finding is not None:
            self._saw(finding, directive)
        if directive is not None and directive.mode is Mode.ENFORCE:
            detector = finding.detector if finding else OPERATOR
            self._metrics.tripped(verdict.agent, detector)
            if finding and verdict.ended_ns:
                late = max(0, wall_ns - verdict.ended_ns) / 1e9
                self._metrics.detection_latency.labels(detector).observe(late)
        if finding is not None:
            level = logging.WARNING if finding.severity is Severity.STOP else logging.INFO
            say(level, finding.message, **_fields(verdict))
        elif directive is not None:
            say(logging.WARNING, directive.message or "stopped by order", key=str(directive.key))
        elif verdict.removal is not None:
            say(logging.WARNING, "released", directive=verdict.removal.id, reason=verdict.removal.reason)

    def _saw(self, finding: Finding, directive: Directive | None) -> None:
        light = Light.RED if finding.severity is Severity.STOP else Light.YELLOW
        self._metrics.findings.labels(finding.detector, light.value).inc()
        if directive is not None and directive.mode is not Mode.ENFORCE:
            self._metrics.stops_withheld.labels(finding.detector, directive.mode.value).inc()

    def effects(self, instance: Instance, effects: list[Effect]) -> None:
        """An application says what came of directives."""
        for effect in effects:
            key = (instance.id, effect.directive_id, effect.revision)
            before = self._seen.get(key)
            self._seen[key] = effect
            self._seen.move_to_end(key)
            if len(self._seen) > REMEMBERED:
                self._seen.popitem(last=False)
            self._count(effect, before)
            if effect.state is EffectState.REJECTED and before is None:
                say(logging.WARNING, "directive rejected", directive=effect.directive_id, error=effect.error)

    def _count(self, effect: Effect, before: Effect | None) -> None:
        for decision, count in _DECIDED.items():
            news = count(effect) - (count(before) if before else 0)
            if news > 0:
                if decision is DENIED and effect.directive_id.startswith(OF_BUDGETS):
                    decision = SPENT
                self._metrics.gate_decisions.labels(*decision).inc(news)
        if effect.kill_latency is not None and (before is None or before.kill_latency is None):
            directive = self._find(effect.directive_id)
            detector = directive.evidence.detector if directive else ""
            self._metrics.kill_latency.labels(detector or OPERATOR).observe(effect.kill_latency)


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
