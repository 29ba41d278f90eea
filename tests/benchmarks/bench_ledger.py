"""The ledger: what a decision and a charge cost, by how many budgets cover the call.

Baseline in the same run: an empty function timed the same way. Bars: reserve p50 <= 3 us, charge p50 <= 2 us
for one budget.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from tests.benchmarks.timing import each, middle, tail, timer

from spanfuse_processor.engine.budget import Amounts, Budget, Measure, Period
from spanfuse_processor.engine.budgets.ledger import Ledger
from spanfuse_processor.engine.reach import Payer, Reach

NOW = 1_790_000_000.0
PLENTY = 10**15
COST = Amounts(1_200, 900)
PAYER = Payer("acme", "shop", "prod", "chat", "main", "ann", "gpt-4o", "", "run-1")

ONE = (Budget("everything", PLENTY, strict=True),)
TREE = (
    *ONE,
    Budget("tenants", PLENTY, period=Period.MONTHLY, per=("tenant",), strict=True, zone="Europe/Berlin"),
    Budget("chat", PLENTY, period=Period.HOURLY, reach=Reach(feature=("chat", "support-*"))),
    Budget("users", PLENTY, Measure.TOKENS, Period.ROLLING, per=("user",), window=3_600.0, strict=True),
    Budget("runs", PLENTY, Measure.CALLS, Period.RUN),
)


def main(quick: bool = False) -> dict[str, float]:
    """p50 and p99 in microseconds; keys are made beforehand."""
    times = 5_000 if quick else 50_000
    figures = {"baseline: empty call, p50 us": timer()}
    for name, budgets in (("one strict budget", ONE), ("a tree of five", TREE)):
        for journal in (0, 10 * times):
            kept = ", journal kept" if journal else ""
            for verb, samples in _measured(budgets, journal, times):
                figures[f"{name}{kept}: {verb}, p50 us"] = middle(samples)
                figures[f"{name}{kept}: {verb}, p99 us"] = tail(samples)
    return figures


def _measured(budgets: Sequence[Budget], journal: int, times: int) -> Iterator[tuple[str, list[int]]]:
    ledger = Ledger(budgets, NOW, journal=journal)
    keys = [number.to_bytes(24, "big") for number in range(2 * times)]
    waiting = iter(keys)
    yield "reserve", each(_with(waiting, lambda key: ledger.reserve(key, PAYER, COST, NOW)), times)
    made = iter(keys[:times])
    yield "charge what was reserved", each(_with(made, lambda key: ledger.charge(key, *_SPAN)), times)
    yield "charge", each(_with(waiting, lambda key: ledger.charge(key, *_SPAN)), times)
    again = iter(keys[times:])
    yield "charge again", each(_with(again, lambda key: ledger.charge(key, *_SPAN)), times)


_SPAN = (PAYER, COST, NOW, NOW)


def _with(keys: Iterator[bytes], call: Callable[[bytes], object]) -> Callable[[], object]:
    return lambda: call(next(keys))
