"""What is told of budgets, as events for the record: marks and stops, and forecasts of them.

Rule: the body has all that the columns have not, in the units of people: dollars, tokens, calls; times in
seconds since the epoch. It does not know who reads it.
"""

from __future__ import annotations

import math
from typing import Any, Final

from spanfuse_processor.bookkeeping.bodies import body_of
from spanfuse_processor.engine.alerts import BudgetEvent, Condition
from spanfuse_processor.engine.budget import Measure, Reaction
from spanfuse_processor.engine.reach import PAYER_FIELDS
from spanfuse_processor.store import EventRow, StepRow

FORECASTS: Final = frozenset({Condition.IMMINENT, Condition.RUNAWAY, Condition.LIKELY, Condition.STEPS})
"""What is foreseen; all else has happened."""


def note_of(event: BudgetEvent, step: StepRow | None = None, policy: str = "") -> EventRow:
    """The row of a budget's event. `step` is the call that brought it, `policy` the version in force."""
    money = event.measure is Measure.USD
    unit = 1_000_000 if money else 1
    spent, limit = event.spent / unit, event.limit / unit
    body = {
        "budget": event.account.budget,
        "account": event.account.values,
        "detector": "budget",
        "rule": event.condition.value,
        "reason": event.condition.name,
        "message": event.words(),
        "action": event.reaction.value,
        "observed": spent,
        "spent_usd": spent if money else None,
        "limit_usd": limit if money else None,
        "policy": policy,
        "condition": event.condition.value,
        "reaction": event.reaction.value,
        "mode": event.mode.value,
        "share": event.share,
        "measure": event.measure.value,
        "spent": spent,
        "limit": limit,
        "start": event.start if math.isfinite(event.start) else None,
        "end": event.end if math.isfinite(event.end) else None,
        "exhausted_at": event.exhausted_at,
        "steps": [event.run.steps_low, event.run.steps_high] if event.run else None,
        "words": event.words(),
    }
    who: dict[str, Any] = {name: getattr(step, name) for name in PAYER_FIELDS} if step else {}
    return EventRow(
        event.id,
        event.wall,
        "forecast" if event.condition in FORECASTS else "budget",
        severity="yellow" if event.reaction is Reaction.WARN else "red",
        key=str(event.account),
        trace_id=event.trace_id.hex(),
        span_id=event.span_id.hex(),
        body=body_of(body),
        **who,
    )
