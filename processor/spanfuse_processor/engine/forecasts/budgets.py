"""The forecaster of one budget's account: when it runs out, and what its period will come to.

Rule 1: nothing is said before a tenth of the period and twenty calls of it (by default), nor before spend was
seen for as long as the short memory lasts. Rule 2: what the rest of a period brings is the rate times what is
left of it on the clock of the season: see `season`; periods shorter than a day have none. Rule 3: state is
some numbers and what was said at ten moments of the last periods. It does not know accounts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from spanfuse_processor.engine.budget import Forecasting
from spanfuse_processor.engine.forecast import Forecast
from spanfuse_processor.engine.forecasts.conformal import Bands
from spanfuse_processor.engine.forecasts.rates import DAY, Rates, half_lives
from spanfuse_processor.engine.forecasts.season import Season

USUAL: Final = Forecasting()
_MUCH: Final = 0.5  # of the limit: when that is gone, no moment of a period is too early
_FAR: Final = 10.0  # periods: what lies further ahead is never

_Total = tuple[float | None, float, float | None, float | None, float | None, int]
"""The last six of a forecast."""


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
        self._enough = half_lives(period_seconds)[0]
        self._far = _FAR * period_seconds
        self._rolling = rolling
        self._rates = Rates(period_seconds)
        self._season = Season() if period_seconds >= DAY and not rolling else None
        self._clock = 0.0  # the season's, at the last spend
        self._bands = Bands()

    def observe(self, wall: float, amount: float) -> None:
        """Spend of `amount` became known at `wall`; a correction downward counts as nothing."""
        season, last = self._season, self._rates.last
        clock = season.clock(wall) if season else wall
        self._rates.observe(wall, amount, clock - self._clock)
        if season and amount > 0.0 and season.observe(wall, amount):
            clock = season.clock(wall)
        if wall >= last:
            self._clock = clock

    def forecast(
        self, wall: float, spent: float, limit: float, start: float, end: float, calls: int
    ) -> Forecast | None:
        """Looks ahead from `wall`; None when it is too early to say anything, or there is no limit."""
        first = self._rates.first
        if first is None or calls < self._calls or limit <= 0.0 or wall - first < self._enough:
            return None
        if self._rolling:
            return self._roll(wall, spent, limit) if wall - first >= self._after else None
        if (wall - start < self._after and spent < _MUCH * limit) or wall >= end:
            return None
        season = self._season
        clock = season.clock(wall) if season else wall
        rates = self._rates.at(wall, clock - self._clock)
        short = self._time(wall, limit - spent, rates.level_short)
        long = self._time(wall, limit - spent, rates.level_long)
        runs_out = wall + short if short is not None and wall + short < end else None
        total = spent + rates.level_long * ((season.clock(end) if season else end) - clock)
        said = (wall, end, self._period, spent, limit, rates.short, rates.long, short, long, runs_out)
        return Forecast(*said, *self._total((wall - start) / (end - start), total, spent, limit))

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
        last = self._rates.last
        self._clock = self._season.clock(last) if self._season else last

    def _total(self, part: float, total: float, spent: float, limit: float) -> _Total:
        """What the period comes to, when a part of it is over."""
        bands = self._bands
        bands.say(part, total)
        band = bands.band(part, total, limit)
        if band is None:
            return None, total, None, None, bands.coverage, 0
        low, high = max(band.low, spent), max(band.high, spent)
        exceeds = band.exceeds if spent <= limit else 1.0
        return low, min(max(total, low), high), high, exceeds, bands.coverage, band.observations

    def _time(self, wall: float, left: float, level: float) -> float | None:
        """Seconds until nothing is `left`."""
        if left <= 0.0:
            return 0.0
        if left >= level * self._far:
            return None
        return self._season.when(wall, left / level) if self._season else left / level

    def _roll(self, wall: float, spent: float, limit: float) -> Forecast:
        """Of a budget that rolls: what is spent now is added, what grows old comes back."""
        rates = self._rates.at(wall, wall - self._clock)
        back = spent / self._period
        short = self._time(wall, limit - spent, rates.short - back)
        long = self._time(wall, limit - spent, rates.long - back)
        runs_out = None if short is None or short > self._period else wall + short
        said = (wall, None, self._period, spent, limit, rates.short, rates.long, short, long, runs_out)
        return Forecast(*said)
