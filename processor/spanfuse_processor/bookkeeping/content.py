"""What was asked and answered, where contents are to be kept: cut, as one text of JSON.

Rule 1: only who says so has contents kept. Rule 2: what a span carries is taken as it stands, under its
current names or older ones; each part is cut by itself. It does not know what becomes of it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

from spanfuse_processor.bookkeeping.bodies import cut
from spanfuse_processor.engine import names
from spanfuse_processor.engine.reading.old_names import OLD_NAMES

PARTS: Final = {
    "arguments": names.TOOL_ARGUMENTS,
    "result": names.TOOL_RESULT,
    "input": names.INPUT_MESSAGES,
    "output": names.OUTPUT_MESSAGES,
}
_ATTRIBUTES: Final = {part: (name, *OLD_NAMES.get(name, ())) for part, name in PARTS.items()}


def content_of(attributes: Mapping[str, object], most: int) -> str:
    """The contents of a span, each at most `most` bytes long; empty where it carries none.

    >>> content_of({"gen_ai.tool.call.arguments": '{"city": "Bern"}', "gen_ai.tool.call.result": ["rain"]}, 9)
    '{"arguments":"{\\\\"city\\\\": ","result":"[\\\\"rain\\\\"]"}'
    """
    found: dict[str, str] = {}
    for part, spellings in _ATTRIBUTES.items():
        for name in spellings:
            value = attributes.get(name)
            if value is not None:
                found[part] = cut(_text(value), most).replace("\x00", "?")
                break
    return json.dumps(found, separators=(",", ":")) if found else ""


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return json.dumps(value, ensure_ascii=False, default=str)
