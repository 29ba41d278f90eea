"""What the breaker does, as a span in the trace of the call that it is about: the trace tells the story.

Rule 1: it stands below the offending call: it begins when that ended, and ends with the decision. Rule 2: its
ids are made from what it tells, so that whoever tells it twice tells the same. Rule 3: money is decimal
dollars here, for people. It does not know how spans travel, nor who keeps the event.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from spanfuse_processor.engine.alerts import BudgetEvent, Condition
from spanfuse_processor.engine.budget import Measure, Reaction
from spanfuse_processor.engine.directives import OPERATOR
from spanfuse_processor.engine.names import AGENT, BREAKER_SPAN
from spanfuse_processor.engine.nouns import Level
from spanfuse_processor.engine.orders import Order
from spanfuse_processor.engine.verdicts import Directive, Evidence, Finding, Mode, Severity, Verdict

BUDGET: Final = "budget"
"""The detector's name where a budget is what was seen."""
RED, YELLOW, GREEN = "red", "yellow", "green"
_FORECASTS: Final = (Condition.IMMINENT, Condition.RUNAWAY, Condition.LIKELY, Condition.STEPS)
_MICRO: Final = 1_000_000


class BreakerSpan(NamedTuple):
    """One span with the name BREAKER_SPAN, of the scope SCOPE. Times are nanoseconds since the epoch.

    `kind` is trip, withheld, warn, release, order, budget or forecast. `attributes` are those of the span and
    of its one event, which is named BREAKER_SPAN.kind and is at its end. `links` are ids of the other calls
    that it rests on, of the same trace. `failed`: its status is an error, with `message`.
    """

    kind: str
    trace_id: bytes
    span_id: bytes
    parent_span_id: bytes
    start_ns: int
    end_ns: int
    attributes: Mapping[str, str | int | float]
    links: tuple[bytes, ...] = ()
    failed: bool = False
    message: str = ""


def of_verdict(
    verdict: Verdict, wall_ns: int, trace_id: bytes = b"", event_id: str = ""
) -> BreakerSpan | None:
    """What a verdict of that moment says; None where it says nothing new.

    `trace_id` is that of the run, where the verdict has none; `event_id` that of the event for the record.
    """
    kind = _kind(verdict)
    if not kind:
        return None
    finding = verdict.finding
    evidence = verdict.directive.evidence if verdict.directive else Evidence()
    trace = verdict.trace_id or evidence.trace_id or trace_id
    parent = finding.span_id if finding else evidence.span_ids[-1] if evidence.span_ids else b""
    told = _told(kind, verdict, event_id)
    return _span(
        kind,
        trace,
        parent,
        start_ns=verdict.ended_ns,
        end_ns=wall_ns,
        said=told,
        links=_links(finding or evidence, parent),
        failed=kind == "trip",
    )


def of_order(
    order: Order, who: str, done: bool, wall_ns: int, trace_id: bytes = b"", event_id: str = ""
) -> BreakerSpan:
    """What an operator, or an alert, ordered at that moment, in the trace of the run that it is about."""
    why = f": {order.reason}" if order.reason else ""
    said = {
        "kind": "order",
        "run": order.key.id if order.key.level is Level.RUN else "",
        "key": str(order.key),
        "detector": OPERATOR,
        "action": order.kind.value,
        "issuer": who,
        "reason": order.reason,
        "done": done,
        "message": f"{order.kind.value} {order.key} by {who}{why}",
        "event_id": event_id,
    }
    return _span("order", trace_id, b"", start_ns=wall_ns, end_ns=wall_ns, said=said)


def of_budget(event: BudgetEvent) -> BreakerSpan:
    """What is told of a budget. Without a call that brought it, it has a trace of its own."""
    unit = _MICRO if event.measure is Measure.USD else 1
    kind = "forecast" if event.condition in _FORECASTS else "budget"
    said = {
        "kind": kind,
        "detector": BUDGET,
        "rule": event.condition.value,
        "reason": event.condition.name,
        "action": event.reaction.value,
        "mode": event.mode.value,
        "severity": YELLOW if event.reaction is Reaction.WARN else RED,
        "observed": event.spent / unit,
        "limit": event.limit / unit,
        "message": event.words(),
        "budget": event.account.budget,
        "event_id": event.id,
    }
    end = int(event.wall * 1e9)
    return _span(kind, event.trace_id, event.span_id, start_ns=end, end_ns=end, said=said)


def _kind(verdict: Verdict) -> str:
    directive = verdict.directive
    if directive is None:
        if verdict.removal is not None:
            return "release"
        warned = verdict.finding is not None and verdict.finding.severity is Severity.WARN
        return "warn" if warned else ""  # a stop that stands already is deserved again and again
    return "trip" if directive.mode is Mode.ENFORCE else "withheld"


def _told(kind: str, verdict: Verdict, event_id: str) -> dict[str, str | int | float]:
    directive, removal = verdict.directive, verdict.removal
    said: dict[str, str | int | float] = {"kind": kind, "run": verdict.run, "agent": verdict.agent}
    if verdict.key is not None:
        said["key"] = str(verdict.key)
    if directive is not None:
        said |= _ordered(directive)
    if verdict.finding is not None:
        said |= _seen(verdict.finding)
    if removal is not None:
        said |= {"reason": removal.reason, "message": f"released: {removal.reason}"}
        said |= {"directive": removal.id, "revision": removal.revision, "severity": GREEN}
    return {**said, "event_id": event_id}


def _ordered(directive: Directive) -> dict[str, str | int | float]:
    evidence = directive.evidence
    return {
        "detector": evidence.detector,
        "rule": evidence.rule,
        "reason": directive.reason,
        "action": directive.action.value,
        "mode": directive.mode.value,
        "severity": RED,
        "observed": evidence.observed,
        "limit": evidence.limit,
        "message": directive.message,
        "cleared_by": evidence.cleared_by,
        "cost_usd": evidence.cost / _MICRO,
        "directive": directive.id,
        "revision": directive.revision,
        "issuer": directive.issuer,
    }


def _seen(finding: Finding) -> dict[str, str | int | float]:
    return {
        "detector": finding.detector,
        "rule": finding.rule,
        "reason": finding.reason,
        "severity": RED if finding.severity is Severity.STOP else YELLOW,
        "observed": finding.observed,
        "limit": finding.limit,
        "message": finding.message,
        "cleared_by": finding.cleared_by,
        "cost_usd": finding.cost / _MICRO,
    }


def _links(seen: Finding | Evidence, parent: bytes) -> tuple[bytes, ...]:
    """The first call and those that count, each once, in their order; the offending one is the parent."""
    spans: Iterable[bytes] = seen.spans if isinstance(seen, Finding) else seen.span_ids
    return tuple(each for each in dict.fromkeys((seen.first_span_id, *spans)) if each and each != parent)


def _span(
    kind: str,
    trace_id: bytes,
    parent: bytes,
    *,
    start_ns: int,
    end_ns: int,
    said: Mapping[str, str | int | float],
    links: tuple[bytes, ...] = (),
    failed: bool = False,
) -> BreakerSpan:
    figures = {f"{BREAKER_SPAN}.{name}": value for name, value in said.items() if value != ""}
    if agent := said.get("agent"):
        figures[AGENT] = agent
    return BreakerSpan(
        kind,
        trace_id or _digest(16, said, end_ns),
        _digest(8, said, trace_id, parent or (said.get("revision"), end_ns)),
        parent if trace_id else b"",
        min(start_ns or end_ns, end_ns),
        end_ns,
        figures,
        links if trace_id else (),
        failed,
        str(said.get("message", "")),
    )


def _digest(size: int, said: Mapping[str, str | int | float], *more: object) -> bytes:
    """An id from what tells an event from others; what grows while it goes on is no part of it."""
    names = ("kind", "run", "key", "detector", "rule", "directive", "budget", "event_id")
    what = [said.get(name, "") for name in names]
    return hashlib.blake2b(repr((what, more)).encode(), digest_size=size).digest()
