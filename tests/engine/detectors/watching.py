"""Calls told to the loop detectors, as a story of a few letters: what they say, and at which call."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import fields, replace
from typing import Any, Final

from tests.engine.making import SECOND, ended, started

from spanfuse_processor.engine.calls import Call
from spanfuse_processor.engine.detector import Unit
from spanfuse_processor.engine.detectors import DETECTORS
from spanfuse_processor.engine.events import CallEnded, CallStarted
from spanfuse_processor.engine.fingerprint import UNKNOWN, Fingerprinter
from spanfuse_processor.engine.lanes.lane import Lane
from spanfuse_processor.engine.lanes.lanes import Lanes
from spanfuse_processor.engine.nouns import Kind, Usage
from spanfuse_processor.engine.policy import ToolRule
from spanfuse_processor.engine.verdicts import Finding, Severity

PRINTS = Fingerprinter()
LOOPS: Final = ("repeat", "cycle", "outside", "storm", "answers", "similar", "monologue")
"""The detectors that compare calls: those of one agent, but for `outside`, which looks at a whole run."""


class Watch:
    """The loop detectors with a clock of its own: each call begins `gap` seconds after the one before.

    `limits` are those of whichever detectors have a limit of that name; `only` names those that watch.
    """

    def __init__(
        self,
        tools: Mapping[str, ToolRule] | None = None,
        gap: float = 4.0,
        only: Iterable[str] = LOOPS,
        **limits: Any,
    ) -> None:
        self.tools = tools or {}
        self.limits = {name: _limits(name, limits) for name in only}
        self.lanes = Lanes(self.tools)
        self.made: dict[tuple[str, int], Any] = {}
        self.gap = gap
        self.now = 0.0
        self.number = 0
        self.costs = 0  # micro-dollars that each call costs
        self.findings: list[tuple[int, Finding]] = []

    def tool(
        self, name: str = "search", arguments: object = UNKNOWN, result: object = UNKNOWN, **more: Any
    ) -> Finding | None:
        """A tool was called. It `took` seconds, `error` is its message, `at` overrides the clock.

        `transient` are errors of which it says that they pass.
        """
        return self.told(Kind.TOOL, name, arguments, result, **more)

    def model(self, asked: object = UNKNOWN, answered: object = UNKNOWN, **more: Any) -> Finding | None:
        """A model was asked; `tokens` are those of input and output."""
        tokens = more.pop("tokens", None)
        usage = Usage(*tokens) if tokens else None
        return self.told(Kind.MODEL, more.pop("name", "gpt-4o"), asked, answered, usage=usage, **more)

    def agent(self, name: str, task: object = UNKNOWN, **more: Any) -> Finding | None:
        """An agent was started."""
        return self.told(Kind.AGENT, name, task, UNKNOWN, **more)

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
        transient: Collection[str] = (),
        **more: Any,
    ) -> Finding | None:
        self.now = self.now + self.gap if at is None else at
        self.number += 1
        kind_of_error = "ToolError" if error else ""
        kept = PRINTS.fingerprints(arguments, result, kind_of_error, error, transient=transient)
        event = ended(
            self.number, parent, kind, name=name,
            started_ns=int(self.now * SECOND), ended_ns=int((self.now + took) * SECOND),
            prints=None if kept == PRINTS.fingerprints() else kept,
            error=kind_of_error, **more,
        )  # fmt: skip
        return self.hear(event, agents)

    def failed_somehow(self, name: str) -> None:
        """A tool failed, and nobody knows how."""
        self.number += 1
        self.hear(ended(self.number, 1, name=name, error="_OTHER"))

    def turn(self, begins: bool, agents: tuple[str, ...] = ()) -> None:
        """An agent's span that real user input opened begins or ends."""
        made = started if begins else ended
        event = made(999, kind=Kind.AGENT, user_turn=True, started_ns=int(self.now * SECOND))
        self.hear(event, agents, depth=len(agents))

    def hear(
        self, event: CallStarted, agents: tuple[str, ...] = ("main",), depth: int | None = None
    ) -> Finding | None:
        """The detectors are told of a call. Returns the first thing that any of them said."""
        depth = len(agents) - 1 if depth is None else depth
        call = Call(event, "run", self.number, depth, 0, agents, isinstance(event, CallEnded))
        if isinstance(event, CallEnded) and self.costs:
            call.cost = self.costs
        lane = self.lanes.place(call)
        said = [each for name in self.limits if (each := self._ask(name, lane, call))]
        self.findings += [(self.number, each) for each in said]
        return said[0] if said else None

    def _ask(self, name: str, lane: Lane | None, call: Call) -> Finding | None:
        cls = DETECTORS[name][0]
        unit: Any = self
        if cls.per == (Unit.LANE,):
            if lane is None:
                return None
            unit = lane.watch = lane.watch or object()  # a lane that began anew has no detectors yet
        if call.event.kind not in getattr(cls, "heeds", Kind):
            return None
        key = (name, id(unit))
        if key not in self.made:
            if not getattr(cls, "wakes", lambda _: True)(call):
                return None
            self.made[key] = (cls(self.limits[name], self.tools), unit)  # the unit is kept alive
        detector = self.made[key][0]
        return detector.ended(call) if call.ended else detector.started(call)  # type: ignore[no-any-return]

    @property
    def stopped(self) -> int | None:
        """The call at which any of them first wanted a stop."""
        return next((number for number, each in self.findings if each.severity is Severity.STOP), None)

    @property
    def warned(self) -> int | None:
        """The call at which any of them first warned."""
        return next((number for number, each in self.findings if each.severity is Severity.WARN), None)

    @property
    def rules(self) -> list[tuple[int, str]]:
        """At which call which rule of which detector said something."""
        return [(number, f"{each.detector}.{each.rule}") for number, each in self.findings]


def _limits(name: str, wanted: Mapping[str, Any]) -> Any:
    limits = DETECTORS[name][1]()
    known = {field.name for field in fields(limits)}
    return replace(limits, **{field: value for field, value in wanted.items() if field in known})


def stopped_at(calls: Iterable[dict[str, Any]], /, **settings: Any) -> int | None:
    """At which of `calls`, counted from 1, a run is stopped."""
    watch = Watch(**settings)
    for call in calls:
        watch.tool(**call)
    return watch.stopped


def one(limit: str, value: float) -> dict[str, Any]:
    """The setting of one limit."""
    return {limit: value}


def step(letter: str, **more: Any) -> dict[str, Any]:
    """A call that is the same for the same letter."""
    return {"name": f"read_{letter}", "arguments": {}, "result": f"text of {letter}", **more}
