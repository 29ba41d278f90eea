"""Whatever order spans come in, once all have come the verdict on their nesting is that of a dumb twin."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.engine.making import Book, ended, started

from spanfuse_processor.engine.detectors.nesting import NestingDetector, NestingLimits
from spanfuse_processor.engine.engine import Engine
from spanfuse_processor.engine.events import CallEnded, CallStarted
from spanfuse_processor.engine.nouns import Kind
from spanfuse_processor.engine.policy import Policy
from spanfuse_processor.engine.tree.lines import LAUNCHES

DETECTORS = {"nesting": (NestingDetector, NestingLimits)}
LIMITS = NestingLimits()


@dataclass
class Twin:
    """All spans at hand: every way from the top down is looked at, by definition."""

    spans: dict[bytes, CallEnded]

    def verdict(self) -> str:
        found = [self.judged(self.way(key)) for key, event in self.spans.items() if event.kind is Kind.AGENT]
        return max(found, default="ok", key=("ok", "warn", "stop").index)

    def judged(self, way: list[CallEnded]) -> str:
        counted = [(name, self.counts(group)) for name, group in self.groups(way)]
        depth = sum(count for _, count in counted) - 1
        times = max(sum(count for other, count in counted if other == name) for name, _ in counted)
        if depth > LIMITS.max_depth or times >= LIMITS.same_name:
            return "stop"
        return "warn" if depth == LIMITS.max_depth else "ok"

    def way(self, key: bytes) -> list[CallEnded]:
        """The agents down to a span."""
        event = self.spans.get(key)
        if event is None:
            return []
        above = self.way(event.parent_span_id)
        return [*above, event] if event.kind is Kind.AGENT else above

    def groups(self, way: list[CallEnded]) -> list[tuple[str, list[CallEnded]]]:
        return [(name, list(group)) for name, group in groupby(way, key=lambda event: event.name)]

    def counts(self, group: list[CallEnded]) -> int:
        """Two of a name are one, unless a tool lies between them or there are more of the inner one."""
        if len(group) != 2 or self.has_tool_below(*group) or self.alike(group[0]) >= LAUNCHES:
            return len(group)
        return 1

    def has_tool_below(self, upper: CallEnded, lower: CallEnded) -> bool:
        at = self.spans[lower.parent_span_id]
        while at is not upper:
            if at.kind is Kind.TOOL:
                return True
            at = self.spans[at.parent_span_id]
        return False

    def alike(self, upper: CallEnded) -> int:
        """Agents of its name right below it, without a tool between."""
        ways = [self.way(event.span_id) for event in self.spans.values() if event.kind is Kind.AGENT]
        inner = [way[-1] for way in ways if len(way) > 1 and way[-2] is upper and way[-1].name == upper.name]
        return sum(not self.has_tool_below(upper, lower) for lower in inner)


@st.composite
def forests(draw: st.DrawFn) -> list[CallEnded]:
    """Spans whose parents have smaller numbers, or never arrive (numbers over 100)."""
    size = draw(st.integers(2, 14))
    kinds = st.sampled_from((Kind.AGENT, Kind.AGENT, Kind.AGENT, Kind.TOOL, Kind.WORKFLOW))
    names = st.sampled_from("aab" if draw(st.booleans()) else "abcdef")
    spans = []
    for number in range(1, size + 1):
        near = st.integers(max(1, number - 3), max(1, number - 1)) if number > 1 else st.just(0)
        parent = draw(near | near | near | st.integers(0, number - 1) | st.just(101))
        spans.append(ended(number, parent, draw(kinds), name=draw(names)))
    return spans


@st.composite
def deliveries(draw: st.DrawFn) -> tuple[list[CallEnded], list[CallStarted]]:
    """A forest, and one way in which its spans may come: starts, repeats, any order."""
    spans = draw(forests())
    events: list[CallStarted] = [*spans, *draw(st.lists(st.sampled_from(spans), max_size=3))]
    for event in draw(st.lists(st.sampled_from(spans), max_size=5)):
        number = int.from_bytes(event.span_id, "big")
        parent = int.from_bytes(event.parent_span_id, "big")
        events.append(started(number, parent, event.kind, name=event.name))
    return spans, draw(st.permutations(events))


def verdict(events: list[CallStarted]) -> str:
    engine = Engine(Policy(), Book(), detectors=DETECTORS)
    said = [v.finding.severity.value for event in events for v in engine.observe(event, 0.0) if v.finding]
    return max(said, default="ok", key=("ok", "warn", "stop").index)


@given(deliveries())
@settings(max_examples=400, deadline=None)
def test_any_delivery_order_ends_in_the_verdict_of_the_twin(
    delivery: tuple[list[CallEnded], list[CallStarted]],
) -> None:
    spans, events = delivery

    assert verdict(events) == Twin({event.span_id: event for event in spans}).verdict()
