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
from spanfuse_processor.engine.verdicts import Directive

USAGE = Usage(1_000, 100)


def main(quick: bool = False) -> dict[str, float]:
    """p50 and p99 in microseconds at the 1st and the 100,000th call, nothing or 1,000 directives standing."""
    times = 5_000 if quick else 50_000
    figures = {"baseline: empty call, p50 us": timer()}
    for standing in (0, 1_000):
        board = Board(time.monotonic)
        for number in range(standing):
            board.post(
                Directive(f"run/other-{number}/stop", number + 1, BreakerKey(Level.RUN, f"other-{number}"))
            )
        gate = Gate(board)
        scope = RunScope("run-1", Identity(feature="bench", user="u"), agents=("main",))
        intent = Intent(Kind.MODEL, "chat", "gpt-4o")

        def call(gate: Gate = gate, intent: Intent = intent, scope: RunScope = scope) -> None:
            gate.admit(intent, scope).settle(USAGE)

        for made in (1, 100_000):
            if made > 1:
                each(call, made)
            samples = each(call, times)
            label = f"{standing:>5} standing, after {made:>7,} calls"
            figures[f"{label}: p50 us"] = middle(samples)
            figures[f"{label}: p99 us"] = tail(samples)
    return figures
