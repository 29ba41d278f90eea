"""An answer to a directive, as plain data: for whoever records it without speaking the protocol.

Rule 1: an effect names the revision that it answers. Rule 2: latencies are seconds on the application's own
clock, None where nothing was measured. `effects.py` and `messages.py` make messages of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from spanfuse_processor.engine.verdicts import Action


class EffectState(StrEnum):
    """How far a directive got."""

    RECEIVED = "received"
    APPLIED = "applied"
    REJECTED = "rejected"
    EXPIRED = "expired"


@dataclass(frozen=True, slots=True)
class Effect:
    """One application's answer to one revision of a directive; counts are totals so far.

    `applied_after` runs from receipt to the first effect, `kill_latency` from the offending span's end
    to the closed gate. `error` says why it was rejected. `throttled_for` is how long throttled calls waited,
    all together.
    """

    directive_id: str
    revision: int
    state: EffectState
    error: str = ""
    calls_refused: int = 0
    tasks_cancelled: int = 0
    streams_closed: int = 0
    not_interruptible: int = 0
    applied_after: float | None = None
    kill_latency: float | None = None
    calls_throttled: int = 0
    throttled_for: float = 0.0
    calls_degraded: int = 0
    calls_not_degraded: int = 0


@dataclass(frozen=True, slots=True)
class Instance:
    """Who watches or reports, as in the resource of its spans. No actions named: it takes any."""

    service: str = ""
    id: str = ""
    version: str = ""
    attributes: Mapping[str, str] = field(default_factory=dict)
    supported: frozenset[Action] = frozenset()
