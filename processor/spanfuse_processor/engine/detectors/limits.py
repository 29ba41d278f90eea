"""What a run may use: time, tokens and money, in a minute and altogether, and of a model's window (row W6).

Rule 1: limits warn, each once a run, and stop nothing: honest work passes them daily. Each has a twin that
stops, off until a policy sets it. Rule 2: a run stops at what its owner said that it may cost; the mark for
runs that say nothing is then left out. Rule 3: a pause in which nothing was at work is no time, a prompt
that the provider still had is no new token. Rule 4: to a run that is released, all is granted anew. It does
not know whether the work was worth it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from operator import ge
from struct import Struct, error
from typing import ClassVar, Final

from spanfuse_processor.engine.calls import Call
from spanfuse_processor.engine.detector import Unit
from spanfuse_processor.engine.events import CallEnded
from spanfuse_processor.engine.nouns import Kind, MicroUsd
from spanfuse_processor.engine.policy import DetectorLimits, ToolRule
from spanfuse_processor.engine.thresholds import (
    NS,
    USD,
    Measure,
    Thresholds,
    after,
    lowest,
    reached,
    tell,
    thresholds,
)
from spanfuse_processor.engine.verdicts import Finding
from spanfuse_processor.engine.window import Window

MINUTE: Final = 60

PAUSE: Final = 300 * NS
"""From here on, time in which no call was at work is a pause: somebody was away."""


@dataclass(frozen=True, slots=True)
class Limits(DetectorLimits):
    """What warns, and under the same name with `_stop` what stops. 0: off.

    In percent of what the run's owner said that it may cost, `budget` and `budget_late` warn and
    `budget_stop` stops. `minute_cost` is in US dollars within any minute, and so is `minute_cost_stop`.
    `window_share` and `window_share_stop` are percent of the tokens that a model takes in at once.
    `run_cost` is in US dollars, for runs whose owner said nothing, `run_cost_stop` for all. `run_tokens`
    and `run_tokens_stop` are tokens that were not read from a cache. `run_seconds` and `run_seconds_stop`
    are time at work, without pauses of five minutes and more.
    """

    budget: float = 50.0
    budget_late: float = 80.0
    minute_cost: float = 3.0
    window_share: float = 80.0
    run_cost: float = 2.0
    run_tokens: int = 100_000
    run_seconds: float = 300.0
    budget_stop: float = 100.0
    minute_cost_stop: float = 0.0
    window_share_stop: float = 0.0
    run_cost_stop: float = 0.0
    run_tokens_stop: int = 0
    run_seconds_stop: float = 0.0


MEASURES: Final = (
    Measure(
        ("budget", "budget_late"),
        1,
        "the run has spent {0:.0f} percent of what it may cost",
        "a larger `budget_usd`, or less work",
    ),
    Measure(
        ("minute_cost",),
        USD,
        "the run cost {0:.2f} USD within a minute",
        "a slower pace, or cheaper calls",
    ),
    Measure(
        ("window_share",),
        1,
        "a request filled {0:.0f} percent of what {1} takes in at once",
        "a shorter history",
    ),
    Measure(
        ("run_cost",),
        USD,
        "the run has cost {0:.2f} USD",
        "an earlier end, or a `budget_usd` that the run declares for itself",
    ),
    Measure(
        ("run_tokens",),
        1,
        "the run has used {0:.0f} tokens",
        "an earlier end, or a profile for longer runs",
    ),
    Measure(
        ("run_seconds",),
        NS,
        "the run has been at work for {0:.0f} s",
        "an earlier end, or a profile for longer runs",
    ),
)
_MINUTE, _SHARE, _COST = 1, 2, 3
_NOTHING: Final = (0, 0)
_OWN: Final = frozenset({"run_cost"})  # what gives way to the owner's word

# What is packed: time at work and the latest end, in nanoseconds; what was spent; the span of the first call.
_USED: Final = Struct("<qQq9p")
_pack, _unpack = _USED.pack, _USED.unpack
_UNUSED: Final = bytes(_USED.size)
_MOST: Final = 2**63 - 1


class LimitsDetector:
    """Adds up one run.

    >>> detector = LimitsDetector(Limits(run_cost_stop=3.0), {})
    >>> for number in range(1, 5):
    ...     event = CallEnded(bytes(16), bytes([number]), b"", number * NS, Kind.MODEL, "gpt-4o")
    ...     call = Call(event, "run", number, 0, 0, (), True, cost=USD, run_cost=number * USD)
    ...     finding = detector.ended(call)
    ...     print(number, finding and (finding.severity.value, finding.rule, finding.message))
    1 None
    2 ('warn', 'run_cost', 'the run has cost 2.00 USD')
    3 ('stop', 'run_cost_stop', 'the run has cost 3.00 USD')
    4 None
    """

    name: ClassVar[str] = "limits"
    per: ClassVar[tuple[Unit, ...]] = (Unit.RUN,)
    heeds: ClassVar[frozenset[Kind]] = frozenset({Kind.MODEL, Kind.TOOL, Kind.EMBEDDINGS})

    __slots__ = (
        "_before",
        "_budget",
        "_minute",
        "_used",
        "_waiting",
    )

    def __init__(self, limits: Limits, tools: Mapping[str, ToolRule]) -> None:
        self._await(thresholds(limits, MEASURES))
        self._before = _NOTHING  # money and tokens that had been used when this began
        self._budget: MicroUsd = 0
        self._used = _UNUSED
        self._minute: Window | None = None  # once there is something to look at

    def started(self, call: Call) -> None:
        """A start has used nothing yet."""

    def ended(self, call: Call) -> Finding | None:
        """Adds a call, and says the first limit that is reached and was not said."""
        event = call.event
        if not isinstance(event, CallEnded):
            return None
        worked_ns, last, spent, first = _unpack(self._used)
        if not first:
            first = self._begin(call, event)
        if event.budget is not None and event.budget > self._budget:
            self._budget = event.budget  # of two words, the larger one is about the whole
            self._await(tuple(each for each in self._waiting[0] if each.rule not in _OWN))
        start, end = event.started_ns, event.ended_ns
        if end > last:  # time at work, and short times between
            worked_ns += end - (start if last == 0 or start - last >= PAUSE else last)
            last = end
        seen = self._seen(call, event, worked_ns, spent)
        try:
            self._used = _pack(worked_ns, last, seen[_COST], first)
        except error:  # years, or more money than there is: no more is told apart
            self._used = _pack(min(worked_ns, _MOST), last, min(seen[_COST], _MOST), first)
        waiting, least = self._waiting
        if not any(map(ge, seen, least)):  # nearly always, and found out in a fifth of the time
            return None
        said = reached(waiting, seen)
        if said is None:
            return None
        self._await(after(waiting, said))
        spans = () if said.measure in (_MINUTE, _SHARE) else (first, event.span_id)
        return tell(call, self.name, MEASURES[said.measure], said, seen[said.measure], spans)

    def _await(self, waiting: Thresholds) -> None:
        self._waiting = _with_lowest(waiting)

    def _begin(self, call: Call, event: CallEnded) -> bytes:
        """Notes what had been used before the first call; returns its span."""
        usage = event.usage
        used = usage.input_tokens + usage.output_tokens - usage.cached_tokens if usage is not None else 0
        before = max(0, call.run_cost - (call.cost or 0)), max(0, call.run_tokens - used)
        if before != _NOTHING:
            self._before = before
        return event.span_id

    def _seen(self, call: Call, event: CallEnded, worked_ns: int, before: MicroUsd) -> tuple[int, ...]:
        """A number for each of the measures, when so much had been spent `before`."""
        (cost, tokens), usage, budget, in_a_minute = self._before, event.usage, self._budget, 0
        spent = call.run_cost - cost
        if self._minute is not None or 4 * spent >= self._waiting[1][_MINUTE]:  # before, nobody counts
            in_a_minute = self._in_a_minute(event, spent, worked_ns, spent - before)
        return (
            spent * 100 // budget if budget else 0,
            in_a_minute,
            usage.input_tokens * 100 // call.window if usage is not None and call.window else 0,
            spent,
            call.run_tokens - tokens,
            worked_ns,
        )

    def _in_a_minute(self, event: CallEnded, spent: MicroUsd, worked_ns: int, more: MicroUsd) -> MicroUsd:
        """What the latest minute cost, the last call so much `more`."""
        if self._minute is None:
            self._minute = Window(MINUTE)
            more = spent if worked_ns <= MINUTE * NS else more
        self._minute.add(event.ended_ns, cost=max(0, more))
        return self._minute.cost


@lru_cache(maxsize=1_024)
def _with_lowest(waiting: Thresholds) -> tuple[Thresholds, tuple[float, ...]]:
    """The thresholds that wait, and for each measure from where on any of them is reached."""
    return waiting, lowest(waiting, len(MEASURES))
