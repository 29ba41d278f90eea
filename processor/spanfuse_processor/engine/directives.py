"""From a finding, or an order, to the directive that applications obey.

Rule 1: a directive's id is its key's, so that a newer one replaces the older. Rule 2: `message` is for a
person and says what was seen; `model_message` is for the model and says what to do instead, in a few
sentences. Rule 3: the offending span comes last in the evidence. It does not decide whether a directive
is due.
"""

from __future__ import annotations

from typing import Final

from spanfuse_processor.engine.nouns import BreakerKey, MicroUsd
from spanfuse_processor.engine.orders import Order
from spanfuse_processor.engine.verdicts import Action, Directive, Evidence, Finding, Mode, Removal

MANUAL: Final = "MANUAL"
OPERATOR: Final = "operator"
"""The detector's name where a person ordered the stop."""
_MAX_SPANS: Final = 16

_ADVICE: Final = {
    "LOOP": "Repeating this brings nothing new. Answer with what you have, and say what is missing.",
    "RETRY_STORM": "It keeps failing in the same way. Do not retry; report the error and what it prevents.",
    "DEPTH": "Agents are nested too deep. Start no further agent; finish with what you have.",
    "RECURSION": "An agent keeps calling itself. Start no further agent; finish with what you have.",
    "FAN_OUT": "Too many agents were started. Start no further one; finish with what you have.",
    "RATE": "Calls come too fast. Make no further call; finish with what you have.",
    "BURST": "Calls come too fast. Make no further call; finish with what you have.",
    "DRIFT": "Nearly the same call brings no progress. Answer with what you have, and say what is missing.",
    "MONOLOGUE": "Words alone change nothing. Say what is missing, and end here.",
    "CONTEXT": "The conversation is too long to go on. Sum up what is done and what is left, and end here.",
    "CHANT": "The answer repeats itself. Do not go on with it; say shortly what it should have said.",
    "STUCK": "A call has not come back. Do not wait for it; report what it was for and what it prevents.",
    "LIMIT": "A limit of this run is reached. Make no further call; say what is done and what is left.",
    MANUAL: "Make no further call. Say what was done so far and what is left.",
}
_DEFAULT_ADVICE: Final = "Make no further call; finish with what you have."


def directive_id(key: BreakerKey) -> str:
    """The id under which stops of `key` are issued and withdrawn."""
    return f"{key}/stop"


def stop(
    key: BreakerKey, finding: Finding, mode: Mode, revision: int, ttl: float, trace_id: bytes
) -> Directive:
    """A stop for what a detector saw."""
    spans = finding.spans
    if finding.span_id and spans[-1:] != (finding.span_id,):
        spans = (*spans, finding.span_id)
    return Directive(
        id=directive_id(key),
        revision=revision,
        key=key,
        action=Action.STOP,
        mode=mode,
        ttl=ttl,
        reason=finding.reason,
        message=finding.message,
        model_message=_for_the_model(finding.reason, finding.message),
        evidence=Evidence(
            detector=finding.detector,
            observed=finding.observed,
            limit=finding.limit,
            trace_id=trace_id,
            span_ids=spans[-_MAX_SPANS:],
            cost=finding.cost,
            rule=finding.rule,
            first_span_id=finding.first_span_id,
            prints=finding.prints,
            cleared_by=finding.cleared_by,
        ),
    )


def kill(
    order: Order, key: BreakerKey, revision: int, ttl: float, trace_id: bytes, cost: MicroUsd
) -> Directive:
    """A stop that a person ordered."""
    message = order.reason or "stopped by an operator"
    return Directive(
        id=directive_id(key),
        revision=revision,
        key=key,
        ttl=ttl,
        reason=MANUAL,
        message=message,
        model_message=_for_the_model(MANUAL, message),
        evidence=Evidence(detector=OPERATOR, trace_id=trace_id, cost=cost),
        issuer=order.issuer,
    )


def removal(key: BreakerKey, revision: int, reason: str) -> Removal:
    """Takes the stop of `key` back."""
    return Removal(directive_id(key), revision, reason)


def _for_the_model(reason: str, message: str) -> str:
    """What was seen, and what to do instead.

    >>> _for_the_model("LOOP", "search gave the same result 5 times")
    'This run was stopped: search gave the same result 5 times. Repeating this brings nothing new. \
Answer with what you have, and say what is missing.'
    """
    return f"This run was stopped: {message.rstrip('. ')}. {_ADVICE.get(reason, _DEFAULT_ADVICE)}"
