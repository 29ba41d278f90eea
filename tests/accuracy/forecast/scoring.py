"""Figures of what was found: middles, tails, shares; of nothing, None.

It does not know what is promised.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import median
from typing import NamedTuple

from tests.accuracy.forecast.budgets import HIT, NEAR, ROOMY, Outcome
from tests.accuracy.forecast.runaways import Runaway


class Spread(NamedTuple):
    """The median, the mean, the ninth decile, and of how many."""

    middle: float
    mean: float
    tail: float
    count: int


class Alarms(NamedTuple):
    """How an alarm did: shares of the hits and of the others, and the median lead, a share of the period."""

    hits: int
    detected: float
    lead: float | None
    roomy: int
    false: float
    near: float


class Caught(NamedTuple):
    """How an alarm did on runaways: `early` it was on before; of the others, how many it caught in time."""

    early: int
    of: int
    caught: int
    delay: float | None
    lead: float | None


def spread(values: Iterable[float]) -> Spread | None:
    """Of some errors."""
    ordered = sorted(values)
    if not ordered:
        return None
    return Spread(median(ordered), mean(ordered), ordered[int(0.9 * (len(ordered) - 1))], len(ordered))


def errors(outcomes: Sequence[Outcome], name: str) -> Spread | None:
    """How far off the exhaustion was said to be."""
    return spread(each.errors[name] for each in outcomes if name in each.errors)


def alarms(outcomes: Sequence[Outcome], name: str) -> Alarms:
    """How an alarm did."""
    hits = [each for each in outcomes if each.share in HIT and each.hit is not None]
    leads = [each.hit - each.fired[name] for each in hits if each.hit is not None and name in each.fired]
    roomy = [name in each.fired for each in outcomes if each.share in ROOMY]
    near = [name in each.fired for each in outcomes if each.share in NEAR]
    lead = median(leads) if leads else None
    return Alarms(len(hits), share(len(leads), len(hits)), lead, len(roomy), mean(roomy), mean(near))


def caught(runaways: Sequence[Runaway], name: str) -> Caught:
    """How an alarm did on those of which it could speak in time."""
    seen = [each for each in runaways if not each.blind]
    fresh = [each for each in seen if each.fired.get(name, 1.0) > each.onset]
    found = [each for each in fresh if name in each.fired]
    delays = [each.fired[name] - each.onset for each in found]
    leads = [each.hit - each.fired[name] for each in found]
    early = len(seen) - len(fresh)
    return Caught(early, len(fresh), len(found), _middle(delays), _middle(leads))


def mean(values: Sequence[bool] | Sequence[float]) -> float:
    """0 of nothing."""
    return sum(values) / len(values) if values else 0.0


def share(part: int, whole: int) -> float:
    """0 of nothing."""
    return part / whole if whole else 0.0


def _middle(values: Sequence[float]) -> float | None:
    return median(values) if values else None
