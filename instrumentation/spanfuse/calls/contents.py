"""What was said, as attributes of the call's span, where contents are to be captured.

Rule 1: only who says so has anything in here run. Rule 2: each attribute is text of JSON in the conventions'
shape, at most `MOST` bytes: of a conversation the latest messages; a text that is longer by itself is cut.
Rule 3: pictures and sounds are named, never copied. What cannot be read is left out. Nothing here is judged.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from spanfuse.guard import guarded
from spanfuse.provider import Intent, Outcome
from spanfuse_processor.bookkeeping.bodies import cut
from spanfuse_processor.engine import names
from spanfuse_processor.engine.nouns import Kind

MOST: Final = 4_096
"""Bytes of one attribute."""
_MODELS: Final = frozenset({Kind.MODEL, Kind.EMBEDDINGS})
_CALLS: Final = frozenset({"function_call", "custom_tool_call"})
_ANSWERS: Final = frozenset({"function_call_output", "custom_tool_call_output"})

Part = dict[str, Any]


@guarded("contents", {})
def given(intent: Intent) -> dict[str, object]:
    """What a tool or a model is given."""
    said = intent.arguments
    if said is None:
        return {}
    if intent.kind is Kind.TOOL:
        return {names.TOOL_ARGUMENTS: cut(_text(said), MOST)}
    if intent.kind in _MODELS:
        listed = said if isinstance(said, list | tuple) else (said,)
        return {names.INPUT_MESSAGES: _latest(map(_message, reversed(listed)))}
    return {}


@guarded("contents", {})
def answered(intent: Intent, outcome: Outcome) -> dict[str, object]:
    """What a tool or a model answered."""
    said = outcome.result
    if said is None:
        return {}
    if intent.kind is Kind.TOOL:
        return {names.TOOL_RESULT: cut(_text(said), MOST)}
    if intent.kind is not Kind.MODEL:
        return {}
    choices = said if isinstance(said, list) else [said]
    reasons = [*outcome.finish_reasons, *[""] * len(choices)]
    told = [
        {"role": "assistant", "parts": _answer(choice), "finish_reason": reason}
        for choice, reason in zip(choices, reasons, strict=False)
    ]
    return {names.OUTPUT_MESSAGES: _latest(reversed(told))}


def _latest(newest_first: Iterable[Mapping[str, Any]]) -> str:
    """As many messages as there is room for, oldest first; the newest in any case."""
    kept: list[str] = []
    room = MOST - 2
    for message in newest_first:
        text = _text(message)
        room -= len(text.encode("utf-8", "replace")) + 1
        if kept and room < 0:
            break
        kept.append(text)
    return cut(f"[{','.join(reversed(kept))}]", MOST)


def _message(said: object) -> Mapping[str, Any]:
    """One message of a request, as the conventions have it."""
    if not isinstance(said, Mapping):
        return {"role": "user", "parts": [_content(said)]}
    kind, role = said.get("type"), said.get("role")
    if kind in _CALLS:
        return {
            "role": "assistant",
            "parts": [_call(said.get("name"), said.get("arguments", said.get("input")))],
        }
    if kind in _ANSWERS or role == "tool":
        return {"role": "tool", "parts": [{"type": "tool_call_response", "result": _plain(said)}]}
    content = said.get("content")
    parts = [_content(each) for each in content] if isinstance(content, list | tuple) else []
    if isinstance(content, str):
        parts = [_content(content)]
    for call in said.get("tool_calls") or ():
        function = call.get("function") or call.get("custom") or {}
        parts.append(_call(function.get("name"), function.get("arguments", function.get("input"))))
    return {"role": role or "user", "parts": parts or [{"type": str(kind or "unknown")}]}


def _content(said: object) -> Part:
    """One part of a message."""
    if isinstance(said, Mapping):
        text = said.get("text", said.get("refusal"))
        if not isinstance(text, str):
            return {"type": str(said.get("type", "unknown"))}
        said = text
    return {"type": "text", "content": _shortened(said if isinstance(said, str) else _text(said))}


def _answer(choice: object) -> list[Part]:
    """The parts of one choice of an answer."""
    if not isinstance(choice, Mapping):
        return [_content(choice)]
    said, calls = choice.get("content"), choice.get("tool_calls")
    pairs = calls if isinstance(calls, Sequence) else ()
    return [*([_content(said)] if said else []), *(_call(name, arguments) for name, arguments in pairs)]


def _call(name: object, arguments: object) -> Part:
    return {"type": "tool_call", "name": str(name or ""), "arguments": _shortened(_text(arguments))}


def _plain(answer: Mapping[str, Any]) -> str:
    """What a tool answered, as the application tells a model."""
    said = answer.get("content", answer.get("output"))
    if isinstance(said, list | tuple):
        return _shortened("".join(str(_content(each).get("content", "")) for each in said))
    return _shortened(_text(said))


def _shortened(text: str) -> str:
    return cut(text, MOST)


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
