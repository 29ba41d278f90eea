"""A call as detectors see it: an event placed in its run, its tree and the work of its agent.

Rule 1: what is not known yet is absent, and never guessed here. Rule 2: facts are made once, by the room that
knows them (`tree`, `lanes`, the engine), and read by all. This file decides nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Final, NamedTuple

from spanfuse_processor.engine.events import CallStarted
from spanfuse_processor.engine.nouns import MicroUsd

PLAIN_NS: Final = 30_000_000_000
PLAIN_COST: Final[MicroUsd] = 500_000
PLAIN_TOKENS: Final = 100_000
"""A call that took, cost or read as much is not plain."""


class Nest(NamedTuple):
    """A call's place among agents that start agents: the longest known way through it, outermost first.

    Two spans that tell of one agent are one of `levels`. `sure` is the longest way whose every step is
    certain, and not inferred from the times at which traces of one run began and ended. `line` are the
    names on the way, `spans` the ids of their spans as far as they are known. On it, or on another way
    through the call, agent `name` is `times` times within itself.

    Of an agent's own call: `above` are those that led to it, each started by the one before, also through a
    queue; `own` is how many launches it makes of agents by an agent of their own name. `double`: the span
    right above it or right below tells of the same agent.
    """

    levels: int
    sure: int
    line: tuple[str, ...]
    spans: tuple[bytes, ...] = ()
    name: str = ""
    times: int = 1
    above: int = 0
    own: int = 0
    double: bool = False


class News(IntEnum):
    """What a call brought to the agent that made it."""

    UNKNOWN = 0  # what was asked or what came of it is not known
    NEW = 1
    KNOWN = 2  # the same was asked before and the same came of it
    FORGIVEN = 3  # known, but it may repeat, or was asked for together with its equal


@dataclass(slots=True)
class Call:
    """An event placed in its run and tree: what detectors see.

    `number` counts the calls of the run from 1 in order of arrival. `depth` is the number of agents above
    (a lower bound while parents are missing); `height` is the longest chain of agents below and including
    this call, as far as their ends have arrived. `ended` is False for a start. `cost` is None when the
    price is unknown or the call has none. `nest` is its place among agents that start agents; None where
    there are none, and at calls that say nothing new of them.

    Of a call that ended: `window` is how many tokens its model takes in at once (0: unknown, or no model's
    call), `before_ns` when the last of its run's calls before it had ended (0: there was none), `run_cost`
    and `run_tokens` are what the run has cost by now and the tokens that it did not read from a cache: each
    call once, and with prices that came late. `counts` is False where another call tells
    the same and stands in the totals, `estimated` True where its usage or its price is a guess. `unpriced`:
    nobody knows its model's price, so it costs nothing or the policy's fallback.

    Of a tool's, a model's or an agent's call that ended: `lane` is the agent at work that made it
    (`lanes.Lane`), `news` what it brought, `effect` what the tool does, as declared or guessed,
    `repeatable` whether it may repeat. `plain` says that there is nothing about it to look at: it is no
    repeat and like nothing before it, did not fail, acts on nobody outside, is in no stage and no nest, and
    was neither long nor dear.
    """

    event: CallStarted
    run: str
    number: int
    depth: int
    height: int
    agents: tuple[str, ...]
    ended: bool
    cost: MicroUsd | None = None
    lane: Any = None
    news: News = News.UNKNOWN
    effect: str = ""
    repeatable: bool = False
    plain: bool = False
    window: int = 0
    before_ns: int = 0
    run_cost: MicroUsd = 0
    run_tokens: int = 0
    counts: bool = True
    estimated: bool = False
    unpriced: bool = False
    nest: Nest | None = None


@dataclass(slots=True)
class Open:
    """An open call at one moment: what detectors that mind time see. All in seconds.

    `age` since it began. `quiet` since it, or anything inside of it, last began, ended or showed life; 0
    while a call inside of it is open. `idle`: since anything in its run last began or ended; 0 while any
    call but an agent's is open there. `beat` since the run's last heartbeat, None when it never sent one;
    `within` what that one promised.
    """

    call: Call
    age: float
    quiet: float
    idle: float
    beat: float | None = None
    within: float = 0.0
