"""What is told of a budget: that a mark was reached, that it will run out, what is done about it.

Rule 1: once for each condition and period, however often it comes back. Rule 2: an event is evidence: plain
frozen data, with what was spent and until when the period lasts. It does not know who is told, nor how.
"""

from __future__ import annotations

from enum import StrEnum
from math import isinf
from typing import NamedTuple

from spanfuse_processor.engine.budget import Account, Measure, Reaction
from spanfuse_processor.engine.forecast import RunForecast
from spanfuse_processor.engine.verdicts import Directive, Mode, Removal
from spanfuse_processor.engine.wording import duration, figure, moment, part_of, percent


class Condition(StrEnum):
    """Why something is told."""

    MARK = "mark"  # a share of the limit was reached
    IMMINENT = "imminent"  # both rates say that it runs out soon
    RUNAWAY = "runaway"  # the short rate says so, and is far above the long one
    LIKELY = "likely"  # the period will probably end over the limit
    BLOCKED = "blocked"  # throttling has not helped: it is stopped
    STEPS = "steps"  # a run is a few steps from what it may cost


class BudgetEvent(NamedTuple):
    """One thing told of one account.

    Attributes:
        account, measure: which count, and what it counts.
        condition: why it is told; `share` is the mark that was reached (1.0: the whole limit), else 0.
        reaction, mode: what is done from now on, and how it is meant.
        wall: when, in seconds since the epoch; `start` and `end` are those of the period.
        spent, limit: in the measure's own unit.
        exhausted_at: when it runs out by the forecast, None where there is none or it does not.
        trace_id, span_id: the call that brought it, empty where time did.
        run: of a run's steps: with how many more it ends, and what it will come to, which is weak.
    """

    account: Account
    measure: Measure
    condition: Condition
    reaction: Reaction
    mode: Mode
    wall: float
    start: float
    end: float
    spent: int
    limit: int
    share: float = 0.0
    exhausted_at: float | None = None
    trace_id: bytes = b""
    span_id: bytes = b""
    run: RunForecast | None = None

    @property
    def id(self) -> str:
        """The same for the same condition of the same period and limit: who hears of it twice can tell."""
        what = f"{self.condition.value}@{self.share:g}" if self.share else self.condition.value
        return f"{self.account}/{what}/{int(self.start)}/{self.limit}"

    def words(self) -> str:
        """For a person.

        >>> seen = BudgetEvent(Account("daily"), Measure.USD, Condition.MARK, Reaction.WARN, Mode.ENFORCE,
        ...     50.0, 0.0, 86400.0, 8_100_000, 10_000_000, share=0.8)
        >>> seen.words()
        'Budget daily has reached 80 % of its limit: 8.10 of 10.00 USD are spent.'
        """
        spent = part_of(self.spent, self.limit, self.measure)
        whole = self.condition is Condition.MARK and self.share == 1.0
        said = "has reached its limit" if whole else _WORDS[self.condition]
        said = said.format(share=percent(self.share), left=self._left(), steps=self._steps())
        return f"Budget {self.account} {said}: {spent} are spent.{self._total()}{self._until()}"

    def _until(self) -> str:
        """What ends a stop."""
        if self.reaction is not Reaction.STOP or self.mode is not Mode.ENFORCE:
            return ""
        if self.end <= self.wall:
            return " Calls go on when old spend counts no more, or as soon as the limit is raised."
        if isinf(self.end):
            return " Calls go on as soon as the limit is raised."
        return f" Calls go on at {moment(self.end)}, or as soon as the limit is raised."

    def _left(self) -> str:
        if self.exhausted_at is None:
            return "soon"
        return f"in {duration(max(0.0, self.exhausted_at - self.wall))}"

    def _steps(self) -> str:
        low, high = (self.run.steps_low, self.run.steps_high) if self.run else (None, None)
        if low is None:
            return "a few steps"
        few = str(low) if high in (low, None) else f"{low} to {high}"
        return f"{few} step{'' if few == '1' else 's'}"

    def _total(self) -> str:
        """What such runs come to, where that is known."""
        run = self.run
        if run is None or run.total_low is None or run.total_mid is None or run.total_high is None:
            return ""
        totals = [round(each) for each in (run.total_low, run.total_mid, run.total_high)]
        low, mid, high = (figure(each, self.measure, *totals) for each in totals)
        unit = _UNITS[self.measure]
        return f" It would come to about {mid} {unit} ({low} to {high}, by {run.finished} runs before)."


class Notice(NamedTuple):
    """What comes of money: something to tell, an order, an order taken back; any of them may be missing."""

    event: BudgetEvent | None = None
    directive: Directive | None = None
    removal: Removal | None = None


_UNITS = {Measure.USD: "USD", Measure.TOKENS: "tokens", Measure.CALLS: "calls"}
_WORDS = {
    Condition.MARK: "has reached {share} of its limit",
    Condition.IMMINENT: "runs out {left}, before its period ends",
    Condition.RUNAWAY: "is being spent several times faster than usual and runs out {left}",
    Condition.LIKELY: "will probably be exceeded",
    Condition.BLOCKED: "was not spared by slowing down, and is stopped",
    Condition.STEPS: "of this run ends in {steps}",
}
