"""What a demo found: one result per run, one for the storm, one for money, and whether all was as expected.

Rule 1: calls are the agent's count, held against the provider's; money comes from the provider's alone.
Rule 2: the JSON is a contract: its fields are here and nowhere else. It does not know processes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from spanfuse.demo.scenarios import Scenario
from spanfuse.demo.thrift import ThriftResult
from spanfuse.demo.usage import Asked, Tally

STORM_SHARE = 0.20
"""How much of its money the storm may spend at most (row S8)."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a run ended, as its agent tells it. `outcome` is stopped, finished, or what went wrong."""

    outcome: str
    calls: int = 0
    detector: str | None = None
    kill_latency: float | None = None  # seconds, from the offending span's end to the closed gate
    closed_at: float | None = None  # when the gate closed, monotonic
    used: Tally = field(default_factory=Tally)


@dataclass(frozen=True, slots=True)
class RunResult:
    """One of the five runs. Money in US dollars; None where nobody can know."""

    scenario: Scenario
    outcome: str
    detector: str | None
    calls: int
    calls_unguarded: int | None
    cost_usd: float | None
    saved_usd: float | None
    kill_latency_ms: float | None

    @property
    def ok(self) -> bool:
        """It ended as it must, in time."""
        in_time = not self.scenario.within or self.calls <= self.scenario.within
        return self.outcome == self.scenario.expected and in_time

    def as_json(self) -> dict[str, Any]:
        """The run's object in `spanfuse demo --json`."""
        return {
            "name": self.scenario.name,
            "expected": self.scenario.expected,
            "outcome": self.outcome,
            "detector": self.detector,
            "calls": self.calls,
            "calls_unguarded": self.calls_unguarded,
            "cost_usd": self.cost_usd,
            "saved_usd": self.saved_usd,
            "kill_latency_ms": self.kill_latency_ms,
        }


@dataclass(frozen=True, slots=True)
class StormResult:
    """All runs of the storm together."""

    runs: int
    calls_each: int
    calls_made: int
    stopped: int
    cost_usd: float
    saved_usd: float
    p50_ms: float | None
    p99_ms: float | None

    @property
    def spent_share(self) -> float:
        """Money spent over money that it would have spent."""
        return round(self.cost_usd / (self.cost_usd + self.saved_usd), 4)

    @property
    def ok(self) -> bool:
        """Every run was stopped, early enough."""
        return self.stopped == self.runs and self.spent_share <= STORM_SHARE

    def as_json(self) -> dict[str, Any]:
        """The storm's object in `spanfuse demo --json`."""
        return {
            "runs": self.runs,
            "calls_each": self.calls_each,
            "calls_made": self.calls_made,
            "spent_share": self.spent_share,
            "p50_ms": self.p50_ms,
            "p99_ms": self.p99_ms,
        }


@dataclass(frozen=True, slots=True)
class DemoResult:
    """Everything. `storm` and `money` are None where they were left out."""

    mode: str
    runs: Sequence[RunResult]
    storm: StormResult | None
    money: ThriftResult | None = None

    @property
    def ok(self) -> bool:
        """True when every outcome is as expected."""
        return all(each.ok for each in (*self.runs, self.storm, self.money) if each is not None)

    def as_json(self) -> dict[str, Any]:
        """The object that `spanfuse demo --json` prints."""
        return {
            "mode": self.mode,
            "ok": self.ok,
            "runs": [run.as_json() for run in self.runs],
            "storm": self.storm.as_json() if self.storm else None,
            "money": self.money.as_json() if self.money else None,
        }


def milliseconds(seconds: float | None) -> float | None:
    """Seconds as milliseconds with a microsecond's precision."""
    return None if seconds is None else round(seconds * 1_000, 3)


def percentile(values: Sequence[float], share: float) -> float | None:
    """The value that `share` of the values do not exceed (nearest rank); None of none.

    >>> percentile([1.0, 2.0, 3.0, 4.0], 0.5)
    2.0
    """
    ordered = sorted(values)
    return ordered[max(0, -int(-share * len(ordered) // 1) - 1)] if ordered else None


def tallies(stats: Mapping[str, Any]) -> dict[str, Tally]:
    """The provider's answer at /stats: what each run has used."""
    return {name: Tally(**fields) for name, fields in stats["runs"].items()}


def requests(log: Mapping[str, Any]) -> list[Asked]:
    """The provider's answer at /log: its requests, the oldest first."""
    return [Asked(**fields) for fields in log["requests"]]
