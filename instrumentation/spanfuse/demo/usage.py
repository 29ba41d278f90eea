"""What a request uses, as the demo's provider counts it.

Rule 1: a token is four characters, for every model: an estimate, but the same on both sides of a
comparison. Rule 2: the start of a conversation that an earlier request of it has sent is cached, from 1,024
tokens on in steps of 128, as the real provider does. It does not know prices.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from spanfuse.demo.scripts import Message, Reply

_OVERHEAD = 4  # tokens that wrap a message
_CACHE_FROM, _CACHE_STEP = 1_024, 128


@dataclass(slots=True)
class Tally:
    """What one run has used so far; `tool_calls` were asked for by the model, `tool_answers` came back."""

    requests: int = 0
    tool_calls: int = 0
    tool_answers: int = 0
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0

    def add(self, prompt: Prompt, answers: int) -> None:
        """One more request, with that prompt and so many tool answers in its conversation."""
        self.requests += 1
        self.tool_answers = max(self.tool_answers, answers)
        self.input_tokens += prompt.tokens
        self.cached_tokens += prompt.cached

    def produced(self, reply: Reply) -> None:
        """The model gave this whole reply."""
        self.tool_calls += reply.tool is not None
        self.output_tokens += reply_tokens(reply)


@dataclass(slots=True)
class Asked:
    """One request, as the provider's log has it.

    `at` is when it came (seconds since the epoch), `user` who asked, `model` for which model, and `most` how
    many tokens the answer may have (None: nothing was said).
    """

    at: float
    user: str
    model: str
    most: int | None = None
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0

    @property
    def used(self) -> Tally:
        """What it used."""
        return Tally(1, 0, 0, self.input_tokens, self.cached_tokens, self.output_tokens)


@dataclass(frozen=True, slots=True)
class Prompt:
    """The size of a request in tokens; `cached` is part of `tokens`."""

    tokens: int
    cached: int


def measure(messages: Sequence[Message], tools: Sequence[Mapping[str, Any]]) -> Prompt:
    """The size of a request: its tools and its messages."""
    sizes = [_message_tokens(message) for message in messages]
    offered = _tokens(json.dumps(tools)) if tools else 0
    sent_before = _sent_before(messages)
    known = offered + sum(sizes[:sent_before]) if sent_before else 0
    cached = known // _CACHE_STEP * _CACHE_STEP if known >= _CACHE_FROM else 0
    return Prompt(offered + sum(sizes), cached)


def reply_tokens(reply: Reply) -> int:
    """The size of a reply; at least one token. Each word of a text is one, as it is streamed."""
    if reply.tool is not None:
        return _tokens(reply.tool.name + reply.tool.arguments) + _OVERHEAD
    return max(1, len(reply.text.split()))


def answers(messages: Sequence[Message]) -> int:
    """How many tool answers a conversation holds."""
    return sum(message.get("role") == "tool" for message in messages)


def _sent_before(messages: Sequence[Message]) -> int:
    """How many leading messages an earlier request of this conversation has sent already."""
    replies = [place for place, m in enumerate(messages) if m.get("role") == "assistant"]
    return replies[-1] if replies else 0


def _message_tokens(message: Message) -> int:
    content = message.get("content") or ""
    size = _tokens(content if isinstance(content, str) else json.dumps(content))
    for call in message.get("tool_calls") or ():
        size += _tokens(call["function"]["name"] + call["function"]["arguments"])
    return size + _OVERHEAD


def _tokens(text: str) -> int:
    return (len(text) + 3) // 4
