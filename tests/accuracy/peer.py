"""The contract of a peer: the rule of another guard, told turn by turn what an agent does.

Rule 1: a rule is written from what its authors published, with their defaults, and named with its version.
Rule 2: one instance judges one run; it says WARN or STOP at the turn at which its authors' code would steer
or refuse. Rule 3: what a rule needs and no recording has (a model as judge, compactions) is left out, and its
file says so. It does not know what is true of a run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import IntEnum
from typing import NamedTuple, Protocol

from tests.accuracy.steps import Turn


class Say(IntEnum):
    """What a rule has to say at a turn."""

    NOTHING = 0
    WARN = 1  # it tells the model or the person, and lets it go on
    STOP = 2  # it ends the run, or does not let the call happen


class Peer(Protocol):
    """A rule at work on one run."""

    def see(self, turn: Turn) -> Say:
        """What it says of the newest turn."""


Maker = Callable[[], Peer]


class Fired(NamedTuple):
    """The steps at which a rule first warned and first stopped; None: it never did."""

    warned: int | None = None
    stopped: int | None = None


def judge_all(make: Maker, run: Sequence[Turn]) -> Fired:
    """When a rule fires in a run through several processes, each of which has an instance of its own."""
    places: dict[int, list[Turn]] = {}
    for turn in run:
        places.setdefault(turn.place, []).append(turn)
    fired = [judge(make(), turns) for turns in places.values()]
    warned = [each.warned for each in fired if each.warned is not None]
    stopped = [each.stopped for each in fired if each.stopped is not None]
    return Fired(min(warned, default=None), min(stopped, default=None))


def judge(peer: Peer, run: Sequence[Turn]) -> Fired:
    """When a rule fires on a run: nothing after its stop counts."""
    warned: int | None = None
    for turn in run:
        said = peer.see(turn)
        if said is Say.STOP:
            return Fired(warned, turn.index)
        if said is Say.WARN and warned is None:
            warned = turn.index
    return Fired(warned)
