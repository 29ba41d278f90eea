"""Agents that are started again and again, and fail in the same way.

Rule 1: of agents that fail because one below them did, the innermost counts. Rule 2: an agent that succeeds,
or fails otherwise, begins the count anew. Rule 3: what passes by itself is no excuse: so many agents in a row
have had the time. It does not know why they failed, nor who started them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from spanfuse_processor.engine.calls import Call
from spanfuse_processor.engine.detector import Unit
from spanfuse_processor.engine.events import CallEnded
from spanfuse_processor.engine.findings import MOST_SPANS, found
from spanfuse_processor.engine.nouns import Kind
from spanfuse_processor.engine.policy import DetectorLimits, ToolRule
from spanfuse_processor.engine.verdicts import Finding, Severity


@dataclass(frozen=True, slots=True)
class FailingLimits(DetectorLimits):
    """`failures` agents in a row with the same error stop a run, `warn` warn. 0 switches either off."""

    failures: int = 24
    warn: int = 12


class FailingDetector:
    """Watches how the agents of one run end.

    >>> detector = FailingDetector(FailingLimits(), {})
    >>> for number in range(1, 25):
    ...     event = CallEnded(bytes(16), bytes([number]), b"root", number, Kind.AGENT, "verify", error="429")
    ...     finding = detector.ended(Call(event, "run", number, 0, 1, (), True))
    ...     if finding:
    ...         print(number, finding.severity.value, finding.message)
    12 warn 12 agents in a row failed with the same error (429), the last of them verify
    24 stop 24 agents in a row failed with the same error (429), the last of them verify
    """

    name: ClassVar[str] = "failing"
    per: ClassVar[tuple[Unit, ...]] = (Unit.RUN,)
    heeds: ClassVar[frozenset[Kind]] = frozenset({Kind.AGENT})

    __slots__ = ("_count", "_error", "_limits", "_spans", "_told")

    def __init__(self, limits: FailingLimits, tools: Mapping[str, ToolRule]) -> None:
        self._limits = limits
        self._error = ""
        self._count = 0
        self._spans: list[bytes] = []  # the first of the row, and the latest
        self._told: tuple[Severity, ...] = ()

    @staticmethod
    def wakes(call: Call) -> bool:
        """Only when an agent has failed."""
        return _error(call) != ""

    def started(self, call: Call) -> None:
        """A start fails nothing yet."""

    def ended(self, call: Call) -> Finding | None:
        """Counts a failure, or begins anew."""
        if call.height > 1 or _is_top(call):  # it ends as what is below it did
            return None
        error = _error(call)
        if error != self._error:
            self._error, self._count, self._told = error, 0, ()
            self._spans.clear()
        if not error:
            return None
        self._count += 1
        self._spans.append(call.event.span_id)
        if len(self._spans) > MOST_SPANS:
            del self._spans[1]
        limits = self._limits
        if 0 < limits.failures <= self._count:
            return self._say(call, Severity.STOP, limits.failures)
        return self._say(call, Severity.WARN, limits.warn) if 0 < limits.warn <= self._count else None

    def _say(self, call: Call, severity: Severity, limit: int) -> Finding | None:
        if severity in self._told or Severity.STOP in self._told:
            return None
        self._told += (severity,)
        event, count = call.event, self._count
        kind = event.error if isinstance(event, CallEnded) else ""
        message = f"{count} agents in a row failed with the same error{f' ({kind})' if kind else ''}"
        return found(
            call,
            self.name,
            severity,
            "RETRY_STORM",
            f"{message}, the last of them {event.name or 'without a name'}",
            observed=count,
            limit=limit,
            cleared_by="an agent that succeeds, or fails in another way",
            spans=tuple(self._spans),
            rule="failures",
            prints=(self._error,) if self._error != kind else (),
        )


def _error(call: Call) -> str:
    """How an agent failed: the digest of its error, else the error's name."""
    event = call.event
    if not isinstance(event, CallEnded):
        return ""
    return (event.prints.error if event.prints is not None else "") or event.error


def _is_top(call: Call) -> bool:
    return not call.agents and call.event.parent_span_id.strip(b"\0") == b""
