"""What a page is made of: calls, events, and the span of time that is looked at.

Rule 1: rows are those of the store. Rule 2: what is derived from them here is arithmetic; nothing is judged
anew. It knows no page.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any, Final, NamedTuple

from spanfuse_processor.engine.forecasts.rates import HOUR, Rates, half_lives
from spanfuse_processor.store import EventRow, StepRow

STOPS: Final = frozenset({"trip"})
_SHORTEST: Final = 60.0  # seconds that rates are taken to be of, at least
_LOOK: Final = {True: 0.5, False: 0.25}  # how far ahead, in lengths of what is looked at: of a run, of a time
_BEFORE: Final = 3  # calls that cost something, before anything is said of the next ones


def body_of(event: EventRow) -> dict[str, Any]:
    """What an event says beside its columns; nothing where that cannot be read."""
    try:
        body = json.loads(event.body)
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}


class Ahead(NamedTuple):
    """What more would have been spent from `at` to `until`, in micro-dollars: at the lower and at the higher
    of two rates, that of the last while and that of a longer one."""

    at: float
    until: float
    spent: int
    low: float
    high: float


@dataclass(frozen=True)
class Material:
    """Calls and events of one run (`run` is its id) or of a stretch of time, both oldest first.

    `since` and `until` are wall times in seconds; of a run they are its own first and last moment. `complete`
    is False when there are more calls than these.
    """

    run: str
    since: float
    until: float
    steps: Sequence[StepRow]
    events: Sequence[EventRow]
    made: float
    complete: bool = True

    @property
    def stops(self) -> list[EventRow]:
        """The events at which something was stopped."""
        return [event for event in self.events if event.kind in STOPS]

    @cached_property
    def spent(self) -> list[int]:
        """What all calls up to each had cost, in micro-dollars."""
        return list(accumulate(step.cost if step.counts else 0 for step in self.steps))

    @property
    def cost(self) -> int:
        """What all of them cost, in micro-dollars."""
        return self.spent[-1] if self.spent else 0

    def after(self, at: float) -> int:
        """What calls cost that ended after a moment."""
        return sum(step.cost for step in self.steps if step.counts and step.ended > at)

    @cached_property
    def ahead(self) -> Ahead | None:
        """What the first stop was in the way of, as far again as the run had come; without a stop, what comes
        next. None where too little was spent to say so."""
        at = self.stops[0].at if self.run and self.stops else self.until
        paid = [
            (step.ended, step.cost) for step in self.steps if step.counts and step.cost and step.ended <= at
        ]
        length = max(at - self.since, 1.0)
        if len(paid) < _BEFORE or self.until <= self.since:
            return None
        if not self.run and at - paid[0][0] < half_lives(length)[0]:
            return None
        until = max(self.until, at + _LOOK[bool(self.run)] * length)
        return _ahead(paid, at, until, max(min(length, HOUR) if self.run else length, _SHORTEST))


def _ahead(paid: Sequence[tuple[float, int]], at: float, until: float, length: float) -> Ahead:
    """The half-lives of the rates go with the `length` of what is looked at, as a budget's with its
    period."""
    rates = Rates(length)
    last = paid[0][0]
    for ended, cost in paid:
        rates.observe(ended, float(cost), ended - last)
        last = max(last, ended)
    slopes = rates.at(at, at - last)
    left = until - at
    low, high = sorted((slopes.short * left, slopes.long * left))
    return Ahead(at, until, sum(cost for _, cost in paid), low, high)


class RunSum(NamedTuple):
    """What one run of a stretch came to."""

    run: str
    feature: str
    agent: str
    calls: int
    failed: int
    cost: int
    first: float
    last: float


def runs_of(steps: Iterable[StepRow]) -> list[RunSum]:
    """The runs of some calls, dearest first."""
    sums: dict[str, RunSum] = {}
    for step in steps:
        before = sums.get(step.run)
        begun = step.started or step.ended
        if before is None:
            before = RunSum(step.run, step.feature, step.agent, 0, 0, 0, begun, step.ended)
        sums[step.run] = before._replace(
            calls=before.calls + 1,
            failed=before.failed + bool(step.failed),
            cost=before.cost + (step.cost if step.counts else 0),
            first=min(before.first, begun),
            last=max(before.last, step.ended),
        )
    return sorted(sums.values(), key=lambda each: (-each.cost, each.first, each.run))
