"""How far off what is said may be, by how far off it was: conformal bands, with no distribution assumed.

What was is divided by what was said; quantiles of that, times what is said now, hold as often as they are
asked to, if the new case is like the old ones. Rule 1: no band before there are enough cases for its
quantiles to exist (9 for eighty per cent, 19 for ninety). Rule 2: a bounded number of the last cases is kept.
Rule 3: a tenth of a period is judged by the same tenth of earlier ones: late forecasts are the better ones.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right, insort
from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any, Final, NamedTuple

TENTHS: Final = 10
HALF: Final = 5
COVERED: Final = 0.8  # of periods
_KEPT: Final = 60  # periods
_TINY: Final = 1e-9


def bounds(ordered: Sequence[float], covered: float) -> tuple[float, float] | None:
    """Between which of the values the next one lies, with a probability of `covered`; None: too few of them.

    Values n split the line into n + 1 parts that are as likely as each other; between two, in proportion.

    >>> bounds([float(each) for each in range(1, 20)], 0.9), bounds([1.0] * 18, 0.9)
    ((1.0, 19.0), None)
    >>> [round(each, 6) for each in bounds([float(each) for each in range(1, 30)], 0.9) or ()]
    [1.5, 28.5]
    """
    count = len(ordered)
    rank = (count + 1) * (1.0 - covered) / 2.0 + _TINY
    before = int(rank)
    if before < 1 or count < 2:
        return None
    part = max(0.0, rank - before - _TINY)
    low, above = ordered[before - 1], ordered[before]
    below, high = ordered[-before - 1], ordered[-before]
    return low + part * (above - low), high + part * (below - high)


class Ratios:
    """The last `kept` ratios of what was to what had been said, as they came and in order of their size."""

    __slots__ = ("_covered", "_kept", "came", "factors", "ordered")

    def __init__(self, covered: float, kept: int, came: Sequence[float] = ()) -> None:
        self._covered, self._kept = covered, kept
        self.came = array("d", came[-kept:])
        if not all(isfinite(each) and each > 0.0 for each in self.came):
            raise ValueError("what was and what was said are amounts: no ratio of them is negative, or none")
        self.ordered = array("d", sorted(self.came))
        self.factors = bounds(self.ordered, covered)

    def add(self, ratio: float) -> None:
        """One more; the oldest goes."""
        self.came.append(ratio)
        insort(self.ordered, ratio)
        if len(self.came) > self._kept:
            self.ordered.remove(self.came.pop(0))
        self.factors = bounds(self.ordered, self._covered)

    def middle(self) -> float:
        """The median; of an even number, the lower of the two. There has to be one."""
        return self.ordered[(len(self.ordered) - 1) // 2]

    def above(self, ratio: float) -> float:
        """The share that is greater; never quite none, never quite all."""
        count = len(self.ordered)
        return (count - bisect_right(self.ordered, ratio) + 0.5) / (count + 1.0)


class Band(NamedTuple):
    """Between what a period ends, how probably it ends over the limit, and how many periods say so."""

    low: float
    high: float
    exceeds: float
    observations: int


class Bands:
    """What was said at each tenth of this period, and how that turned out in the last ones.

    >>> bands = Bands()
    >>> for total in range(101, 112):
    ...     bands.say(0.55, 100.0)
    ...     bands.close(float(total))
    >>> bands.band(0.55, 1000.0, 1060.0)
    Band(low=1012.0, high=1108.0, exceeds=0.4583333333333333, observations=11)
    """

    __slots__ = ("_half", "_held", "_ratios", "_said", "coverage")

    def __init__(self) -> None:
        self._ratios: dict[int, Ratios] = {}  # of each tenth in which something was said
        self._said: dict[int, float] = {}  # first in each tenth of this period
        self._half: Band | None = None
        self._held: list[bool] = []
        self.coverage: float | None = None  # the share of periods that ended in the band said at half time

    def say(self, part: float, total: float) -> None:
        """A `total` is forecast when this `part` of the period is over."""
        tenth = int(part * TENTHS)
        if tenth not in self._said and 0 <= tenth < TENTHS and total > 0.0:
            self._said[tenth] = total
            if tenth == HALF:
                self._half = self.band(part, total, total)

    def band(self, part: float, total: float, limit: float) -> Band | None:
        """How sure a forecast of a `total` is; None: too few periods are over."""
        ratios = self._ratios.get(min(int(part * TENTHS), TENTHS - 1))
        if ratios is None or ratios.factors is None or total <= 0.0:
            return None
        low, high = ratios.factors
        return Band(low * total, high * total, ratios.above(limit / total), len(ratios.came))

    def close(self, total: float | None) -> None:
        """The period came to `total`; None: it is not known to what it would have come."""
        if total is not None and total > 0.0:
            for tenth, said in self._said.items():
                self._ratios.setdefault(tenth, Ratios(COVERED, _KEPT)).add(total / said)
            if self._half:
                self._held = [*self._held[1 - _KEPT :], self._half.low <= total <= self._half.high]
                self.coverage = sum(self._held) / len(self._held)
        self._said = {}
        self._half = None

    def dump(self) -> dict[str, Any]:
        """All that it knows, as plain data."""
        ratios = [[tenth, list(each.came)] for tenth, each in self._ratios.items()]
        said = [[tenth, total] for tenth, total in self._said.items()]
        half = list(self._half) if self._half else None
        return {"ratios": ratios, "said": said, "half": half, "held": list(self._held)}

    def load(self, dump: Mapping[str, Any]) -> None:
        """Takes up what another knew. Raises ValueError when it is not of the tenths of a period."""
        ratios = {int(tenth): Ratios(COVERED, _KEPT, came) for tenth, came in dump["ratios"]}
        said = {int(tenth): float(total) for tenth, total in dump["said"]}
        if not all(0 <= tenth < TENTHS for tenth in (*ratios, *said)) or not all(said.values()):
            raise ValueError(f"a period has {TENTHS} tenths, and something was said in each that is named")
        self._ratios, self._said = ratios, said
        self._half = Band(*dump["half"]) if dump["half"] else None
        self._held = [bool(each) for each in dump["held"]]
        self.coverage = sum(self._held) / len(self._held) if self._held else None
