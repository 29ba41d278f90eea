"""What a call came to: its outcome as attributes, and what it leaves behind for the calls after it.

Rule 1: no content is kept: it is fingerprinted here, at the end of the call, and let go. Rule 2: a price
that is not known yet is left out, never zero. It does not know when a call ends, nor who is told.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from spanfuse.calls import record
from spanfuse.lineage import Asked, Trail
from spanfuse.payment import Payment
from spanfuse.prices import day_of
from spanfuse.provider import Intent, Outcome, ToolRequest
from spanfuse.runtime import Runtime
from spanfuse_processor.engine import effects, names
from spanfuse_processor.engine.fingerprint import UNKNOWN, ArgumentPrints
from spanfuse_processor.engine.nouns import Kind, MicroUsd, Usage
from spanfuse_processor.engine.pricing import Rates

_CONTAINERS: Final = frozenset({Kind.AGENT, Kind.WORKFLOW})
_TOLD: Final = frozenset({Kind.MODEL, Kind.EMBEDDINGS})


def told(
    live: Runtime, intent: Intent, outcome: Outcome, start_ns: int, payment: Payment | None = None
) -> record.Attributes:
    """What the response says of itself, and what it cost. Usage that was not said is guessed, and marked: on
    the upper side where the call was paid for, so that what is charged and what is told are the same."""
    known = record.of_outcome(outcome)
    usage = outcome.usage
    if usage is not None:
        live.expecting.learn(intent, usage, outcome)
    elif intent.stream and intent.kind in _TOLD:
        usage = live.expecting.guess(intent, outcome, payment.expected if payment else None)
        if usage is not None:
            known |= record.of_usage(usage) | {names.ESTIMATED: True}
    if usage is not None:
        rates = live.prices.rates(intent.provider, outcome.model or intent.name, day_of(start_ns))
        if isinstance(rates, Rates) and not rates.fallback:
            known[names.COST_USD] = rates.cost(usage, outcome.service) / 1e6
    return known


def correct(live: Runtime, known: record.Attributes, span_id: bytes) -> None:
    """A call is over and told: where its usage was guessed, whoever has said it before corrects it."""
    unsure = names.ESTIMATED in known or names.PRESUMED_USD in known
    told = live.twins.guessed(span_id) if unsure else None
    if told is not None:
        live.host.span_ended(told)


def spent(outcome: Outcome, known: Mapping[str, Any]) -> Usage | None:
    """What is paid for: the usage that was said, or, of an answer that was not cut off, the one guessed."""
    return guessed(known) if outcome.usage is None and outcome.complete else outcome.usage


def guessed(known: Mapping[str, Any]) -> Usage | None:
    """The usage that a span says though nobody has said it; None: it says none."""
    if names.ESTIMATED not in known:
        return None
    return Usage(known[names.INPUT_TOKENS], known[names.OUTPUT_TOKENS])


def presume(known: record.Attributes, presumed: MicroUsd | None) -> None:
    """Says what a call was charged by, where nobody knows what it came to: in place of any guess."""
    if presumed is not None:
        known.pop(names.COST_USD, None)
        known[names.PRESUMED_USD] = presumed / 1e6


def asked(live: Runtime, intent: Intent) -> ArgumentPrints:
    """What can be compared about what is asked. What a model is told is a whole conversation."""
    if intent.kind in _TOLD:
        return live.prints.request(intent.arguments)
    return live.prints.arguments(intent.arguments, intent.volatile, intent.identity)


def compared(live: Runtime, intent: Intent, outcome: Outcome) -> record.Attributes:
    """What can be compared about a result. What only contains other calls has none, unless it says so."""
    bare = outcome.result is None and intent.kind in _CONTAINERS
    result = UNKNOWN if bare else outcome.result
    if intent.kind is not Kind.TOOL:
        return record.of_prints(live.prints.answer(ArgumentPrints(), result))
    return record.of_prints(live.prints.fingerprints(result=result, transient=intent.transient))


def compared_error(live: Runtime, intent: Intent, error: BaseException) -> record.Attributes:
    """What can be compared about an error: its class and its message without noise."""
    kind = record.error_type(error)
    prints = live.prints.fingerprints(error_kind=kind, error_message=str(error), transient=intent.transient)
    return record.of_prints(prints)


def remember(live: Runtime, outcome: Outcome, trail: Trail, at: float) -> None:
    """Keeps what a model asked for, so that the next request is known to belong to its run."""
    asked = [_asked(live, request, trail, at) for request in outcome.tool_requests]
    live.lineage.answered(outcome.response_id, asked, trail)


def shown_effect(tool: str, arguments: object) -> str:
    """The effect of a tool call where its arguments show what its name hides: a shell that sleeps waits."""
    guessed = effects.guess(tool, arguments)
    return guessed if guessed != effects.by_name(tool) else ""


def _asked(live: Runtime, request: ToolRequest, trail: Trail, at: float) -> Asked:
    plain = compared = live.prints.arguments(request.arguments)
    rule = live.tools.get(request.name)
    if rule is not None and (rule.volatile or rule.identity):
        compared = live.prints.arguments(request.arguments, rule.volatile, rule.identity)
    effect = shown_effect(request.name, request.arguments)
    return Asked(request.id, request.name, plain.raw, compared, effect, at, trail)
