"""A policy made ready to be obeyed: what holds where, who watches, what is charged by.

Rule 1: whoever obeys another policy makes another regime; a policy that cannot be obeyed makes none. Rule 2:
it keeps no state of what it judges. It does not know runs, nor what is found in them.
"""

from __future__ import annotations

from spanfuse_processor.engine.detector import Unit
from spanfuse_processor.engine.policy import Policy
from spanfuse_processor.engine.pricing import PriceBook
from spanfuse_processor.engine.runs.watches import Registry, Watches
from spanfuse_processor.engine.scoping import Scoping
from spanfuse_processor.engine.tariff import Tariff


class Regime:
    """One policy, with the detectors of a registry.

    Attributes:
        of_lane, of_run, of_feature: the watches of each sort of unit.

    Raises:
        PolicyError: the policy sets a limit that its detector does not have.
    """

    __slots__ = ("of_feature", "of_lane", "of_run", "policy", "scoping")

    def __init__(self, policy: Policy, registry: Registry) -> None:
        self.policy = policy
        self.scoping = Scoping(policy, {name: limits() for name, (_, limits) in registry.items()})
        self.of_lane, self.of_run, self.of_feature = (
            Watches(unit, registry, self.scoping, policy.tools)
            for unit in (Unit.LANE, Unit.RUN, Unit.FEATURE)
        )

    def book(self, prices: PriceBook) -> PriceBook:
        """`prices`, with those of the policy before and behind them."""
        policy = self.policy
        if not policy.prices and policy.fallback is None:
            return prices
        return Tariff(policy.prices, policy.fallback, prices)
