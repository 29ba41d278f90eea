"""The experiment on runs: how many steps until a cap, and what a run comes to, step by step.

Rule 1: caps are shares of what each run truly came to, so that every one is hit at a known step. Rule 2: runs
come in the order in which they are recorded; what is said of a run rests on those before it. Rule 3: the
final total is asked for at a step only of runs that go beyond it. Rule 4: everybody answers in whole steps,
but for the closed form of a study, which is shown as it was there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import ceil, sqrt
from typing import Final, NamedTuple

from spanfuse_processor.engine.forecast import RunForecast
from spanfuse_processor.engine.forecasts.runs import RunForecaster

CAPS: Final = (0.5, 0.7, 0.9)  # of the run's total
PARTS: Final = (0.25, 0.5, 0.75)  # of the cap, spent when it is asked
AT: Final = (3, 5, 10, 20, 40)
"""Steps at which the final total is asked for; not all of them are steps at which runs are compared."""

US, LAST, MEAN = "spanfuse", "mean of the last three", "mean so far"
FORM: Final = "closed form, unrounded"
_LINE: Final = 8  # steps
_RUN, _AGENT = "run", "agent"


class Steps(NamedTuple):
    """One question about a cap: what part of it was spent, how wrong each answer, was it in the interval."""

    part: float
    errors: dict[str, float]
    held: bool


class Total(NamedTuple):
    """One question about a final total; all but the step None where nothing was said."""

    step: int
    error: float | None = None
    held: bool | None = None
    ratio: float | None = None  # of the interval's ends


def steps_to_caps(runs: Iterable[list[float]]) -> Iterator[Steps]:
    """Every cap of every run, asked at every part of it."""
    for costs in runs:
        for share in CAPS:
            yield from _cap(costs, share * sum(costs))


def _cap(costs: list[float], cap: float) -> Iterator[Steps]:
    forecaster = RunForecaster()
    asked, waiting = list(PARTS), []
    spent = 0.0
    for step, cost in enumerate(costs, 1):
        spent += cost
        forecaster.observe(_RUN, _AGENT, cost)
        if spent >= cap:
            yield from (_answer(part, said, step - said.steps, cap, costs) for part, said in waiting)
            return
        said = forecaster.forecast(_RUN, cap)
        while asked and spent >= asked[0] * cap:
            part = asked.pop(0)
            if said is not None and said.steps_mid is not None and said.steps_high is not None:
                waiting.append((part, said))


def _answer(part: float, said: RunForecast, true: int, cap: float, costs: list[float]) -> Steps:
    left = cap - said.spent
    last = sum(costs[said.steps - 3 : said.steps]) / 3
    answers: dict[str, float] = {US: said.steps_mid or 0, MEAN: ceil(left / (said.spent / said.steps))}
    if last > 0.0:
        answers |= {LAST: ceil(left / last), FORM: closed_form(left, last, costs[: said.steps][-_LINE:])}
    errors = {name: abs(answer - true) / true for name, answer in answers.items()}
    return Steps(part, errors, (said.steps_low or 0) <= true <= (said.steps_high or 0))


def closed_form(left: float, last: float, recent: list[float]) -> float:
    """Steps that sum up to what is left, from the mean of the last three on, along the line of the last ones.

    >>> closed_form(28.0, 5.0, [4.0, 5.0, 6.0])
    4.0
    """
    middle = (len(recent) - 1) / 2
    squares = sum((place - middle) ** 2 for place in range(len(recent)))
    slope = sum((place - middle) * cost for place, cost in enumerate(recent)) / squares
    return (sqrt(last * last + 2 * slope * left) - last) / slope if slope > 0.0 else left / last


def final_totals(runs: Iterable[list[float]]) -> Iterator[Total]:
    """Every run of one agent, asked at each of AT."""
    forecaster = RunForecaster()
    for number, costs in enumerate(runs):
        run = f"{_RUN}-{number}"
        for step, cost in enumerate(costs, 1):
            forecaster.observe(run, _AGENT, cost)
            if step in AT and step < len(costs):
                yield _total(step, forecaster.forecast(run, 0.0), sum(costs))
        forecaster.finish(run, stopped=False)


def _total(step: int, said: RunForecast | None, total: float) -> Total:
    if said is None or said.total_mid is None or said.total_low is None or said.total_high is None:
        return Total(step)
    held = said.total_low <= total <= said.total_high
    return Total(step, abs(said.total_mid - total) / total, held, said.total_high / said.total_low)
