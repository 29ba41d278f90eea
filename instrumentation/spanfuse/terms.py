"""What the policy says of prices and of tools, for every part of the process that asks.

Rule 1: parts keep this one object; what it says may change while they run. Rule 2: readers take no lock: what
is said is replaced as a whole. It does not know where a policy comes from.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from spanfuse_processor.engine.policy import Policy, ToolRule
from spanfuse_processor.engine.pricing import Pending, PriceBook, Rates
from spanfuse_processor.engine.tariff import Tariff


class ToolRules(Mapping[str, ToolRule]):
    """What policy says of tools, by name."""

    __slots__ = ("_rules",)

    def __init__(self, rules: Mapping[str, ToolRule]) -> None:
        self._rules = rules

    def obey(self, rules: Mapping[str, ToolRule]) -> None:
        """Says something else from now on."""
        self._rules = rules

    def __getitem__(self, name: str) -> ToolRule:
        return self._rules[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._rules)

    def __len__(self) -> int:
        return len(self._rules)


class Terms:
    """A price book and rules of tools, by a policy that may change. `book` has the prices that it has not."""

    __slots__ = ("_behind", "_book", "tools")

    def __init__(self, policy: Policy, book: PriceBook) -> None:
        self._behind = book
        self.tools = ToolRules(policy.tools)
        self.obey(policy)

    def obey(self, policy: Policy) -> None:
        """Another policy holds from now on."""
        self.tools.obey(policy.tools)
        own = policy.prices or policy.fallback
        self._book = Tariff(policy.prices, policy.fallback, self._behind) if own else self._behind

    def rates(self, provider: str, model: str, day: int) -> Rates | Pending | None:
        """As a price book answers."""
        return self._book.rates(provider, model, day)
