"""Orders on the wire: a directive, its withdrawal, and the refusal of one that cannot be read.

Rule 1: reading never raises; an order whose action, mode or scope is unknown here is refused by name, so
that its issuer hears of it. Rule 2: an order without a TTL is refused, for it would never end. Rule 3: texts
are clipped, identifiers are not. Rule 4: an order of a budget, and no other, says which calls it reaches.
This file does not know who sends orders, nor who obeys them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from spanfuse_processor.engine.nouns import BreakerKey, Level
from spanfuse_processor.engine.verdicts import Action, Directive, Evidence, Mode, OnExpiry, Removal
from spanfuse_processor.wire import control_pb2 as pb
from spanfuse_processor.wire import leases, reaches, scopes
from spanfuse_processor.wire.plain import duration, seconds, text

MAX_TEXT = 4096  # characters of one text for a person or for the model

ACTIONS: Final = {
    Action.STOP: pb.ACTION_STOP,
    Action.PAUSE: pb.ACTION_PAUSE,
    Action.THROTTLE: pb.ACTION_THROTTLE,
    Action.DEGRADE: pb.ACTION_DEGRADE,
    Action.BLOCK_TOOL: pb.ACTION_BLOCK_TOOL,
    Action.LIMIT: pb.ACTION_LIMIT,
    Action.REQUIRE_LEASE: pb.ACTION_REQUIRE_LEASE,
}
MODES: Final = {
    Mode.SHADOW: pb.MODE_SHADOW,
    Mode.WARN: pb.MODE_WARN,
    Mode.ENFORCE: pb.MODE_ENFORCE,
}
ON_EXPIRY: Final = {
    OnExpiry.ALLOW: pb.ON_EXPIRY_ALLOW,
    OnExpiry.DENY: pb.ON_EXPIRY_DENY,
    OnExpiry.LOCAL_LIMITS: pb.ON_EXPIRY_LOCAL_LIMITS,
}
KNOWN_ACTIONS: Final[dict[int, Action]] = {number: action for action, number in ACTIONS.items()}
_KNOWN_MODES: Final[dict[int, Mode]] = {number: mode for mode, number in MODES.items()}
_KNOWN_EXPIRY: Final[dict[int, OnExpiry]] = {number: each for each, number in ON_EXPIRY.items()}
_KNOWN_EXPIRY[pb.ON_EXPIRY_UNSPECIFIED] = OnExpiry.ALLOW


@dataclass(frozen=True, slots=True)
class Refused:
    """A directive that cannot be obeyed here, and why; its issuer is told."""

    id: str
    revision: int
    reason: str


def encode(directive: Directive) -> pb.Directive:
    """The message for `directive`.

    Raises:
        ValueError: a parameter that its action does not have, a reach where none belongs or none where one
            does, or a number out of range.
    """
    if directive.wide != (directive.reach is not None):
        raise ValueError(f"{directive.key}: {'no reach' if directive.wide else 'a reach'}")
    message = pb.Directive(
        id=text(directive.id),
        revision=directive.revision,
        scope=scopes.encode(directive.key),
        action=ACTIONS[directive.action],
        mode=MODES[directive.mode],
        ttl=duration(directive.ttl),
        on_expiry=ON_EXPIRY[directive.on_expiry],
        cancel_in_flight=directive.cancel_in_flight,
        priority=directive.priority,
        reason_code=text(directive.reason, MAX_TEXT),
        message=text(directive.message, MAX_TEXT),
        model_message=text(directive.model_message, MAX_TEXT),
        evidence=_evidence(directive.evidence),
        issuer=text(directive.issuer, MAX_TEXT),
        issued_unix_nano=directive.issued_ns,
        grace=duration(directive.grace) if directive.grace else None,
        reach=None if directive.reach is None else reaches.encode(directive.reach),
    )
    _put_params(message, directive)
    return message


def decode(message: pb.Directive) -> Directive | Refused:
    """The directive that `message` says, or why it is refused."""
    key = scopes.decode(message.scope)
    if key is None:
        return Refused(message.id, message.revision, "the scope is not one thing that is known here")
    if problem := _problem(message) or _problem_of_reach(message, key):
        return Refused(message.id, message.revision, problem)
    return Directive(
        id=message.id,
        revision=message.revision,
        key=key,
        action=KNOWN_ACTIONS[message.action],
        mode=_KNOWN_MODES[message.mode],
        ttl=seconds(message.ttl),
        on_expiry=_KNOWN_EXPIRY.get(message.on_expiry, OnExpiry.DENY),  # unknown: the tightest
        cancel_in_flight=message.cancel_in_flight,
        grace=seconds(message.grace),
        priority=message.priority,
        reason=message.reason_code,
        message=message.message,
        model_message=message.model_message,
        evidence=_read_evidence(message.evidence),
        issuer=message.issuer,
        issued_ns=message.issued_unix_nano,
        params=_params(message),
        reach=reaches.decode(message.reach) if message.HasField("reach") else None,
        degrading=reaches.decode_degrading(message.degrade) if message.HasField("degrade") else None,
        leasing=leases.decode_leasing(message.require_lease) if message.HasField("require_lease") else None,
    )


def encode_removal(removal: Removal) -> pb.Removal:
    """The message for `removal`."""
    return pb.Removal(id=text(removal.id), revision=removal.revision, reason=text(removal.reason, MAX_TEXT))


def decode_removal(message: pb.Removal) -> Removal:
    """The withdrawal that `message` says."""
    return Removal(message.id, message.revision, message.reason)


def _problem(message: pb.Directive) -> str:
    """Why `message` cannot be obeyed, empty when it can."""
    if message.action not in KNOWN_ACTIONS:
        return f"action {message.action} is not known here"
    if message.mode not in _KNOWN_MODES:
        return f"mode {message.mode} is not known here"
    if not seconds(message.ttl):
        return "no time to live"
    if message.HasField("degrade") and reaches.decode_degrading(message.degrade) is None:
        return "what is to be given up is not all known here"
    if message.action == pb.ACTION_REQUIRE_LEASE and leases.decode_leasing(message.require_lease) is None:
        return "what is to be taken from a lease is not all known here"
    return "" if message.id else "no id"


def _problem_of_reach(message: pb.Directive, key: BreakerKey) -> str:
    wide = key.level is Level.BUDGET
    if wide != message.HasField("reach"):
        return "an order of a budget without its reach" if wide else "a reach that belongs to no budget"
    return "" if reaches.decode(message.reach) is not None else "the reach is not all known here"


def _evidence(evidence: Evidence) -> pb.Evidence:
    return pb.Evidence(
        rule=text(evidence.detector, MAX_TEXT),
        observed=evidence.observed,
        limit=evidence.limit,
        span_ids=evidence.span_ids,
        trace_id=evidence.trace_id,
        cost_micro_usd=evidence.cost,
        limit_name=text(evidence.rule, MAX_TEXT),
        first_span_id=evidence.first_span_id,
        prints=[text(each) for each in evidence.prints],
        cleared_by=text(evidence.cleared_by, MAX_TEXT),
        unit=text(evidence.unit, MAX_TEXT),
    )


def _read_evidence(message: pb.Evidence) -> Evidence:
    return Evidence(
        detector=message.rule,
        observed=message.observed,
        limit=message.limit,
        trace_id=message.trace_id,
        span_ids=tuple(message.span_ids),
        cost=message.cost_micro_usd,
        rule=message.limit_name,
        first_span_id=message.first_span_id,
        prints=tuple(message.prints),
        cleared_by=message.cleared_by,
        unit=message.unit,
    )


def _put_params(message: pb.Directive, directive: Directive) -> None:
    groups = {
        Action.THROTTLE: message.throttle,
        Action.LIMIT: message.limit,
    }
    if directive.degrading is not None:
        if directive.action is not Action.DEGRADE:
            raise ValueError(f"{directive.action.value} gives nothing up")
        message.degrade.CopyFrom(reaches.encode_degrading(directive.degrading))
    if directive.leasing is not None:
        if directive.action is not Action.REQUIRE_LEASE:
            raise ValueError(f"{directive.action.value} takes no lease")
        message.require_lease.CopyFrom(leases.encode_leasing(directive.leasing))
    group = groups.get(directive.action)
    for name, value in directive.params:
        field = group.DESCRIPTOR.fields_by_name.get(name) if group is not None else None
        if field is None:
            raise ValueError(f"{directive.action.value} has no parameter {name!r}")
        setattr(group, name, value if name == "calls_per_second" else int(value))


def _params(message: pb.Directive) -> tuple[tuple[str, float], ...]:
    """The numbers that are set; one that is zero is not set."""
    group = message.WhichOneof("params")
    if group in (None, "degrade", "require_lease"):
        return ()
    return tuple((field.name, float(value)) for field, value in getattr(message, group).ListFields())
