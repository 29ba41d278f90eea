"""An event of a budget as a webhook's body, and its signature (the Standard Webhooks convention).

Rule 1: amounts in the budget's own unit, money in decimal dollars; times as RFC 3339 in UTC. Rule 2: the
signature is over id, time and the very bytes of the body, so that nothing of it can be changed or sent
again later. It does not know where it is sent.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from math import isinf
from typing import Final

from spanfuse_processor.engine.alerts import BudgetEvent
from spanfuse_processor.engine.budget import Measure

SCHEMA: Final = 1
PREFIX: Final = "whsec_"
"""Before a secret that is written in base64, as Standard Webhooks has it."""


def body_of(event: BudgetEvent) -> bytes:
    """The JSON body."""
    said = {
        "schema": SCHEMA,
        "id": event.id,
        "type": f"budget.{event.condition.value}",
        "timestamp": _time(event.wall),
        "message": event.words(),
        "budget": event.account.budget,
        "values": list(event.account.values),
        "measure": event.measure.value,
        "spent": _amount(event.spent, event.measure),
        "limit": _amount(event.limit, event.measure),
        "share": event.share or None,
        "reaction": event.reaction.value,
        "mode": event.mode.value,
        "period_start": _time(event.start),
        "period_end": None if isinf(event.end) else _time(event.end),
        "exhausted_at": None if event.exhausted_at is None else _time(event.exhausted_at),
        "seconds_left": _left(event),
        "steps_left": _steps(event),
        "run_total": _total(event),
        "trace_id": event.trace_id.hex() or None,
        "span_id": event.span_id.hex() or None,
    }
    return json.dumps(said, separators=(",", ":")).encode()


def headers(event_id: str, seconds: int, body: bytes, secret: str) -> Mapping[str, str]:
    """What goes with a body; without a secret it is not signed.

    >>> headers("e1", 1_700_000_000, b"{}", "")
    {'content-type': 'application/json', 'webhook-id': 'e1', 'webhook-timestamp': '1700000000'}
    """
    known = {"content-type": "application/json", "webhook-id": event_id, "webhook-timestamp": str(seconds)}
    if secret:
        known["webhook-signature"] = f"v1,{sign(event_id, seconds, body, secret)}"
    return known


def sign(event_id: str, seconds: int, body: bytes, secret: str) -> str:
    """HMAC-SHA256 in base64. A secret after `whsec_` is base64 itself."""
    key = base64.b64decode(secret.removeprefix(PREFIX)) if secret.startswith(PREFIX) else secret.encode()
    text = f"{event_id}.{seconds}.".encode() + body
    return base64.b64encode(hmac.digest(key, text, hashlib.sha256)).decode()


def _amount(amount: int, measure: Measure) -> str | int:
    """Decimal dollars as text, for a float would not be exact; counts as numbers."""
    return f"{Decimal(amount) / 1_000_000:.6f}" if measure is Measure.USD else amount


def _steps(event: BudgetEvent) -> Sequence[int | None] | None:
    """With how many more steps a run ends, at least and at most."""
    return [event.run.steps_low, event.run.steps_high] if event.run else None


def _total(event: BudgetEvent) -> Sequence[str | int] | None:
    """What the run will come to: at least, probably, at most. Weak; None before enough such runs are over."""
    run = event.run
    if run is None or run.total_low is None or run.total_mid is None or run.total_high is None:
        return None
    return [_amount(round(each), event.measure) for each in (run.total_low, run.total_mid, run.total_high)]


def _left(event: BudgetEvent) -> float | None:
    return None if event.exhausted_at is None else round(max(0.0, event.exhausted_at - event.wall), 3)


def _time(wall: float) -> str:
    return datetime.fromtimestamp(wall, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
