"""What a policy's budgets mean for one call, in words: part of `spanfuse check --explain`.

Rule 1: which budgets cover the call is asked of the engine's own accounts. Rule 2: a budget that would cover
it, and counts by what was not said of the call, is named with that. It does not know what was spent.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from spanfuse_processor.engine.budget import Budget, Forecasting, Measure, Period, Reaction
from spanfuse_processor.engine.budget_section import Weekday, dollars
from spanfuse_processor.engine.budgets.accounts import account_of, counted_by
from spanfuse_processor.engine.policy import Policy
from spanfuse_processor.engine.reach import Payer
from spanfuse_processor.engine.verdicts import Mode

_DID = {"warn": "warns", "throttle": "throttles", "degrade": "degrades", "stop": "stops"}
_UNIT = {Period.HOURLY: "an hour", Period.DAILY: "a day", Period.WEEKLY: "a week", Period.MONTHLY: "a month"}


def explain_budgets(policy: Policy, payer: Payer) -> Iterator[str]:
    """The lines that say to which budgets a call of `payer` is charged; none of a policy without budgets."""
    if not policy.budgets:
        return
    lines = [line for budget in policy.budgets for line in _said(budget, payer)]
    yield "budgets:" if lines else "budgets: none covers it"
    yield from lines


def _said(budget: Budget, payer: Payer) -> Iterator[str]:
    account = account_of(budget, payer)
    if account is not None:
        yield f"  {account}: {describe(budget)}"
    elif budget.reach.covers(payer):
        unknown = [name for name in counted_by(budget) if not getattr(payer, name)]
        yield f"  {budget.name}: counted by {', '.join(unknown)}, which the call does not say"


def describe(budget: Budget) -> str:
    """One budget, in a line.

    >>> describe(Budget("daily", 25_000_000, strict=True, zone="Europe/Berlin"))
    '25 USD a day (Europe/Berlin), strict; warns at 50 %, warns at 80 %, stops at 100 %'
    """
    strict = ", strict" if budget.strict else ""
    marks = [f"{_DID[mark.react]} at {mark.at * 100:.10g} %" for mark in budget.marks] or ["no marks"]
    did = ", ".join(marks + _ahead(budget.forecast))
    mode = "" if budget.mode is Mode.ENFORCE else f" (mode: {budget.mode.value})"
    return f"{_amount(budget)} {_period(budget)}{strict}; {did}{mode}"


def _ahead(forecast: Forecasting) -> list[str]:
    """What is done before the limit; the warning that every budget gives is not worth a word."""
    if not forecast.within or forecast.react is Reaction.WARN:
        return []
    return [f"{_DID[forecast.react]} when a forecast has it run out early"]


def _amount(budget: Budget) -> str:
    if budget.measure is Measure.USD:
        return f"{dollars(budget.limit).quantize(Decimal('0.000001')).normalize():,f} USD"
    return f"{budget.limit:,} {budget.measure.value}"


def _period(budget: Budget) -> str:
    if budget.period is Period.RUN:
        return "a run"
    if budget.period is Period.ROLLING:
        return f"in any {_length(budget.window)}"
    begins = [list(Weekday)[budget.weekday].capitalize()] if budget.period is Period.WEEKLY else []
    begins += [f"day {budget.day}"] if budget.day > 1 else []
    begins += [_clock(budget)] if budget.reset else []
    since = f" from {' '.join(begins)}" if begins else ""
    return f"{_UNIT[budget.period]}{since} ({budget.zone})"


def _clock(budget: Budget) -> str:
    minutes = budget.reset // 60
    return f":{minutes:02}" if budget.period is Period.HOURLY else f"{minutes // 60:02}:{minutes % 60:02}"


def _length(seconds: float) -> str:
    for unit, name in ((86_400, "days"), (3_600, "hours"), (60, "minutes")):
        if seconds >= 2 * unit and seconds % unit == 0:
            return f"{seconds / unit:.0f} {name}"
    return f"{seconds:.10g} seconds"
