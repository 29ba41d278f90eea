"""Nearly the same call again and again, with results that drift: the widest gap of equality.

Rule 1: arguments are alike when nearly all of their words are, digits apart; or many of them, when results
are alike too. That is also what batches and polls look like, so it is only warned of; page after page with
something on each is not. Rule 2: the very same change applied again and again, with a result that only
counts or grows, has no such excuse: it stops. Clicks and key presses are no such change: each takes a page
one step further. It does not know equal calls with equal results.
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
from spanfuse_processor.engine.lanes.alike import MANY
from spanfuse_processor.engine.lanes.history import History
from spanfuse_processor.engine.nouns import Fingerprints, Kind
from spanfuse_processor.engine.policy import DetectorLimits, ToolRule
from spanfuse_processor.engine.verdicts import Finding, Severity

GROWN: Final = 0.7
"""Of the words of a result, how many come back when it only grows by a little."""

MOSTLY: Final = 0.6
"""Of questions in other words, how many results are compared before anything is said."""

_OWN_RULES: Final = (effects.WAIT, effects.SEND, effects.SPAWN)


@dataclass(frozen=True, slots=True)
class SimilarLimits(DetectorLimits):
    """Numbers of calls of one tool in a row; 0 switches a rule off.

    `reapplied` equal changes whose results are alike stop a run, two fewer warn, and so do those that are
    `slow` seconds apart. `drifting_warn` calls warn that are asked nearly the same and bring results of like
    size, or much the same and bring nearly the same.
    """

    reapplied: int = 8
    slow: float = 120.0
    drifting_warn: int = 15


class SimilarDetector:
    """Watches how one agent's calls of a tool resemble each other.

    >>> from spanfuse_processor.engine.lanes.lanes import Lanes
    >>> from spanfuse_processor.engine.fingerprint import Fingerprinter
    >>> detector, lanes, prints = SimilarDetector(SimilarLimits(), {}), Lanes({}), Fingerprinter()
    >>> for number in range(1, 9):
    ...     event = CallEnded(bytes(16), bytes([number]), b"", number, Kind.TOOL, "insert_text")
    ...     result = f"ok, the file has {100 + number} lines"
    ...     event.prints = prints.fingerprints({"path": "a.py", "text": "import os"}, result)
    ...     call = Call(event, "run", number, 0, 0, (), True)
    ...     _ = lanes.place(call)
    ...     finding = detector.ended(call) if detector.wakes(call) else None
    ...     if finding:
    ...         print(number, finding.severity.value, finding.message)
    6 warn insert_text made the same change 6 times in a row, with results that only count or grow
    8 stop insert_text made the same change 8 times in a row, with results that only count or grow
    """

    name: ClassVar[str] = "similar"
    per: ClassVar[tuple[Unit, ...]] = (Unit.LANE,)
    heeds: ClassVar[frozenset[Kind]] = frozenset({Kind.TOOL})
    minds_plain: ClassVar[bool] = False

    __slots__ = ("_before", "_counted", "_grown", "_limits", "_sized", "_told")

    def __init__(self, limits: SimilarLimits, tools: Mapping[str, ToolRule]) -> None:
        self._limits = limits
        self._before: Fingerprints | None = None
        self._grown = self._sized = 0  # calls in a row whose results were alike; of like size
        self._counted = 0  # of these, how many were asked the same but for a number: items of a batch
        self._told: tuple[tuple[str, Severity], ...] = ()

    @staticmethod
    def wakes(call: Call) -> bool:
        """Only when a tool is asked nearly the same for the second time, or much the same for the fifth."""
        tools = call.lane.tools
        return tools is not None and (tools.kin > 1 or tools.akin >= MANY)

    def started(self, call: Call) -> None:
        """A start resembles nothing yet."""

    def ended(self, call: Call) -> Finding | None:
        """Compares a call with the one before."""
        event, history = call.event, call.lane.tools
        prints = event.prints if isinstance(event, CallEnded) else None
        if prints is None or call.news is News.FORGIVEN:
            return None
        if history.akin <= 1 or prints.error or self._before is None:
            self._grown = self._sized = min(history.kin, 2) if not prints.error else 0
            self._told = ()
        else:
            self._compare(self._before, prints, call.news)
            self._begin(history)
        self._before = prints
        if call.repeatable or call.effect in _OWN_RULES:
            return None
        return self._judged(call, event.name, history)

    def _compare(self, before: Fingerprints, prints: Fingerprints, news: News) -> None:
        alike = prints.result_sketch and resemblance(prints.result_sketch, before.result_sketch) >= GROWN
        if news is News.KNOWN:
            return  # equal calls with equal results: that is no drift
        moved = prints.scope == before.scope != "" and prints.arguments != before.arguments
        pages = moved and not prints.result_empty
        self._grown = self._grown + 1 if alike and not pages else 1
        counts = prints.sketch == before.sketch and prints.arguments != before.arguments
        sizes = sorted((prints.result_size, before.result_size))
        self._sized = self._sized + 1 if sizes[1] <= 2 * sizes[0] and not pages else 1
        self._counted = self._counted + counts if self._sized > 1 else 0

    def _begin(self, history: History) -> None:
        """What a plainly other question begins anew, and another change."""
        if history.kin == 1:
            self._sized, self._counted = 1, 0
        if history.asked_again == 1:
            self._told = tuple(each for each in self._told if each[0] != "reapplied")

    def _judged(self, call: Call, tool: str, history: History) -> Finding | None:
        limits, count = self._limits, min(history.asked_again, self._grown)
        warn = limits.reapplied - 2
        if effects.changes(tool) and limits.reapplied and count >= max(2, warn):
            slow = 0 < limits.slow <= history.pause(count)
            stops = count >= limits.reapplied and not slow
            limit = limits.reapplied if stops else warn
            return self._said(call, Severity.STOP if stops else Severity.WARN, "reapplied", count, limit)
        reworded = history.akin if self._grown >= MOSTLY * limits.drifting_warn else 0
        count = max(reworded, min(history.kin, self._sized))
        if 0 < limits.drifting_warn <= count:
            words = "items" if 2 * self._counted >= count else "drifting_warn"
            return self._said(call, Severity.WARN, "drifting_warn", count, limits.drifting_warn, words)
        return None

    def _said(
        self, call: Call, severity: Severity, rule: str, count: int, limit: int, words: str = ""
    ) -> Finding | None:
        if (rule, severity) in self._told or ("reapplied", Severity.STOP) in self._told:
            return None
        self._told += ((rule, severity),)
        reason, message, cleared_by = _WORDS[words or rule]
        return found(
            call,
            self.name,
            severity,
            reason,
            message.format(tool=call.event.name, count=count),
            observed=count,
            limit=limit,
            cleared_by=cleared_by,
            spans=tuple(step.span_id for step in call.lane.tools.steps[-count:]),
            rule=rule,
            prints=(self._before.arguments,) if rule == "reapplied" and self._before else (),
        )


_WORDS: Final = {  # by rule, or what was seen by it: the reason, what is said, what clears it
    "reapplied": (
        "LOOP",
        "{tool} made the same change {count} times in a row, with results that only count or grow",
        "another change",
    ),
    "drifting_warn": (
        "DRIFT",
        "{tool} was asked nearly the same {count} times in a row",
        "plainly other arguments, or another tool",
    ),
    "items": (
        "BATCH",
        "{tool} was asked of {count} items in a row that differ by a number",
        "plainly other arguments, or another tool",
    ),
}
