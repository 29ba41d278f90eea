"""One call charged to a budget, with all that comes of it: count, forecast, marks, orders.

Baseline in the same run: an empty function timed the same way. Bar: p50 <= 5 us for one budget.
"""

from __future__ import annotations

from collections.abc import Callable

from tests.benchmarks.timing import each, middle, tail, timer

from spanfuse_processor.engine.budget import Amounts, Budget, Measure, Period
from spanfuse_processor.engine.budgets.ledger import Ledger
from spanfuse_processor.engine.reach import Payer
from spanfuse_processor.engine.treasury import Spend, Treasury

NOW = 1_790_000_000.0
PLENTY = 10**12
COST = Amounts(1_200, 900)
PAYER = Payer("acme", "shop", "prod", "chat", "main", "ann", "gpt-4o", "", "run-1")
HOURLY = Budget("hourly", PLENTY, period=Period.HOURLY)
TREE = (
    HOURLY,
    Budget("daily", PLENTY, per=("feature",)),
    Budget("tokens", PLENTY, Measure.TOKENS, Period.ROLLING, per=("user",), window=3_600.0),
)
_BEFORE = 400
"""Calls that came before, every two seconds: enough for a forecast."""


def main(quick: bool = False) -> dict[str, float]:
    """p50 and p99 in microseconds; keys are made beforehand."""
    times = 5_000 if quick else 20_000
    figures = {"baseline: empty call, p50 us": timer()}
    for name, budgets in (("one budget", (HOURLY,)), ("a tree of three", TREE)):
        for journal in (0, 10 * times):
            samples = each(_charging(budgets, journal, times), times)
            kept = ", journal kept" if journal else ""
            figures[f"{name}{kept}: update and forecast, p50 us"] = middle(samples)
            figures[f"{name}{kept}: update and forecast, p99 us"] = tail(samples)
    return figures


def _charging(budgets: tuple[Budget, ...], journal: int, times: int) -> Callable[[], object]:
    treasury = Treasury(budgets, NOW, Ledger(budgets, NOW, journal=journal))
    for number in range(_BEFORE):
        treasury.charge(_spend(number, NOW + 2 * number), NOW + 2 * number)
    then = NOW + 2 * _BEFORE
    spends = iter([_spend(_BEFORE + number, then + 0.02 * number) for number in range(times)])

    def charge() -> object:
        spend = next(spends)
        return treasury.charge(spend, spend.ended)

    return charge


def _spend(number: int, wall: float) -> Spend:
    return Spend(number.to_bytes(24, "big"), PAYER, COST, wall)
