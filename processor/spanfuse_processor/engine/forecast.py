"""What is forecast of spend: when a budget runs out, what its period will come to, what a run will need.

Rule 1: a forecaster is told of money and of time, and answers; it has no clock and decides nothing. Rule 2:
nothing is said before there is enough to say it from, and what is not known is None: never infinite, never
NaN. Rule 3: amounts are in the budget's own measure (micro-dollars, tokens or calls), rates a second, times
wall time in seconds since the epoch. It does not know accounts, nor what is done about a forecast.

`forecasts/budgets.py` has the forecaster of a budget, `forecasts/runs.py` that of runs. How right they are is
measured: see docs/forecast.md. The total of a run is weak by nature: warn with it, stop no run on it.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final, NamedTuple, Protocol

from spanfuse_processor.engine.budget import Forecasting

RUNAWAY: Final = 3.0  # times the long rate
LIKELY: Final = 0.75  # the probability from which a budget is likely exceeded, once half of it is spent
UNLIKELY: Final = 0.5  # below it no longer


class Alarm(StrEnum):
    """What a forecast may be alarming for, most urgent first."""

    IMMINENT = "imminent"  # both rates say that the budget runs out soon: page
    RUNAWAY = "runaway"  # the short rate alone says so, and is far above the long one: page
    LIKELY = "likely"  # the period will probably end over the limit: a ticket; weak early in a period


class Forecast(NamedTuple):
    """One budget, looked ahead at from `at`.

    Attributes:
        at, end: the moment that it speaks of, and when the period ends (None: it rolls).
        period: seconds of the whole period.
        spent, limit: what was spent of the period's limit.
        rate_short, rate_long: spend a second, by a short and by a long memory.
        tte_short, tte_long: seconds until the limit is reached at these rates; 0 when it is; None: never.
        exhausted_at: when the budget runs out, if that is before the period ends; else None.
        total_low, total_mid, total_high: what the period will come to, with a band that holds in 80 % of
            periods; the band is None before 9 periods of this budget are over, all three of a rolling one.
        exceed_probability: that the period ends over the limit; None before there is a band.
        coverage: the share of finished periods that ended inside the band said at half time; None: no such.
        observations: finished periods that the band rests on.
    """

    at: float
    end: float | None
    period: float
    spent: float
    limit: float
    rate_short: float
    rate_long: float
    tte_short: float | None
    tte_long: float | None
    exhausted_at: float | None
    total_low: float | None = None
    total_mid: float | None = None
    total_high: float | None = None
    exceed_probability: float | None = None
    coverage: float | None = None
    observations: int = 0


class RunForecast(NamedTuple):
    """One run, looked ahead at from its last step.

    Attributes:
        steps, spent: so far.
        steps_low, steps_mid, steps_high: with how many more steps the cap is reached; None: not known.
        total_low, total_mid, total_high: the final total, with an interval that holds in 90 % of runs. Weak.
            None before 20 runs of this agent have finished.
        coverage: the share of this agent's finished runs that ended inside their interval; None: none yet.
        finished: runs of this agent that the interval rests on.
    """

    steps: int
    spent: float
    steps_low: int | None = None
    steps_mid: int | None = None
    steps_high: int | None = None
    total_low: float | None = None
    total_mid: float | None = None
    total_high: float | None = None
    coverage: float | None = None
    finished: int = 0


class BudgetForecasting(Protocol):
    """The forecaster of one account."""

    def observe(self, wall: float, amount: float) -> None:
        """Spend of `amount` became known at `wall`; a correction downward counts as nothing."""

    def forecast(
        self, wall: float, spent: float, limit: float, start: float, end: float, calls: int
    ) -> Forecast | None:
        """Looks ahead from `wall`. None: too early in the period, or too few calls of it, to say anything."""

    def close(self, start: float, end: float, total: float, curbed: bool = False) -> None:
        """A period is over and came to `total`: what was said of it is compared and learnt from.

        `curbed`: something was done that held its total down (calls were refused, slowed down or made
        cheaper), so that it teaches nothing.
        """

    def dump(self) -> dict[str, Any]:
        """All that it knows, as plain data."""

    def load(self, dump: Mapping[str, Any]) -> None:
        """Takes up what another knew. Raises ValueError when it is no dump of such a forecaster."""


class RunForecasting(Protocol):
    """The forecaster of runs, of all agents."""

    def observe(self, run: str, agent: str, amount: float) -> None:
        """A step of a run ended and cost `amount`. A run belongs to the agent that it was first seen with."""

    def forecast(self, run: str, cap: float) -> RunForecast | None:
        """Looks ahead from the run's last step to a `cap` (0: it has none). None: the run is not known."""

    def finish(self, run: str, stopped: bool) -> None:
        """A run is over. One that was `stopped` by somebody is forgotten: its total is no total."""

    def dump(self) -> dict[str, Any]:
        """What was learnt of agents, as plain data; runs that are under way are not in it."""

    def load(self, dump: Mapping[str, Any]) -> None:
        """Takes up what another had learnt. Raises ValueError when it is no dump of such a forecaster."""


def alarm(forecast: Forecast, policy: Forecasting) -> Alarm | None:
    """What a forecast is alarming for, the most urgent; None: nothing.

    A thing comes and goes with the rates: who tells people of it does so once a period.

    >>> calm = Forecast(0.0, 3600.0, 3600.0, 50.0, 100.0, 0.02, 0.02, 2500.0, 2500.0, 2500.0)
    >>> alarm(calm, Forecasting()), alarm(calm._replace(tte_short=500.0, tte_long=530.0), Forecasting())
    (None, <Alarm.IMMINENT: 'imminent'>)
    """
    soon = policy.within * forecast.period
    if forecast.end is not None:
        soon = min(soon, forecast.end - forecast.at)
    if forecast.tte_short is not None and forecast.tte_short < soon and 0 < forecast.spent:
        if forecast.tte_long is not None and forecast.tte_long < soon:
            return Alarm.IMMINENT
        if forecast.rate_short >= RUNAWAY * forecast.rate_long:
            return Alarm.RUNAWAY
    half = forecast.spent >= 0.5 * forecast.limit
    return Alarm.LIKELY if half and (forecast.exceed_probability or 0.0) >= LIKELY else None
