"""A response of the OpenAI API, read into an outcome.

Rule 1: models and parsed JSON are read alike, and never dumped. Rule 2: usage that was not reported is
None, not 0. Rule 3: the result that is compared has no ids: what was said and which calls were asked for,
so that the same answer given twice, streamed or not, is the same result. It does not know how the response
arrived.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from spanfuse.provider import Outcome, ToolRequest
from spanfuse.providers.openai.endpoints import Endpoint
from spanfuse.providers.openai.fields import count, field, items, text
from spanfuse_processor.engine.nouns import Usage

_CALL_ITEMS: Final = {"function_call": "arguments", "custom_tool_call": "input"}
_CUT_SHORT: Final = {"max_output_tokens": "length"}


def read_outcome(endpoint: Endpoint, response: object) -> Outcome:
    """What a complete response says."""
    return _READERS[endpoint](response)


def read_usage(reported: object) -> Usage | None:
    """The tokens of a `usage` object, under the names of either API; None when there is none."""
    if reported is None:
        return None
    if field(reported, "input_tokens") is not None:
        inside, outside = "input_tokens", "output_tokens"
    else:
        inside, outside = "prompt_tokens", "completion_tokens"
    asked = field(reported, f"{inside}_details")
    said = field(reported, f"{outside}_details")
    return Usage(
        input_tokens=count(reported, inside),
        output_tokens=count(reported, outside),
        cached_tokens=count(asked, "cached_tokens") if asked else 0,
        cache_write_tokens=count(asked, "cache_write_tokens") if asked else 0,
        reasoning_tokens=count(said, "reasoning_tokens") if said else 0,
    )


def result_of(said: str, requests: Sequence[ToolRequest]) -> object:
    """What is compared: the text alone, or the text and the calls that were asked for."""
    if not requests:
        return said
    return {"content": said, "tool_calls": [[call.name, call.arguments] for call in requests]}


def joined(results: Sequence[object]) -> object:
    """The results of several choices; one stands for itself."""
    return results[0] if len(results) == 1 else list(results)


def read_items(output: Iterable[object]) -> tuple[object, list[ToolRequest]]:
    """The result and the tool calls of a Responses API output, item by item."""
    said: list[str] = []
    requests: list[ToolRequest] = []
    for item in output:
        kind = field(item, "type")
        if kind == "message":
            said.extend(text(part, "text") or text(part, "refusal") for part in items(item, "content"))
        elif isinstance(kind, str) and (arguments := _CALL_ITEMS.get(kind)):
            call = ToolRequest(text(item, "call_id"), text(item, "name"), text(item, arguments))
            requests.append(call)
    return result_of("".join(said), requests), requests


def read_response(response: object, seen: Sequence[object] = ()) -> Outcome:
    """A Responses API object; `seen` are output items that arrived before it, used when it carries none."""
    result, requests = read_items(items(response, "output") or seen)
    return Outcome(
        result=result,
        usage=read_usage(field(response, "usage")),
        model=text(response, "model"),
        response_id=text(response, "id"),
        finish_reasons=_reasons(response, asks=bool(requests)),
        tool_requests=requests,
    )


def _reasons(response: object, *, asks: bool) -> tuple[str, ...]:
    """The Responses API has a status where the others have finish reasons; OTel maps it so."""
    status = text(response, "status")
    if status == "completed":
        return ("tool_calls" if asks else "stop",)
    if status == "incomplete":
        why = text(field(response, "incomplete_details"), "reason")
        return (_CUT_SHORT.get(why, why or status),)
    if status in ("failed", "cancelled"):
        return ("error",)
    return ()


def _chat(response: object) -> Outcome:
    results: list[object] = []
    requests: list[ToolRequest] = []
    for choice in items(response, "choices"):
        message = field(choice, "message")
        asked = _tool_calls(message)
        requests.extend(asked)
        results.append(result_of(text(message, "content") or text(message, "refusal"), asked))
    return _completed(response, results, requests)


def _tool_calls(message: object) -> list[ToolRequest]:
    asked = []
    for call in items(message, "tool_calls"):
        part = field(call, "function") or field(call, "custom")
        arguments = text(part, "arguments") or text(part, "input")
        asked.append(ToolRequest(text(call, "id"), text(part, "name"), arguments))
    legacy = field(message, "function_call")
    if legacy is not None:
        asked.append(ToolRequest("", text(legacy, "name"), text(legacy, "arguments")))
    return asked


def _text(response: object) -> Outcome:
    return _completed(response, [text(choice, "text") for choice in items(response, "choices")])


def _completed(response: object, results: list[object], requests: Sequence[ToolRequest] = ()) -> Outcome:
    reasons = (text(choice, "finish_reason") for choice in items(response, "choices"))
    return Outcome(
        result=joined(results),
        usage=read_usage(field(response, "usage")),
        model=text(response, "model"),
        response_id=text(response, "id"),
        finish_reasons=tuple(reason for reason in reasons if reason),
        tool_requests=requests,
    )


def _embeddings(response: object) -> Outcome:
    """Vectors are not compared: two equal questions have equal vectors by nature."""
    return Outcome(usage=read_usage(field(response, "usage")), model=text(response, "model"))


_READERS: Final[dict[Endpoint, Callable[[object], Outcome]]] = {
    Endpoint.CHAT: _chat,
    Endpoint.RESPONSES: read_response,
    Endpoint.EMBEDDINGS: _embeddings,
    Endpoint.COMPLETIONS: _text,
}
