"""A request to the OpenAI API, read into an intent.

Rule 1: what the SDK is about to send is read, never changed, and an iterator in it is never advanced.
Rule 2: what is compared is what the model is told, without the ids of tool calls: they are new each time.
Rule 3: an answer to a tool call is new when nothing that the model said follows it.
It does not know whether the request is admitted, nor what comes back.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from spanfuse.provider import Intent, ToolAnswer
from spanfuse.providers.openai.endpoints import Endpoint, Place
from spanfuse.providers.openai.fields import NONE, Fields, fields, listed
from spanfuse.texts import text
from spanfuse_processor.engine import names
from spanfuse_processor.engine.nouns import Kind

OPERATIONS: Final = {
    Endpoint.CHAT: ("chat", Kind.MODEL),
    Endpoint.RESPONSES: ("chat", Kind.MODEL),
    Endpoint.EMBEDDINGS: ("embeddings", Kind.EMBEDDINGS),
    Endpoint.COMPLETIONS: ("text_completion", Kind.MODEL),
}
ATTRIBUTES: Final = {
    "temperature": "gen_ai.request.temperature",
    "top_p": "gen_ai.request.top_p",
    "max_tokens": names.MAX_TOKENS,
    "max_completion_tokens": names.MAX_TOKENS,
    "max_output_tokens": names.MAX_TOKENS,
    "frequency_penalty": "gen_ai.request.frequency_penalty",
    "presence_penalty": "gen_ai.request.presence_penalty",
    "seed": "gen_ai.request.seed",
    "n": "gen_ai.request.choice.count",
    "dimensions": "gen_ai.embeddings.dimension.count",
    "service_tier": "openai.request.service_tier",
    "conversation": names.CONVERSATION,
}
"""What of a request stands on its span, by its field."""
_BESIDE: Final = ("tools", "instructions", "response_format", "text", "functions")
_IDS: Final = frozenset({"id", "call_id", "tool_call_id"})
_CALL_ITEMS: Final = frozenset({"function_call", "custom_tool_call"})
_ANSWER_ITEMS: Final = frozenset({"function_call_output", "custom_tool_call_output"})
_OPENING: Final = frozenset({"system", "developer", "user"})  # who speaks before a model has
_PARALLEL: Final = 32
"""How many calls one turn of a model is taken to ask for at most."""


def read_intent(endpoint: Endpoint, body: object, place: Place, *, stream: bool) -> Intent:
    """What a request with this body is about to do. A body that is no mapping is admitted without a name."""
    known: Fields = body if isinstance(body, Mapping) else NONE
    operation, kind = OPERATIONS[endpoint]
    intent = Intent(
        kind=kind,
        operation=operation,
        name=text(known.get("model")),
        provider=place.provider,
        stream=stream,
        previous=known.get("previous_response_id") or "",
        beside=[known[name] for name in _BESIDE if name in known],
        media="audio" in known or "audio" in listed(known.get("modalities")),
        attributes=_attributes(known, place),
    )
    _READERS[endpoint](known, intent)
    return intent


def bare_intent(endpoint: Endpoint, *, stream: bool) -> Intent:
    """The intent of a request that could not be read: it is gated all the same."""
    operation, kind = OPERATIONS[endpoint]
    return Intent(kind=kind, operation=operation, name="", provider="openai", stream=stream)


def _attributes(body: Fields, place: Place) -> dict[str, object]:
    found: dict[str, object] = {}
    if place.address:
        found = {"server.address": place.address, "server.port": place.port}
    for key, value in body.items():
        name = ATTRIBUTES.get(key)
        if name is None:
            continue
        if key == "conversation" and isinstance(value, Mapping):
            value = value.get("id")
        if isinstance(value, (str, int, float)):
            found[name] = value
    return found


def _chat(body: Fields, intent: Intent) -> None:
    messages = listed(body.get("messages"))
    answers = []
    for message in reversed(messages):
        said = fields(message)
        role = said.get("role")
        if role == "assistant":
            break
        if role == "tool":
            answers.append(ToolAnswer(said.get("tool_call_id") or "", said.get("content")))
    intent.arguments = _told(messages)
    intent.answers = answers[::-1]
    intent.user_turn = _from_user(messages)
    intent.fresh = intent.user_turn and _is_fresh(messages)


def _responses(body: Fields, intent: Intent) -> None:
    asked = body.get("input")
    if isinstance(asked, str):
        intent.arguments = asked
        intent.user_turn = True
        intent.fresh = not (intent.previous or body.get("conversation"))
        return
    given = listed(asked)
    intent.arguments = _told(given)
    intent.answers = _new_answers(given)[::-1]
    intent.user_turn = _from_user(given)
    goes_on = intent.previous or body.get("conversation")
    intent.fresh = intent.user_turn and not goes_on and _is_fresh(given)


def _new_answers(given: Sequence[object]) -> list[ToolAnswer]:
    """The answers after the last thing that the model said or did, newest first.

    Programs put them after all calls of a turn, or each after its own: so a call is passed over when what
    follows is its answer. Turns that consist of nothing else run together so, and an answer may be given
    again: the call it is for is told only once.
    """
    answers: list[ToolAnswer] = []
    for item in reversed(given):
        known = fields(item)
        kind = known.get("type")
        if kind in _ANSWER_ITEMS:
            answers.append(ToolAnswer(known.get("call_id") or "", known.get("output")))
        elif kind in _CALL_ITEMS and answers and known.get("call_id") == answers[-1].id:
            if len(answers) == _PARALLEL:
                break
        elif known.get("role") in (None, "assistant"):
            break
    return answers


def _told(messages: Sequence[object]) -> object:
    """The messages as one text; as they are when there is more to them than text.

    A text is compared in a fraction of the time that nested data takes, however long the conversation is.
    """
    words: list[str] = []
    for message in messages:
        for name, value in fields(message).items():
            if value.__class__ is str:
                if name not in _IDS:
                    words.append(value)
            elif name == "tool_calls":
                for call in value or ():
                    asked = fields(fields(call).get("function"))
                    words += str(asked.get("name")), str(asked.get("arguments"))
            elif value is not None:
                return messages
    return "\x1d".join(words)


def _from_user(messages: Sequence[object]) -> bool:
    return bool(messages) and fields(messages[-1]).get("role") == "user"


def _is_fresh(messages: Sequence[object]) -> bool:
    return all(fields(message).get("role") in _OPENING for message in messages)


def _embeddings(body: Fields, intent: Intent) -> None:
    asked = body.get("input")
    intent.arguments = asked if isinstance(asked, str) else listed(asked)


def _completions(body: Fields, intent: Intent) -> None:
    asked = body.get("prompt")
    intent.arguments = asked if isinstance(asked, str) else listed(asked)


_READERS: Final[dict[Endpoint, Callable[[Fields, Intent], None]]] = {
    Endpoint.CHAT: _chat,
    Endpoint.RESPONSES: _responses,
    Endpoint.EMBEDDINGS: _embeddings,
    Endpoint.COMPLETIONS: _completions,
}
