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
from spanfuse.providers.openai.fields import Fields, fields
from spanfuse_processor.engine.nouns import Details, Usage

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
        said, asked = fields(known.get("output_tokens_details")), fields(known.get("input_tokens_details"))
        totals = known.get("input_tokens"), known.get("output_tokens")
    else:
        said, asked = (
            fields(known.get("completion_tokens_details")),
            fields(known.get("prompt_tokens_details")),
        )
        totals = known.get("prompt_tokens"), known.get("completion_tokens")
    return Usage(
        input_tokens=totals[0] or 0,
        output_tokens=totals[1] or 0,
        cached_tokens=asked.get("cached_tokens") or 0,
        cache_write_tokens=asked.get("cache_write_tokens") or 0,
        reasoning_tokens=said.get("reasoning_tokens") or 0,
        details=_details(asked, said),
    )


def _details(asked: Fields, said: Fields) -> Details | None:
    """What is heard and seen, and not only read."""
    cached = fields(asked.get("cached_tokens_details"))
    counts = (
        0,
        *(asked.get("audio_tokens"), cached.get("audio_tokens"), said.get("audio_tokens")),
        *(asked.get("image_tokens"), cached.get("image_tokens"), said.get("image_tokens")),
    )
    return Details(*(count or 0 for count in counts)) if any(counts) else None


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
    output = response.get("output") or seen
    result, requests = _read_items(output)
    return Outcome(
        result=result,
        usage=_with_searches(read_usage(response.get("usage")), output),
        model=response.get("model") or "",
        response_id=response.get("id") or "",
        finish_reasons=_reasons(response, asks=bool(requests)),
        tool_requests=requests,
        service=response.get("service_tier") or "",
    )


def _with_searches(usage: Usage | None, output: Sequence[object]) -> Usage | None:
    """What the provider looked up in the web for an answer is paid for one by one; to open a page is not."""
    items = [known for known in map(fields, output) if known.get("type") == "web_search_call"]
    found = sum(fields(item.get("action")).get("type", "search") == "search" for item in items)
    if usage is not None and found:
        usage.details = (usage.details or Details())._replace(searches=found)
    return usage


def _read_items(output: Sequence[object]) -> tuple[object, list[ToolRequest]]:
    said: list[str] = []
    requests: list[ToolRequest] = []
    for item in map(fields, output):
        kind = item.get("type")
        if kind == "message":
            parts = map(fields, item.get("content") or ())
            said.extend(part.get("text") or part.get("refusal") or "" for part in parts)
        elif kind in _CALL_ITEMS:
            arguments = item.get(_CALL_ITEMS[kind]) or ""
            requests.append(ToolRequest(item.get("call_id") or "", item.get("name") or "", arguments))
    return result_of("".join(said), requests), requests


def _reasons(response: Fields, *, asks: bool) -> tuple[str, ...]:
    """The Responses API has a status where the others have finish reasons; OTel maps it so."""
    status = response.get("status")
    if status == "completed":
        return ("tool_calls" if asks else "stop",)
    if status == "incomplete":
        why = fields(response.get("incomplete_details")).get("reason") or "incomplete"
        return (_CUT_SHORT.get(why, why),)
    if status in ("failed", "cancelled"):
        return ("error",)
    return ()


def _chat(response: Fields) -> Outcome:
    choices = [fields(choice) for choice in response.get("choices") or ()]
    results: list[object] = []
    requests: list[ToolRequest] = []
    for choice in choices:
        message = fields(choice.get("message"))
        asked = _tool_calls(message)
        requests += asked
        results.append(result_of(message.get("content") or message.get("refusal") or "", asked))
    return _completed(response, choices, results, requests)


def _tool_calls(message: Fields) -> list[ToolRequest]:
    asked = []
    for call in map(fields, message.get("tool_calls") or ()):
        part = fields(call.get("function") or call.get("custom"))
        arguments = part.get("arguments") or part.get("input") or ""
        asked.append(ToolRequest(call.get("id") or "", part.get("name") or "", arguments))
    legacy = message.get("function_call")
    if legacy is not None:
        part = fields(legacy)
        asked.append(ToolRequest("", part.get("name") or "", part.get("arguments") or ""))
    return asked


def _text(response: Fields) -> Outcome:
    choices = [fields(choice) for choice in response.get("choices") or ()]
    return _completed(response, choices, [choice.get("text") or "" for choice in choices], ())


def _completed(
    response: Fields, choices: list[Fields], results: list[object], requests: Sequence[ToolRequest]
) -> Outcome:
    reasons = [choice.get("finish_reason") for choice in choices]
    return Outcome(
        result=joined(results),
        usage=read_usage(response.get("usage")),
        model=response.get("model") or "",
        response_id=response.get("id") or "",
        finish_reasons=tuple(reason for reason in reasons if reason),
        tool_requests=requests,
        service=response.get("service_tier") or "",
    )


def _embeddings(response: Fields) -> Outcome:
    """Vectors are not compared: two equal questions have equal vectors by nature."""
    return Outcome(usage=read_usage(response.get("usage")), model=response.get("model") or "")


_READERS: Final[dict[Endpoint, Callable[[Fields], Outcome]]] = {
    Endpoint.CHAT: _chat,
    Endpoint.RESPONSES: read_response,
    Endpoint.EMBEDDINGS: _embeddings,
    Endpoint.COMPLETIONS: _text,
}
