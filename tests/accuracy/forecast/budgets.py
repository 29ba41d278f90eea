"""The experiment on budgets: limits that are hit at a known moment and limits that are not, call by call.

Rule 1: the forecaster is used as a host uses it: told of every call, asked after every call, told of every
period's end, and never anew; what it learnt of one period it has in the next. Rule 2: the others are told and
asked at the same moments, and say nothing before a tenth of the period and twenty calls either. Rule 3: an
alarm counts from the first moment; for a limit that is hit, only before it is. It does not know a page.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from tests.accuracy.forecast.peers import Average, Line, PredictLinear
from tests.accuracy.forecast.series import Series, Stretch, periods

from spanfuse_processor.engine.budget import Forecasting
from spanfuse_processor.engine.forecast import Alarm, Forecast, alarm
from spanfuse_processor.engine.forecasts.budgets import BudgetForecaster
from spanfuse_processor.engine.forecasts.rates import half_lives

HIT: Final = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
NEAR: Final = (1.05, 1.1)
ROOMY: Final = (1.25, 1.5, 2.0)
SHARES: Final = HIT + NEAR + ROOMY
"""Limits, as shares of what is truly spent."""

SHORT, LONG = "short", "long"
US_SHORT, US_LONG = f"spanfuse, {SHORT} rate", f"spanfuse, {LONG} rate"
LINEAR_SHORT, LINEAR_LONG = f"predict_linear, {SHORT} window", f"predict_linear, {LONG} window"
PEERS: Final = (LINEAR_SHORT, LINEAR_LONG, "average since the start")
AVERAGE: Final = PEERS[2]
PAGE, PAGES = "spanfuse: imminent", "spanfuse: imminent or runaway"
STATIC: Final = "80 % of the limit"
POLICY: Final = Forecasting()
_SAID_AT: Final = 0.75  # of the limit
_WORST: Final = 1.0  # error, in periods
_NONE: Final = 1e-12


def soon(peer: str) -> str:
    """The alarm when little time is left, by our rule and another's line."""
    return f"{peer}: little time left"


def before_reset(peer: str) -> str:
    """The usual alarm: exceeded before the end."""
    return f"{peer}: exceeded before the end"


@dataclass
class Outcome:
    """One limit in one period. Times are shares of the period.

    Attributes:
        share: the limit, of what was truly spent.
        hit: when the limit was reached; None: it was not.
        errors: at three quarters of the limit, how far off each said the end to be.
        fired: when each alarm first came.
    """

    share: float
    hit: float | None = None
    errors: dict[str, float] = field(default_factory=dict)
    fired: dict[str, float] = field(default_factory=dict)


class Moment(NamedTuple):
    """What is known after a call: the time, what was spent, what others see, and whether they may speak."""

    wall: float
    part: float
    spent: float
    calls: int
    lines: dict[str, Line | None]
    ready: bool


def outcomes(series: Series, length: float) -> Iterator[Outcome]:
    """All limits of all periods of a series."""
    forecaster = BudgetForecaster(length)
    for period in periods(series, length):
        yield from judged(period, forecaster)
        forecaster.close(period.start, period.end, period.total)


def judged(period: Stretch, forecaster: BudgetForecaster) -> list[Outcome]:
    """One period, with all limits at once."""
    standing = {share: Outcome(share) for share in SHARES}
    said: dict[float, dict[str, float]] = {}
    done = []
    for moment in moments(period, forecaster):
        for share, outcome in list(standing.items()):
            limit = share * period.total
            if share < 1.0 and moment.spent >= limit * (1.0 - _NONE):
                done.append(_hit(standing.pop(share), moment, said.get(share, {})))
                continue
            forecast = forecaster.forecast(
                moment.wall, moment.spent, limit, period.start, period.end, moment.calls
            )
            if share < 1.0 and share not in said and moment.spent >= _SAID_AT * limit:
                said[share] = _ends(forecast, moment, limit, period)
            note(outcome.fired, forecast, moment, limit, period)
    return [*done, *standing.values()]


def moments(period: Stretch, forecaster: BudgetForecaster) -> Iterator[Moment]:
    """The calls of a period, one after the other; everybody is told of each."""
    short, long = half_lives(period.length)
    peers = {
        LINEAR_SHORT: PredictLinear(period.start, period.length, short),
        LINEAR_LONG: PredictLinear(period.start, period.length, long),
        AVERAGE: Average(period.start),
    }
    spent = calls = 0.0
    for each in period.spends:
        spent, calls = spent + each.amount, calls + each.calls
        forecaster.observe(each.wall, each.amount)
        for peer in peers.values():
            peer.observe(each.wall, spent)
        part = (each.wall - period.start) / period.length
        ready = part >= POLICY.after and calls >= POLICY.calls
        lines = {name: peer.at(each.wall) for name, peer in peers.items()}
        yield Moment(each.wall, part, spent, int(calls), lines, ready)


def _hit(outcome: Outcome, moment: Moment, said: dict[str, float]) -> Outcome:
    outcome.hit = moment.part
    outcome.errors = {name: min(_WORST, abs(end - moment.part)) for name, end in said.items()}
    return outcome


def _ends(forecast: Forecast | None, moment: Moment, limit: float, period: Stretch) -> dict[str, float]:
    """When each says that the limit is reached, as a share of the period; never: a period from now."""
    left = {name: line.until(limit) if line else None for name, line in moment.lines.items()}
    if forecast is not None:
        left |= {US_SHORT: forecast.tte_short, US_LONG: forecast.tte_long}
    return {
        name: moment.part + (_WORST if seconds is None else seconds / period.length)
        for name, seconds in left.items()
    }


def note(
    fired: dict[str, float], forecast: Forecast | None, moment: Moment, limit: float, period: Stretch
) -> None:
    """Notes every alarm that comes for the first time."""
    if forecast is not None and PAGE not in fired:
        found = alarm(forecast, POLICY)
        if found is Alarm.IMMINENT:
            fired[PAGE] = moment.part
        if found in (Alarm.IMMINENT, Alarm.RUNAWAY):
            fired.setdefault(PAGES, moment.part)
    if moment.spent >= 0.8 * limit:
        fired.setdefault(STATIC, moment.part)
    if moment.ready:
        for name in _lines(moment.lines, limit, period.end - moment.wall, period.length):
            fired.setdefault(name, moment.part)


def _lines(lines: Mapping[str, Line | None], limit: float, left: float, length: float) -> Iterator[str]:
    """The alarms of the others that are on."""
    for name, line in lines.items():
        seconds = line.until(limit) if line else None
        if seconds is not None and seconds < left:
            yield before_reset(name)
            if seconds < POLICY.within * length:
                yield soon(name)
