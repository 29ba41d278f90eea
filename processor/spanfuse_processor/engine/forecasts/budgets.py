"""The forecaster of one budget's account: when it runs out, and what its period will come to.

Rule 1: nothing is said before twenty calls of the period (by default), nor before a tenth of it is over and
spend was seen for a short half-life, unless half of the limit is gone by then. Rule 2: what the rest of a
period brings is the rate times what is left of it on the clock of the season: see `season`; periods shorter
than a day have none. Rule 3: state is some numbers, and what was said in each tenth of the last periods. It
does not know accounts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from spanfuse_processor.engine.budget import Forecasting
from spanfuse_processor.engine.forecast import Forecast
from spanfuse_processor.engine.forecasts.conformal import Bands
from spanfuse_processor.engine.forecasts.rates import DAY, HOUR, Rates, Slopes, half_lives
from spanfuse_processor.engine.forecasts.season import Season

USUAL: Final = Forecasting()
_MUCH: Final = 0.5  # of the limit: when that is gone, no moment is too early
_SHORTEST_DAY: Final = DAY - HOUR  # with summer time
_FAR: Final = 10.0  # periods: what lies further ahead is never


class BudgetForecaster:
    """Looks ahead for one account. `rolling`: the period is the last `period_seconds`, always.

    >>> forecaster = BudgetForecaster(3600.0)
    >>> for second in range(0, 1200, 10):
    ...     forecaster.observe(float(second), 5.0)
    >>> said = forecaster.forecast(1190.0, spent=600.0, limit=1000.0, start=0.0, end=3600.0, calls=120)
    >>> said and (round(said.rate_short, 6), round(said.tte_short or 0), round(said.exhausted_at or 0))
    (0.5, 800, 1990)
    """

    __slots__ = (
        "_after",
        "_bands",
        "_calls",
        "_clock",
        "_end",
        "_end_clock",
        "_enough",
        "_far",
        "_period",
        "_rates",
        "_rolling",
        "_season",
    )

    def __init__(self, period_seconds: float, policy: Forecasting = USUAL, rolling: bool = False) -> None:
        self._period = period_seconds
        self._after, self._calls = policy.after * period_seconds, policy.calls
        self._enough = self._after if rolling else half_lives(period_seconds)[0]
        self._far = _FAR * period_seconds
        self._rolling = rolling
        self._rates = Rates(period_seconds)
        self._season = Season() if period_seconds >= _SHORTEST_DAY and not rolling else None
        self._clock = 0.0  # the season's, at the last spend
        self._end = self._end_clock = 0.0  # of the period, and what the clock shows then
        self._bands = Bands()

    def observe(self, wall: float, amount: float) -> None:
        """Spend of `amount` became known at `wall`; a correction downward counts as nothing."""
        season, last = self._season, self._rates.last
        if season is None:
            self._rates.observe(wall, amount, wall - last)
            return
        clock = season.clock(wall)
        self._rates.observe(wall, amount, clock - self._clock)
        if amount > 0.0 and season.observe(wall, amount):
            clock = season.clock(wall)
            self._end = 0.0
        if wall >= last:
            self._clock = clock

    def forecast(
        self, wall: float, spent: float, limit: float, start: float, end: float, calls: int
    ) -> Forecast | None:
        """Looks ahead from `wall`; None when it is too early to say anything, or there is no limit."""
        first = self._rates.first
        if first is None or calls < self._calls or limit <= 0.0:
            return None
        early = wall - first < self._enough or wall - start < self._after
        if early and spent < _MUCH * limit:
            return None
        if self._rolling:
            return self._roll(wall, spent, limit)
        if wall >= end:
            return None
        season = self._season
        if season is None:
            rates = self._rates.at(wall, wall - self._rates.last)
            short, long = self._time(limit - spent, rates.short), self._time(limit - spent, rates.long)
            total = spent + rates.long * (end - wall)
        else:
            clock = self._clock if wall == self._rates.last else season.clock(wall)
            rates = self._rates.at(wall, clock - self._clock)
            short = self._weigh(wall, clock, limit - spent, rates.level_short)
            long = self._weigh(wall, clock, limit - spent, rates.level_long)
            total = spent + rates.level_long * (self._clock_at(end) - clock)
        return self._say(wall, spent, limit, start, end, rates, short, long, total)

    def close(self, start: float, end: float, total: float, curbed: bool = False) -> None:
        """A period is over. `curbed`: something was done that held its total down, which teaches nothing."""
        self._bands.close(None if curbed else total)

    def dump(self) -> dict[str, Any]:
        """All that it knows, as plain data."""
        season = self._season.dump() if self._season else None
        return {"rates": self._rates.dump(), "season": season, "bands": self._bands.dump()}

    def load(self, dump: Mapping[str, Any]) -> None:
        """Takes up what another knew. Raises ValueError when it is no dump of such a forecaster."""
        try:
            self._rates.load(dump["rates"])
            self._bands.load(dump["bands"])
            if self._season and dump["season"]:
                self._season.load(dump["season"])
        except (KeyError, TypeError) as missing:
            raise ValueError(f"no dump of a forecaster: {missing!r}") from missing
        self._end = 0.0
        if self._season:
            self._clock = self._season.clock(self._rates.last)

    def _say(
        self,
        wall: float,
        spent: float,
        limit: float,
        start: float,
        end: float,
        rates: Slopes,
        short: float | None,
        long: float | None,
        total: float,
    ) -> Forecast:
        """With the band of what the period comes to."""
        bands = self._bands
        part = (wall - start) / (end - start)
        bands.say(part, total)
        runs_out = wall + short if short is not None and wall + short < end else None
        low = high = exceeds = None
        if band := bands.band(part, total, limit):
            low, high = max(band.low, spent), max(band.high, spent)
            exceeds = band.exceeds if spent <= limit else 1.0
            total = min(max(total, low), high)
        return Forecast(
            wall,
            end,
            self._period,
            spent,
            limit,
            rates.short,
            rates.long,
            short,
            long,
            runs_out,
            low,
            total,
            high,
            exceeds,
            bands.coverage,
            band.observations if band else 0,
        )

    def _time(self, left: float, rate: float) -> float | None:
        """Seconds until nothing is `left`."""
        if left <= 0.0:
            return 0.0
        return left / rate if left < rate * self._far else None

    def _weigh(self, wall: float, clock: float, left: float, level: float) -> float | None:
        """The same on the clock of the season."""
        if left <= 0.0 or self._season is None:
            return 0.0
        return self._season.when(clock + left / level) - wall if left < level * self._far else None

    def _clock_at(self, end: float) -> float:
        """What the season's clock shows at a period's end: asked for again and again."""
        if self._season and end != self._end:
            self._end, self._end_clock = end, self._season.clock(end)
        return self._end_clock

    def _roll(self, wall: float, spent: float, limit: float) -> Forecast:
        """Of a budget that rolls: what is spent now is added, what grows old comes back."""
        rates = self._rates.at(wall, wall - self._rates.last)
        back = spent / self._period
        short = self._time(limit - spent, rates.short - back)
        long = self._time(limit - spent, rates.long - back)
        runs_out = None if short is None or short > self._period else wall + short
        said = (wall, None, self._period, spent, limit, rates.short, rates.long, short, long, runs_out)
        return Forecast(*said)
