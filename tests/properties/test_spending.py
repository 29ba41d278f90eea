"""Who hears of every call and of what is amended has the totals of the run, in whatever order all comes."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.engine.making import ended, model, span

from spanfuse_processor.engine.calltree import CallTree
from spanfuse_processor.engine.events import CallEnded
from spanfuse_processor.engine.nouns import Kind, MicroUsd, Usage
from spanfuse_processor.engine.stats import EngineStats
from spanfuse_processor.engine.tree.spending import Amended, Spending

tokens = st.integers(1, 50).map(lambda dozens: dozens * 10)


@st.composite
def tellings(draw: st.DrawFn) -> list[CallEnded]:
    """Spans of a small tree, some of them told again, guessed or nested, in any order."""
    size = draw(st.integers(1, 8))
    spans: list[CallEnded] = []
    for number in range(1, size + 1):
        parent = draw(st.integers(0, number - 1))
        kind = draw(st.sampled_from([Kind.MODEL, Kind.MODEL, Kind.MODEL, Kind.TOOL, Kind.OTHER]))
        if kind is Kind.MODEL:
            spans += [
                model(number, parent, draw(tokens), estimated=draw(st.booleans()))
                for _ in range(draw(st.integers(1, 2)))
            ]
        else:
            spans.append(ended(number, parent, kind))
    return draw(st.permutations(spans))


class Listener:
    """A tree, and the cost of each call as somebody has it who only hears of it."""

    def __init__(self) -> None:
        self.costs: dict[bytes, MicroUsd] = {}
        self.tree = CallTree("r1", 1000, EngineStats(), spending=Spending(EngineStats(), self.amend))

    def amend(self, amended: Amended) -> None:
        assert amended.cost is not None
        self.costs[amended.span_id] = amended.cost

    def add(self, event: CallEnded) -> None:
        cost = self.price(event, event.usage) if event.usage is not None else None
        call = self.tree.add(event, cost)
        if call is None:
            self.tree.reconcile(event, self.price)
        elif cost is not None:
            self.costs[event.span_id] = cost if call.counts else 0

    @staticmethod
    def price(event: CallEnded, usage: Usage) -> MicroUsd:
        return usage.input_tokens + usage.output_tokens


def told(events: list[CallEnded]) -> Listener:
    made = Listener()
    for event in events:
        made.add(event)
    return made


@settings(max_examples=120, deadline=None)
@given(tellings())
def test_what_is_heard_is_what_is_in_the_totals_after_every_event(events: list[CallEnded]) -> None:
    made = Listener()
    for event in events:
        made.add(event)

        assert sum(made.costs.values()) == made.tree.totals.cost
        assert min(made.costs.values(), default=0) >= 0


@settings(max_examples=120, deadline=None)
@given(tellings(), st.randoms())
def test_the_order_does_not_matter(events: list[CallEnded], dice: Any) -> None:
    other = dice.sample(events, len(events))

    assert told(events).tree.totals.cost == told(other).tree.totals.cost


@settings(max_examples=120, deadline=None)
@given(tellings())
def test_what_was_reported_takes_the_place_of_every_guess_about_the_same_span(
    events: list[CallEnded],
) -> None:
    reported = {each.span_id for each in events if each.usage is not None and not each.estimated}
    alone = [each for each in events if not (each.estimated and each.span_id in reported)]

    assert told(events).tree.totals.cost == told(alone).tree.totals.cost


def test_a_chain_of_tellings_counts_once() -> None:
    events = [model(1, tokens=100), model(2, 1, tokens=100, estimated=True), model(3, 2, tokens=100)]

    assert told(events).costs == {span(1): 0, span(2): 0, span(3): 110}
