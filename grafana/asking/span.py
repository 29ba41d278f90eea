"""The time that is shown, and what follows from it: steps, intervals, Grafana's macros of time."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Final, NamedTuple

SCRAPE: Final = 5
"""Seconds, as provisioned: `timeInterval`."""
_NICE: Final = (
    1,
    2,
    5,
    10,
    15,
    20,
    30,
    60,
    120,
    300,
    600,
    900,
    1200,
    1800,
    3600,
    7200,
    10_800,
    21_600,
    43_200,
)


class Span(NamedTuple):
    """From when to when (seconds since the epoch), on how many pixels."""

    since: float
    until: float
    width: int = 600

    def step(self, least: float = SCRAPE) -> int:
        """Seconds between two figures.

        >>> Span(0, 3600).step(), Span(0, 3600).step(30), Span(0, 86_400, 400).step()
        (10, 30, 300)
        """
        wanted = max((self.until - self.since) / self.width, least)
        return next((each for each in _NICE if each >= wanted), _NICE[-1])

    def metrics(self, expr: str) -> str:
        """A PromQL expression with Grafana's macros filled in."""
        rate = max(self.step() + SCRAPE, 4 * SCRAPE)
        known = {"__rate_interval": f"{rate}s", "__interval": f"{self.step()}s"}
        known["__range"] = f"{round(self.until - self.since)}s"
        for name, value in known.items():
            expr = expr.replace(f"${name}", value)
        return expr

    def sql(self, text: str, least: float = SCRAPE) -> str:
        """A statement with Grafana's macros filled in.

        >>> Span(0, 60).sql("WHERE $__timeFilter(time)")
        "WHERE time BETWEEN '1970-01-01T00:00:00Z' AND '1970-01-01T00:01:00Z'"
        """
        between = f"BETWEEN '{_moment(self.since)}' AND '{_moment(self.until)}'"
        text = re.sub(r"\$__timeFilter\((\w+)\)", rf"\1 {between}", text)
        text = text.replace("$__interval", f"'{self.step(least)}s'")
        group = r"\$__timeGroupAlias\((\w+), '(\d+)s'(?:, \w+)?\)"
        return re.sub(group, r'floor(extract(epoch from \1)/\2)*\2 AS "time"', text)


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def seconds(interval: str) -> float:
    """A panel's own least interval.

    >>> seconds("30s"), seconds("1m"), seconds("")
    (30.0, 60.0, 5.0)
    """
    if not interval:
        return float(SCRAPE)
    return float(interval[:-1]) * {"s": 1, "m": 60, "h": 3600}[interval[-1]]
