"""Recordings for tests: OTLP/JSON lines of short runs."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

EPOCH = 1_780_000_000


def attribute(key: str, value: object) -> dict[str, Any]:
    kind = {bool: "boolValue", int: "intValue", float: "doubleValue"}.get(type(value), "stringValue")
    return {"key": key, "value": {kind: str(value) if kind == "intValue" else value}}


def span(
    number: int, start: float, end: float, trace: int = 1, parent: int = 0, **attributes: object
) -> dict[str, Any]:
    """One span; `attributes` are named with `_` for `.`."""
    return {
        "traceId": f"{trace:032x}",
        "spanId": f"{number:016x}",
        "parentSpanId": f"{parent:016x}" if parent else "",
        "name": "a span",
        "startTimeUnixNano": str(int((EPOCH + start) * 1e9)),
        "endTimeUnixNano": str(int((EPOCH + end) * 1e9)),
        "attributes": [attribute(key.replace("__", "."), value) for key, value in attributes.items()],
    }


def tool(number: int, start: float, name: str = "search", **more: Any) -> dict[str, Any]:
    """A tool's call of a second, always alike."""
    content = {
        "gen_ai__tool__call__arguments": '{"q": "x"}',
        "gen_ai__tool__call__result": "the same five urls",
    }
    named = {"gen_ai__operation__name": "execute_tool", "gen_ai__tool__name": name}
    return span(number, start, start + 1, **{**named, **content, **more})


def model(number: int, start: float, **more: Any) -> dict[str, Any]:
    """A model's call of a second: a thousand tokens in, a hundred out."""
    return span(
        number, start, start + 1,
        **{
            "gen_ai__operation__name": "chat",
            "gen_ai__provider__name": "openai",
            "gen_ai__request__model": "gpt-4o",
            "gen_ai__usage__input_tokens": 1_000, "gen_ai__usage__output_tokens": 100, **more,
        },
    )  # fmt: skip


def looping(trace: int = 1, turns: int = 9, first: int = 1) -> list[dict[str, Any]]:
    """A run that asks its model and calls its tool alike, turn by turn, four seconds each."""
    spans = []
    for turn in range(turns):
        number, start = first + 2 * turn, 4.0 * turn
        spans += [model(number, start, trace=trace), tool(number + 1, start + 2, trace=trace)]
    return spans


def lines(spans: Iterable[dict[str, Any]]) -> str:
    """One export request a line, one span each."""
    resource = {"attributes": [attribute("service.name", "test")]}
    return "".join(
        json.dumps(
            {
                "resourceSpans": [
                    {"resource": resource, "scopeSpans": [{"scope": {"name": "t"}, "spans": [each]}]}
                ]
            }
        )
        + "\n"
        for each in spans
    )
