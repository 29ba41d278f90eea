"""Breakers by agent: the worst state among them, and how long stops lasted.

Rule 1: it hears of moves, and keeps only what is not closed; of runs that were put away it keeps nothing, for
nobody is held up there. Rule 2: what moves without a finding belongs to the agent of the finding before it.
Rule 3: times are the host's wall time, in seconds. It does not know why anything moved.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from spanfuse_processor.engine.nouns import BreakerKey, Level
from spanfuse_processor.engine.verdicts import BreakerState, Verdict
from spanfuse_processor.telemetry.declaring import UNKNOWN
from spanfuse_processor.telemetry.metrics import metric
from spanfuse_processor.telemetry.tally import Histogram, Row

STATES: Final = metric("state").values["state"]
_SHOWN: Final = {
    BreakerState.OPEN: "open",
    BreakerState.FORCED_OPEN: "open",
    BreakerState.HALF_OPEN: "half_open",
}
MOST: Final = 100_000
"""Breakers that are kept; of more, the one that moved longest ago is forgotten."""


class _Standing(NamedTuple):
    agent: str
    state: str
    detector: str
    since: float


class Breakers:
    """What is not closed. `wall` is asked for the time.

    Attributes:
        recovery: how long stops lasted, by detector.
    """

    def __init__(self, wall: Callable[[], float]) -> None:
        self._wall = wall
        self._standing: dict[BreakerKey, _Standing] = {}
        self._agents: dict[str, dict[str, int]] = {}
        self.recovery = Histogram(metric("recovery_seconds"), wall)

    def begin(self, agent: str) -> None:
        """This agent is new."""
        self._agents.setdefault(agent, {"open": 0, "half_open": 0})

    def heard(self, verdict: Verdict, agent: str, detector: str) -> None:
        """What the engine said; `agent` is the label of who was stopped, if that is known."""
        moved = verdict.transition
        if moved is not None:
            self._move(moved.key, moved.after, agent, detector)
        elif verdict.removal is not None:
            self.forget(verdict.key or BreakerKey(Level.RUN, verdict.run))

    def forget(self, key: BreakerKey) -> None:
        """It is closed, or nobody is held up by it any more."""
        stood = self._standing.pop(key, None)
        if stood is not None:
            self._agents[stood.agent][stood.state] -= 1

    def rows(self, shown: bool) -> Iterator[Row]:
        """One state of each agent holds."""
        name = metric("state").name
        for agent, counts in list(self._agents.items()):
            worst = next((state for state in ("open", "half_open") if counts[state]), "closed")
            for state in STATES:
                yield name, (agent, state), float(state == worst), None
        yield from self.recovery.rows(shown)

    def _move(self, key: BreakerKey, after: BreakerState, agent: str, detector: str) -> None:
        stood, state = self._standing.get(key), _SHOWN.get(after)
        self.forget(key)
        if stood is not None:
            agent, detector = stood.agent, stood.detector
            if stood.state == "open" and state != "open":
                self.recovery.observe(detector, seconds=max(0.0, self._wall() - stood.since))
        if state is None:
            return
        again = stood is not None and stood.state == state
        since = stood.since if again and stood is not None else self._wall()
        self.begin(agent or UNKNOWN)
        self._standing[key] = _Standing(agent or UNKNOWN, state, detector, since)
        self._agents[agent or UNKNOWN][state] += 1
        if len(self._standing) > MOST:
            self.forget(next(iter(self._standing)))
