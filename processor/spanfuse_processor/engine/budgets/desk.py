"""The desk of one account: all about it but its money: what is watched, forecast and ordered of it.

Rule 1: what an account has told, and what was learnt of its spend, outlives the process (`dump`); what was
ordered does not: a new life orders anew. Rule 2: a period in which something was done about spend teaches
nothing. Rule 3: a forecast holds until something worth a new one has been spent, or has passed. It does not
count money.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import isinf
from typing import Any, Final

from spanfuse_processor.engine.alerts import BudgetEvent, Condition
from spanfuse_processor.engine.budget import Account, Amounts, Budget, Period, Reaction
from spanfuse_processor.engine.budgets.book import Balance
from spanfuse_processor.engine.budgets.watch import AccountWatch
from spanfuse_processor.engine.forecast import Forecast
from spanfuse_processor.engine.forecasts.budgets import BudgetForecaster
from spanfuse_processor.engine.verdicts import Mode

LEAST: Final = 1.0
"""Seconds that an order holds at least."""
FINE: Final = 0.001
"""A forecast is made anew once this share of the limit was spent since, or of the period has passed."""
AGE: Final = 10.0
"""Seconds after which it is made anew anyway."""
_COME: Final = frozenset({Condition.MARK, Condition.BLOCKED})
LASTING: Final = 86_400.0
"""Seconds that an order holds where its period has no end: a run's."""


class Desk:
    """One account's.

    Attributes:
        last: how the account stood when it was last looked at.
        ordered: what is ordered now, and the event that it was ordered for.
        curbed: something was ordered in this period that holds its spend down.
        rolls: its period has neither a beginning nor an end.
        at: where its measure stands in `Amounts`.
        apart: its budget has more accounts than this one.
    """

    __slots__ = (
        "_age", "_forecast", "apart", "at", "curbed", "forecaster", "last", "ordered", "rolls", "watch",
    )  # fmt: skip

    def __init__(self, account: Account, budget: Budget, now: Balance) -> None:
        self.watch = AccountWatch(account, budget, now.start)
        self.forecaster = _forecaster(budget, now)
        self.last = now
        self.ordered: dict[Reaction, BudgetEvent] = {}
        self.curbed = False
        self.rolls = budget.period is Period.ROLLING
        self.at = Amounts._fields.index(budget.measure.value)
        self.apart = bool(account.values)
        self._forecast: Forecast | None = None
        self._age = min(AGE, FINE * (budget.window if self.rolls else now.end - now.start))

    def foresee(self, balance: Balance, more: int, wall: float) -> Forecast | None:
        """What lies ahead, once so much more is spent."""
        if self.forecaster is None:
            return None
        if more > 0:
            self.forecaster.observe(wall, more)
        said, spent = self._forecast, balance.spent
        if (
            said is not None
            and said.limit == balance.limit
            and said.at <= wall < said.at + self._age
            and said.spent <= spent < said.spent + FINE * said.limit
            and (said.end is None or wall < said.end)
        ):
            return said
        self._forecast = said = self.forecaster.forecast(
            wall, spent, balance.limit, balance.start, balance.end, balance.calls
        )
        return said

    @property
    def busy(self) -> bool:
        """Whether anything is, or is to be, done about it, or time alone may change that."""
        watch = self.watch
        return bool(self.ordered or watch.reactions() or watch.restless)

    def order(self, reaction: Reaction, reason: BudgetEvent) -> None:
        """Notes what is ordered."""
        self.ordered[reaction] = reason
        self.curbed |= reason.mode is Mode.ENFORCE

    def close(self, start: float, end: float, spent: int) -> None:
        """Its period is over."""
        if self.forecaster is not None:
            self.forecaster.close(start, end, spent, self.curbed)
        self.curbed = False

    def ttl(self, wall: float) -> float:
        """Seconds until the period is over; of a rolling one, until nothing of now counts any more."""
        if self.rolls:
            return self.watch.budget.window
        return LASTING if isinf(self.last.end) else max(LEAST, self.last.end - wall)

    def reason(self, reaction: Reaction, events: list[BudgetEvent], wall: float) -> BudgetEvent:
        """The event that an order is given for: of those that brought it the gravest, what has come before
        what is forecast; told before, when this look brought none."""
        brought = [each for each in events if each.reaction is reaction]
        if not brought:
            return self.watch.because(reaction, self.last, wall)
        return max(brought, key=lambda each: (each.condition in _COME, each.share))

    def inherit(self, other: Desk) -> None:
        """Goes on with what was learnt of the same account when its budget was another."""
        one, before = self.watch.budget, other.watch.budget
        if (one.measure, one.period, one.window) == (before.measure, before.period, before.window):
            self.forecaster, self.curbed = other.forecaster, other.curbed

    def dump(self) -> dict[str, Any]:
        """All that is to outlive the process, as plain data."""
        account = self.watch.account
        return {
            "account": [account.budget, list(account.values)],
            "watch": self.watch.dump(),
            "forecaster": self.forecaster.dump() if self.forecaster else None,
            "curbed": self.curbed,
        }

    def load(self, dump: Mapping[str, Any]) -> None:
        """Takes up what was dumped.

        Raises:
            ValueError, KeyError, TypeError: it is none.
        """
        self.watch.load(dump["watch"])
        self.curbed = bool(dump["curbed"])
        if self.forecaster is not None and dump["forecaster"]:
            self.forecaster.load(dump["forecaster"])


def _forecaster(budget: Budget, now: Balance) -> BudgetForecaster | None:
    if budget.period is Period.RUN:
        return None
    rolling = budget.period is Period.ROLLING
    return BudgetForecaster(budget.window if rolling else now.end - now.start, budget.forecast, rolling)
