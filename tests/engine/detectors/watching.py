"""Calls told to one detector, as a story of a few letters: what it says, and at which call."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tests.engine.making import SECOND, ended

from spanfuse_processor.engine.detectors.repeat import RepeatDetector, RepeatLimits
from spanfuse_processor.engine.events import Call, CallEnded
from spanfuse_processor.engine.fingerprint import UNKNOWN, Fingerprinter
from spanfuse_processor.engine.nouns import Kind
from spanfuse_processor.engine.policy import ToolRule
from spanfuse_processor.engine.verdicts import Finding, Severity

PRINTS = Fingerprinter()


class Watch:
    """A repeat detector with a clock of its own: each call begins `gap` seconds after the one before."""

    def __init__(self, tools: Mapping[str, ToolRule] | None = None, gap: float = 4.0, **limits: Any) -> None:
        self.detector = RepeatDetector(RepeatLimits(**limits), tools or {})
        self.gap = gap
        self.now = 0.0
        self.number = 0
        self.findings: list[tuple[int, Finding]] = []

    def tool(
        self, name: str = "search", arguments: object = UNKNOWN, result: object = UNKNOWN, **more: Any
    ) -> Finding | None:
        """A tool was called; `took` seconds, `error` is its message, `at` overrides the clock."""
        return self.told(Kind.TOOL, name, arguments, result, **more)

    def model(self, asked: object = UNKNOWN, answered: object = UNKNOWN, **more: Any) -> Finding | None:
        """A model was asked."""
        return self.told(Kind.MODEL, "gpt-4o", asked, answered, **more)

    def told(
        self,
        kind: Kind,
        name: str,
        arguments: object,
        result: object,
        *,
        took: float = 1.0,
        at: float | None = None,
        error: str = "",
        parent: int = 1,
        agents: tuple[str, ...] = ("main",),
        **more: Any,
    ) -> Finding | None:
        self.now = self.now + self.gap if at is None else at
        self.number += 1
        kept = PRINTS.fingerprints(arguments, result, "ToolError" if error else "", error)
        event = ended(
            self.number, parent, kind, name=name,
            started_ns=int(self.now * SECOND), ended_ns=int((self.now + took) * SECOND),
            prints=None if kept == PRINTS.fingerprints() else kept, **more,
        )  # fmt: skip
        return self.hear(event, agents)

    def hear(self, event: CallEnded, agents: tuple[str, ...] = ("main",)) -> Finding | None:
        """The detector is told of a call."""
        call = Call(event, "run", self.number, 0, 0, agents, True)
        finding = self.detector.ended(call)
        if finding is not None:
            self.findings.append((self.number, finding))
        return finding

    @property
    def stopped(self) -> int | None:
        """The call at which it first wanted a stop."""
        return next((number for number, each in self.findings if each.severity is Severity.STOP), None)

    @property
    def warned(self) -> int | None:
        """The call at which it first warned."""
        return next((number for number, each in self.findings if each.severity is Severity.WARN), None)


def stopped_at(calls: Iterable[dict[str, Any]], **settings: Any) -> int | None:
    """At which of `calls`, counted from 1, a run is stopped."""
    watch = Watch(**settings)
    for call in calls:
        watch.tool(**call)
    return watch.stopped
