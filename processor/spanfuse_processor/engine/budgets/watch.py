"""One account watched: which marks it has reached, what the forecast says of it, and what is done by now.

Rule 1: a condition is told once a period; of a budget that rolls, once in as long as its window. Rule 2: what
was ordered because of a mark holds until the period ends, or, of one that rolls, until clearly less is spent;
what was ordered because of a forecast is lifted when it has been calm for a while. Rule 3: throttling that
lasts, or that still costs too much, becomes a stop (row B4), for as long as it would have throttled. It does
not count money, nor give orders: it says which reactions hold now.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from typing import Any, Final

from spanfuse_processor.engine.alerts import BudgetEvent, Condition
from spanfuse_processor.engine.budget import Account, Budget, Measure, Period, Reaction
from spanfuse_processor.engine.budgets.book import Balance
from spanfuse_processor.engine.forecast import Alarm, Forecast, alarm

CALM: Final = 0.05
"""For which share of its period a forecast must have been calm before what it brought about is lifted."""
LEFT: Final = 0.95
"""A mark of a budget that rolls is left when less than this share of it is spent."""
COSTLY: Final = 0.02
"""The share of the limit that throttled calls may cost before they are stopped, and in money at least:"""
CHEAP: Final = 250_000  # micro-dollars

_URGENT: Final = frozenset({Alarm.IMMINENT, Alarm.RUNAWAY})
_CONDITIONS: Final = {
    Alarm.IMMINENT: Condition.IMMINENT,
    Alarm.RUNAWAY: Condition.RUNAWAY,
    Alarm.LIKELY: Condition.LIKELY,
}


class AccountWatch:
    """Watches one account of one budget."""

    __slots__ = (
        "_alarmed",
        "_blocked",
        "_calm_since",
        "_least",
        "_looked",
        "_marks",
        "_most",
        "_now",
        "_said",
        "_seen",
        "_since",
        "_spent",
        "_worked_out",
        "account",
        "budget",
        "start",
    )

    def __init__(self, account: Account, budget: Budget, start: float) -> None:
        self.account = account
        self.budget = budget
        self.start = start
        self._now: frozenset[Reaction] = frozenset()
        self._worked_out = 0, False, False
        self._seen: Forecast | None = None
        self._looked = 0.0
        self._begin()

    def _begin(self) -> None:
        self._marks = 0  # how many of the budget's marks were reached
        self._least, self._most = 0.0, -1.0  # between these no mark is reached or left
        self._said: dict[str, float] = {}  # and when
        self._alarmed = self._blocked = False
        self._calm_since: float | None = None
        self._since: float | None = None  # when it began to throttle
        self._spent = 0  # what had been spent then

    def look(self, now: Balance, forecast: Forecast | None, wall: float) -> list[BudgetEvent]:
        """What is new. A rolling budget has no end: its marks are left again as old spend falls away."""
        if wall - self._looked >= self.budget.window > 0.0:  # it rolls, and all that was spent then is gone
            self._marks, self._most = 0, -1.0
        self._looked = wall
        if now.start != self.start and self.budget.period is not Period.ROLLING:
            self.start = now.start
            self._begin()
        elif forecast is self._seen and self._least <= now.spent < self._most and not self.restless:
            return []
        self._seen = forecast
        events = self._reached(now, wall)
        if forecast is not None:
            events += self._foreseen(now, forecast, wall)
        if self._turns_to_a_block(now, wall) and self._is_news(Condition.BLOCKED.value, wall):
            events.append(self._event(Condition.BLOCKED, Reaction.STOP, now, wall))
        return events

    def reactions(self) -> frozenset[Reaction]:
        """What is done now. A stop makes everything milder needless."""
        state = self._marks, self._alarmed, self._blocked
        if state != self._worked_out:
            self._worked_out, self._now = state, self._reactions()
        return self._now

    def _reactions(self) -> frozenset[Reaction]:
        wanted = self._wanted()
        if self._blocked or Reaction.STOP in wanted:
            return frozenset({Reaction.STOP})
        return frozenset(wanted - {Reaction.WARN})

    def _wanted(self) -> set[Reaction]:
        """By marks and forecast alone."""
        wanted = self._marked()
        return wanted | {self.budget.forecast.react} if self._alarmed else wanted

    def _marked(self) -> set[Reaction]:
        """By marks alone."""
        return {mark.react for mark in self.budget.marks[: self._marks]}

    @property
    def _share(self) -> float:
        """The highest mark that was reached; 0: none."""
        return self.budget.marks[self._marks - 1].at if self._marks else 0.0

    def because(self, reaction: Reaction, now: Balance, wall: float) -> BudgetEvent:
        """Why that is done, told before. Where money is spent that is why, whatever had been forecast."""
        shares = [mark.at for mark in self.budget.marks[: self._marks] if mark.react is reaction]
        if self._blocked and not shares:
            return self._event(Condition.BLOCKED, reaction, now, wall)
        if not shares and now.spent >= now.limit:
            shares = [1.0]
        condition = Condition.MARK if shares else Condition.IMMINENT
        return self._event(condition, reaction, now, wall, share=max(shares, default=0.0))

    def dump(self) -> dict[str, Any]:
        """What was told in this period, as plain data."""
        said = dict(sorted(self._said.items()))
        return {
            "start": self.start,
            "marks": self._marks,
            "said": said,
            "blocked": self._blocked,
            "looked": self._looked,
        }

    def load(self, dump: Mapping[str, Any]) -> None:
        """Takes up what was dumped, as far as it is of this period and of these marks."""
        if dump["start"] == self.start or self.budget.period is Period.ROLLING:
            self._marks = min(int(dump["marks"]), len(self.budget.marks))
            self._said = {str(each): float(when) for each, when in dump["said"].items()}
            self._blocked = bool(dump["blocked"])
            self._looked, self._most = dump.get("looked", 0.0), -1.0

    @property
    def restless(self) -> bool:
        """Whether time alone may change what is done."""
        return self._alarmed or (self._since is not None and not self._blocked)

    def _reached(self, now: Balance, wall: float) -> list[BudgetEvent]:
        marks, events = self.budget.marks, []
        if self.budget.period is Period.ROLLING:
            while self._marks and now.spent < LEFT * self._share * now.limit:
                self._marks -= 1
        while self._marks < len(marks) and now.spent >= marks[self._marks].at * now.limit:
            mark = marks[self._marks]
            self._marks += 1
            if self._is_news(f"{Condition.MARK.value}@{mark.at:g}", wall):
                events.append(self._event(Condition.MARK, mark.react, now, wall, share=mark.at))
        rolls, left = self.budget.period is Period.ROLLING, marks[self._marks :]
        self._least = LEFT * self._share * now.limit if rolls else -inf
        self._most = left[0].at * now.limit if left else inf
        return events

    def _foreseen(self, now: Balance, forecast: Forecast, wall: float) -> list[BudgetEvent]:
        seen = alarm(forecast, self.budget.forecast)
        if seen in _URGENT:
            self._alarmed, self._calm_since = True, None
        elif self._alarmed:
            self._calm_since = wall if self._calm_since is None else self._calm_since
            self._alarmed = wall - self._calm_since < CALM * forecast.period
        condition = None if seen is None or self._is_past(now) else _CONDITIONS[seen]
        if condition is None or not self._is_news(condition.value, wall):
            return []
        react = self.budget.forecast.react if seen in _URGENT else Reaction.WARN
        return [self._event(condition, react, now, wall, exhausted_at=forecast.exhausted_at)]

    def _is_past(self, now: Balance) -> bool:
        """Whether what a forecast warns of has come: the budget is spent, or stopped because of what is."""
        return now.spent >= now.limit or self._blocked or Reaction.STOP in self._marked()

    def _turns_to_a_block(self, now: Balance, wall: float) -> bool:
        """Whether throttling has lasted, or cost, too much: true once."""
        budget = self.budget
        if Reaction.THROTTLE not in self._wanted() or not budget.block_after:
            self._since, self._blocked = None, False
            return False
        if Reaction.THROTTLE not in self.reactions():  # it is stopped already
            return False
        if self._since is None:
            self._since, self._spent = wall, now.spent
        allowed = COSTLY * now.limit
        allowed = max(allowed, CHEAP) if budget.measure is Measure.USD else allowed
        if wall - self._since < budget.block_after and now.spent - self._spent < allowed:
            return False
        self._blocked = True
        return True

    def _is_news(self, what: str, wall: float) -> bool:
        """Whether this has not been told in this period."""
        told = self._said.get(what)
        if told is not None and (
            self.budget.period is not Period.ROLLING or wall - told < self.budget.window
        ):
            return False
        self._said[what] = wall
        return True

    def _event(
        self,
        condition: Condition,
        reaction: Reaction,
        now: Balance,
        wall: float,
        *,
        share: float = 0.0,
        exhausted_at: float | None = None,
    ) -> BudgetEvent:
        return BudgetEvent(
            account=self.account,
            measure=self.budget.measure,
            condition=condition,
            reaction=reaction,
            mode=self.budget.mode,
            wall=wall,
            start=now.start,
            end=now.end,
            spent=now.spent,
            limit=now.limit,
            share=share,
            exhausted_at=exhausted_at,
        )
