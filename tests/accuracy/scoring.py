"""Counting: what a judge made of a set of cases. Ours and the peers are counted by the same few lines.

Rule 1: a loop is caught by a stop, wherever before the run's end it falls; honest work that is stopped is a
false kill. Rule 2: of a graft only what happens after the prefix counts as caught; a stop in the prefix is a
false kill. Rule 3: grey and undecidable cases, and those of which nothing is known, count on neither side.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from tests.accuracy.judged import Verdict
from tests.accuracy.peer import Fired
from tests.accuracy.steps import End, Truth


@dataclass
class Score:
    """What one judge made of some cases. Lists hold ids, so that every number can be looked up."""

    loops: int = 0
    caught: list[str] = field(default_factory=list)
    near: int = 0
    early: int = 0
    late: int = 0
    warned: int = 0  # loops that were only warned of
    missed: list[str] = field(default_factory=list)
    honest: int = 0
    killed: list[str] = field(default_factory=list)
    hasty: list[str] = field(default_factory=list)  # grafts that were stopped in their honest prefix
    doubted: int = 0  # honest ones that were warned
    delays: list[int] = field(default_factory=list)
    steps: int = 0  # of loops
    saved: int = 0  # of those, the ones after a stop

    @property
    def recall(self) -> float:
        """Loops that were stopped, of all."""
        return len(self.caught) / self.loops if self.loops else 0.0

    @property
    def wrong(self) -> int:
        """Stops that should not have been."""
        return len(self.killed) + len(self.hasty)

    @property
    def precision(self) -> float:
        """Loops among what was stopped; 0 where nothing was."""
        stopped = len(self.caught) + self.wrong
        return len(self.caught) / stopped if stopped else 0.0

    @property
    def delay(self) -> float | None:
        """The median of calls from the onset to the stop, both included."""
        return statistics.median(self.delays) if self.delays else None

    @property
    def share_saved(self) -> float:
        """Steps that a stop spares, of all steps of the loops."""
        return self.saved / self.steps if self.steps else 0.0


def is_loop(truth: Truth) -> bool:
    """Whether a stop is right."""
    return truth.end is End.LOOP and not truth.grey


def is_honest(truth: Truth) -> bool:
    """Whether a stop is wrong: it was said so, or the run reached its aim."""
    return not truth.grey and (
        truth.end is End.HONEST or (truth.success is True and truth.end is not End.LOOP)
    )


def fired(verdicts: Mapping[str, Verdict]) -> dict[str, Fired]:
    """The engine's verdicts in the form of a peer's."""
    return {case: Fired(verdict.warned, verdict.stopped) for case, verdict in verdicts.items()}


def score(truths: Iterable[Truth], found: Mapping[str, Fired]) -> Score:
    """Counts what was found of the cases."""
    counted = Score()
    for truth in truths:
        said = found.get(truth.id, Fired())
        if is_loop(truth):
            _count_loop(counted, truth, said)
        elif is_honest(truth):
            counted.honest += 1
            if said.stopped is not None:
                counted.killed.append(truth.id)
            counted.doubted += said.warned is not None and said.stopped is None
    return counted


def _count_loop(counted: Score, truth: Truth, said: Fired) -> None:
    counted.loops += 1
    counted.steps += truth.steps
    if said.stopped is not None and said.stopped < truth.begins:
        counted.hasty.append(truth.id)
    elif said.stopped is not None:
        counted.caught.append(truth.id)
        counted.saved += truth.steps - 1 - said.stopped
        if truth.onset >= 0:
            counted.delays.append(truth.delay(said.stopped))
        _place(counted, truth, said.stopped)
    elif said.warned is not None:
        counted.warned += 1
    if not counted.caught or counted.caught[-1] != truth.id:
        counted.missed.append(truth.id)


def _place(counted: Score, truth: Truth, stopped: int) -> None:
    """Near is within three steps of where a stop is due, or within half of the way there."""
    if truth.due < 0:
        return
    if abs(stopped - truth.due) <= max(3, truth.due // 2):
        counted.near += 1
    elif stopped < truth.due:
        counted.early += 1
    else:
        counted.late += 1
