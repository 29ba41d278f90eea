"""The wire format of the OpenAI API: how a scripted reply looks at each endpoint, whole or in pieces."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]


@dataclass
class Asked:
    """A tool call that the model asks for."""

    name: str
    arguments: Json
    id: str = "call_1"


@dataclass
class Reply:
    """What the model says, and how the server behaves while saying it.

    `hold` is waited for before anything is sent; `pause_after` is the number of stream pieces that come
    before `pause` is waited for. `status` other than 200 sends an error body.
    """

    text: str = "Hello there"
    asked: list[Asked] = field(default_factory=list)
    usage: tuple[int, int] | None = (12, 5)
    model: str = "gpt-4o-mini-2024-07-18"
    id: str = "resp-1"
    status: int = 200
    hold: threading.Event | None = None
    pause: threading.Event | None = None
    pause_after: int = 1
    broken: bool = False  # the connection drops in the middle of the stream
    failing: bool = False  # the stream ends with an error event

    @property
    def finish(self) -> str:
        return "tool_calls" if self.asked else "stop"


def _words(reply: Reply) -> list[str]:
    """The text in pieces, spaces and all."""
    return re.findall(r"\S*\s*", reply.text)[:-1]


def _usage(reply: Reply) -> Json | None:
    if reply.usage is None:
        return None
    asked, said = reply.usage
    return {
        "prompt_tokens": asked,
        "completion_tokens": said,
        "total_tokens": asked + said,
        "prompt_tokens_details": {"cached_tokens": 4, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 2},
    }


def _tool_calls(reply: Reply) -> list[Json]:
    return [
        {
            "id": call.id,
            "type": "function",
            "function": {"name": call.name, "arguments": json.dumps(call.arguments)},
        }
        for call in reply.asked
    ]


def _chat(reply: Reply) -> Json:
    message: Json = {"role": "assistant", "content": None if reply.asked else reply.text, "refusal": None}
    if reply.asked:
        message["tool_calls"] = _tool_calls(reply)
    return {
        "id": reply.id,
        "object": "chat.completion",
        "created": 1,
        "model": reply.model,
        "choices": [{"index": 0, "finish_reason": reply.finish, "message": message, "logprobs": None}],
        "usage": _usage(reply),
    }


def _chat_pieces(reply: Reply, body: Json) -> Iterator[Json]:
    def piece(delta: Json, finish: str | None = None) -> Json:
        choice = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}
        head = {"id": reply.id, "object": "chat.completion.chunk", "created": 1, "model": reply.model}
        return head | {"choices": [choice]}

    yield piece({"role": "assistant", "content": None if reply.asked else ""})
    for number, call in enumerate(_tool_calls(reply)):
        written = call["function"]["arguments"]
        opening = {**call, "index": number, "function": {"name": call["function"]["name"], "arguments": ""}}
        yield piece({"tool_calls": [opening]})
        for part in (written[:3], written[3:]):
            yield piece({"tool_calls": [{"index": number, "function": {"arguments": part}}]})
    if not reply.asked:
        for word in _words(reply):
            yield piece({"content": word})
    yield piece({}, reply.finish)
    if (body.get("stream_options") or {}).get("include_usage"):
        yield piece({}) | {"choices": [], "usage": _usage(reply)}


def _response(reply: Reply, status: str = "completed") -> Json:
    output: list[Json] = [
        {
            "type": "function_call",
            "id": f"fc_{call.id}",
            "call_id": call.id,
            "name": call.name,
            "arguments": json.dumps(call.arguments),
            "status": "completed",
        }
        for call in reply.asked
    ]
    if not reply.asked:
        output = [_message(reply)]
    done = status == "completed"
    return {
        "id": reply.id,
        "object": "response",
        "created_at": 1,
        "model": reply.model,
        "status": status,
        "output": output if done else [],
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": _response_usage(reply) if done else None,
    }


def _message(reply: Reply) -> Json:
    part = {"type": "output_text", "text": reply.text, "annotations": []}
    return {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [part]}


def _response_usage(reply: Reply) -> Json | None:
    if reply.usage is None:
        return None
    asked, said = reply.usage
    return {
        "input_tokens": asked,
        "input_tokens_details": {"cached_tokens": 4, "cache_write_tokens": 0},
        "output_tokens": said,
        "output_tokens_details": {"reasoning_tokens": 2},
        "total_tokens": asked + said,
    }


def _response_pieces(reply: Reply, body: Json) -> Iterator[Json]:
    events = [{"type": "response.created", "response": _response(reply, "in_progress")}]
    for index, item in enumerate(_response(reply)["output"]):
        place = {"output_index": index, "item_id": item["id"]}
        start = {**item, "status": "in_progress"}
        if item["type"] == "message":
            empty = {**item["content"][0], "text": ""}
            inside = {**place, "content_index": 0}
            events += [
                {
                    "type": "response.output_item.added",
                    "output_index": index,
                    "item": start | {"content": []},
                },
                {"type": "response.content_part.added", **inside, "part": empty},
                *(
                    {"type": "response.output_text.delta", **inside, "delta": letter, "logprobs": []}
                    for letter in reply.text
                ),
                {"type": "response.output_text.done", **inside, "text": reply.text, "logprobs": []},
            ]
        else:
            events.append(
                {
                    "type": "response.output_item.added",
                    "output_index": index,
                    "item": start | {"arguments": ""},
                }
            )
            events.append(
                {"type": "response.function_call_arguments.delta", **place, "delta": item["arguments"]}
            )
        events.append({"type": "response.output_item.done", "output_index": index, "item": item})
    events.append({"type": "response.completed", "response": _response(reply)})
    for number, event in enumerate(events):
        yield event | {"sequence_number": number}


def _embeddings(reply: Reply) -> Json:
    asked = reply.usage[0] if reply.usage else 0
    vector = {"object": "embedding", "index": 0, "embedding": [0.5, 0.25]}
    usage = {"prompt_tokens": asked, "total_tokens": asked}
    return {"object": "list", "model": reply.model, "data": [vector], "usage": usage}


def _text(reply: Reply) -> Json:
    choice = {"index": 0, "text": reply.text, "finish_reason": reply.finish, "logprobs": None}
    head = {"id": reply.id, "object": "text_completion", "created": 1, "model": reply.model}
    return head | {"choices": [choice], "usage": _usage(reply)}


def _text_pieces(reply: Reply, body: Json) -> Iterator[Json]:
    for word in _words(reply):
        piece = _text(reply) | {"usage": None}
        piece["choices"][0] |= {"text": word, "finish_reason": None}
        yield piece
    last = _text(reply)
    last["choices"][0]["text"] = ""
    yield last


def _nothing(reply: Reply, body: Json) -> Iterator[Json]:
    yield from ()


Writers = tuple[Callable[[Reply], Json], Callable[[Reply, Json], Iterator[Json]]]

_WRITERS: dict[str, Writers] = {
    "/chat/completions": (_chat, _chat_pieces),
    "/responses": (_response, _response_pieces),
    "/embeddings": (_embeddings, _nothing),
    "/completions": (_text, _text_pieces),
}


def writers_of(path: str) -> Writers:
    """What writes the replies of an endpoint: whole, and in pieces."""
    plain = path.partition("?")[0]
    return next(writers for end, writers in _WRITERS.items() if plain.endswith(end))
