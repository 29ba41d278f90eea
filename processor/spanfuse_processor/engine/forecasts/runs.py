"""The forecaster of runs: how many steps until the cap, and what the run will come to.

Rule 1: steps to the cap are an interval, from a line through the last steps and from their mean. Rule 2: the
final total is said only of agents of which twenty runs have finished. Rule 3: runs and agents are bounded.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from spanfuse_processor.engine.forecast import RunForecast


class RunForecaster:
    """Looks ahead for runs; of the live ones the `runs` most recent are known, of agents the last `agents`."""

    def __init__(self, runs: int = 10_000, agents: int = 256) -> None:
        self._runs = runs
        self._agents = agents

    def observe(self, run: str, agent: str, amount: float) -> None:
        """A step of a run ended and cost `amount`."""

    def forecast(self, run: str, cap: float) -> RunForecast | None:
        """Looks ahead from the run's last step to a `cap` (0: it has none)."""
        return None

    def finish(self, run: str, stopped: bool) -> None:
        """A run is over. One that was `stopped` by somebody is forgotten."""

    def dump(self) -> dict[str, Any]:
        """What was learnt of agents, as plain data."""
        return {}

    def load(self, dump: Mapping[str, Any]) -> None:
        """Takes up what another had learnt. Raises ValueError when it is no dump of such a forecaster."""
