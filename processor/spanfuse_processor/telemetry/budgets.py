"""Budgets as rows: limits, spend, what is forecast; one unit in a metric, dollars, tokens or calls.

Rule 1: nothing is ever infinite or no number: what is not known is absent, and `status` says why. Rule 2: a
budget is one label value, bounded; of one that is counted apart (`per`), gauges show its fullest account.
Rule 3: counters exist at zero for every budget of the configuration. It reads what was left for it: it asks
no ledger.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from time import time
from typing import Final

from spanfuse_processor.engine.alerts import Condition
from spanfuse_processor.engine.budget import Measure, Period
from spanfuse_processor.engine.forecast import Forecast
from spanfuse_processor.engine.steps import DECLARED
from spanfuse_processor.engine.treasury import AccountView
from spanfuse_processor.telemetry.declaring import OTHER
from spanfuse_processor.telemetry.labels import Labels
from spanfuse_processor.telemetry.metrics import metric
from spanfuse_processor.telemetry.tally import Histogram, Row, single

MAX_BUDGETS: Final = 50
STATUSES: Final = metric("budget_forecast_status").values["status"]
_UNITS: Final = {Measure.USD: 1_000_000, Measure.TOKENS: 1, Measure.CALLS: 1}


def _took() -> Histogram:
    made = Histogram(metric("forecast_duration_seconds"), time)
    made.begin()
    return made


@dataclass(slots=True)
class BudgetBoard:
    """What is shown of budgets. Whoever owns the money replaces `views` and `spent`; readers take them whole.

    Attributes:
        views: one account of each budget.
        spent: by budget, what was charged since the start; only grows.
        alerts: what was told, by budget and condition.
        names: budgets that have a label of their own.
        looked: when they were last looked at (wall time).
        took: how long that took.
    """

    views: Sequence[AccountView] = ()
    spent: Mapping[str, tuple[Measure, int]] = field(default_factory=dict)
    alerts: dict[tuple[str, str], int] = field(default_factory=dict)
    names: Labels = field(default_factory=lambda: Labels("budget", MAX_BUDGETS))
    looked: float = 0.0
    took: Histogram = field(default_factory=_took)

    def expect(self, budgets: Sequence[str]) -> None:
        """These budgets exist: what may be told of them is there at zero."""
        for name in (*budgets, DECLARED):
            for condition in Condition:
                self.alerts.setdefault((self.names.bounded(name), condition.value), 0)

    def told(self, budget: str, condition: Condition) -> None:
        """Counts something told of a budget."""
        key = self.names.bounded(budget), condition.value
        self.alerts[key] = self.alerts.get(key, 0) + 1

    def rows(self) -> Iterator[Row]:
        """All of it; what is not known, or not finite, is left out."""
        for view in self.views:
            name = self.names.known(view.budget.name)
            if name != OTHER:
                for row in _of_account(name, view):
                    if math.isfinite(row[2]):
                        yield row
        yield from self._spent()
        yield single(metric("forecast_last_success_timestamp_seconds").name, self.looked)
        yield from self.took.rows(False)
        for labels, count in list(self.alerts.items()):
            yield metric("budget_alerts_total").name, labels, count, None

    def _spent(self) -> Iterator[Row]:
        """Spend across periods, for rates; budgets without a label of their own are summed."""
        sums: dict[tuple[Measure, str], int] = {}
        for name, (measure, amount) in list(self.spent.items()):
            key = measure, self.names.known(name)
            sums[key] = sums.get(key, 0) + amount
        for (measure, label), total in sums.items():
            yield metric(f"budget_spend_{measure.value}_total").name, (label,), total / _UNITS[measure], None


def _of_account(name: str, view: AccountView) -> Iterator[Row]:
    unit, end, known = _UNITS[view.budget.measure], view.budget.measure.value, view.forecast
    balance = view.balance
    amounts = {"limit": balance.limit, "window_spent": balance.spent, "reserved": balance.reserved}
    for what, amount in amounts.items():
        yield _row(f"budget_{what}_{end}", amount / unit, name)
    for band, total in {"p50": known.total_mid, "p90": known.total_high}.items() if known else ():
        if total is not None:
            yield _row(f"budget_forecast_window_end_{end}", total / unit, name, band)
    length = balance.end - balance.start
    yield _row("budget_window_seconds", length, name)
    if view.budget.period is not Period.ROLLING:
        yield _row("budget_window_end_timestamp_seconds", balance.end, name)
    yield _row("budget_warn_horizon_seconds", view.budget.forecast.within * length, name)
    if known and known.exhausted_at is not None:
        yield _row("budget_forecast_exhaustion_timestamp_seconds", known.exhausted_at, name)
    now = status_of(balance.spent, balance.limit, known)
    for status in STATUSES:
        yield _row("budget_forecast_status", status == now, name, status)


def _row(name: str, value: float, *labels: str) -> Row:
    """Numbers may come from arrays: they are made plain."""
    return metric(name).name, labels, float(value), None


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
