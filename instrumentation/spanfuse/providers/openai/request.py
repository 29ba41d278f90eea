"""A request to the OpenAI API, read into an intent.

Rule 1: what the SDK is about to send is read, never changed, and an iterator in it is never advanced. Rule
2: nothing is copied: the intent refers to the application's own messages. Rule 3: an answer to a tool call
is new when no message of the model follows it. It does not know whether the request is admitted, nor what
comes back.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from spanfuse.provider import Intent, ToolAnswer
from spanfuse.providers.openai.endpoints import Endpoint, Place
from spanfuse.providers.openai.fields import field, items, text
from spanfuse_processor.engine import names
from spanfuse_processor.engine.nouns import Kind

Body = Mapping[str, object]

OPERATIONS: Final = {
    Endpoint.CHAT: ("chat", Kind.MODEL),
    Endpoint.RESPONSES: ("chat", Kind.MODEL),
    Endpoint.EMBEDDINGS: ("embeddings", Kind.EMBEDDINGS),
    Endpoint.COMPLETIONS: ("text_completion", Kind.MODEL),
}
_ATTRIBUTES: Final = {
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
_CALL_ITEMS: Final = frozenset({"function_call", "custom_tool_call"})
_ANSWER_ITEMS: Final = frozenset({"function_call_output", "custom_tool_call_output"})
_PARALLEL: Final = 32
"""How many calls one turn of a model is taken to ask for at most."""


@dataclass(slots=True)
class _Talk:
    """What a request says: the value to be compared, new answers to tool calls, whether a person speaks."""

    arguments: object = None
    answers: Sequence[ToolAnswer] = ()
    user_turn: bool = False


def read_intent(endpoint: Endpoint, body: object, place: Place, *, stream: bool) -> Intent:
    """What a request with this body is about to do. A body that is no mapping is admitted without a name."""
    known: Body = body if isinstance(body, Mapping) else {}
    talk = _TALKS[endpoint](known)
    intent = bare_intent(endpoint, stream=stream)
    intent.name = text(known, "model")
    intent.provider = place.provider
    intent.arguments = talk.arguments
    intent.answers = talk.answers
    intent.previous = text(known, "previous_response_id")
    intent.user_turn = talk.user_turn
    intent.attributes = _attributes(known, place)
    return intent


def bare_intent(endpoint: Endpoint, *, stream: bool) -> Intent:
    """The intent of a request that could not be read: it is gated all the same."""
    operation, kind = OPERATIONS[endpoint]
    return Intent(kind=kind, operation=operation, name="", provider="openai", stream=stream)


def _attributes(body: Body, place: Place) -> dict[str, object]:
    found: dict[str, object] = {"server.address": place.address, "server.port": place.port}
    for key, value in body.items():
        name = _ATTRIBUTES.get(key)
        if name is None:
            continue
        if key == "conversation" and isinstance(value, Mapping):
            value = value.get("id")
        if isinstance(value, (str, int, float)):
            found[name] = value
    return found


def _chat(body: Body) -> _Talk:
    messages = items(body, "messages")
    answers = []
    for message in reversed(messages):
        role = field(message, "role")
        if role == "assistant":
            break
        if role == "tool":
            answers.append(ToolAnswer(text(message, "tool_call_id"), field(message, "content")))
    return _Talk(messages, answers[::-1], bool(messages) and field(messages[-1], "role") == "user")


def _responses(body: Body) -> _Talk:
    asked = body.get("input")
    if isinstance(asked, str):
        return _Talk(asked, user_turn=True)
    given = items(body, "input")
    answers = _new_answers(given)
    return _Talk(given, answers[::-1], bool(given) and field(given[-1], "role") == "user")


def _new_answers(given: Sequence[object]) -> list[ToolAnswer]:
    """The answers after the last thing that the model said or did, newest first.

    Programs put them after all calls of a turn, or each after its own: so a call is passed over when what
    follows is its answer. Turns that consist of nothing else run together so, and an answer may be given
    again: the call it is for is told only once.
    """
    answers: list[ToolAnswer] = []
    for item in reversed(given):
        kind = field(item, "type")
        if kind in _ANSWER_ITEMS:
            answers.append(ToolAnswer(text(item, "call_id"), field(item, "output")))
        elif kind in _CALL_ITEMS and answers and text(item, "call_id") == answers[-1].id:
            if len(answers) == _PARALLEL:
                break
        elif field(item, "role") in (None, "assistant"):
            break
    return answers


def _embeddings(body: Body) -> _Talk:
    asked = body.get("input")
    return _Talk(asked if isinstance(asked, str) else items(body, "input"))


def _completions(body: Body) -> _Talk:
    asked = body.get("prompt")
    return _Talk(asked if isinstance(asked, str) else items(body, "prompt"))


_TALKS: Final[dict[Endpoint, Callable[[Body], _Talk]]] = {
    Endpoint.CHAT: _chat,
    Endpoint.RESPONSES: _responses,
    Endpoint.EMBEDDINGS: _embeddings,
    Endpoint.COMPLETIONS: _completions,
}
