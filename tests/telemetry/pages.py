"""Rows as a page for tests, and single values of it."""

from __future__ import annotations

from collections.abc import Iterable

from prometheus_client import generate_latest

from spanfuse_processor.telemetry.exposition.families import registry_of
from spanfuse_processor.telemetry.tally import Row


class Hands:
    """A clock that goes by hand; wall time in seconds."""

    def __init__(self, at: float = 1_000.0) -> None:
        self.at = at

    def __call__(self) -> float:
        return self.at

    def wall_ns(self) -> int:
        return round(self.at * 1e9)

    def monotonic(self) -> float:
        return self.at


def page(rows: Iterable[Row]) -> str:
    """The page in the older format."""
    kept = list(rows)
    return generate_latest(registry_of(lambda: kept)).decode()


def value(rows: Iterable[Row], name: str, **labels: str) -> float:
    """One value; 0 where there is none."""
    kept = list(rows)
    return registry_of(lambda: kept).get_sample_value(f"spanfuse_{name}", labels) or 0.0
