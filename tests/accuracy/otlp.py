"""A case as the spans that instrumentations emit for it: agents around calls, in the order of their ends.

Rule 1: the current names of the GenAI conventions; a user's word, another agent or another process begins
a new agent span. Rule 2: processes of one case are tied as `TIES` says of its kind: by our own run id, by one
conversation, by links. It does not know what is judged.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any, Final

from tests.accuracy.steps import Case, Kind, Step

Span = dict[str, Any]
Said = dict[str, str | int]

EPOCH_NS: Final = 1_780_000_000_000_000_000
TIES: Final[Mapping[str, str]] = {
    "recursion, our spans": "run",
    "helpers, our spans": "run",
    "recursion, one conversation": "conversation",
    "helpers, one conversation": "conversation",
    "recursion, linked": "link",
}


def attribute(key: str, value: str | int) -> dict[str, Any]:
    """One attribute as OTLP/JSON has it."""
    return {
        "key": key,
        "value": {"intValue": str(value)} if isinstance(value, int) else {"stringValue": value},
    }


def digest(*parts: object) -> str:
    """32 hex digits that only these parts have."""
    return hashlib.md5("\x1f".join(map(str, parts)).encode()).hexdigest()


def request(span: Span, service: str = "synthetic") -> str:
    """One span as a line that the Collector's file exporter could have written."""
    resource = {"attributes": [attribute("service.name", service)]}
    scopes = [{"scope": {"name": "accuracy"}, "spans": [span]}]
    return json.dumps({"resourceSpans": [{"resource": resource, "scopeSpans": scopes}]})


def spans(case: Case) -> tuple[list[Span], list[str]]:
    """All spans of a case as they end, and the span id of each of its steps."""
    writer = Writer(case)
    for step in case.steps:
        writer.write(step)
    return writer.finished(), writer.ids


class Writer:
    """Writes one case."""

    def __init__(self, case: Case) -> None:
        self.ids: list[str] = []
        self._id = case.truth.id
        self._tie = TIES.get(case.truth.kind, "")
        self._done: list[Span] = []
        self._turn: Span | None = None
        self._within: tuple[str, int] = ("", 0)  # the turn's agent and place
        self._agents: list[tuple[int, str, Span]] = []  # depth, name: those that are called and still at work
        self._last: Span | None = None
        self._now = 0.0

    def write(self, step: Step) -> None:
        """One more step, after all that ended before it."""
        self._leave(step.depth if step.kind is Kind.AGENT else step.depth + 1)
        if not step.depth:
            self._turn_to(step)
        if step.kind is Kind.AGENT:
            span = self._agent(step.name, step.at, step.place, step.depth, step.args)
            self._agents.append((step.depth, step.name, span))
        else:
            span = self._span(self._name(step), step.at, step.place, self._inside(step), _said(step))
            self._close(span, step.at + step.lasts, step.error)
        self.ids.append(span["spanId"])
        self._last = span

    def finished(self) -> list[Span]:
        """Ends what is open, and gives all in the order of their ends."""
        self._leave(0)
        if self._turn is not None:
            self._close(self._turn, self._now)
        self._done.sort(key=lambda span: int(span["endTimeUnixNano"]))
        return self._done

    def _leave(self, depth: int) -> None:
        while self._agents and self._agents[-1][0] >= depth:
            self._close(self._agents.pop()[2], self._now)

    def _turn_to(self, step: Step) -> None:
        if self._turn is not None and not step.user and self._within == (step.agent, step.place):
            return
        if self._turn is not None:
            self._close(self._turn, self._now)
        link = self._last if self._tie == "link" and self._within[1] != step.place else None
        self._turn = self._agent(step.agent, step.at - 0.0005, step.place, 0)
        self._turn["attributes"].append(attribute("spanfuse.turn", "user" if step.user else "agent"))
        if link is not None:
            self._turn["links"] = [{"traceId": link["traceId"], "spanId": link["spanId"]}]
        self._within = (step.agent, step.place)

    def _inside(self, step: Step) -> Span | None:
        return self._agents[-1][2] if step.depth and self._agents else self._turn

    def _agent(self, name: str, at: float, place: int, depth: int, asked: str = "") -> Span:
        said: Said = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": name}
        if asked:
            said["gen_ai.input.messages"] = _messages("user", asked)
        if not self._tie:
            said["gen_ai.conversation.id"] = self._trace(place)
        around = self._agents[-1][2] if depth and self._agents else None
        return self._span(f"invoke_agent {name}", at, place, around, said)

    def _span(self, name: str, at: float, place: int, parent: Span | None, said: Said) -> Span:
        trace = self._trace(place)
        within = parent["spanId"] if parent is not None and parent["traceId"] == trace else ""
        span_id = digest(self._id, len(self._done), len(self.ids), name)[:16]
        tied = [attribute(key, value) for key, value in (said | self._ties()).items()]
        return {"traceId": trace, "spanId": span_id, "parentSpanId": within, "name": name, "kind": 1,
                "startTimeUnixNano": str(_ns(at)), "attributes": tied, "status": {}}  # fmt: skip

    def _ties(self) -> Said:
        if self._tie == "run":
            path = "/".join(name for _, name, _ in self._agents)
            return {"spanfuse.run.id": self._trace(0), "spanfuse.run.depth": len(self._agents),
                    "spanfuse.agent.path": path}  # fmt: skip
        return {"gen_ai.conversation.id": self._trace(0)} if self._tie == "conversation" else {}

    def _close(self, span: Span, at: float, error: bool = False) -> None:
        self._now = max(self._now, at)
        span["endTimeUnixNano"] = str(_ns(at))
        if error:
            span["status"] = {"code": 2}
            span["attributes"].append(attribute("error.type", "tool_error"))
        self._done.append(span)

    def _trace(self, place: int) -> str:
        return digest(self._id, place)

    @staticmethod
    def _name(step: Step) -> str:
        return f"chat {step.name}" if step.kind is Kind.MODEL else f"execute_tool {step.name}"


def _said(step: Step) -> Said:
    if step.kind is Kind.TOOL:
        return {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": step.name,
                "gen_ai.tool.call.arguments": step.args, "gen_ai.tool.call.result": step.result}  # fmt: skip
    said: Said = {
        "gen_ai.operation.name": "chat", "gen_ai.provider.name": "openai", "gen_ai.request.model": "gpt-4o"
    }  # fmt: skip
    if step.input_tokens is not None:
        said["gen_ai.usage.input_tokens"] = step.input_tokens
        said["gen_ai.usage.output_tokens"] = step.output_tokens or 0
    if step.args:
        said["gen_ai.input.messages"] = _messages("user", step.args)
    if step.result:
        said["gen_ai.output.messages"] = _messages("assistant", step.result)
    return said


def _messages(role: str, text: str) -> str:
    return json.dumps([{"role": role, "parts": [{"type": "text", "content": text}]}])


def _ns(at: float) -> int:
    return EPOCH_NS + int(at * 1e9)
