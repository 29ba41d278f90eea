"""Thresholds: what is measured in whole numbers is warned of, or stopped, where it reaches its limits.

Rule 1: for a field of limits that warns there may be one of that name with `_stop` behind it, which stops; 0
is off. Rule 2: what stops speaks before what warns. Rule 3: each is said once; what is said makes lower ones
of the same measure needless, and a stop makes all of them so. It does not know how anything is measured.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import inf
from typing import Final, NamedTuple

from spanfuse_processor.engine.calls import Call
from spanfuse_processor.engine.findings import found
from spanfuse_processor.engine.policy import DetectorLimits
from spanfuse_processor.engine.verdicts import Finding, Severity

NS: Final = 1_000_000_000
USD: Final = 1_000_000

WARN, STOP = Severity.WARN, Severity.STOP


class Measure(NamedTuple):
    """Something measured: the fields that limit it, and how many of what is measured are one of theirs.

    `says` is the message, with the number in the unit of the fields as `{0}` and the call's name as `{1}`;
    `cleared_by` is what would clear it.
    """

    fields: tuple[str, ...]
    unit: int
    says: str
    cleared_by: str


class Threshold(NamedTuple):
    """One limit: its field, what comes of it, whose measure it is, and from where on, as that is measured."""

    rule: str
    severity: Severity
    measure: int
    at: int


Thresholds = tuple[Threshold, ...]


@lru_cache(maxsize=1_024)
def thresholds(limits: DetectorLimits, measures: tuple[Measure, ...]) -> Thresholds:
    """All that are on, in the order in which they speak; a measure is known by its place in `measures`."""
    stops, warns = [], []
    for place, measure in enumerate(measures):
        for field in measure.fields:
            twin = f"{field}_stop"
            stops.append(Threshold(twin, STOP, place, round(getattr(limits, twin, 0) * measure.unit)))
            warns.append(Threshold(field, WARN, place, round(getattr(limits, field) * measure.unit)))
    return tuple(each for each in (*stops, *warns) if each.at)


def reached(waiting: Thresholds, seen: Sequence[int]) -> Threshold | None:
    """The first that is reached; `seen` has a number for each measure."""
    for threshold in waiting:
        _, _, measure, at = threshold  # attributes would cost more, and this is done for every call
        if seen[measure] >= at:
            return threshold
    return None


@lru_cache(maxsize=1_024)
def lowest(waiting: Thresholds, measures: int) -> tuple[float, ...]:
    """For each of so many measures, from where on any of them is reached.

    >>> lowest((Threshold("high", WARN, 0, 80), Threshold("low", WARN, 0, 50)), 2)
    (50, inf)
    """
    return tuple(
        min((each.at for each in waiting if each.measure == at), default=inf) for at in range(measures)
    )


def after(waiting: Thresholds, said: Threshold) -> Thresholds:
    """Those that still have something to say when one was said.

    >>> low, high = Threshold("low", WARN, 0, 50), Threshold("high", WARN, 0, 80)
    >>> after((high, low), low) == (high,), after((high, low), high)
    (True, ())
    """
    if said.severity is STOP:
        return ()
    return tuple(each for each in waiting if each.measure != said.measure or each.at > said.at)


def tell(
    call: Call,
    detector: str,
    measure: Measure,
    said: Threshold,
    seen: int,
    spans: tuple[bytes, ...] = (),
    prints: tuple[str, ...] = (),
) -> Finding:
    """What a detector says of a threshold that is reached."""
    return found(
        call,
        detector,
        said.severity,
        "LIMIT",
        measure.says.format(seen / measure.unit, call.event.name),
        observed=seen / measure.unit,
        limit=said.at / measure.unit,
        cleared_by=measure.cleared_by,
        spans=spans,
        rule=said.rule,
        prints=prints,
    )
