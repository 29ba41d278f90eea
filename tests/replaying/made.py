"""What the tests of replays are made of: steps, runs, and screens that can be read."""

from __future__ import annotations

import io
from collections.abc import Iterable
from typing import Any

from tests.replaying.recorded import lines

from spanfuse_processor.engine import Kind, RawSpan, Usage
from spanfuse_processor.receiver.otlp_json import raw_spans_from_json
from spanfuse_processor.replaying.journal import Step
from spanfuse_processor.terminal import Screen

SECOND = 1_000_000_000
UNKNOWN = {"asked": "", "asked_masked": "", "came": "", "came_masked": ""}


def raw(spans: Iterable[dict[str, Any]]) -> list[RawSpan]:
    """Recorded spans as plain data."""
    return [span for line in lines(spans).splitlines() for span in raw_spans_from_json(line.encode()).spans]


def step(number: int, name: str = "search", kind: Kind = Kind.TOOL, **more: Any) -> Step:
    """A call of a second, `number` seconds after the first."""
    given = {
        "at": number,
        "number": number,
        "kind": kind,
        "name": name,
        "span_id": number.to_bytes(8),
        "parent_span_id": b"",
        "started_ns": number * SECOND,
        "ended_ns": (number + 1) * SECOND,
        "usage": None,
        "cost": None,
        "error": "",
        "asked": "a5ed",
        "asked_masked": "a5ed",
        "came": "ca3e",
        "came_masked": "ca3e",
        "size": 18,
        "empty": False,
    }
    return Step(**{**given, **more})


def model(number: int, name: str = "gpt-4o", cost: int | None = 3_500, **more: Any) -> Step:
    """A model's call: a thousand tokens in, a hundred out."""
    given = {**UNKNOWN, "usage": Usage(1_000, 100), "cost": cost, **more}
    return step(number, name, Kind.MODEL, **given)


def screen(width: int = 110) -> tuple[Screen, io.StringIO]:
    """A screen, and what is written on it."""
    out = io.StringIO()
    return Screen(out, width), out
