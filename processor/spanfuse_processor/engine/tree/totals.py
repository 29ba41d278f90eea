"""The sums over one run: every call once, tokens of model calls only, money of models and tools.

Rule 1: what is added can be taken back, to the last token. Rule 2: a run's record is its sums, too: there are
many runs. It does not know why a call counts.
"""

from __future__ import annotations

from dataclasses import dataclass

from spanfuse_processor.engine.nouns import MicroUsd, Usage


@dataclass(slots=True, eq=False)
class Totals:
    """Calls of any kind; tokens of model calls; their cost and fees of tools; `unpriced`: of unknown cost."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    cache_write_tokens: int = 0
    cost: MicroUsd = 0
    unpriced: int = 0

    def add(self, usage: Usage, cost: MicroUsd | None) -> None:
        """One more model call."""
        self.input_tokens += usage.input_tokens
        self.output_tokens += usage.output_tokens
        if usage.cached_tokens or usage.cache_write_tokens:
            self.cached_tokens += usage.cached_tokens
            self.cache_write_tokens += usage.cache_write_tokens
        if cost is None:
            self.unpriced += 1
        else:
            self.cost += cost

    def take(self, usage: Usage, cost: MicroUsd | None) -> None:
        """One model call less: it is told elsewhere."""
        self.input_tokens -= usage.input_tokens
        self.output_tokens -= usage.output_tokens
        self.cached_tokens -= usage.cached_tokens
        self.cache_write_tokens -= usage.cache_write_tokens
        if cost is None:
            self.unpriced -= 1
        else:
            self.cost -= cost

    def pay(self, fee: MicroUsd | None) -> None:
        """The fee of a tool, None when it has none."""
        if fee:
            self.cost += fee

    def settle(self, cost: MicroUsd) -> None:
        """The price of a call that had none has come."""
        self.unpriced -= 1
        self.cost += cost

    def unite(self, other: Totals) -> None:
        """Adds the sums of a run that turned out to be the same."""
        self.calls += other.calls
        self.input_tokens += other.input_tokens
        self.output_tokens += other.output_tokens
        self.cached_tokens += other.cached_tokens
        self.cache_write_tokens += other.cache_write_tokens
        self.cost += other.cost
        self.unpriced += other.unpriced
