"""Stages (`spanfuse.stage`): what one stretch of a run's work may cost, and how long it may take.

Rule 1: near its budget or its time a stage is warned of. Rule 2: over it the stage goes on while it makes
progress, up to so much more and no further; without progress it ends the run. Progress is a result that is
new: of a tool, or of a request that does not go on with what was said before; talk is none. Rule 3: what is
inside a stage inside another counts for both. It knows what is stamped on the calls, no clock and no price.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf
from typing import ClassVar, Final

from spanfuse_processor.engine.calls import Call, Open
from spanfuse_processor.engine.detector import Unit
from spanfuse_processor.engine.events import CallEnded, CallStarted
from spanfuse_processor.engine.findings import found, lasting
from spanfuse_processor.engine.marks import Marks
from spanfuse_processor.engine.nouns import Kind, MicroUsd
from spanfuse_processor.engine.policy import DetectorLimits, ToolRule
from spanfuse_processor.engine.reading.stages import Stage, unpack
from spanfuse_processor.engine.verdicts import Finding, Severity

NS: Final = 1_000_000_000
MAX_STAGES: Final = 64
"""Stages of one run that are watched at once."""
MAX_RESULTS: Final = 256
"""Results of one stage that are known."""
MAX_AWAITED: Final = 64
"""Calls of one stage whose price may still come."""

_WORK: Final = frozenset({Kind.TOOL, Kind.MODEL, Kind.EMBEDDINGS})


@dataclass(frozen=True, slots=True)
class StageLimits(DetectorLimits):
    """What a stage may do about its budget and its time.

    `near` is the share of them at which there is a warning. Over them the run is stopped when `stale` calls
    of the stage in a row brought nothing new, or when nothing was done in it for `quiet` seconds; and in any
    case at `stretch` times as much. 0 switches a rule off.
    """

    near: float = field(default=0.8, metadata={"least": 0, "most": 1})
    stale: int = 6
    quiet: float = 60.0
    stretch: float = 1.5


class _Work:
    """What has been done in one stage."""

    __slots__ = ("awaited", "began_ns", "elapsed", "first", "results", "spent", "stage", "stale", "told")

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.awaited: tuple[bytes, ...] = ()  # calls whose price may come
        self.first = b""  # the span that was first heard of
        self.began_ns = 0
        self.elapsed = 0.0  # seconds, as far as ends tell
        self.spent: MicroUsd = 0
        self.results = Marks(MAX_RESULTS)
        self.stale = 0  # calls since the last one that brought something new
        self.told: tuple[str, ...] = ()  # what has been warned of

    def begin(self, call: Call) -> None:
        """It has begun, or something in it."""
        started = call.event.started_ns
        self.first = self.first or call.event.span_id
        self.began_ns = min(self.began_ns or started, started)

    def take(self, call: Call, event: CallEnded) -> None:
        """A call in it has ended."""
        self.begin(call)
        self.spent += call.cost or 0
        if call.cost is None and event.usage is not None:
            self.awaited = (*self.awaited, event.span_id)[-MAX_AWAITED:]
        self.elapsed = max(self.elapsed, (event.ended_ns - self.began_ns) / NS)
        if event.kind in _WORK:
            self.stale = 0 if self._is_news(event) else self.stale + 1

    def pay(self, span_id: bytes, cost: MicroUsd) -> None:
        """The price of a call has come."""
        if span_id in self.awaited:
            self.awaited = tuple(each for each in self.awaited if each != span_id)
            self.spent += cost

    def money(self) -> float:
        """The share of its budget that it has spent."""
        budget = self.stage.budget
        if budget is None or not self.spent:
            return 0.0
        return self.spent / budget if budget else inf

    def time(self, seconds: float) -> float:
        """The share of its time that so many seconds are."""
        return seconds / self.stage.timeout if self.stage.timeout else 0.0

    def say_money(self) -> str:
        """What it has spent, in words."""
        return f"stage {self.stage.name} has spent {usd(self.spent)} of its {usd(self.stage.budget or 0)} USD"

    def say_time(self, seconds: float) -> str:
        """How long it has taken, in words."""
        timeout = self.stage.timeout or 0.0
        return f"stage {self.stage.name} has taken {lasting(seconds)} of its {lasting(timeout)}"

    def _is_news(self, event: CallEnded) -> bool:
        prints = event.prints
        if prints is None or event.error or prints.result_empty or not prints.result:
            return False
        if event.kind is Kind.MODEL and not event.fresh:
            return False
        return self.results.meet(prints.result) is None


class StageDetector:
    """Watches the stages of one run.

    >>> from spanfuse_processor.engine.nouns import Fingerprints
    >>> from spanfuse_processor.engine.reading.stages import pack
    >>> detector, stage = StageDetector(StageLimits(), {}), pack([Stage("7f", "index", 1_000_000)])
    >>> for number in range(1, 12):
    ...     event = CallEnded(bytes(16), bytes([number]), b"", number, Kind.TOOL, "scan", stages=stage)
    ...     event.prints = Fingerprints(result="the same")
    ...     finding = detector.ended(Call(event, "run", number, 0, 0, (), True, cost=100_000))
    ...     if finding:
    ...         print(number, finding.severity.value, finding.message)
    8 warn stage index has spent 0.80 of its 1.00 USD
    10 stop stage index has spent 1.00 of its 1.00 USD, and its last 9 calls brought nothing new
    """

    name: ClassVar[str] = "stage"
    per: ClassVar[tuple[Unit, ...]] = (Unit.RUN,)
    minds_plain: ClassVar[bool] = False

    __slots__ = ("_limits", "_stages", "_stopped")

    def __init__(self, limits: StageLimits, tools: Mapping[str, ToolRule]) -> None:
        self._limits = limits
        self._stages: OrderedDict[str, _Work] = OrderedDict()
        self._stopped = False

    @staticmethod
    def wakes(call: Call) -> bool:
        """Only calls in a stage are looked at."""
        return call.event.stages != ""

    def started(self, call: Call) -> None:
        """A stage has begun, or something in it."""
        for stage in unpack(call.event.stages):
            self._work(stage).begin(call)

    def ended(self, call: Call) -> Finding | None:
        """Charges every stage that the call is in."""
        event = call.event
        if not event.stages or not isinstance(event, CallEnded):
            return None
        stages, own = unpack(event.stages), _own(event)
        if own is not None:
            self._stages.pop(own.id, None)
            stages = stages[:-1]
        finding = None
        for stage in stages:
            work = self._work(stage)
            work.take(call, event)
            finding = finding or self._judged(work, call)
        return finding

    def paid(self, span_id: bytes, cost: MicroUsd) -> None:
        """A price has come late: it counts from the next call on."""
        for work in self._stages.values():
            work.pay(span_id, cost)

    def still_open(self, open: Open) -> tuple[Finding | None, float]:
        """Judges the time of a stage, whatever ends in it; also says in how many seconds to ask again."""
        stage = _own(open.call.event)
        if stage is None or not stage.timeout:
            return None, inf
        work, quiet = self._work(stage), self._limits.quiet
        used, said = work.time(open.age), work.say_time(open.age)
        finding = None
        if used >= 1 and 0 < quiet <= open.quiet:
            said = f"{said}, and nothing was done in it for {lasting(open.quiet)}"
            finding = self._stop(work, open.call, "quiet", open.quiet, quiet, said)
        elif used >= 1:
            finding = self._over(work, open.call, used, said)
        return finding or self._near(work, open.call, "time", used, said), self._again(open, stage.timeout)

    def _judged(self, work: _Work, call: Call) -> Finding | None:
        """What there is to say of a stage when a call in it has ended; as a rule nothing."""
        least = self._limits.near or 1.0
        money, time = work.money(), work.time(work.elapsed)
        finding = None
        if money >= least:
            said = work.say_money()
            finding = self._over(work, call, money, said) or self._near(work, call, "money", money, said)
        if finding is None and time >= least:
            said = work.say_time(work.elapsed)
            finding = self._over(work, call, time, said) or self._near(work, call, "time", time, said)
        return finding

    def _again(self, open: Open, timeout: float) -> float:
        limits = self._limits
        moments = [timeout * share - open.age for share in (limits.near, 1.0, limits.stretch)]
        if open.age >= timeout:
            moments.append(limits.quiet - open.quiet)
        return min((moment for moment in moments if moment > 0), default=inf)

    def _over(self, work: _Work, call: Call, used: float, said: str) -> Finding | None:
        """A stop, when a stage that has used up what it had must not go on."""
        stretch, stale = self._limits.stretch, self._limits.stale
        if used < 1:
            return None
        if 0 < stretch <= used:
            return self._stop(work, call, "stretch", used, stretch, said)
        if 0 < stale <= work.stale:
            said = f"{said}, and its last {work.stale} calls brought nothing new"
            return self._stop(work, call, "stale", work.stale, stale, said)
        return None

    def _near(self, work: _Work, call: Call, what: str, used: float, said: str) -> Finding | None:
        if not 0 < self._limits.near <= used or what in work.told:
            return None
        work.told += (what,)
        return self._say(work, call, Severity.WARN, "near", used, self._limits.near, said)

    def _stop(
        self, work: _Work, call: Call, rule: str, observed: float, limit: float, message: str
    ) -> Finding | None:
        if self._stopped:
            return None
        self._stopped = True
        return self._say(work, call, Severity.STOP, rule, observed, limit, message)

    def _say(
        self,
        work: _Work,
        call: Call,
        severity: Severity,
        rule: str,
        observed: float,
        limit: float,
        message: str,
    ) -> Finding:
        return found(
            call,
            self.name,
            severity,
            "LIMIT",
            message,
            observed=observed,
            limit=limit,
            cleared_by=_CLEARED[rule],
            spans=(work.first or call.event.span_id, call.event.span_id),
            rule=rule,
        )

    def _work(self, stage: Stage) -> _Work:
        work = self._stages.get(stage.id)
        if work is None:
            work = self._stages[stage.id] = _Work(stage)
            if len(self._stages) > MAX_STAGES:
                self._stages.popitem(last=False)
        return work


_CLEARED: Final = {
    "near": "the stage's end, or a higher limit for it",
    "stale": "a new result of a tool",
    "quiet": "a call in the stage",
    "stretch": "the stage's end, or a higher limit for it",
}


def usd(cost: MicroUsd) -> str:
    """Money as a person says it: cents, or what there is below them.

    >>> usd(1_000_000), usd(2_500)
    ('1.00', '0.0025')
    """
    return f"{cost / 1_000_000:.2f}" if cost % 10_000 == 0 or cost >= 1_000_000 else f"{cost / 1_000_000:.4f}"


def _own(event: CallStarted) -> Stage | None:
    """The stage that a call is, for a stage is a call of its own."""
    if event.kind is not Kind.WORKFLOW or not event.stages:
        return None
    stages = unpack(event.stages)
    return stages[-1] if stages else None
