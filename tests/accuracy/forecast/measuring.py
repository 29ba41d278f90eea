"""All experiments, as jobs that two processes share, and what was found.

A place is a kind of period of a kind of series. It does not count anything.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Final, TypeVar

from tests.accuracy.forecast import runs as running
from tests.accuracy.forecast import series
from tests.accuracy.forecast.budgets import Outcome, outcomes
from tests.accuracy.forecast.runaways import Runaway, runaways
from tests.accuracy.forecast.runs import Steps, Total
from tests.accuracy.forecast.series import DAY, HOUR, RECORDED_HOUR, Series
from tests.accuracy.forecast.totals import Said, totals
from tests.accuracy.shared import Shared

_WORKERS: Final = 2
T = TypeVar("T")


@dataclass(frozen=True)
class Place:
    """Of what series, and how long its periods are, in seconds."""

    name: str
    series: Callable[[Shared], list[Series]]
    length: float


def one_agent(shared: Shared) -> list[Series]:
    """A coding agent."""
    return [series.fleet(shared, 1)]


def four_agents(shared: Shared) -> list[Series]:
    """Four of them."""
    return [series.fleet(shared, 4)]


HOURS = Place("hour", series.recorded, RECORDED_HOUR)
QUARTERS = Place("quarter of an hour", series.recorded, RECORDED_HOUR / 4)
DAYS = Place("day", series.clients, DAY)
WEEKS = Place("week", series.clients, 7 * DAY)
ONE_AGENT = Place("hour of one coding agent", one_agent, HOUR)
FOUR_AGENTS = Place("hour of four coding agents", four_agents, HOUR)
PLACES: Final = (HOURS, QUARTERS, DAYS, WEEKS, FOUR_AGENTS, ONE_AGENT)


@dataclass
class Measured:
    """What was found, by the name of the place, and by the source of runs."""

    outcomes: dict[str, list[Outcome]] = field(default_factory=dict)
    runaways: dict[str, list[Runaway]] = field(default_factory=dict)
    totals: dict[str, list[Said]] = field(default_factory=dict)
    steps: dict[str, list[Steps]] = field(default_factory=dict)
    finals: dict[str, list[Total]] = field(default_factory=dict)


def measure(shared: Shared) -> Measured:
    """Everything; a minute or two."""
    measured = Measured()
    longest = sorted(PLACES, key=lambda place: place not in (DAYS, WEEKS))
    with ProcessPoolExecutor(_WORKERS, multiprocessing.get_context("spawn")) as pool:
        for place, found in zip(longest, pool.map(partial(_budgets, shared), longest), strict=True):
            measured.outcomes[place.name], measured.runaways[place.name], measured.totals[place.name] = found
    by_source: dict[str, list[list[float]]] = {}
    for source, costs in series.runs(shared):
        by_source.setdefault(source, []).append(costs)
    for source, runs in by_source.items():
        measured.steps[source] = list(running.steps_to_caps(runs))
        measured.finals[source] = list(running.final_totals(runs))
    return measured


def _budgets(shared: Shared, place: Place) -> tuple[list[Outcome], list[Runaway], list[Said]]:
    of = place.series(shared)

    def all_of(experiment: Callable[[Series, float], Iterable[T]]) -> list[T]:
        return [each for one in of for each in experiment(one, place.length)]

    return all_of(outcomes), all_of(runaways), all_of(totals)
