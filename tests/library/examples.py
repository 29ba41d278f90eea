"""Spans, starts and directives for the tests of the library's way to the processor."""

from __future__ import annotations

import itertools
import time
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from spanfuse_processor.engine import names
from spanfuse_processor.engine.events import CallOpen, CallStarted, RawSpan
from spanfuse_processor.engine.nouns import BreakerKey, Fingerprints, Identity, Kind, Level
from spanfuse_processor.engine.reading.prints import pack_arguments, pack_result
from spanfuse_processor.engine.verdicts import Directive, Evidence

_BEGAN = time.time_ns()
_numbers = itertools.count(1)
RESOURCE = {"service.name": "app", "service.instance.id": "i-1"}
WHO = Identity(service="app", instance="i-1")


def span(name: str = "", **fields: Any) -> RawSpan:
    """A span with fresh ids."""
    number = next(_numbers)
    began = _BEGAN + number * 1_000_000_000  # one after the other: calls side by side are no loop
    given = {
        "trace_id": b"t" * 16,
        "span_id": number.to_bytes(8, "big"),
        "parent_span_id": b"",
        "name": name or f"span {number}",
        "start_ns": began,
        "end_ns": began + 1_000_000,
        "attributes": {},
        "resource": RESOURCE,
        "scope": "spanfuse",
    }
    return RawSpan(**(given | fields))


def failed_tool(run: str = "r") -> RawSpan:
    """One of a run's equal tool calls that fail equally: eight of them are a loop in anyone's eyes."""
    same = "0123456789abcdef"
    prints = Fingerprints(same, same, error=same)
    attributes = {
        names.OPERATION: "execute_tool",
        names.TOOL: "search",
        names.RUN: run,
        names.ARGUMENTS: pack_arguments(prints),
        names.ERROR_TYPE: "ValueError",
        names.RESULT: pack_result(prints),
    }
    return span(f"execute_tool {run}", attributes=attributes, status=2)


def started(kind: Kind = Kind.MODEL, run: str = "r") -> CallOpen:
    """A call that has begun."""
    number = next(_numbers)
    return CallOpen(
        trace_id=b"t" * 16,
        span_id=number.to_bytes(8, "big"),
        parent_span_id=b"",
        started_ns=time.time_ns(),
        kind=kind,
        name=f"call {number}",
        run_id=run,
        identity=WHO,
    )


class Begun:
    """A call that has begun at an instant, as a host is told of it; it shows no life."""

    def __init__(self, event: CallStarted, began: float = 0.0) -> None:
        self.event = event
        self.began = began
        self.span_id = event.span_id
        self.kind = event.kind
        self.resource: Mapping[str, object] = RESOURCE
        self.resting = False

    def told(self, now: float) -> CallOpen:
        """As it is now."""
        known = {each.name: getattr(self.event, each.name) for each in fields(CallStarted)}
        return CallOpen(**known, open_for=now - self.began, quiet_for=now - self.began)


def begun(kind: Kind = Kind.MODEL, run: str = "r", began: float = 0.0) -> Begun:
    """A call that has begun."""
    return Begun(started(kind, run), began)


def stop(run: str = "r", revision: int = 1, **fields: Any) -> Directive:
    """The order to stop a run."""
    given: dict[str, Any] = {
        "id": f"run/{run}/stop",
        "revision": revision,
        "key": BreakerKey(Level.RUN, run),
        "reason": "LOOP",
        "message": "a loop",
        "evidence": Evidence("repeat", 4, 4),
        "issuer": "processor",
    }
    return Directive(**(given | fields))


def key(run: str = "r") -> BreakerKey:
    """The key of a run."""
    return BreakerKey(Level.RUN, run)
