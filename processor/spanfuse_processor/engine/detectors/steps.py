"""What one step may take: time, money, and attempts (rows W4, W6).

Rule 1: limits warn, each once a run, and stop nothing; each has a twin that stops, off until a policy sets
it. Rule 2: one slow call is no slow step: durations are smoothed, name by name. Rule 3: commands may take
longer than other steps, and what waits, or is an agent of its own, as long as it likes. Rule 4: a retry is
the same step, by the same agent, right after it failed. It does not know whether an error can pass: storms
are another detector's.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from math import inf
from typing import ClassVar, Final, NamedTuple

from spanfuse_processor.engine import effects
from spanfuse_processor.engine.calls import PLAIN_COST, PLAIN_NS, Call
from spanfuse_processor.engine.detector import Unit
from spanfuse_processor.engine.events import CallEnded
from spanfuse_processor.engine.findings import MOST_SPANS
from spanfuse_processor.engine.lanes.history import failed
from spanfuse_processor.engine.nouns import Kind
from spanfuse_processor.engine.policy import DetectorLimits, ToolRule
from spanfuse_processor.engine.thresholds import NS, USD, Measure, after, reached, tell, thresholds
from spanfuse_processor.engine.verdicts import Finding

ALPHA: Final = 0.3
"""The weight of the newest duration in the moving average."""

MOST_NAMES: Final = 16
"""Slow steps, and agents with a failing one, of one run that are remembered."""

MODEL = Kind.MODEL  # a member looked up in its enum costs four times as much
EXEC = effects.EXEC


@dataclass(frozen=True, slots=True)
class StepLimits(DetectorLimits):
    """What warns, and under the same name with `_stop` what stops. 0: off.

    `seconds` and `seconds_stop` are what calls of one tool or model take, smoothed. `command_seconds` and
    `command_seconds_stop` are those of a tool that runs commands. `cost` and `cost_stop` are one call's, in
    US dollars. `retries` and `retries_stop` are attempts in a row at one step that failed.
    """

    seconds: float = 30.0
    command_seconds: float = 300.0
    cost: float = 0.5
    retries: int = 3
    seconds_stop: float = 0.0
    command_seconds_stop: float = 0.0
    cost_stop: float = 0.0
    retries_stop: int = 0


MEASURES: Final = (
    Measure(("cost",), USD, "a call of {1} cost {0:.2f} USD", "a cheaper model, or a shorter request"),
    Measure(
        ("retries",),
        1,
        "{1} was tried again {0:.0f} times in a row after it had failed",
        "another attempt than the one that failed",
    ),
    Measure(("seconds",), NS, "{1} takes {0:.0f} s, call after call", "faster answers"),
    Measure(("command_seconds",), NS, "{1} takes {0:.0f} s, call after call", "faster commands"),
)
_COST, _RETRIES = 0, 1


class Attempt(NamedTuple):
    """A step, how often it was tried again, when that ended, and by which calls."""

    step: tuple[str, str]
    retries: int
    ended_ns: int
    spans: tuple[bytes, ...]


class StepsDetector:
    """Watches the single steps of one run.

    >>> detector = StepsDetector(StepLimits(), {})
    >>> for number, took in enumerate((2, 200, 2, 60, 60, 60, 60), 1):
    ...     event = CallEnded(bytes(16), bytes([number]), b"", number * 300 * NS, Kind.TOOL, "search")
    ...     event.ended_ns = event.started_ns + took * NS
    ...     finding = detector.ended(Call(event, "run", number, 0, 0, (), True))
    ...     print(took, finding and (finding.severity.value, finding.message))
    2 None
    200 None
    2 None
    60 None
    60 None
    60 ('warn', 'search takes 31 s, call after call')
    60 None
    """

    name: ClassVar[str] = "steps"
    per: ClassVar[tuple[Unit, ...]] = (Unit.RUN,)
    heeds: ClassVar[frozenset[Kind]] = frozenset({MODEL, Kind.TOOL})

    __slots__ = ("_limits", "_slow", "_tried", "_waiting")

    def __init__(self, limits: StepLimits, tools: Mapping[str, ToolRule]) -> None:
        self._limits = limits
        self._waiting = thresholds(limits, MEASURES)
        self._slow: dict[str, tuple[int, int, int]] | None = None  # by name: ns smoothed and latest, its end
        self._tried: dict[Hashable, Attempt] | None = None  # by agent at work: what failed last

    @staticmethod
    def minds(limits: StepLimits) -> bool:
        """Whether a plain call may be slow or dear."""
        dear, slow, slow_command = _least(limits)
        return dear < PLAIN_COST or min(slow, slow_command) < PLAIN_NS

    @staticmethod
    def waker(limits: StepLimits) -> Callable[[Call], bool]:
        """Only when a call failed, or cost or took much."""
        dear, slow, slow_command = _least(limits)

        def wakes(call: Call) -> bool:
            event = call.event
            if not isinstance(event, CallEnded):
                return False
            least = slow_command if call.effect == EXEC else slow
            took = event.ended_ns - event.started_ns
            return took >= least or (call.cost or 0) >= dear or (not call.plain and failed(event))

        return wakes

    def started(self, call: Call) -> None:
        """A start is judged when it ends."""

    def ended(self, call: Call) -> Finding | None:
        """Judges a call, and says the first limit that is reached and was not said."""
        event = call.event
        if not isinstance(event, CallEnded):
            return None
        attempt, command = self._attempt(call, event), call.effect == EXEC
        smoothed = self._smoothed(call, event, command)
        retries = attempt.retries if attempt is not None else 0
        seen = (call.cost or 0, retries, 0 if command else smoothed, smoothed if command else 0)
        said = reached(self._waiting, seen)
        if said is None:
            return None
        self._waiting = after(self._waiting, said)
        evidence: tuple[tuple[bytes, ...], tuple[str, ...]] = ((), ())
        if attempt is not None and said.measure == _RETRIES:
            evidence = attempt.spans, tuple(filter(None, attempt.step[1:]))
        return tell(call, self.name, MEASURES[said.measure], said, seen[said.measure], *evidence)

    def _smoothed(self, call: Call, event: CallEnded, command: bool) -> int:
        """How long calls of this name take, 0 where they are fast or may be slow.

        What is averaged is the shorter of each two in a row: a single one, however slow, is no trend.
        """
        slow, took = self._slow, event.ended_ns - event.started_ns
        least = _least_ns(self._limits, command)
        if not least or (took < least and not slow) or call.effect in (effects.WAIT, effects.SPAWN):
            return 0
        if slow is None:
            slow = self._slow = {}
        smoothed, before, last_ns = slow.get(event.name, (0, 0, 0))
        if event.started_ns < last_ns:  # side by side, or the same call told once more
            return 0
        smoothed += round(ALPHA * (min(took, before) - smoothed))
        slow.pop(event.name, None)
        if took >= least or smoothed * 8 >= least:
            slow[event.name] = (smoothed, took, event.ended_ns)
            if len(slow) > MOST_NAMES:
                del slow[next(iter(slow))]
        return smoothed

    def _attempt(self, call: Call, event: CallEnded) -> Attempt | None:
        """The step at hand as another attempt at the one before, where that had failed."""
        prints, fails = event.prints, failed(event)
        if not fails and not self._tried:
            return None
        tried = self._tried = self._tried or {}
        place = (call.lane, event.kind)
        before = tried.get(place)
        step = (event.name, prints.arguments_masked if prints is not None else "")
        attempt = Attempt(step, 0, event.ended_ns, (event.span_id,))
        if before is not None and before.step == step and (step[1] or event.kind is MODEL):
            if event.started_ns < before.ended_ns:  # side by side, or the same call told once more
                return None
            first, *others = before.spans
            spans = (first, *others[2 - MOST_SPANS :], event.span_id)
            attempt = Attempt(step, before.retries + 1, event.ended_ns, spans)
        tried.pop(place, None)
        if fails:
            tried[place] = attempt
            if len(tried) > MOST_NAMES:
                del tried[next(iter(tried))]
        return attempt


def _least(limits: StepLimits) -> tuple[float, float, float]:
    """From where on a step is dear, and slow, and slow for a command."""
    dear = min((each.at for each in thresholds(limits, MEASURES) if each.measure == _COST), default=inf)
    return dear, _least_ns(limits, False) or inf, _least_ns(limits, True) or inf


def _least_ns(limits: StepLimits, command: bool) -> int:
    """From where on a step is slow; 0: never."""
    warns, stops = (
        (limits.command_seconds, limits.command_seconds_stop)
        if command
        else (limits.seconds, limits.seconds_stop)
    )
    return round(min(warns or stops, stops or warns) * NS)
