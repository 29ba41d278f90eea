"""The agent retries what keeps failing: one tool or one model, whatever it is asked.

Rule 1: errors go by class. What can never work (denied, unknown tool, missing parameter) is a storm after a
few tries; what might work after many; what passes by itself (429, 503, a timeout) is judged by the gaps:
patience, or gaps that grow, are what everybody should do; but none mends what a model has said, where it
answered and the answer was refused. What fails item after item is no retry: a batch may hold many bad rows.
Rule 2: one success of the same tool, or another tool's call, ends a storm. Rule 3: a model asked the same
amount over and over in seconds, for nothing, is warned of (row L6). Equal calls that fail equally are told
elsewhere; it does not know which calls follow one another.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median
from typing import ClassVar, Final

from spanfuse_processor.engine import effects
from spanfuse_processor.engine.calls import Call, News
from spanfuse_processor.engine.detector import Unit
from spanfuse_processor.engine.events import CallEnded
from spanfuse_processor.engine.findings import found
from spanfuse_processor.engine.lanes.history import failed
from spanfuse_processor.engine.lanes.streak import MOST_KEPT, Streak, has_answered
from spanfuse_processor.engine.lanes.timing import NS, grow
from spanfuse_processor.engine.nouns import ErrorClass, Kind
from spanfuse_processor.engine.policy import DetectorLimits, ToolRule
from spanfuse_processor.engine.verdicts import Finding, Severity

KNOWN = News.KNOWN  # a member looked up in its enum costs four times as much

_WARNED, _STOPPED = 1, 2


@dataclass(frozen=True, slots=True)
class StormLimits(DetectorLimits):
    """Numbers of failures in a row of one tool or model, whatever it was asked, that stop a run; 0: off.

    `denied` with the same error that says no, or of a model that can never work so, `permanent` with the
    same error of a kind that can never work as it is, `permanent_any` with any such errors when half of
    them had been met before; `failed` with the same error of another kind; `transient` with errors that
    pass by themselves, when less than `retry_gap` seconds lie between them and the gaps do not grow. For
    `failed`, more than `slow` seconds between them are no storm. Answers of a model that are refused with the
    same error go by `permanent_any`, whatever kind that is and however far apart. Where a tool that runs
    nothing and edits no text goes from item to item, `rows` errors that can never work are needed, and those
    that might only warn; of those that pass by themselves twice as many are.

    `failed_warn` failures warn; so do `hidden` tries that a client made by itself in calls in a row; so do
    `same_size` calls of one model with equal input tokens within `same_size_seconds` that all failed or
    brought nothing new.
    """

    denied: int = 4
    permanent: int = 5
    permanent_any: int = 6
    failed: int = 8
    failed_warn: int = 6
    rows: int = 10
    transient: int = 13
    retry_gap: float = 5.0
    slow: float = 120.0
    hidden: int = 10
    same_size: int = 4
    same_size_seconds: float = 30.0


class StormDetector:
    """Watches the failures of one agent's calls.

    >>> from spanfuse_processor.engine.lanes.lanes import Lanes
    >>> from spanfuse_processor.engine.nouns import Fingerprints
    >>> detector, lanes = StormDetector(StormLimits(), {}), Lanes({})
    >>> for number in range(1, 5):
    ...     event = CallEnded(bytes(16), bytes([number]), b"", number * NS, Kind.TOOL, "push", error="denied")
    ...     event.prints = Fingerprints(str(number), error="e1", error_class=ErrorClass.DENIED)
    ...     call = Call(event, "run", number, 0, 0, (), True)
    ...     _ = lanes.place(call)
    ...     finding = detector.ended(call)
    ...     print(number, finding and (finding.severity.value, finding.message))
    1 None
    2 None
    3 ('warn', 'push failed 3 times in a row with an error that no retry can mend')
    4 ('stop', 'push failed 4 times in a row with an error that no retry can mend')
    """

    name: ClassVar[str] = "storm"
    per: ClassVar[tuple[Unit, ...]] = (Unit.LANE,)
    heeds: ClassVar[frozenset[Kind]] = frozenset({Kind.TOOL, Kind.MODEL})
    minds_plain: ClassVar[bool] = False

    __slots__ = (
        "_hidden",
        "_limits",
        "_models",
        "_same_size",
        "_size",
        "_told_hidden",
        "_told_size",
        "_tools",
    )

    def __init__(self, limits: StormLimits, tools: Mapping[str, ToolRule]) -> None:
        self._limits = limits
        self._tools: Streak | None = None  # since one of them failed
        self._models: Streak | None = None
        self._size = ("", 0)  # the model and its input tokens
        self._same_size: tuple[tuple[int, bytes], ...] = ()
        self._told_size = self._told_hidden = False
        self._hidden: tuple[tuple[int, bytes], ...] = ()  # a client's own tries, and in which call

    @staticmethod
    def wakes(call: Call) -> bool:
        """Only when something failed, or a model brought nothing new."""
        event = call.event
        return isinstance(event, CallEnded) and (
            failed(event) or event.resends > 0 or (call.news is KNOWN and event.kind is Kind.MODEL)
        )

    def started(self, call: Call) -> None:
        """A start fails nothing yet."""

    def ended(self, call: Call) -> Finding | None:
        """Counts a failure, or ends a storm."""
        event = call.event
        if not isinstance(event, CallEnded):
            return None
        is_model = event.kind is Kind.MODEL
        told = (self._same_amount(call, event) or self._unseen(call, event)) if is_model else None
        if not failed(event):
            self._end(event.kind)
            return told
        streak = self._streak(event.kind)
        prints = event.prints
        cls = prints.error_class if prints is not None and prints.error_class else ErrorClass.FAILED
        streak.add(event, prints.error if prints is not None else event.error, cls)
        return self._judged(call, streak) or told

    def _end(self, kind: Kind) -> None:
        """A call has not failed."""
        if (streak := self._models if kind is Kind.MODEL else self._tools) is not None:
            streak.end()

    def _streak(self, kind: Kind) -> Streak:
        """The failures of a kind of calls, begun when there are none."""
        if kind is Kind.MODEL:
            self._models = streak = self._models or Streak()
        else:
            self._tools = streak = self._tools or Streak()
        return streak

    def _judged(self, call: Call, streak: Streak) -> Finding | None:
        limits = self._limits
        if streak.cls is ErrorClass.TRANSIENT:
            stop = limits.transient * (1 + (streak.items == streak.count))  # another item is no retry
            return self._due(call, streak, "transient", streak.count, limits.failed_warn, stop)
        if streak.cls is ErrorClass.FAILED and has_answered(call.event):
            stop = limits.permanent_any
            return self._due(call, streak, "permanent_any", streak.alike, stop - 1, stop)
        sweeps, blind = _sweeps(call, streak), _is_blind(call, streak)
        if call.effect == effects.READ or (blind and streak.cls is not ErrorClass.DENIED):
            # that one thing is not there, or denied, says little of the next
            return self._due(call, streak, "failed", streak.alike, limits.failed_warn, 0)
        if streak.cls is ErrorClass.FAILED:
            stop = 0 if sweeps else limits.failed
            return self._due(call, streak, "failed", streak.alike, limits.failed_warn, stop)
        alone = streak.cls is ErrorClass.DENIED or call.event.kind is Kind.MODEL
        rule = "denied" if alone else "permanent"
        warn, any_of_them = getattr(limits, rule) - 1, limits.permanent_any
        mends = 2 * streak.again < streak.count  # most errors are new: each try mends the one before
        count = 0 if mends else streak.count
        rows = sweeps and streak.alike == streak.count  # each is wrong in the one way
        stop = warn + 1 if alone or not rows else limits.rows
        stop_any = limits.rows if rows else any_of_them
        return self._due(call, streak, rule, streak.alike, warn, stop) or self._due(
            call, streak, "permanent_any", count, any_of_them - 1, stop_any
        )

    def _due(self, call: Call, streak: Streak, rule: str, count: int, warn: int, stop: int) -> Finding | None:
        """A stop, or else a warning, when it is due and was not said; neither where patience mends it."""
        patient = self._is_patient(streak, rule, count)
        if 0 < stop <= count and not patient:
            return self._said(call, streak, rule, count, stop, _STOPPED)
        off = not getattr(self._limits, rule)
        due = not off and 0 < warn <= count and not (patient and rule == "transient")
        return self._said(call, streak, rule, count, warn, _WARNED) if due else None

    def _is_patient(self, streak: Streak, rule: str, count: int) -> bool:
        """Whether the tries leave as much time between them as they should."""
        gaps = streak.gaps(count)
        by_model = self._models is streak
        patient = self._limits.retry_gap if rule == "transient" or by_model else self._limits.slow
        if rule not in ("failed", "transient") or not gaps:
            return False
        return 0 < patient * NS <= median(gaps) or grow(gaps)

    def _said(
        self, call: Call, streak: Streak, rule: str, count: int, limit: int, told: int
    ) -> Finding | None:
        if streak.told >= told:
            return None
        streak.told = told
        return found(
            call,
            self.name,
            Severity.STOP if told == _STOPPED else Severity.WARN,
            "RETRY_STORM",
            f"{call.event.name} failed {count} times in a row {_HOW[rule]}",
            observed=count,
            limit=limit,
            cleared_by=_CLEARED[rule],
            spans=streak.spans[-count:],
            rule=rule,
            prints=(streak.error,) if streak.error else (),
        )

    def _unseen(self, call: Call, event: CallEnded) -> Finding | None:
        """Tries that the client made by itself, in calls in a row that all needed some."""
        if not event.resends:
            self._hidden = ()
            self._told_hidden = False
            return None
        self._hidden = (*self._hidden, (event.resends, event.span_id))[-MOST_KEPT:]
        tries, limit = sum(count for count, _ in self._hidden), self._limits.hidden
        if self._told_hidden or not 0 < limit <= tries:
            return None
        self._told_hidden = True
        return found(
            call,
            self.name,
            Severity.WARN,
            "RETRY_STORM",
            f"the client of {event.name} tried again {tries} times by itself in {len(self._hidden)} calls",
            observed=tries,
            limit=limit,
            cleared_by="a call that succeeds at the first try",
            spans=tuple(span for _, span in self._hidden),
            rule="hidden",
        )

    def _same_amount(self, call: Call, event: CallEnded) -> Finding | None:
        """Row L6: the same model, the same input size, so many times in so few seconds, for nothing."""
        size = (event.name, event.usage.input_tokens if event.usage is not None else 0)
        useless = failed(event) or call.news is News.KNOWN
        if not useless or size != self._size:
            self._same_size = ()
            self._told_size = False
        self._size = size
        if not useless:
            return None
        limits = self._limits
        latest = (event.started_ns, event.span_id)
        seen = self._same_size = (*self._same_size, latest)[-max(1, limits.same_size) :]
        within = (seen[-1][0] - seen[0][0]) / NS <= limits.same_size_seconds
        if self._told_size or not 0 < limits.same_size <= len(seen) or not within:
            return None
        self._told_size = True
        return found(
            call,
            self.name,
            Severity.WARN,
            "RETRY_STORM",
            f"{event.name} was asked {len(seen)} times within {limits.same_size_seconds:g} s, with input of "
            "the same size and for nothing new",
            observed=len(seen),
            limit=limits.same_size,
            cleared_by="an answer that is new, or another input",
            spans=tuple(span for _, span in seen),
            rule="same_size",
        )


def _is_blind(call: Call, streak: Streak) -> bool:
    """Whether nobody knows what a tool was asked: that it failed so often may be true of many things."""
    return call.event.kind is Kind.TOOL and not streak.asked


def _sweeps(call: Call, streak: Streak) -> bool:
    """Whether it goes through items, and does not try one thing after the other."""
    name = call.event.name
    if streak.items < streak.count or call.event.kind is not Kind.TOOL or effects.edits(name):
        return False
    return effects.by_name(name) not in (effects.EXEC, effects.SPAWN)


_HOW: Final = {
    "denied": "with an error that no retry can mend",
    "permanent": "with an error that no retry can mend",
    "permanent_any": "with errors that no retry can mend",
    "failed": "in the same way, whatever it was asked",
    "transient": "with errors that pass by themselves, and was not given the time",
}
_CLEARED: Final = {
    "denied": "a success, or another tool: this error does not go away",
    "permanent": "a success, or another tool: this error does not go away",
    "permanent_any": "a success, or another tool: these errors do not go away",
    "failed": "a success, another error, or another tool",
    "transient": "a success, or retries that wait longer each time",
}
