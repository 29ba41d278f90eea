"""What the breaker does, as events for the record.

Rule 1: an event's id is made of what makes the event: a span that comes twice, or to a second processor,
makes the same event. What no span makes is told apart by its time. Rule 2: a stop that stands already, and is
deserved again, is no event. Rule 3: the body has what the columns have not, money in dollars. Nothing is
decided here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from spanfuse_processor.bookkeeping.bodies import body_of, name_of
from spanfuse_processor.engine.directives import OPERATOR
from spanfuse_processor.engine.nouns import NOBODY, BreakerKey, Level
from spanfuse_processor.engine.orders import Order
from spanfuse_processor.engine.reach import PAYER_FIELDS, Payer
from spanfuse_processor.engine.runs.run import RunView
from spanfuse_processor.engine.verdicts import Directive, Evidence, Finding, Mode, Severity, Verdict
from spanfuse_processor.store import EventRow, StepRow

RED, YELLOW, GREEN = "red", "yellow", "green"
_MICRO: Final = 1_000_000
_SEVERITIES: Final = {"trip": RED, "withheld": RED, "warn": YELLOW, "release": GREEN}


class Standing(NamedTuple):
    """A stop that stands, or is only said: its event, and what it was for."""

    event: EventRow
    detector: str = ""
    rule: str = ""


class About(NamedTuple):
    """What is known around an event, as far as it is.

    Attributes:
        wall: when it happened, in seconds since the epoch.
        step: the offending call.
        run: its run.
        directive: the directive as it was published.
        policy, mode: the version of the policy in force, and its mode.
        trip: of a release: the event that it ends.
    """

    wall: float
    step: StepRow | None = None
    run: RunView | None = None
    directive: Directive | None = None
    policy: str = ""
    mode: str = ""
    trip: Standing | None = None


def kind_of(verdict: Verdict) -> str:
    """The kind of event that a verdict is; empty: none."""
    directive, finding = verdict.directive, verdict.finding
    if directive is not None:
        return "trip" if directive.mode is Mode.ENFORCE else "withheld"
    if verdict.removal is not None:
        return "release"
    return "warn" if finding is not None and finding.severity is Severity.WARN else ""


def event_of(verdict: Verdict, about: About) -> EventRow | None:
    """The event that a verdict is, or None."""
    kind = kind_of(verdict)
    if not kind:
        return None
    key = _key(verdict)
    evidence = verdict.directive.evidence if verdict.directive else Evidence()
    finding = verdict.finding
    span = finding.span_id if finding else evidence.span_ids[-1] if evidence.span_ids else b""
    return _row(
        _id(kind, key, verdict, about.wall),
        kind,
        key,
        about,
        trace_id=verdict.trace_id or evidence.trace_id or (about.run.trace_id if about.run else b""),
        span_id=span,
        agent=verdict.agent,
        run=verdict.run,
        body=_body(verdict, about),
    )


def order_of(order: Order, who: str, done: bool, about: About) -> EventRow:
    """What an operator, or an alert, ordered."""
    said = {
        "action": order.kind.value,
        "issuer": who,
        "why": order.reason,
        "done": done,
        "message": f"{order.kind.value} {order.key} by {who}" + (f": {order.reason}" if order.reason else ""),
        "policy": about.policy,
    }
    run = order.key.id if order.key.level is Level.RUN else ""
    name = name_of("order", order.kind.value, order.key, who, int(about.wall * 1e9))
    trace_id = about.run.trace_id if about.run else b""
    return _row(name, "order", order.key, about, run=run, trace_id=trace_id, body=said)


def _row(
    name: str,
    kind: str,
    key: BreakerKey,
    about: About,
    *,
    body: Mapping[str, Any],
    trace_id: bytes = b"",
    span_id: bytes = b"",
    agent: str = "",
    run: str = "",
) -> EventRow:
    payer = _payer(key, about, agent, run)
    severity = _SEVERITIES.get(kind, "")
    ids = trace_id.hex(), span_id.hex()
    return EventRow(name, about.wall, kind, severity, str(key), *ids, *payer, body=body_of(body))


def _payer(key: BreakerKey, about: About, agent: str, run: str) -> Payer:
    """Who it is about: as the call says, else as its run does, else as the key."""
    told = about.step or (about.run.identity if about.run else NOBODY)
    known = {name: getattr(told, name, "") for name in PAYER_FIELDS}
    known |= {"agent": known["agent"] or agent, "run": known["run"] or run}
    if (name := key.level.value) in known:
        known[name] = known[name] or key.id
    return Payer(**known)


def _body(verdict: Verdict, about: About) -> dict[str, Any]:
    said: dict[str, Any] = {"level": verdict.level.value, "policy": about.policy, "mode": about.mode}
    if about.run is not None:
        view = about.run
        said |= {"profile": view.profile.value, "run_calls": view.calls, "spent_usd": view.cost / _MICRO}
        said |= {"run_tokens": view.input_tokens + view.output_tokens}
    if verdict.transition is not None:
        said |= {"generation": verdict.transition.generation, "state": verdict.transition.after.value}
    if verdict.removal is not None:
        reason = verdict.removal.reason
        said |= {"directive": verdict.removal.id, "revision": verdict.removal.revision}
        said |= {"reason": reason, "message": f"released: {reason}", "action": "release"}
    if verdict.removal is not None and about.trip is not None:
        trip = about.trip
        said |= {"detector": trip.detector, "rule": trip.rule, "trip": trip.event.id}
        said |= {"held_seconds": max(0.0, about.wall - trip.event.at)}
    if verdict.directive is not None:
        said |= _ordered(about.directive or verdict.directive)
    if verdict.finding is not None:
        said |= _seen(verdict.finding)
        said.setdefault("action", "warn")
    return said


def _ordered(directive: Directive) -> dict[str, Any]:
    evidence = directive.evidence
    return {
        "detector": evidence.detector or OPERATOR,
        "rule": evidence.rule,
        "reason": directive.reason,
        "message": directive.message,
        "model_message": directive.model_message,
        "mode": directive.mode.value,
        "action": directive.action.value,
        "observed": evidence.observed,
        "limit": evidence.limit,
        "unit": evidence.unit,
        "spans": evidence.span_ids,
        "first_span": evidence.first_span_id,
        "prints": evidence.prints,
        "cleared_by": evidence.cleared_by,
        "spent_usd": evidence.cost / _MICRO,
        "directive": directive.id,
        "revision": directive.revision,
        "issuer": directive.issuer,
        "ttl": directive.ttl,
    }


def _seen(finding: Finding) -> dict[str, Any]:
    return {
        "detector": finding.detector,
        "rule": finding.rule,
        "reason": finding.reason,
        "message": finding.message,
        "observed": finding.observed,
        "limit": finding.limit,
        "spans": finding.spans,
        "first_span": finding.first_span_id,
        "call": finding.call,
        "prints": finding.prints,
        "cleared_by": finding.cleared_by,
        "spent_usd": finding.cost / _MICRO,
    }


def _id(kind: str, key: BreakerKey, verdict: Verdict, wall: float) -> str:
    finding = verdict.finding
    if finding is None or not finding.span_id:
        return name_of(kind, key, int(wall * 1e9))
    whose = "" if key.level is Level.RUN else key  # another processor may call the run by another name
    call = verdict.trace_id.hex(), finding.span_id.hex()
    return name_of(kind, whose, finding.detector, finding.rule, *call)


def _key(verdict: Verdict) -> BreakerKey:
    return verdict.key or BreakerKey(Level.RUN, verdict.run)
