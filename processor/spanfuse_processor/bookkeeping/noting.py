"""What is told of budgets, as events for the record.

Rule: the body has all that the columns have not, in the units of people: dollars, tokens, calls; times in
seconds since the epoch. It does not know who reads it.
"""

from __future__ import annotations

import json
import math

from spanfuse_processor.engine.alerts import BudgetEvent
from spanfuse_processor.engine.budget import Measure, Reaction
from spanfuse_processor.store import EventRow


def note_of(event: BudgetEvent) -> EventRow:
    """The row of a budget's event."""
    unit = 1_000_000 if event.measure is Measure.USD else 1
    body = {
        "condition": event.condition.value,
        "reaction": event.reaction.value,
        "mode": event.mode.value,
        "share": event.share,
        "measure": event.measure.value,
        "spent": event.spent / unit,
        "limit": event.limit / unit,
        "start": event.start if math.isfinite(event.start) else None,
        "end": event.end if math.isfinite(event.end) else None,
        "exhausted_at": event.exhausted_at,
        "steps": [event.run.steps_low, event.run.steps_high] if event.run else None,
        "words": event.words(),
    }
    return EventRow(
        event.id,
        event.wall,
        "budget",
        severity="yellow" if event.reaction is Reaction.WARN else "red",
        key=str(event.account),
        trace_id=event.trace_id.hex(),
        span_id=event.span_id.hex(),
        body=json.dumps(body),
    )
