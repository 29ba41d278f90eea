"""Events, findings and small fakes for the engine's tests: short to write, plain to read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from spanfuse_processor.engine.calls import Call
from spanfuse_processor.engine.detector import Unit
from spanfuse_processor.engine.events import CallEnded, CallStarted
from spanfuse_processor.engine.nouns import Kind, Usage
from spanfuse_processor.engine.policy import DetectorLimits, ToolRule
from spanfuse_processor.engine.pricing import PENDING, YOCTO_PER_MICRO, Pending, Rates
from spanfuse_processor.engine.verdicts import Finding, Severity

SECOND = 1_000_000_000
NOON = 20_000 * 86_400 * SECOND


def trace(number: int) -> bytes:
    """The id of trace `number`."""
    return number.to_bytes(16, "big")


def span(number: int) -> bytes:
    """The id of span `number`; none for 0."""
    return number.to_bytes(8, "big") if number else b""


def ended(number: int, parent: int = 0, kind: Kind = Kind.TOOL, *, of: int = 1, **more: Any) -> CallEnded:
    """The end of span `number` below `parent`, in trace `of`. It took a second, from `number` after noon."""
    at = NOON + number * SECOND
    fields: dict[str, Any] = {"name": kind.value, "started_ns": at, "ended_ns": at + SECOND} | more
    return CallEnded(
        trace_id=trace(of), span_id=span(number), parent_span_id=span(parent), kind=kind, **fields
    )


def started(number: int, parent: int = 0, kind: Kind = Kind.TOOL, *, of: int = 1, **more: Any) -> CallStarted:
    """The start of span `number`."""
    fields: dict[str, Any] = {"name": kind.value, "started_ns": NOON + number * SECOND} | more
    return CallStarted(
        trace_id=trace(of), span_id=span(number), parent_span_id=span(parent), kind=kind, **fields
    )


def model(number: int, parent: int = 0, tokens: int = 100, **more: Any) -> CallEnded:
    """A model call that used `tokens` in and a tenth of it out."""
    fields: dict[str, Any] = {"usage": Usage(tokens, tokens // 10), "model": "good", "name": "good"} | more
    return ended(number, parent, Kind.MODEL, **fields)


def agent(number: int, parent: int = 0, name: str = "helper", **more: Any) -> CallEnded:
    """An agent's end."""
    return ended(number, parent, Kind.AGENT, name=name, **more)


def finding(call: Call, severity: Severity = Severity.STOP, detector: str = "third", **more: Any) -> Finding:
    """What a detector says of `call`."""
    fields: dict[str, Any] = {
        "reason": "LOOP",
        "message": "the same again",
        "observed": 3.0,
        "limit": 3.0,
    } | more
    return Finding(
        detector=detector, severity=severity, span_id=call.event.span_id, call=call.number, **fields
    )


class Book:
    """A price book of three models: `good` costs 1 USD a million tokens, in and out; `slow` until told."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str, int]] = []
        self.slow: Rates | Pending | None = PENDING

    def rates(self, provider: str, model: str, day: int) -> Rates | Pending | None:
        """The rates; None for any other model."""
        self.asked.append((provider, model, day))
        flat = Rates(YOCTO_PER_MICRO, YOCTO_PER_MICRO)
        return {
            "good": flat,
            "dear": Rates(10 * YOCTO_PER_MICRO, 10 * YOCTO_PER_MICRO),
            "slow": self.slow,
        }.get(model)


@dataclass(frozen=True, slots=True)
class CountLimits(DetectorLimits):
    """At which tool call the counting detectors speak."""

    warn: int = 2
    stop: int = 3


def counting(detector: str, *levels: Unit) -> type[Any]:
    """A detector that warns at the second and stops at the third tool call that it sees."""

    class Counting:
        name: ClassVar[str] = detector
        per: ClassVar[tuple[Unit, ...]] = levels or (Unit.RUN,)

        def __init__(self, limits: CountLimits, tools: Mapping[str, ToolRule]) -> None:
            self.limits = limits
            self.tools = tools
            self.seen = 0

        def started(self, call: Call) -> Finding | None:
            """Says nothing, unless the tool is called `forbidden`."""
            return finding(call, detector=detector) if call.event.name == "forbidden" else None

        def ended(self, call: Call) -> Finding | None:
            """Counts."""
            if call.event.kind is not Kind.TOOL:
                return None
            self.seen += 1
            severities = {self.limits.warn: Severity.WARN, self.limits.stop: Severity.STOP}
            severity = severities.get(self.seen)
            return finding(call, severity, detector) if severity else None

    return Counting


Detectors = Mapping[str, tuple[Callable[..., Any], type[DetectorLimits]]]


def detectors(**levels: Unit | tuple[Unit, ...]) -> dict[str, tuple[type[Any], type[DetectorLimits]]]:
    """A registry of counting detectors, one for each keyword."""
    return {
        name: (counting(name, *(per if isinstance(per, tuple) else (per,))), CountLimits)
        for name, per in levels.items()
    }
