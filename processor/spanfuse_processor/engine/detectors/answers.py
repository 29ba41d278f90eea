"""One tool gives the same answer whatever it is asked: reworded queries, pages past the end.

Rule 1: raw results are compared, and only those of tools that look or run; "ok" and the like are equal for
many good reasons. Rule 2: an empty or short answer may be true of many things: a sweep over items is
honest. So it counts only when the question was the same in other words, or the same at another place (page,
offset, cursor). Rule 3: a long answer that is the same for any question is what it is. It does not know
equal calls.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Final

from spanfuse_processor.engine import effects
from spanfuse_processor.engine.calls import Call, News
from spanfuse_processor.engine.detector import Unit
from spanfuse_processor.engine.events import CallEnded
from spanfuse_processor.engine.findings import found
from spanfuse_processor.engine.fingerprints.sketch import resemblance
from spanfuse_processor.engine.lanes.history import History
from spanfuse_processor.engine.lanes.keys import TELLING
from spanfuse_processor.engine.nouns import Fingerprints, Kind
from spanfuse_processor.engine.policy import DetectorLimits, ToolRule
from spanfuse_processor.engine.verdicts import Finding, Severity

LONG: Final = 200
"""Characters from which an answer is too much to be true of many questions."""

MOSTLY: Final = 0.6
"""Of the questions, how many must be as a rule has it: the first two are not compared, some may be odd."""

SWEPT: Final = 0.8
"""Of the words of a question, how many come back when it is asked of another item, and not in other words."""

_LOOKS: Final = (effects.READ, effects.EXEC, "")
_PLACES: Final = "at one place after the other"
_ANYTHING: Final = "whatever it was asked"
_ENDED: Final = "though that should have been the end"
_ENDINGS: Final = frozenset(  # tools by which an agent says that it is done
    "yield finish finish_task final_answer attempt_completion task_complete end_turn submit_answer".split()
)


@dataclass(frozen=True, slots=True)
class AnswersLimits(DetectorLimits):
    """`same` equal answers in a row stop a run, `same_search` do where a tool searches, or pages and finds
    nothing or as much as before, `ended` of a tool by which an agent says that it is done; `same_warn` warn;
    0 switches a rule off.

    Questions are the same in other words when at least `reworded` (0 to 1) of their words are, or
    `reworded_search` where a tool searches: there, every word should make a difference. Questions that are
    `slow` seconds apart, or between which the agent was `idle` for so many, only warn; and so do long
    answers that are the same whatever was asked: that may be true of many items.
    """

    same: int = 20
    same_search: int = 8
    ended: int = 8
    same_warn: int = 6
    reworded: float = 0.4
    reworded_search: float = 0.3
    slow: float = 120.0
    idle: float = 30.0


class AnswersDetector:
    """Watches what one agent's tools answer.

    >>> from spanfuse_processor.engine.lanes.lanes import Lanes
    >>> from spanfuse_processor.engine.fingerprint import Fingerprinter
    >>> detector, lanes, prints = AnswersDetector(AnswersLimits(), {}), Lanes({}), Fingerprinter()
    >>> for page in range(1, 9):
    ...     event = CallEnded(bytes(16), bytes([page]), b"", page, Kind.TOOL, "search")
    ...     event.prints = prints.fingerprints({"query": "flights", "page": page}, [])
    ...     call = Call(event, "run", page, 0, 0, (), True)
    ...     _ = lanes.place(call)
    ...     finding = detector.ended(call) if detector.wakes(call) else None
    ...     if finding:
    ...         print(page, finding.severity.value, finding.message)
    6 warn search gave the same answer 6 times in a row, at one place after the other
    8 stop search gave the same answer 8 times in a row, at one place after the other
    """

    name: ClassVar[str] = "answers"
    per: ClassVar[tuple[Unit, ...]] = (Unit.LANE,)
    heeds: ClassVar[frozenset[Kind]] = frozenset({Kind.TOOL})
    minds_plain: ClassVar[bool] = False

    __slots__ = ("_alike", "_before", "_limits", "_others", "_places", "_told")

    def __init__(self, limits: AnswersLimits, tools: Mapping[str, ToolRule]) -> None:
        self._limits = limits
        self._before: Fingerprints | None = None
        self._others = self._alike = self._places = 0  # than the one before; in other words; at another place
        self._told: tuple[Severity, ...] = ()

    @staticmethod
    def wakes(call: Call) -> bool:
        """Only when an answer comes again."""
        tools = call.lane.tools
        return tools is not None and tools.ends > 1

    def started(self, call: Call) -> None:
        """A start answers nothing yet."""

    def ended(self, call: Call) -> Finding | None:
        """Compares an answer with those before it."""
        event = call.event
        prints = event.prints if isinstance(event, CallEnded) else None
        if prints is None or not prints.result or prints.error or call.news is News.FORGIVEN:
            return None
        if call.lane.tools.ends == 1:
            self._others = self._alike = self._places = 0
            self._told = ()
        elif self._before is not None:
            self._compare(event.name, self._before, prints)
        self._before = prints
        return None if call.repeatable else self._judged(call, prints, call.lane.tools.ends)

    def _compare(self, tool: str, before: Fingerprints, prints: Fingerprints) -> None:
        if prints.arguments == before.arguments or not (prints.arguments and before.arguments):
            return
        self._others += 1
        self._places += prints.scope == before.scope != ""
        if prints.sketch != before.sketch:  # else only digits differ: that is counting through items
            searches = effects.searches(tool)
            likeness = self._limits.reworded_search if searches else self._limits.reworded
            self._alike += likeness <= resemblance(prints.sketch, before.sketch) < SWEPT

    def _judged(self, call: Call, prints: Fingerprints, count: int) -> Finding | None:
        limits = self._limits
        how = self._how(call, prints, count)
        if not how:
            return None
        rule = _rule(call.event.name, how, prints)
        stop = getattr(limits, rule)
        if 0 < stop <= count and how != _ANYTHING and not self._is_paced(call.lane.tools, count):
            return self._said(call, prints, Severity.STOP, rule, count, stop, how)
        if 0 < limits.same_warn <= count and stop:
            return self._said(call, prints, Severity.WARN, rule, count, limits.same_warn, how)
        return None

    def _how(self, call: Call, prints: Fingerprints, count: int) -> str:
        """In which way the questions were the same; empty when they may not have been."""
        if call.event.name.lower() in _ENDINGS:
            return _ENDED
        if call.effect not in _LOOKS or effects.hands_over(call.event.name):
            return ""
        if self._places >= MOSTLY * count and call.effect == effects.READ:
            return _PLACES
        if prints.result_empty or prints.result_size < TELLING:
            return ""
        if prints.result_size >= LONG and self._others >= MOSTLY * count:
            return _ANYTHING
        return "to the same question in other words" if self._alike >= MOSTLY * count else ""

    def _is_paced(self, history: History, count: int) -> bool:
        """Whether the questions leave time between them, as those of a loop do not."""
        limits = self._limits
        return 0 < limits.slow <= history.pause(count) or 0 < limits.idle <= history.idle(count)

    def _said(
        self,
        call: Call,
        prints: Fingerprints,
        severity: Severity,
        rule: str,
        count: int,
        limit: int,
        how: str,
    ) -> Finding | None:
        if severity in self._told or Severity.STOP in self._told:
            return None
        self._told += (severity,)
        return found(
            call,
            self.name,
            severity,
            "LOOP",
            f"{call.event.name} gave the same answer {count} times in a row, {how}",
            observed=count,
            limit=limit,
            cleared_by="another answer, or another tool",
            spans=tuple(step.span_id for step in call.lane.tools.steps[-count:]),
            rule=rule,
            prints=(prints.result,),
        )


def _rule(tool: str, how: str, prints: Fingerprints) -> str:
    if how == _ENDED:
        return "ended"
    pages = how == _PLACES and (
        prints.result_empty or prints.result_size >= LONG
    )  # else: a blank page, a rule
    return "same_search" if pages or effects.searches(tool) else "same"
