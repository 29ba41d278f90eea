"""Recorded spans in true time order, as a host inside the program meets them: starts, and ends after them.

Rule 1: at one moment what was open ends first, the inner before the outer; then others start, the outer
first. Rule 2: a span is read once, and its content let go. It does not know what is done with the events.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable
from operator import attrgetter
from typing import Final, NamedTuple

from spanfuse_processor.engine import CallEnded, CallStarted, RawSpan

_START, _END, _END_AT_ONCE = 1, 0, 2
_BY_PLACE: Final = attrgetter(*(each.name for each in dataclasses.fields(CallStarted) if not each.kw_only))
_BY_NAME: Final = tuple(each.name for each in dataclasses.fields(CallStarted) if each.kw_only)


class Moment(NamedTuple):
    """At `at_ns` a call began or ended, or a span ended that is no call. The middle puts them in order."""

    at_ns: int
    phase: int
    extent: int
    number: int
    event: CallEnded | RawSpan

    def told(self) -> CallStarted | RawSpan:
        """What is known at this moment: of a call that begins, how it begins."""
        event = self.event
        if self.phase == _START and isinstance(event, CallEnded):
            return CallStarted(*_BY_PLACE(event), **{name: getattr(event, name) for name in _BY_NAME})
        return event


def in_time_order(spans: Iterable[RawSpan], read: Callable[[RawSpan], CallEnded | None]) -> list[Moment]:
    """Every span at its end, and the start of each call in its place before that."""
    moments: list[Moment] = []
    for number, span in enumerate(spans):
        start, end = span.start_ns, span.end_ns
        event = read(span)
        if event is not None:
            moments.append(Moment(start, _START, -end, number, event))
        moments.append(Moment(end, _END if end > start else _END_AT_ONCE, -start, number, event or span))
    moments.sort()  # no two are equal up to their number, so events are never compared
    return moments
