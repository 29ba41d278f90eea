"""Spans of the GenAI conventions for tests: short to write."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.engine.making import span, trace

from spanfuse_processor.engine import names
from spanfuse_processor.engine.dialects.otel_genai import OtelGenai
from spanfuse_processor.engine.events import CallEnded, RawSpan

CHAT = {names.OPERATION: "chat", names.REQUEST_MODEL: "gpt-4o"}
TOOL = {names.OPERATION: "execute_tool", names.TOOL: "search"}


def raw(attributes: Mapping[str, object], name: str = "", **more: Any) -> RawSpan:
    """A span of a millionth of a second."""
    return RawSpan(trace(1), span(2), span(1), name, 1_000, 2_000, attributes, **more)


def read(attributes: Mapping[str, object], name: str = "", **more: Any) -> CallEnded:
    """The call that the dialect reads in it."""
    event = OtelGenai().read(raw(attributes, name, **more))
    assert event is not None
    return event
