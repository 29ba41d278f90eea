"""What an operator may order: a kind, the key that it is about, and who says so.

Rule 1: frozen plain data. Rule 2: an order that changes nothing is no error for the engine: it answers
with no verdict. This file does not know how orders arrive, nor who may give them.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from spanfuse_processor.engine.nouns import BreakerKey


class OrderKind(StrEnum):
    """KILL stops a key, RELEASE takes any stop back, DISABLE lets nothing stop it but a kill.

    THROTTLE slows it: no matter of a breaker. Whoever gives it publishes it; the engine has nothing to say.
    """

    KILL = "kill"
    RELEASE = "release"
    DISABLE = "disable"
    THROTTLE = "throttle"


@dataclass(frozen=True, slots=True)
class Order:
    """One order. `reason` is for people and is kept with the directive; `issuer` signs it."""

    kind: OrderKind
    key: BreakerKey
    reason: str = ""
    issuer: str = ""
