"""Budgets as series: limits, spend, what is forecast; one unit in a metric, dollars, tokens or calls.

Rule 1: nothing is ever infinite or no number: what is not known is absent, and `status` says why. Rule 2: a
budget is one label value, bounded; of one that is counted apart (`per`), gauges show its fullest account.
Rule 3: counters exist at zero for every budget of the configuration. It runs on the scraper's thread and
reads what was left for it: it asks no ledger.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from spanfuse_processor.engine.alerts import Condition
from spanfuse_processor.engine.budget import Measure, Period
from spanfuse_processor.engine.forecast import Forecast
from spanfuse_processor.engine.steps import DECLARED
from spanfuse_processor.engine.treasury import AccountView
from spanfuse_processor.telemetry.meter import OTHER, Labels

MAX_BUDGETS: Final = 50
STATUSES: Final = ("ok", "exhausting", "exhausted", "insufficient_data")
_UNITS: Final = {Measure.USD: 1_000_000, Measure.TOKENS: 1, Measure.CALLS: 1}


@dataclass(slots=True)
class BudgetBoard:
    """What is shown of budgets. Whoever owns the money replaces `views` and `spent`; readers take them whole.

    Attributes:
        views: one account of each budget.
        spent: by budget, what was charged since the start; only grows.
        alerts: what was told, by budget and condition.
        names: budgets that have a label of their own.
        looked: when they were last looked at (wall time).
    """

    views: Sequence[AccountView] = ()
    spent: Mapping[str, tuple[Measure, int]] = field(default_factory=dict)
    alerts: dict[tuple[str, str], int] = field(default_factory=dict)
    names: Labels = field(default_factory=lambda: Labels("budget", MAX_BUDGETS))
    looked: float = 0.0

    def expect(self, budgets: Sequence[str]) -> None:
        """These budgets exist: what may be told of them is there at zero."""
        for name in (*budgets, DECLARED):
            for condition in Condition:
                self.alerts.setdefault((self.names.bounded(name), condition.value), 0)

    def told(self, budget: str, condition: Condition) -> None:
        """Counts something told of a budget."""
        key = self.names.bounded(budget), condition.value
        self.alerts[key] = self.alerts.get(key, 0) + 1


class BudgetSeries(Collector):
    """Turns a board into series when somebody asks."""

    def __init__(self, board: BudgetBoard) -> None:
        self._board = board

    def collect(self) -> Iterator[Metric]:
        """All families."""
        board = self._board
        views = [(name, view) for view in board.views if (name := self._name(view)) != OTHER]
        for measure in Measure:
            yield from _amounts(measure, [pair for pair in views if pair[1].budget.measure is measure])
            yield self._spent(measure)
        yield from _windows(views)
        yield from _forecasts(views)
        yield GaugeMetricFamily(
            "spanfuse_forecast_last_success_timestamp_seconds",
            "When it was last looked ahead; old: the service does not get to it",
            value=board.looked,
        )
        alerts = CounterMetricFamily(
            "spanfuse_budget_alerts", "What was told of budgets", labels=["budget", "condition"]
        )
        for labels, count in dict(board.alerts).items():
            alerts.add_metric(labels, count)
        yield alerts

    def _name(self, view: AccountView) -> str:
        return self._board.names.known(view.budget.name)

    def _spent(self, measure: Measure) -> Metric:
        """Spend across periods, for rates; budgets without a label of their own are summed."""
        sums: dict[str, int] = {}
        for name, (counted, amount) in dict(self._board.spent).items():
            if counted is measure:
                label = self._board.names.known(name)
                sums[label] = sums.get(label, 0) + amount
        family = CounterMetricFamily(
            f"spanfuse_budget_spend_{measure.value}",
            "Charged to the budget, across periods",
            labels=["budget"],
        )
        for label, total in sums.items():
            family.add_metric([label], total / _UNITS[measure])
        return family


Rows = Sequence[tuple[str, AccountView]]
Read = Callable[[AccountView], float | None]


def _gauge(name: str, text: str, rows: Rows, read: Read) -> Metric:
    """One gauge; what is not known, or not finite, is left out."""
    family = GaugeMetricFamily(name, text, labels=["budget"])
    for label, view in rows:
        value = read(view)
        if value is not None and math.isfinite(value):
            family.add_metric([label], value)
    return family


def _amounts(measure: Measure, rows: Rows) -> Iterator[Metric]:
    unit, end = _UNITS[measure], measure.value

    def told(name: str, text: str, read: Read) -> Metric:
        return _gauge(f"spanfuse_budget_{name}_{end}", text, rows, read)

    yield told("limit", "Limit of a period", lambda view: view.balance.limit / unit)
    yield told("window_spent", "Spent in this period", lambda view: view.balance.spent / unit)
    yield told(
        "reserved", "Promised to calls in flight and to leases", lambda view: view.balance.reserved / unit
    )
    family = GaugeMetricFamily(
        f"spanfuse_budget_forecast_window_end_{end}",
        "What the period will come to",
        labels=["budget", "band"],
    )
    for label, view in rows:
        known = view.forecast
        bands = {"p50": known.total_mid, "p90": known.total_high} if known else {}
        for band, total in bands.items():
            if total is not None and math.isfinite(total):
                family.add_metric([label, band], total / unit)
    yield family


def _windows(rows: Rows) -> Iterator[Metric]:
    yield _gauge("spanfuse_budget_window_seconds", "Length of the period", rows, _length)
    yield _gauge(
        "spanfuse_budget_window_end_timestamp_seconds",
        "When the period ends",
        rows,
        lambda view: None if view.budget.period is Period.ROLLING else view.balance.end,
    )
    yield _gauge(
        "spanfuse_budget_warn_horizon_seconds",
        "How long before it runs out a budget is warned of",
        rows,
        lambda view: view.budget.forecast.within * _length(view),
    )


def _forecasts(rows: Rows) -> Iterator[Metric]:
    yield _gauge(
        "spanfuse_budget_forecast_exhaustion_timestamp_seconds",
        "When the budget runs out; absent while it is not forecast to",
        rows,
        lambda view: view.forecast.exhausted_at if view.forecast else None,
    )
    family = GaugeMetricFamily(
        "spanfuse_budget_forecast_status",
        "How a budget stands: one of these is 1",
        labels=["budget", "status"],
    )
    for label, view in rows:
        now = status_of(view.balance.spent, view.balance.limit, view.forecast)
        for status in STATUSES:
            family.add_metric([label, status], float(status == now))
    yield family


def _length(view: AccountView) -> float:
    return view.balance.end - view.balance.start


def status_of(spent: int, limit: int, forecast: Forecast | None) -> str:
    """One of STATUSES.

    >>> status_of(5, 5, None), status_of(1, 5, None)
    ('exhausted', 'insufficient_data')
    """
    if spent >= limit:
        return "exhausted"
    if forecast is None:
        return "insufficient_data"
    return "ok" if forecast.exhausted_at is None else "exhausting"
