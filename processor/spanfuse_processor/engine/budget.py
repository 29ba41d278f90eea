"""What may be spent: a budget, whom it is for, and what happens when it runs out.

Rule 1: plain frozen data; who keeps count is `budgets/`. Rule 2: amounts are whole numbers in the budget's
own measure: micro-dollars, tokens or calls. Rule 3: one call is charged to every budget that covers it, so a
tree of budgets is several that cover the same call. It does not know where budgets are written down.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import Final, NamedTuple

from spanfuse_processor.engine.nouns import MicroUsd
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


class Payer(NamedTuple):
    """Who one call is charged to. Empty: not known, or not of a model, a tool or an agent."""

    tenant: str = ""
    service: str = ""
    namespace: str = ""
    feature: str = ""
    agent: str = ""
    user: str = ""
    model: str = ""
    tool: str = ""
    run: str = ""


PAYER_FIELDS: Final = Payer._fields


@dataclass(frozen=True, slots=True)
class Reach:
    """Which calls something is for. Each field is a shell-style pattern or several; one left out covers all.

    >>> Reach(feature=("support-*",)).covers(Payer(feature="support-mail")), Reach(user=("*",)).covers(Payer())
    (True, False)
    """

    tenant: tuple[str, ...] = ()
    service: tuple[str, ...] = ()
    namespace: tuple[str, ...] = ()
    feature: tuple[str, ...] = ()
    agent: tuple[str, ...] = ()
    user: tuple[str, ...] = ()
    model: tuple[str, ...] = ()
    tool: tuple[str, ...] = ()
    run: tuple[str, ...] = ()

    def covers(self, payer: Payer) -> bool:
        """Whether a call of `payer` is meant. What is not known matches no pattern."""
        for name, value in zip(PAYER_FIELDS, payer, strict=True):
            patterns = getattr(self, name)
            if patterns and not (value and any(fnmatchcase(value, each) for each in patterns)):
                return False
        return True


@dataclass(frozen=True, slots=True)
class Mark:
    """A share of the limit (0.8 is 80 %) and what is done from there on."""

    at: float
    react: Reaction = Reaction.WARN


WHOLE: Final = Mark(1.0, Reaction.STOP)
MARKS: Final = (Mark(0.5), Mark(0.8), WHOLE)
"""The marks of a budget that names none."""


@dataclass(frozen=True, slots=True)
class Degrading:
    """What calls give up while a budget is short: `models` names a cheaper model for a model, or for a
    pattern of models; `tools` (patterns) are no longer offered; answers have at most `output_tokens` (0: as
    before) and at most this `temperature` (None: as before)."""

    models: tuple[tuple[str, str], ...] = ()
    tools: tuple[str, ...] = ()
    output_tokens: int = 0
    temperature: float | None = None


@dataclass(frozen=True, slots=True)
class Forecasting:
    """What is done when the forecast says that the budget runs out early.

    `react` from the moment that both rates, the long and the short, leave less than `within` (a share of the
    period) until it is spent. Never before `after` (a share) of the period and `calls` calls of it.
    """

    react: Reaction = Reaction.WARN
    within: float = 0.15
    after: float = 0.10
    calls: int = 20


@dataclass(frozen=True, slots=True)
class Budget:
    """One budget. `limit` is for each period, in the measure's own unit.

    `per` are fields of a payer by whose values it is counted apart: with ("user",) every user has the whole
    limit. `zone` is an IANA time zone, `reset` the seconds after local midnight at which a period begins,
    `weekday` (0: Monday) and `day` (1-28) on which day of a week or a month. `window` is that of a rolling one,
    in seconds. `strict`: nothing is spent that was not reserved before, so it is never overrun; `safe` is
    how much each application may still spend of a strict one when the processor is lost. `pace` is how many calls a second are let
    through while it throttles. `mode` is how its reactions are meant.
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
    marks: tuple[Mark, ...] = MARKS
    forecast: Forecasting = Forecasting()
    degrading: Degrading = Degrading()
    pace: float = 0.5
    mode: Mode = Mode.ENFORCE


class Account(NamedTuple):
    """One count of one budget: the budget's name, and the values by which it is counted apart."""

    budget: str
    values: tuple[str, ...] = ()

    def __str__(self) -> str:
        """As people and the wire name it: ``daily`` or ``daily[ann]``."""
        return f"{self.budget}[{','.join(self.values)}]" if self.values else self.budget


class Amounts(NamedTuple):
    """What one call costs, or is thought to, in every measure."""

    usd: MicroUsd = 0
    tokens: int = 0
    calls: int = 1

    def of(self, measure: Measure) -> int:
        """In one measure."""
        return int(getattr(self, measure.value))
