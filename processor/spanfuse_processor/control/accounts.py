"""Budgets and spend as operators read them: plain fields for JSON.

Rule 1: money is decimal US dollars here, tokens and calls are whole numbers; what is not known is null, never
infinite. Rule 2: times are seconds since the epoch. It knows no HTTP.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from spanfuse_processor.engine.budget import Measure
from spanfuse_processor.engine.budgets.book import Balance
from spanfuse_processor.engine.forecast import Forecast
from spanfuse_processor.engine.treasury import AccountView
from spanfuse_processor.store import MOST_ROWS, SpendRow

MICRO: Final = 1_000_000


def show_account(view: AccountView, wall: float) -> dict[str, Any]:
    """One account of a budget: how it stands at `wall`, and what is forecast of it."""
    budget, balance = view.budget, view.balance
    measure = budget.measure
    return {
        "account": str(view.account),
        "budget": budget.name,
        "values": dict(zip(budget.per, view.account.values, strict=False)),
        "measure": measure.value,
        "period": budget.period.value,
        "strict": budget.strict,
        "mode": budget.mode.value,
        **_amounts(balance, measure),
        "share": balance.spent / balance.limit if balance.limit else None,
        "start": _finite(balance.start),
        "end": _finite(balance.end),
        "resets_in_seconds": _finite(balance.end - wall) if balance.end > wall else None,
        "calls": balance.calls,
        "unpriced": balance.unpriced,
        "reactions": sorted(reaction.value for reaction in view.reactions),
        "forecast": show_forecast(view.forecast, measure, wall) if view.forecast else None,
    }


def _amounts(balance: Balance, measure: Measure) -> dict[str, Any]:
    names = ("limit", "spent", "reserved", "left", "granted", "late", "overrun")
    return {name: _amount(getattr(balance, name), measure) for name in names}


def show_forecast(forecast: Forecast, measure: Measure, wall: float) -> dict[str, Any]:
    """What is forecast: rates are a second, the band holds in 80 % of periods."""
    out = forecast.exhausted_at
    names = ("rate_short", "rate_long", "total_low", "total_mid", "total_high")
    return {
        "exhausted_at": out,
        "exhausted_in_seconds": None if out is None else max(0.0, out - wall),
        **{name: _amount(getattr(forecast, name), measure) for name in names},
        "exceed_probability": forecast.exceed_probability,
        "coverage": forecast.coverage,
    }


def show_spend(by: Sequence[str], since: float, until: float, rows: Sequence[SpendRow]) -> dict[str, Any]:
    """What calls cost, by some fields, with the sum of the rows."""
    return {
        "by": list(by),
        "since": since,
        "until": until,
        "rows": [{**dict(zip(by, row.values, strict=True)), **_figures(row)} for row in rows],
        "total": _figures(_sum(rows)),
        "complete": len(rows) < MOST_ROWS,
    }


def _figures(row: SpendRow) -> Mapping[str, Any]:
    return {
        "calls": row.calls,
        "input_tokens": row.input_tokens,
        "output_tokens": row.output_tokens,
        "cached_tokens": row.cached_tokens,
        "cost_usd": row.cost / MICRO,
        "estimated_cost_usd": row.estimated_cost / MICRO,
        "unpriced_calls": row.unpriced,
    }


def _sum(rows: Iterable[SpendRow]) -> SpendRow:
    figures = [sum(column) for column in zip(*(row[1:] for row in rows), strict=True)]
    return SpendRow((), *figures or [0] * 7)


def _amount(value: float | None, measure: Measure) -> float | None:
    if value is None:
        return None
    return value / MICRO if measure is Measure.USD else value


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
