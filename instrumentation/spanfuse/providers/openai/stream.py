"""A streamed response of the OpenAI API, gathered chunk by chunk into an outcome.

Rule 1: only what the outcome needs is kept, and only until the stream ends. Rule 2: `finished` says that
the model has said all, though the stream may not have been read to its very end. Rule 3: usage is what the
stream reports of itself; without `include_usage` that is nothing, and nothing is asked for on the
application's behalf. It does not know who reads the stream.
"""

from __future__ import annotations

from typing import Final

from spanfuse.provider import Outcome, ToolRequest
from spanfuse.providers.openai.endpoints import Endpoint
from spanfuse.providers.openai.fields import NONE, Fields, fields
from spanfuse.providers.openai.response import joined, read_response, read_usage, result_of
from spanfuse.streaming import Gatherer

_ENDINGS: Final = frozenset({"response.completed", "response.incomplete", "response.failed"})


def gatherer(endpoint: Endpoint) -> Gatherer:
    """What gathers the chunks of this endpoint."""
    return ResponseGatherer() if endpoint is Endpoint.RESPONSES else ChatGatherer()


class _Choice:
    """One choice as far as it has arrived."""

    __slots__ = ("asked", "pieces", "reason", "said")

    def __init__(self) -> None:
        self.said: list[str] = []
        self.asked: dict[object, _Asked] = {}
        self.reason = ""
        self.pieces = 0

    def add(self, choice: Fields) -> None:
        """Takes what a chunk says of this choice in; a plain completion has text where a chat has a delta."""
        delta = fields(choice.get("delta"))
        said = delta.get("content") or delta.get("refusal") or choice.get("text")
        calls = "tool_calls" in delta or "function_call" in delta
        if said:
            self.said.append(said)
        if calls:
            self._add_calls(delta)
        self.pieces += bool(said or calls)
        self.reason = choice.get("finish_reason") or self.reason

    def _add_calls(self, delta: Fields) -> None:
        for call in map(fields, delta.get("tool_calls") or ()):
            id_, index = call.get("id") or "", call.get("index")
            # Some servers number no calls, but then each comes in one piece, with its id.
            asked = self._asked(id_ if index is None else index)
            asked.add(id_, fields(call.get("function") or call.get("custom")))
        legacy = delta.get("function_call")
        if legacy is not None:
            self._asked("function_call").add("", fields(legacy))

    def _asked(self, index: object) -> _Asked:
        found = self.asked.get(index)
        if found is None:
            found = self.asked[index] = _Asked()
        return found

    def requests(self) -> list[ToolRequest]:
        """The tool calls, as far as they have arrived."""
        return [asked.request() for asked in self.asked.values()]


class _Asked:
    """One tool call as far as it has arrived."""

    __slots__ = ("arguments", "id", "name")

    def __init__(self) -> None:
        self.id = self.name = ""
        self.arguments: list[str] = []

    def add(self, id_: str, part: Fields) -> None:
        self.id = self.id or id_
        self.name = self.name or part.get("name") or ""
        self.arguments.append(part.get("arguments") or part.get("input") or "")

    def request(self) -> ToolRequest:
        return ToolRequest(self.id, self.name, "".join(self.arguments))


class ChatGatherer:
    """Gathers chat completions and plain completions."""

    def __init__(self) -> None:
        self._choices: dict[object, _Choice] = {}
        self._usage: object = None
        self._model = ""
        self._id = ""
        self._service = ""

    @property
    def finished(self) -> bool:
        """Every choice has its finish reason."""
        return bool(self._choices) and all(choice.reason for choice in self._choices.values())

    def add(self, chunk: object) -> None:
        """Takes one chunk in."""
        known = fields(chunk)
        if not self._id:
            self._id, self._model = known.get("id") or "", known.get("model") or ""
        for choice in map(fields, known.get("choices") or ()):
            index = choice.get("index")
            if index not in self._choices:
                self._choices[index] = _Choice()
            self._choices[index].add(choice)
        self._service = known.get("service_tier") or self._service
        # Some servers count in every chunk; the last count is the whole.
        self._usage = known.get("usage") or self._usage

    def outcome(self) -> Outcome:
        """What has been said so far."""
        choices = self._choices.values()
        asked = [choice.requests() for choice in choices]
        results = [result_of("".join(one.said), calls) for one, calls in zip(choices, asked, strict=True)]
        return Outcome(
            result=joined(results) if results else None,
            usage=read_usage(self._usage),
            model=self._model,
            response_id=self._id,
            finish_reasons=tuple(choice.reason for choice in choices if choice.reason),
            tool_requests=[call for calls in asked for call in calls],
            service=self._service,
            pieces=sum(choice.pieces for choice in choices),
        )


class ResponseGatherer:
    """Gathers the events of the Responses API, whose last one holds everything."""

    def __init__(self) -> None:
        self._response: Fields = NONE
        self._items: list[object] = []
        self._said: list[str] = []
        self._pieces = 0
        self.finished = False

    def add(self, event: object) -> None:
        """Takes one event in."""
        known = fields(event)
        kind = known.get("type") or ""
        self._pieces += kind.endswith(".delta")
        if kind == "response.output_text.delta":
            self._said.append(known.get("delta") or "")
        elif kind == "response.output_item.done":
            self._items.append(known.get("item"))
        elif kind == "response.created" or kind in _ENDINGS:
            self._response = fields(known.get("response"))
            self.finished = kind in _ENDINGS

    def outcome(self) -> Outcome:
        """What has been said so far."""
        found = read_response(self._response, self._items)
        if not self.finished:
            found.result = result_of("".join(self._said), found.tool_requests) or None
        found.pieces = self._pieces
        return found
