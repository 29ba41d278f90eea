"""The forecaster of runs: how many steps until the cap, and what the run will come to.

A context that grows makes each step dearer than the one before, so that the money left lasts for fewer steps
than the mean says: with costs on a line, the sum of n steps is n l + b n^2 / 2, which is solved for n. Rule
1: steps to the cap are an interval; in the middle the line through the last eight steps, above it the mean of
the last three, below it a line twice as steep as that through the last eight or through all. Rule 2: of the
final total see `agents`. Rule 3: runs and agents are bounded, those not heard of for longest are forgotten. A
step is a call of a model. It does not know who stops a run.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from math import ceil, sqrt
from typing import Any, Final

from spanfuse_processor.engine.forecast import RunForecast
from spanfuse_processor.engine.forecasts.agents import STEPS, Agent, Interval

_LAST: Final = 3  # steps, of which the mean is taken; before so many nothing is said
_LINE: Final = 8  # steps, through which a line is drawn
_STEEPER: Final = 2.0  # the line of the low end, than that through the last steps or through all
_FAR: Final = 1e6  # steps: never
_TINY: Final = 1e-9


class _Run:
    """One run under way."""

    __slots__ = ("agent", "moment", "passed", "recent", "said", "spent", "steps")

    def __init__(self, agent: str) -> None:
        self.agent = agent
        self.steps = 0
        self.spent = 0.0
        self.moment = 0.0  # the sum of each step's number times its cost
        self.recent: list[float] = []
        self.passed: list[float] = []  # spent at each of STEPS
        self.said: Interval | None = None  # first of the total

    def add(self, amount: float) -> bool:
        """A step; True at one of STEPS."""
        self.steps += 1
        self.spent += amount
        self.moment += self.steps * amount
        self.recent.append(amount)
        if len(self.recent) > _LINE:
            del self.recent[0]
        place = len(self.passed)
        if place < len(STEPS) and self.steps == STEPS[place]:
            self.passed.append(self.spent)
            return True
        return False

    def slope(self) -> float:
        """By how much each step is dearer than the one before, of all steps; at least 0."""
        count = self.steps
        mean = (count + 1) / 2
        return max(0.0, (self.moment - mean * self.spent) * 12 / (count * (count * count - 1)))

    def recent_slope(self) -> float:
        """The same of the last steps."""
        recent = self.recent
        count = len(recent)
        middle = (count - 1) / 2
        moment = 0.0
        for index, amount in enumerate(recent):
            moment += (index - middle) * amount
        return max(0.0, moment * 12 / (count * (count * count - 1)))


def steps_until(left: float, last: float, slope: float) -> float | None:
    """How many steps the amount that is `left` lasts; None: for ever.

    The mean of the last three steps is `last`, and each is dearer by `slope` than the one before: the next
    one is two after the middle of the three.

    >>> steps_until(12.0, 3.0, 0.0), steps_until(5.0 + 6.0 + 7.0, 3.0, 1.0)
    (4.0, 3.0)
    """
    level = last + 1.5 * slope
    if level <= 0.0:
        return None
    steps = 2.0 * left / (level + sqrt(level * level + 2.0 * slope * left))
    return steps if steps <= _FAR else None


class RunForecaster:
    """Looks ahead for runs; the `runs` last heard of are known, and the `agents` whose runs last finished.

    >>> forecaster = RunForecaster()
    >>> for step in range(8):
    ...     forecaster.observe("run-1", "writer", 100.0 + 20.0 * step)
    >>> said = forecaster.forecast("run-1", cap=5000.0)
    >>> said and (said.spent, said.steps_low, said.steps_high, said.total_mid)
    (1360.0, 9, 17, None)
    """

    __slots__ = ("_agents", "_most_agents", "_most_runs", "_runs")

    def __init__(self, runs: int = 10_000, agents: int = 256) -> None:
        self._most_runs, self._most_agents = max(1, runs), max(1, agents)
        self._runs: OrderedDict[str, _Run] = OrderedDict()
        self._agents: OrderedDict[str, Agent] = OrderedDict()

    def observe(self, run: str, agent: str, amount: float) -> None:
        """A step of a run ended and cost `amount`. A run belongs to the agent that it was first seen with."""
        known = self._runs.get(run)
        if known is None:
            known = self._runs[run] = _Run(agent)
            if len(self._runs) > self._most_runs:
                self._runs.popitem(last=False)
        else:
            self._runs.move_to_end(run)
        if known.add(amount if amount > 0.0 else 0.0) and known.said is None:
            known.said = self._total(known)

    def forecast(self, run: str, cap: float) -> RunForecast | None:
        """Looks ahead from the run's last step to a `cap` (0: it has none). None: the run is not known."""
        known = self._runs.get(run)
        if known is None:
            return None
        until = _steps(known, cap)
        total = self._total(known)
        agent = self._agents.get(known.agent)
        if agent is None:
            return RunForecast(known.steps, known.spent, *until)
        low, mid, high = (max(each, known.spent) for each in total) if total else (None, None, None)
        return RunForecast(known.steps, known.spent, *until, low, mid, high, agent.coverage, agent.finished)

    def finish(self, run: str, stopped: bool) -> None:
        """A run is over. One that was `stopped` by somebody is forgotten: its total is no total."""
        known = self._runs.pop(run, None)
        if known is None or stopped or known.spent <= 0.0:
            return
        agent = self._agents.setdefault(known.agent, Agent())
        self._agents.move_to_end(known.agent)
        if len(self._agents) > self._most_agents:
            self._agents.popitem(last=False)
        # A run that ended at one of STEPS did not go beyond it.
        beyond = [spent for spent, step in zip(known.passed, STEPS, strict=False) if step < known.steps]
        agent.finish(beyond, known.spent, known.said)

    def dump(self) -> dict[str, Any]:
        """What was learnt of agents, as plain data; runs that are under way are not in it."""
        return {"agents": {name: agent.dump() for name, agent in self._agents.items()}}

    def load(self, dump: Mapping[str, Any]) -> None:
        """Takes up what another had learnt. Raises ValueError when it is no dump of such a forecaster."""
        try:
            agents = {str(name): Agent.of(each) for name, each in dump["agents"].items()}
        except (AttributeError, KeyError, TypeError) as missing:
            raise ValueError(f"no dump of a forecaster of runs: {missing!r}") from missing
        self._agents = OrderedDict(list(agents.items())[-self._most_agents :])

    def _total(self, run: _Run) -> Interval | None:
        """What is said of a run's total since the last of STEPS that it passed."""
        agent = self._agents.get(run.agent)
        return agent.total(len(run.passed) - 1, run.passed[-1]) if agent and run.passed else None


def _steps(run: _Run, cap: float) -> tuple[int | None, int | None, int | None]:
    """Low, middle and high of the steps until the cap, whole ones; the last may go beyond it."""
    if cap <= 0.0 or run.steps < _LAST:
        return None, None, None
    left = cap - run.spent
    if left <= 0.0:
        return 0, 0, 0
    last = sum(run.recent[-_LAST:]) / _LAST
    slope = run.recent_slope()
    low = steps_until(left, last, _STEEPER * max(slope, run.slope()))
    middle, high = steps_until(left, last, slope), steps_until(left, last, 0.0)
    if low is None or middle is None:
        return None, None, None
    return _whole(low), _whole(middle), None if high is None else _whole(high)


def _whole(steps: float) -> int:
    return max(1, ceil(steps - _TINY))
