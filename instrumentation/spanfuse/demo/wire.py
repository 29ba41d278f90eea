"""The provider's HTTP API as plain data: completions, stream chunks, models and errors.

Rule 1: the shapes are those of the OpenAI API reference, so that the unmodified SDK parses them.
Rule 2: a request that the real provider would refuse is refused, in its format. It does not know sockets.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from spanfuse.demo.scripts import Reply, ToolUse

Json = dict[str, Any]

LIMITS = ("max_completion_tokens", "max_tokens")
"""What a request calls the most tokens that its answer may have; the second is the older name."""


class ApiError(Exception):
    """A refusal. `code` is the provider's, `headers` go with the answer."""

    def __init__(
        self,
        status: int,
        message: str,
        kind: str = "invalid_request_error",
        code: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.headers = dict(headers or {})
        error = {"message": message, "type": kind, "param": None, "code": code}
        self.body: Json = {"error": error}


def parse(body: bytes) -> Json:
    """A chat request, checked as far as the real provider would refuse it at once.

    Raises:
        ApiError: 400, with what is wrong.
    """
    try:
        request = json.loads(body)
    except ValueError:
        raise ApiError(400, "We could not parse the JSON body of your request.") from None
    messages = request.get("messages") if isinstance(request, dict) else None
    if not isinstance(messages, list) or not messages:
        raise ApiError(400, "'messages' must be a list of at least one message.")
    _check_order(messages)
    return dict(request)


def _check_order(messages: Sequence[Mapping[str, Any]]) -> None:
    """Every tool call is answered before anything else is said, and nothing else is answered."""
    open_calls: set[str] = set()
    for message in messages:
        if message.get("role") == "tool":
            if message.get("tool_call_id") not in open_calls:
                raise ApiError(400, "A message with role 'tool' must answer a preceding tool call.")
            open_calls.discard(message["tool_call_id"])
        elif open_calls:
            raise ApiError(400, f"No tool message answers the tool calls {sorted(open_calls)}.")
        open_calls.update(call["id"] for call in message.get("tool_calls") or ())
    if open_calls:
        raise ApiError(400, f"No tool message answers the tool calls {sorted(open_calls)}.")


def offered(request: Json) -> frozenset[str]:
    """The names of the tools on offer."""
    return frozenset(tool["function"]["name"] for tool in request.get("tools") or ())


def most_output(request: Json) -> int | None:
    """How many tokens the answer may have at most; None: as many as it likes.

    Raises:
        ApiError: 400, when it is no such number, or said twice.
    """
    limits = [request[name] for name in LIMITS if request.get(name) is not None]
    if len(limits) > 1:
        raise ApiError(400, "Setting 'max_tokens' and 'max_completion_tokens' at once is not supported.")
    if limits and (not isinstance(limits[0], int) or limits[0] < 1):
        raise ApiError(400, f"{limits[0]!r} is no number of tokens.")
    return limits[0] if limits else None


def usage(prompt: int, cached: int, output: int) -> Json:
    """The usage object."""
    return {
        "prompt_tokens": prompt,
        "completion_tokens": output,
        "total_tokens": prompt + output,
        "prompt_tokens_details": {"cached_tokens": cached, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 0, "audio_tokens": 0},
    }


def completion(head: Json, reply: Reply, used: Json) -> Json:
    """The whole answer of a request that does not stream."""
    message = {**said(reply), "refusal": None}
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": _finish(reply)}
    return {**head, "object": "chat.completion", "choices": [choice], "usage": used}


def said(reply: Reply) -> Json:
    """A reply as a message of the conversation."""
    message: Json = {"role": "assistant", "content": reply.text or None}
    if reply.tool is not None:
        message["tool_calls"] = [_tool_call(reply.tool)]
    return message


def chunks(head: Json, reply: Reply) -> Iterator[tuple[Json, int]]:
    """The chunks of a streamed answer but for the usage, each with the tokens it carries."""
    yield _chunk(head, {"role": "assistant", "content": "" if reply.text else None}), 0
    if reply.tool is not None:
        yield from _tool_chunks(head, reply.tool)
    for word in re.findall(r"\S+\s*", reply.text):
        yield _chunk(head, {"content": word}), 1
    yield _chunk(head, {}, _finish(reply)), 0


def usage_chunk(head: Json, used: Json) -> Json:
    """The last chunk, sent when the request asks for it with `stream_options.include_usage`."""
    return {**head, "object": "chat.completion.chunk", "choices": [], "usage": used}


def models(names: Sequence[str], created: int) -> Json:
    """The answer of /v1/models."""
    return {"object": "list", "data": [model(name, created) for name in names]}


def model(name: str, created: int) -> Json:
    """The answer of /v1/models/NAME."""
    return {"id": name, "object": "model", "created": created, "owned_by": "spanfuse-demo"}


def _tool_call(tool: ToolUse) -> Json:
    function = {"name": tool.name, "arguments": tool.arguments}
    return {"id": tool.id, "type": "function", "function": function}


def _tool_chunks(head: Json, tool: ToolUse) -> Iterator[tuple[Json, int]]:
    """Name first, then the arguments in pieces, as the provider sends them."""
    first = _tool_call(ToolUse(tool.id, tool.name, ""))
    yield _chunk(head, {"tool_calls": [{"index": 0, **first}]}), 0
    for start in range(0, len(tool.arguments), 16):
        piece = {"index": 0, "function": {"arguments": tool.arguments[start : start + 16]}}
        yield _chunk(head, {"tool_calls": [piece]}), 4


def _chunk(head: Json, delta: Json, finish: str | None = None) -> Json:
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
    return {**head, "object": "chat.completion.chunk", "choices": [choice]}


def _finish(reply: Reply) -> str:
    if reply.tool is not None:
        return "tool_calls"
    return "length" if reply.cut else "stop"
