"""The forecasters: what one call adds, told and asked, with past periods and finished runs behind them.

Baseline in the same run: an empty function timed the same way.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

from tests.benchmarks.timing import each, middle, tail, timer

from spanfuse_processor.engine.budget import Forecasting
from spanfuse_processor.engine.forecast import alarm
from spanfuse_processor.engine.forecasts.budgets import BudgetForecaster
from spanfuse_processor.engine.forecasts.rates import DAY, HOUR
from spanfuse_processor.engine.forecasts.runs import RunForecaster

POLICY = Forecasting()
_START = 1_700_006_400.0
_PERIODS = 12
_LIMIT = 2_000.0


def main(quick: bool = False) -> dict[str, float]:
    """p50 and p99 in microseconds of one call to a budget of an hour, of a day, and of a step of a run."""
    times = 5_000 if quick else 50_000
    figures = {"baseline: empty call, p50 us": timer()}
    asked = {"an hour": _budget(HOUR, times), "a day": _budget(DAY, times), "a step of a run": _run()}
    for name, call in asked.items():
        samples = each(call, times)
        figures[f"{name}: told and asked, p50 us"] = middle(samples)
        figures[f"{name}: told and asked, p99 us"] = tail(samples)
    return figures


def _budget(period: float, times: int) -> Callable[[], object]:
    """One call, then the forecast and what it is alarming for; in the middle of a period."""
    forecaster = BudgetForecaster(period)
    for start in (_START + number * period for number in range(_PERIODS)):
        for call in range(300):
            wall = start + period * call / 300
            forecaster.observe(wall, 5.0)
            forecaster.forecast(wall, 5.0 * call, _LIMIT, start, start + period, call)
        forecaster.close(start, start + period, 1_500.0)
    start = _START + _PERIODS * period
    walls = count(start + period * 0.2, period * 0.7 / times)

    def call() -> object:
        wall = next(walls)
        forecaster.observe(wall, 0.01)
        forecast = forecaster.forecast(wall, 1_000.0, _LIMIT, start, start + period, 100)
        return forecast and alarm(forecast, POLICY)

    return call


def _run() -> Callable[[], object]:
    """One step of a run of an agent that is known."""
    forecaster = RunForecaster()
    for run in range(40):
        for step in range(30):
            forecaster.observe(f"run-{run}", "agent", 10.0 + step)
        forecaster.finish(f"run-{run}", stopped=False)

    def call() -> object:
        forecaster.observe("live", "agent", 10.0)
        return forecaster.forecast("live", 1e9)

    return call
