"""Messages of models and agents as foreign spans carry them: what was asked, what was said, whose turn it is.

Rule 1: read are lists of messages with a role and parts (OTel GenAI), or a content (older), as JSON text or
as plain data; any other content counts as the text that it is. Rule 2: ids of tool calls are left out: they
are new each time. Rule 3: what a program says in the user's name (what a tool gave, what another agent said)
is no user's turn. Rule 4: a long text is never parsed as a whole. It does not know spans, nor what is
compared.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final

from spanfuse_processor.engine.fingerprints.canonical import parsed

_USERS: Final = frozenset({"user", "human"})
_TOOLS: Final = ("tool", "function")
_ANSWERED: Final = ('"assistant"', '"model"', '"ai"')  # the roles of models, as they stand in JSON
_ANSWERS: Final = frozenset(
    {"tool_call_response", "tool_result", "function_response", "function_call_output"}
)
_NOTES: Final = re.compile(
    r"(?:\b|\\n)(?:Observation|Thought|Action Input|Tool (?:result|output|response))s?:"
)
"""Words by which an agent that keeps notes of its work in one text marks them."""

_UNCLOSED: Final = re.compile(r'"content"\s*:\s*"')
_decode: Final = json.JSONDecoder().raw_decode

Message = dict[str, Any]


def answer_in(output: object) -> object:
    """What was answered, as our own library compares it: a text, or a text and the calls that it asks for.

    >>> answer_in('[{"role": "assistant", "parts": [{"type": "text", "content": "4"}]}]')
    '4'
    >>> answer_in([{"parts": [{"type": "tool_call", "id": "c1", "name": "f", "arguments": 1}]}])
    {'content': '', 'tool_calls': [['f', 1]]}
    """
    messages = _listed(output)
    if messages is None:
        return _cut_short(output) if isinstance(output, str) else output
    said = "".join(text for message in messages for text in _texts(message))
    calls = [call for message in messages for call in _calls(message)]
    return {"content": said, "tool_calls": calls} if calls else said


def task_in(given: object) -> tuple[object, bool]:
    """What an agent is asked: the latest message that is a user's, and whether that is the only one.

    >>> task_in('[{"role": "system", "parts": []}, {"role": "user", "parts": [{"content": "sum up"}]}]')
    ('sum up', True)
    """
    messages = _listed(given)
    if not messages:
        return given, True
    asked = next((each for each in reversed(messages) if _is_user(each)), messages[-1])
    alone = sum(message.get("role") != "system" for message in messages) <= 1
    return "".join(_texts(asked)), alone


def is_turn(given: object) -> bool:
    """Whether a person's words came last in a request, as far as messages tell: those that follow an answer.

    A request without any answer before it says nothing: so begins a conversation, but so does, again and
    again, an agent that keeps notes of its work in one text.

    >>> is_turn('[{"role": "user"}, {"role": "assistant"}, {"role": "user", "content": "and in may?"}]')
    True
    >>> is_turn('[{"role": "user", "content": "hi"}]')
    False
    """
    last = _last(given)
    if last is None or not _is_user(last) or last.get("name") or _hands_on(last):
        return False
    text = given if isinstance(given, str) else json.dumps(given, default=str)
    return any(role in text for role in _ANSWERED)


def hands_on(given: object) -> bool:
    """Whether what came last in a request is what a tool gave, in whoever's name.

    >>> hands_on('[{"role": "tool", "content": "7 rows"}]'), hands_on([{"role": "user", "content": "hi"}])
    (True, False)
    """
    last = _last(given)
    return last is not None and (last.get("role") in _TOOLS or _hands_on(last))


def _is_user(message: Message) -> bool:
    role = message.get("role")
    return isinstance(role, str) and role in _USERS


def _hands_on(message: Message) -> bool:
    """Whether a message in the user's name gives what a tool gave."""
    if "tool_call_id" in message or any(part.get("type") in _ANSWERS for part in _parts(message)):
        return True
    return _NOTES.match("".join(_texts(message))[:64].lstrip()) is not None


def _last(given: object) -> Message | None:
    """The last message, of a JSON text without reading what comes before."""
    if isinstance(given, str):
        at = given.rfind('{"role"')
        try:
            message, end = _decode(given, at) if at >= 0 else (None, 0)
        except (ValueError, RecursionError):
            return None
        if isinstance(message, dict) and given[end:].strip() == "]":
            return message
    messages = _listed(given)
    return messages[-1] if messages else None


def _listed(given: object) -> list[Message] | None:
    """The messages; None when it is no list of them, or longer than is parsed."""
    data = parsed(given) if isinstance(given, str) else given
    if isinstance(data, dict):
        data = [data]
    if not isinstance(data, list) or not all(isinstance(each, dict) for each in data):
        return None
    return data


def _parts(message: Message) -> Iterator[Message]:
    parts = message.get("parts") or message.get("content")
    if isinstance(parts, list):
        yield from (part for part in parts if isinstance(part, dict))


def _texts(message: Message) -> Iterator[str]:
    whole = message.get("content")
    if isinstance(whole, str):
        yield whole
    for part in _parts(message):
        text = part.get("content") or part.get("text")
        if isinstance(text, str):
            yield text


def _calls(message: Message) -> Iterator[list[Any]]:
    for part in _parts(message):
        if part.get("type") == "tool_call":
            yield [part.get("name"), part.get("arguments")]
    for call in message.get("tool_calls") or ():
        function = call.get("function") if isinstance(call, dict) else None
        if isinstance(function, dict):
            yield [function.get("name"), function.get("arguments")]


def _cut_short(text: str) -> str:
    """What was said in a JSON text that is too long to be parsed, or was cut."""
    start = _UNCLOSED.search(text[:1_024])
    return text[start.end() :].replace("\\n", "\n").replace('\\"', '"') if start else text
