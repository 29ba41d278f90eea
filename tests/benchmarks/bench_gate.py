"""The gate: admit and settle of one call, in process, as often as calls were made before.

Baseline in the same run: an empty function timed the same way.
"""

from __future__ import annotations

import time

from tests.benchmarks.timing import each, middle, tail, timer

from spanfuse.board import Board
from spanfuse.context import RunScope
from spanfuse.gate import Gate
from spanfuse.provider import Intent
from spanfuse_processor.engine.nouns import BreakerKey, Identity, Kind, Level, Usage
from spanfuse_processor.engine.reach import Reach
from spanfuse_processor.engine.verdicts import Directive

USAGE = Usage(1_000, 100)
THOUSAND = range(1, 1_001)
STANDING: dict[str, list[Directive]] = {
    "nothing standing": [],
    "1,000 runs stopped": [
        Directive(f"run/other-{number}/stop", number, BreakerKey(Level.RUN, f"other-{number}"))
        for number in THOUSAND
    ],
    "1,000 budgets spent": [
        Directive(
            f"daily[other-{number}]",
            number,
            BreakerKey(Level.BUDGET, f"daily[other-{number}]"),
            reach=Reach(user=(f"other-{number}",)),
        )
        for number in THOUSAND
    ],
}


def main(quick: bool = False) -> dict[str, float]:
    """p50 and p99 in microseconds at the 1st and the 100,000th call, by what stands.

    Orders of budgets are for whoever they reach: 1,000 of them are looked through, once.
    """
    times = 5_000 if quick else 50_000
    figures = {"baseline: empty call, p50 us": timer()}
    for title, orders in STANDING.items():
        board = Board(time.monotonic)
        for order in orders:
            board.post(order)
        gate = Gate(board)
        scope = RunScope("run-1", Identity(feature="bench", user="u"), agents=("main",))
        intent = Intent(Kind.MODEL, "chat", "gpt-4o")

        def call(gate: Gate = gate, intent: Intent = intent, scope: RunScope = scope) -> None:
            gate.admit(intent, scope).settle(USAGE)

        for made in (1, 100_000):
            if made > 1:
                each(call, made)
            samples = each(call, times)
            label = f"{title}, after {made:>7,} calls"
            figures[f"{label}: p50 us"] = middle(samples)
            figures[f"{label}: p99 us"] = tail(samples)
    return figures
