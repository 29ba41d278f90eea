"""What frameworks wrap around a tool's arguments and result before an instrumentation records them.

Rule 1: the wrapping changes with every step (step numbers, call ids), what is inside does not; so what is
inside is what is compared. Rule 2: a wrapping is known by its beginning; anything else stays as it is. Each
was seen on real spans. This file does not know spans, nor digests.
"""

from __future__ import annotations

import re
from typing import Any, Final

from spanfuse_processor.engine.fingerprints.canonical import parsed

_TOOL_MESSAGE: Final = re.compile(r"(content=.*?) (?:name=\S+ )?(?:id=\S+ )?tool_call_id=\S+", re.DOTALL)


def arguments_in(value: Any) -> Any:
    """The arguments that LangChain's callbacks hand on as `input_str`, beside tags and metadata.

    >>> arguments_in('{"input_str": "{\\'city\\': \\'Paris\\'}", "metadata": {"langgraph_step": 2}}')
    "{'city': 'Paris'}"
    """
    if isinstance(value, str) and value.startswith('{"input_str"'):
        data = parsed(value)
        return data.get("input_str", value) if isinstance(data, dict) else value
    return value


def result_in(value: Any) -> Any:
    """The content of LangChain's tool message, which also carries the id of the call that it answers.

    >>> result_in("content='rain' name='get_weather' tool_call_id='call_07'")
    "content='rain'"
    >>> result_in('{"output": {"lc": 1, "kwargs": {"content": "rain", "tool_call_id": "call_07"}}}')
    'rain'
    """
    if not isinstance(value, str):
        return value
    if value.startswith("content="):
        match = _TOOL_MESSAGE.match(value)
        return match.group(1) if match else value
    if value.startswith('{"output": {"lc"'):
        try:
            return parsed(value)["output"]["kwargs"]["content"]
        except (KeyError, TypeError):
            return value
    return value
