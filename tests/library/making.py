"""Calls for tests, in few words; and a clock that stands still."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from spanfuse.calling import ActiveCall, begin
from spanfuse.context import RunScope
from spanfuse.provider import Intent, Outcome, ToolAnswer, ToolRequest
from spanfuse_processor.engine.nouns import Identity, Kind, Usage

MODEL = "gpt-4o-mini"


class Clock:
    """Monotonic seconds that pass when the test says so."""

    def __init__(self, now: float = 1_000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now

    def pass_(self, seconds: float) -> None:
        self.now += seconds


def scope(run: str = "r1", **who: str) -> RunScope:
    """A run."""
    return RunScope(run, Identity(**who))


def chat(arguments: object = None, **said: Any) -> Intent:
    """A model call that is about to be made."""
    return Intent(Kind.MODEL, "chat", MODEL, provider="openai", arguments=arguments, **said)


def tool(name: str = "search", arguments: object = None, **said: Any) -> Intent:
    """A tool call that is about to be made."""
    return Intent(Kind.TOOL, "execute_tool", name, arguments=arguments, **said)


def ask(
    *calls: tuple[str, str, Mapping[str, Any]], answers: Mapping[str, object] | None = None
) -> ActiveCall:
    """A whole model call: it carries `answers` and asks for `calls` (id, name, arguments)."""
    carried = [ToolAnswer(name, content) for name, content in (answers or {}).items()]
    call = begin(chat({"messages": len(carried)}, answers=carried))
    requests = [ToolRequest(name, tool_name, json.dumps(given)) for name, tool_name, given in calls]
    call.succeed(Outcome(result="...", usage=Usage(10, 5), model=MODEL, tool_requests=requests))
    return call
