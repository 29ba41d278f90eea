"""The forecaster of one budget's account: when it runs out, and what its period will come to.

Rule 1: nothing is said before a tenth of the period and twenty calls of it (by default), nor before spend was
seen for as long as the short memory. Rule 2: state is a handful of numbers and what was said at nine moments
of the last periods. It does not know accounts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from spanfuse_processor.engine.budget import Forecasting
from spanfuse_processor.engine.forecast import Forecast
from spanfuse_processor.engine.forecasts.rates import Rates, half_lives

USUAL: Final = Forecasting()


class BudgetForecaster:
    """Looks ahead for one account. `rolling`: the period is the last `period_seconds`, always.

    >>> forecaster = BudgetForecaster(3600.0)
    >>> for second in range(0, 1200, 10):
    ...     forecaster.observe(float(second), 5.0)
    >>> said = forecaster.forecast(1190.0, spent=600.0, limit=1000.0, start=0.0, end=3600.0, calls=120)
    >>> said and (round(said.rate_short, 6), round(said.tte_short or 0), round(said.exhausted_at or 0))
    (0.5, 800, 1990)
    """

    __slots__ = ("_after", "_calls", "_enough", "_period", "_rates", "_rolling")

    def __init__(self, period_seconds: float, policy: Forecasting = USUAL, rolling: bool = False) -> None:
        self._period = period_seconds
        self._after, self._calls = policy.after * period_seconds, policy.calls
        self._enough = half_lives(period_seconds)[0]
        self._rolling = rolling
        self._rates = Rates(period_seconds)

    def observe(self, wall: float, amount: float) -> None:
        """Spend of `amount` became known at `wall`."""
        self._rates.observe(wall, amount)

    def forecast(
        self, wall: float, spent: float, limit: float, start: float, end: float, calls: int
    ) -> Forecast | None:
        """Looks ahead from `wall`; None when it is too early to say anything."""
        if not self._ready(wall, start, calls) or limit <= 0:
            return None
        short, long = self._rates.at(wall)
        left, until = limit - spent, end
        tte_short, tte_long = self._time(left, short, spent), self._time(left, long, spent)
        runs_out = None if tte_short is None or wall + tte_short >= until else wall + tte_short
        return Forecast(wall, end, self._period, spent, limit, short, long, tte_short, tte_long, runs_out)

    def _ready(self, wall: float, start: float, calls: int) -> bool:
        first = self._rates.first
        if first is None or calls < self._calls or wall - first < self._enough:
            return False
        return wall - start >= self._after

    def _time(self, left: float, rate: float, spent: float) -> float | None:
        """Seconds until nothing is `left`; of a rolling budget the spend that grows old comes back."""
        if left <= 0.0:
            return 0.0
        if self._rolling:
            rate -= spent / self._period
        return left / rate if rate > 0.0 else None

    def close(self, start: float, end: float, total: float) -> None:
        """A period is over and came to `total`."""

    def dump(self) -> dict[str, Any]:
        """All that it knows, as plain data."""
        return {"rates": self._rates.dump()}

    def load(self, dump: Mapping[str, Any]) -> None:
        """Takes up what another knew. Raises ValueError when it is no dump of such a forecaster."""
        self._rates.load(dump["rates"])
