"""What may be spent: a budget, whom it is for, and what happens when it runs out.

Rule 1: plain frozen data; who keeps count is `budgets/`. Rule 2: amounts are whole numbers in the budget's
own measure: micro-dollars, tokens or calls. Rule 3: one call is charged to every budget that covers it, so a
tree of budgets is several that cover the same call. It does not know where budgets are written down.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, NamedTuple

from spanfuse_processor.engine.nouns import MicroUsd
from spanfuse_processor.engine.reach import Degrading, Reach
from spanfuse_processor.engine.verdicts import Mode


class Measure(StrEnum):
    """What a budget counts."""

    USD = "usd"  # micro-dollars
    TOKENS = "tokens"  # input and output of model calls
    CALLS = "calls"  # calls of models, embeddings and tools


class Period(StrEnum):
    """For how long an amount lasts. Calendar periods begin in the budget's own zone."""

    HOURLY = "hourly"
    DAILY = "daily"
    WEEKLY = "weekly"
    MONTHLY = "monthly"
    ROLLING = "rolling"  # the last `window` seconds
    RUN = "run"  # each run has one of its own


class Reaction(StrEnum):
    """What is done when a mark is reached, mildest first (row B4)."""

    WARN = "warn"
    THROTTLE = "throttle"
    DEGRADE = "degrade"
    STOP = "stop"


@dataclass(frozen=True, slots=True)
class Mark:
    """A share of the limit (0.8 is 80 %) and what is done from there on."""

    at: float
    react: Reaction = Reaction.WARN


WHOLE: Final = Mark(1.0, Reaction.STOP)
MARKS: Final = (Mark(0.5), Mark(0.8), WHOLE)
"""The marks of a budget that names none."""


@dataclass(frozen=True, slots=True)
class Forecasting:
    """What is done when the forecast says that the budget runs out early.

    `react` from the moment that both rates, the long and the short, leave less than `within` (a share of the
    period) until it is spent. Never before `after` (a share) of the period and `calls` calls of it.
    """

    react: Reaction = Reaction.WARN
    within: float = field(default=0.15, metadata={"most": 1})
    after: float = field(default=0.10, metadata={"most": 1})
    calls: int = 20


@dataclass(frozen=True, slots=True)
class Budget:
    """One budget. `limit` is for each period, in the measure's own unit.

    `per` are fields of a payer by whose values it is counted apart: with ("user",) every user has the whole
    limit. `zone` is an IANA time zone, `reset` the seconds after local midnight at which a period begins,
    `weekday` (0: Monday) and `day` (1-28) on which day of a week or a month. `window` is that of a rolling
    one, in seconds. `strict`: nothing is spent that was not reserved before, so it is never overrun; `safe`
    is how much each application may still spend of a strict one when the processor is lost, `patience` how
    many seconds a call waits for what others hold of it. While it throttles, `pace` calls a second are let
    through; after `block_after` seconds of that (0: never), or when it has cost a fiftieth of the limit
    meanwhile (at least 0.25 USD), it stops (row B4). `mode` is how its reactions are meant.
    """

    name: str
    limit: int
    measure: Measure = Measure.USD
    period: Period = Period.DAILY
    reach: Reach = Reach()
    per: tuple[str, ...] = ()
    zone: str = "UTC"
    reset: int = 0
    weekday: int = 0
    day: int = 1
    window: float = 0.0
    strict: bool = False
    safe: int = 0
    patience: float = 5.0
    marks: tuple[Mark, ...] = MARKS
    forecast: Forecasting = Forecasting()
    degrading: Degrading = Degrading()
    pace: float = 0.5
    block_after: float = 60.0
    mode: Mode = Mode.ENFORCE


class Account(NamedTuple):
    """One count of one budget: the budget's name, and the values by which it is counted apart."""

    budget: str
    values: tuple[str, ...] = ()

    def __str__(self) -> str:
        r"""As people and the wire name it: ``daily``, ``daily[ann]``; no two accounts alike.

        >>> str(Account("daily", ("ann", "chat"))), str(Account("daily", ("ann,chat",)))
        ('daily[ann,chat]', 'daily[ann\\,chat]')
        """
        if not self.values:
            return self.budget
        return f"{self.budget}[{','.join(map(_escaped, self.values))}]"


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace(",", "\\,") if "," in value or "\\" in value else value


class Amounts(NamedTuple):
    """What one call costs, or is thought to, in every measure."""

    usd: MicroUsd = 0
    tokens: int = 0
    calls: int = 1

    def of(self, measure: Measure) -> int:
        """In one measure."""
        return int(getattr(self, measure.value))
