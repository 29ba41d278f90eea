"""What was spent, when: recorded requests, clients of a service, and fleets of agents; cut into periods.

Rule 1: amounts are micro-dollars. Rule 2: of clients only sums of ten minutes are recorded; they are spread
evenly over five calls, or as many as there were. Rule 3: recorded hours end before the hour does, so an
"hour" is 57 minutes of them, and a "quarter" a quarter of that. Rule 4: no collection has agents' calls with
times and true costs; a fleet is recorded runs of coding agents, with their own times and sizes, done by some
workers, each taking up the next as soon as it is done: an arrangement of ours, costs by the size of what was
sent. It does not know forecasts.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from tests.accuracy.shared import Shared, read_lines

MINUTE: Final = 60.0
HOUR: Final = 3_600.0
DAY: Final = 24 * HOUR
RECORDED_HOUR: Final = 57 * MINUTE
WINDOW: Final = 600.0  # of the clients' sums
_PARTS: Final = 5  # of a window
_FEWEST: Final = 200  # calls of a period that is looked at
_PAUSE: Final = 30.0  # between two runs of a worker
_INPUT, _OUTPUT = 5.0, 25.0  # micro-dollars a token, of the agents: a list price without caches


class Spend(NamedTuple):
    """One call, or several together: when, how much, of how many."""

    wall: float
    amount: float
    calls: float


class Stretch(NamedTuple):
    """One period of one series."""

    start: float
    length: float
    spends: list[Spend]
    total: float

    @property
    def end(self) -> float:
        """When it is over."""
        return self.start + self.length


Series = list[Spend]


def recorded(shared: Shared) -> list[Series]:
    """Requests to three services, each about an hour long."""
    return [
        [Spend(at, cost * 1e6, 1.0) for at, cost in zip(each["t"], each["cost_usd"], strict=True)]
        for each in _lines(shared, "series")
        if each["kind"] == "request"
    ]


def clients(shared: Shared) -> list[Series]:
    """What clients of a service spent in two weeks."""
    return [list(_spread(each)) for each in _lines(shared, "series") if each["kind"] != "request"]


def fleet(shared: Shared, workers: int) -> Series:
    """Coding agents at work."""
    free = [(0.0, worker) for worker in range(workers)]
    found: Series = []
    for steps in (each["steps"] for each in _lines(shared, "tasks") if each["source"] == "vorflux_opus46"):
        began, worker = heapq.heappop(free)
        found += [Spend(began + step["t"], cost(step), 1.0) for step in steps]
        heapq.heappush(free, (began + steps[-1]["t"] + _PAUSE, worker))
    return sorted(found)


def cost(step: dict[str, Any]) -> float:
    """What a step of a run cost, in micro-dollars; by its size, where that was not recorded."""
    if step["cost_usd"] is not None:
        return float(step["cost_usd"]) * 1e6
    return float(step["input_tokens"] * _INPUT + step["output_tokens"] * _OUTPUT)


def periods(series: Series, length: float) -> Iterator[Stretch]:
    """Those of a series, one after the other; those that are not whole or of few calls are left out."""
    whole = int((series[-1].wall + WINDOW) // length)
    place = 0
    for number in range(whole):
        start = number * length
        began = place
        while place < len(series) and series[place].wall <= start + length:
            place += 1
        spends = series[began:place]
        if sum(each.calls for each in spends) >= _FEWEST:
            yield Stretch(start, length, spends, sum(each.amount for each in spends))


def runs(shared: Shared) -> Iterator[tuple[str, list[float]]]:
    """Recorded runs: where they are from, and what each step cost."""
    for each in _lines(shared, "tasks"):
        yield each["source"], [cost(step) for step in each["steps"]]


def _lines(shared: Shared, name: str) -> list[Any]:
    return read_lines(shared.data / "spend" / f"{name}.jsonl.gz")


def _spread(line: dict[str, Any]) -> Iterator[Spend]:
    rows = zip(line["t"], line["cost_usd"], line["requests"], strict=True)
    for at, amount, calls in rows:
        parts = min(calls, _PARTS)
        if amount > 0.0:
            for part in range(parts):
                yield Spend(at + WINDOW * (part + 1) / parts, amount * 1e6 / parts, calls / parts)
