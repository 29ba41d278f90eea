"""What finished runs of one agent tell of one that is under way: the final total, with an interval.

At some steps (the third, the fourth, the sixth ...) what a run had spent is remembered; what it came to,
divided by that, is the ratio that the next run is judged by. Rule 1: nothing is said before twenty runs have
finished, nor at a step that fewer than nineteen of them went beyond. Rule 2: the last hundred count. The
figure is weak, and models that were fitted to more than the ratio did no better.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from spanfuse_processor.engine.forecasts.conformal import Ratios

STEPS: Final = (3, 4, 6, 8, 11, 15, 20, 28, 40, 56, 80)
"""The steps at which the final total is forecast; it stands until the next of them."""

LEAST: Final = 20  # finished runs
COVERED: Final = 0.9  # of runs
_KEPT: Final = 100  # runs

Interval = tuple[float, float, float]
"""Low, middle and high."""


class Agent:
    """The finished runs of one agent.

    >>> agent = Agent()
    >>> for total in range(1, 21):
    ...     agent.finish([10.0], 10.0 * (total + 10), None)
    >>> agent.total(0, 20.0), agent.total(1, 20.0)
    ((221.0, 400.0, 599.0), None)

    Attributes:
        finished: how many there were.
    """

    __slots__ = ("_held", "_ratios", "finished")

    def __init__(self) -> None:
        self._ratios = [Ratios(COVERED, _KEPT) for _ in STEPS]
        self._held: list[bool] = []
        self.finished = 0

    def total(self, place: int, spent: float) -> Interval | None:
        """What a run comes to, which at the step in this `place` had `spent` so much."""
        ratios = self._ratios[place]
        if self.finished < LEAST or ratios.factors is None:
            return None
        low, high = ratios.factors
        return low * spent, ratios.middle() * spent, high * spent

    def finish(self, passed: Sequence[float], total: float, said: Interval | None) -> None:
        """A run came to `total`: what it had spent at each of STEPS, and what was first said of it."""
        self.finished += 1
        for ratios, spent in zip(self._ratios, passed, strict=False):
            if spent > 0.0:
                ratios.add(total / spent)
        if said is not None:
            self._held = [*self._held[1 - _KEPT :], said[0] <= total <= said[2]]

    @property
    def coverage(self) -> float | None:
        """The share of runs that ended in the interval first said of them; None: none was."""
        return sum(self._held) / len(self._held) if self._held else None

    def dump(self) -> dict[str, Any]:
        """All that is known, as plain data."""
        ratios = [list(each.came) for each in self._ratios]
        return {"ratios": ratios, "held": list(self._held), "finished": self.finished}

    @classmethod
    def of(cls, dump: Mapping[str, Any]) -> Agent:
        """What was dumped. Raises ValueError when it is none."""
        agent = cls()
        ratios = [Ratios(COVERED, _KEPT, each) for each in dump["ratios"]]
        if len(ratios) != len(STEPS):
            raise ValueError(f"there are {len(STEPS)} steps at which runs are compared, not {len(ratios)}")
        agent._ratios = ratios
        agent._held = [bool(each) for each in dump["held"]]
        agent.finished = int(dump["finished"])
        return agent
