"""A repeat: how many steps go round in which cycle, what is due for that many, and how it is said.

Rule 1: the text names the tools and the count, for a person to recognise; it knows no arguments and no
results. This file does not know how a repeat is found, nor what becomes of it.
"""

from __future__ import annotations

from typing import NamedTuple

from spanfuse_processor.engine.repeats.sequence import Step


class Repeat(NamedTuple):
    """`length` calls in a row are a cycle of `period` (0: in any order); what is due at `warn` and `stop`."""

    period: int
    length: int
    warn: int
    stop: int

    def reason(self, steps: list[Step]) -> str:
        """The code: a storm when every call of a round failed, else a loop."""
        newest_round = steps[-max(1, self.period) :]
        return "RETRY_STORM" if all(step.failed for step in newest_round) else "LOOP"

    def message(self, steps: list[Step]) -> str:
        """What a person reads. `steps` are the latest of the repeat, oldest first."""
        newest, length = steps[-1], self.length
        if not self.period:
            return f"the last {length} calls brought nothing new"
        if self.period > 1:
            names = ", ".join(step.name for step in steps[-self.period :])
            rounds = length // self.period
            return f"a cycle of {self.period} calls ({names}) went round {rounds} times with equal results"
        if newest.failed:
            return f"{newest.name} failed {length} times in a row with equal arguments and the same error"
        return f"{newest.name} was called {length} times in a row with equal arguments and equal results"
