"""What was called, run by run, to be shown: names, times, digests, tokens and money; no content.

Rule 1: a call is told once, when it has ended. Rule 2: past `MOST_CALLS` the calls of quiet runs, the longest
unseen first, are forgotten; how many is kept. It does not know why a run was stopped.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from spanfuse_processor.engine import Call, CallEnded, Fingerprints, Kind, MicroUsd, Usage

MOST_CALLS: Final = 500_000
"""Calls that are kept in all: some 200 MB."""

DIGITS: Final = 8
"""Of a digest, enough to tell a run's calls apart by eye."""

_NOTHING: Final = Fingerprints()


@dataclass(slots=True)
class Step:
    """One call. `number` is what verdicts call it by, `at` its place among all calls that ended.

    `asked` and `came` are the first digits of the digests of its arguments and its result, those with
    `_masked` of the same without noise; empty where they are unknown. Times are nanoseconds, `size` is in
    bytes or characters of the result.
    """

    at: int
    number: int
    kind: Kind
    name: str
    span_id: bytes
    parent_span_id: bytes
    started_ns: int
    ended_ns: int
    usage: Usage | None
    cost: MicroUsd | None
    error: str
    asked: str
    asked_masked: str
    came: str
    came_masked: str
    size: int
    empty: bool


@dataclass(slots=True)
class Calls:
    """The calls of one run, in order of start; `forgotten` were not kept.

    Of its calls of tools, `tools`, as many as `compared` came with what they were asked.
    """

    steps: list[Step] = field(default_factory=list)
    tools: int = 0
    compared: int = 0
    forgotten: int = 0

    def join(self, other: Calls) -> None:
        """Takes over the calls of a run that turned out to be the same."""
        self.steps += other.steps
        self.tools += other.tools
        self.compared += other.compared
        self.forgotten += other.forgotten


class Journal:
    """Keeps the calls of all runs. `is_quiet` says of which runs there is nothing to say so far."""

    def __init__(self, is_quiet: Callable[[str], bool], most: int = MOST_CALLS) -> None:
        self._is_quiet = is_quiet
        self._most = most
        self._runs: OrderedDict[str, Calls] = OrderedDict()
        self._kept = self._told = 0

    def note(self, call: Call, event: CallEnded) -> None:
        """A call has ended."""
        calls = self._runs.get(call.run)
        if calls is None:
            calls = self._runs[call.run] = Calls()
        else:
            self._runs.move_to_end(call.run)
        if event.kind is Kind.TOOL:
            calls.tools += 1
            calls.compared += event.prints is not None and bool(event.prints.arguments)
        self._told += 1
        calls.steps.append(_step(self._told, call, event))
        self._kept += 1
        if self._kept > self._most:
            self._make_room()

    def by_run(self, now_called: Callable[[str], str]) -> dict[str, Calls]:
        """The calls of each run, by what the run is called by now."""
        found: dict[str, Calls] = {}
        for run_id, calls in self._runs.items():
            found.setdefault(now_called(run_id), Calls()).join(calls)
        for calls in found.values():
            calls.steps.sort(key=lambda step: (step.started_ns, -step.ended_ns, step.at))
        return found

    def _make_room(self) -> None:
        """Forgets a quarter: of quiet runs as long as there are any, then of any."""
        enough = self._most * 3 // 4
        quiet = [calls for run_id, calls in self._runs.items() if calls.steps and self._is_quiet(run_id)]
        for calls in (*quiet, *self._runs.values()):
            if self._kept <= enough:
                return
            self._kept -= len(calls.steps)
            calls.forgotten += len(calls.steps)
            calls.steps.clear()


def _step(at: int, call: Call, event: CallEnded) -> Step:
    prints = event.prints or _NOTHING
    asked, came = prints.arguments[:DIGITS], prints.result[:DIGITS]
    return Step(
        at,
        call.number,
        event.kind,
        event.name,
        event.span_id,
        event.parent_span_id,
        event.started_ns,
        event.ended_ns,
        event.usage,
        call.cost,
        event.error,
        asked,
        asked if prints.arguments_masked == prints.arguments else prints.arguments_masked[:DIGITS],
        came,
        came if prints.result_masked == prints.result else prints.result_masked[:DIGITS],
        prints.result_size,
        prints.result_empty,
    )
