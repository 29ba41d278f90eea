"""A response of the OpenAI API, read into an outcome.

Rule 1: models and parsed JSON are read alike, and never dumped. Rule 2: usage that was not reported is None,
not 0. Rule 3: the result that is compared has no ids: what was said and which calls were asked for, so that
the same answer given twice, streamed or not, is the same result.
It does not know how the response arrived.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from spanfuse.provider import Outcome, ToolRequest
from spanfuse.providers.openai.endpoints import Endpoint
from spanfuse.providers.openai.fields import NONE, Fields, count, fields, items, text
from spanfuse_processor.engine.nouns import Usage

_CALL_ITEMS: Final = {"function_call": "arguments", "custom_tool_call": "input"}
_CUT_SHORT: Final = {"max_output_tokens": "length"}


def read_outcome(endpoint: Endpoint, response: object) -> Outcome:
    """What a complete response says."""
    return _READERS[endpoint](fields(response))


def read_usage(reported: object) -> Usage | None:
    """The tokens of a `usage` object, under the names of either API; None when there is none."""
    if reported is None:
        return None
    known = fields(reported)
    if "input_tokens" in known:
        inside, outside = "input_tokens", "output_tokens"
    else:
        inside, outside = "prompt_tokens", "completion_tokens"
    asked = fields(known.get(f"{inside}_details"))
    said = fields(known.get(f"{outside}_details"))
    return Usage(
        input_tokens=count(known, inside),
        output_tokens=count(known, outside),
        cached_tokens=count(asked, "cached_tokens"),
        cache_write_tokens=count(asked, "cache_write_tokens"),
        reasoning_tokens=count(said, "reasoning_tokens"),
    )


def result_of(said: str, requests: Sequence[ToolRequest]) -> object:
    """What is compared: the text alone, or the text and the calls that were asked for."""
    if not requests:
        return said
    return {"content": said, "tool_calls": [[call.name, call.arguments] for call in requests]}


def joined(results: Sequence[object]) -> object:
    """The results of several choices; one stands for itself."""
    return results[0] if len(results) == 1 else list(results)


def read_response(response: Fields, seen: Sequence[object] = ()) -> Outcome:
    """A Responses API object; `seen` are output items that arrived before it, used when it carries none."""
    result, requests = _read_items(items(response, "output") or seen)
    return Outcome(
        result=result,
        usage=read_usage(response.get("usage")),
        model=text(response, "model"),
        response_id=text(response, "id"),
        finish_reasons=_reasons(response, asks=bool(requests)),
        tool_requests=requests,
    )


def _read_items(output: Sequence[object]) -> tuple[object, list[ToolRequest]]:
    said: list[str] = []
    requests: list[ToolRequest] = []
    for item in map(fields, output):
        kind = text(item, "type")
        if kind == "message":
            parts = map(fields, items(item, "content"))
            said.extend(text(part, "text") or text(part, "refusal") for part in parts)
        elif kind in _CALL_ITEMS:
            arguments = text(item, _CALL_ITEMS[kind])
            requests.append(ToolRequest(text(item, "call_id"), text(item, "name"), arguments))
    return result_of("".join(said), requests), requests


def _reasons(response: Fields, *, asks: bool) -> tuple[str, ...]:
    """The Responses API has a status where the others have finish reasons; OTel maps it so."""
    status = text(response, "status")
    if status == "completed":
        return ("tool_calls" if asks else "stop",)
    if status == "incomplete":
        why = text(fields(response.get("incomplete_details")), "reason")
        return (_CUT_SHORT.get(why, why or status),)
    if status in ("failed", "cancelled"):
        return ("error",)
    return ()


def _chat(response: Fields) -> Outcome:
    choices = [fields(choice) for choice in items(response, "choices")]
    results: list[object] = []
    requests: list[ToolRequest] = []
    for choice in choices:
        message = fields(choice.get("message"))
        asked = _tool_calls(message)
        requests.extend(asked)
        results.append(result_of(text(message, "content") or text(message, "refusal"), asked))
    return _completed(response, choices, results, requests)


def _tool_calls(message: Fields) -> list[ToolRequest]:
    asked = []
    for call in map(fields, items(message, "tool_calls")):
        part = fields(call.get("function") or call.get("custom") or NONE)
        arguments = text(part, "arguments") or text(part, "input")
        asked.append(ToolRequest(text(call, "id"), text(part, "name"), arguments))
    legacy = message.get("function_call")
    if legacy is not None:
        part = fields(legacy)
        asked.append(ToolRequest("", text(part, "name"), text(part, "arguments")))
    return asked


def _text(response: Fields) -> Outcome:
    choices = [fields(choice) for choice in items(response, "choices")]
    return _completed(response, choices, [text(choice, "text") for choice in choices])


def _completed(
    response: Fields, choices: Sequence[Fields], results: list[object], requests: Sequence[ToolRequest] = ()
) -> Outcome:
    reasons = [text(choice, "finish_reason") for choice in choices]
    return Outcome(
        result=joined(results),
        usage=read_usage(response.get("usage")),
        model=text(response, "model"),
        response_id=text(response, "id"),
        finish_reasons=tuple(reason for reason in reasons if reason),
        tool_requests=requests,
    )


def _embeddings(response: Fields) -> Outcome:
    """Vectors are not compared: two equal questions have equal vectors by nature."""
    return Outcome(usage=read_usage(response.get("usage")), model=text(response, "model"))


_READERS: Final[dict[Endpoint, Callable[[Fields], Outcome]]] = {
    Endpoint.CHAT: _chat,
    Endpoint.RESPONSES: read_response,
    Endpoint.EMBEDDINGS: _embeddings,
    Endpoint.COMPLETIONS: _text,
}
