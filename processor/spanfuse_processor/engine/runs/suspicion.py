"""A warning that stands while money goes: what alone is not enough for a stop, together with a budget is.

Rule 1: only what a detector suspects of being a loop counts, and only in a run that said what it may cost.
Rule 2: progress clears it: something new, or where the suspicion is that new things are no progress, a change
that was not made before; and so does a person who speaks. Rule 3: it stops a run once. It does not know how a
suspicion arose.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final, NamedTuple

from spanfuse_processor.engine import effects
from spanfuse_processor.engine.calls import Call, News
from spanfuse_processor.engine.nouns import MicroUsd
from spanfuse_processor.engine.verdicts import Finding, Severity

DRIFT: Final = "DRIFT"
_SUSPECTED: Final = ("LOOP", "RETRY_STORM", "MONOLOGUE", DRIFT)


class Suspicion(NamedTuple):
    """What was warned of, and what the run had cost by then."""

    finding: Finding
    cost: MicroUsd

    def cleared_by(self, call: Call, renewed: bool = False) -> bool:
        """Whether a call is progress; `renewed`: a person has spoken, and its agent began anew."""
        if renewed:
            return True
        if call.news is not News.NEW:
            return False
        return self.finding.reason != DRIFT or call.effect == effects.WRITE


def suspected(call: Call, findings: Iterable[Finding]) -> Suspicion | None:
    """The suspicion that arises at a call, if one does."""
    for finding in findings:
        if finding.severity is Severity.WARN and finding.reason in _SUSPECTED:
            return Suspicion(finding, call.run_cost)
    return None


def confirmed(suspicion: Suspicion, call: Call, share: float, budget: MicroUsd | None) -> Finding | None:
    """The stop that is due when so large a `share` of the run's `budget` was spent on nothing."""
    spent = call.run_cost - suspicion.cost
    if not share or not budget or spent < share * budget:
        return None
    finding = suspicion.finding
    percent = 100 * spent // budget
    return replace(
        finding,
        severity=Severity.STOP,
        message=f"{finding.message}; since then the run has spent {percent} % of its budget on nothing new",
        span_id=call.event.span_id,
        call=call.number,
        spans=(*finding.spans, call.event.span_id)[-16:],
        observed=float(percent),
        limit=100 * share,
        rule="suspicion",
    )
