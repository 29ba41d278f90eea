"""What a decoder gives: spans as plain data, and how many had to be refused and why.

Rule 1: a bad span is refused alone and never takes its batch with it. Rule 2: ids are checked here (16 and 8
bytes, not zero), because no parser does. Rule 3: times stay as they were sent, except that an end before
its start is moved to the start, in our copy, and counted.
This file does not know any encoding.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice

from spanfuse_processor.engine.events import RawSpan

MAX_DEPTH = 32
"""Lists and maps inside an attribute are read this deep; what lies deeper is left out."""

SLICE = 64
"""Spans in one slice of a batch: small enough not to hold an event loop, large enough to cost nothing."""

BEYOND = 1 << 63
"""The first time, in nanoseconds, that no signed number of 64 bits can say."""

NO_TRACE = bytes(16)
NO_SPAN = bytes(8)


class Undecodable(ValueError):
    """Nothing in the payload can be read; the message says where reading ended."""


@dataclass(slots=True)
class Decoded:
    """Spans of one batch or of a slice of it.

    `rejected` counts the spans that were refused, `message` gives the reason for the first of them;
    `clamped` counts the spans whose end was moved to their start.
    """

    spans: list[RawSpan] = field(default_factory=list)
    rejected: int = 0
    message: str = ""
    clamped: int = 0

    def __len__(self) -> int:
        return len(self.spans) + self.rejected

    def add(self, span: RawSpan) -> None:
        """Takes a span, or counts it as rejected when its ids cannot name it, or its times are none."""
        if len(span.trace_id) != 16 or span.trace_id == NO_TRACE:
            return self.reject("a trace id is not 16 bytes (32 hexadecimal digits in JSON), or it is zero")
        if len(span.span_id) != 8 or span.span_id == NO_SPAN:
            return self.reject("a span id is not 8 bytes (16 hexadecimal digits in JSON), or it is zero")
        if span.start_ns >= BEYOND or span.end_ns >= BEYOND:
            return self.reject("a time is beyond the year 2262")
        if span.end_ns < span.start_ns:
            span.end_ns = span.start_ns
            self.clamped += 1
        self.spans.append(span)

    def reject(self, reason: str, count: int = 1) -> None:
        """Counts spans that cannot be used."""
        self.rejected += count
        self.message = self.message or reason

    def absorb(self, other: Decoded) -> None:
        """Adds another slice to this one."""
        self.spans += other.spans
        self.rejected += other.rejected
        self.clamped += other.clamped
        self.message = self.message or other.message


def parent_or_none(parent_span_id: bytes) -> bytes:
    """A parent id as the engine wants it: 8 bytes, or empty when it is absent, zero or misshapen."""
    return parent_span_id if len(parent_span_id) == 8 and parent_span_id != NO_SPAN else b""


def names_a_trace(trace_id: bytes) -> bool:
    """Whether a link's trace id can be followed."""
    return len(trace_id) == 16 and trace_id != NO_TRACE


def in_slices(outcomes: Iterable[RawSpan | str]) -> Iterator[Decoded]:
    """Cuts spans, and the reasons for those that could not be read, into slices; lazily."""
    remaining = iter(outcomes)
    while part := _slice(islice(remaining, SLICE)):
        yield part


def _slice(outcomes: Iterable[RawSpan | str]) -> Decoded:
    part = Decoded()
    for outcome in outcomes:
        if isinstance(outcome, str):
            part.reject(outcome)
        else:
            part.add(outcome)
    return part


def whole(slices: Iterable[Decoded]) -> Decoded:
    """All slices of a batch as one."""
    total = Decoded()
    for part in slices:
        total.absorb(part)
    return total
