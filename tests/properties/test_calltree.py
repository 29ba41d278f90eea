"""Any delivery order of the same spans gives one tree and one total: those of a dumb twin."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.engine.making import ended, started

from spanfuse_processor.engine.calltree import CallTree
from spanfuse_processor.engine.events import CallEnded, CallStarted
from spanfuse_processor.engine.nouns import Kind, Usage
from spanfuse_processor.engine.stats import EngineStats

MODELS = (Kind.MODEL, Kind.EMBEDDINGS)
TRANSPARENT = (*MODELS, Kind.OTHER)

Shape = dict[bytes, tuple[bytes, int, int, tuple[str, ...]]]


@dataclass
class Twin:
    """The same questions, answered the slow way: all spans at hand, everything by definition."""

    spans: dict[bytes, CallEnded]

    def shape(self) -> Shape:
        known = set(self.spans) | {event.parent_span_id for event in self.spans.values()} - {b""}
        return {
            key: (self.parent(key), max(0, len(self.agents(key)) - 1), self.height(key), self.agents(key))
            for key in known
        }

    def parent(self, key: bytes) -> bytes:
        return self.spans[key].parent_span_id if key in self.spans else b""

    def children(self, key: bytes) -> list[bytes]:
        return [child for child in self.spans if self.spans[child].parent_span_id == key]

    def agents(self, key: bytes) -> tuple[str, ...]:
        above = self.parent(key)
        if not above:
            return ()
        is_agent = above in self.spans and self.spans[above].kind is Kind.AGENT
        return (*self.agents(above), *([self.spans[above].name] if is_agent else []))

    def height(self, key: bytes) -> int:
        own = key in self.spans and self.spans[key].kind is Kind.AGENT
        return own + max((self.height(child) for child in self.children(key)), default=0)

    def wraps(self, key: bytes) -> bool:
        """Whether a model call with usage is below, through nothing but model calls and the like."""
        for child in self.children(key):
            event = self.spans[child]
            if event.kind in MODELS and event.usage is not None:
                return True
            if event.kind in TRANSPARENT and self.wraps(child):
                return True
        return False

    def totals(self) -> tuple[int, int, int]:
        charged = [
            event.usage
            for key, event in self.spans.items()
            if event.kind in MODELS and event.usage is not None and not self.wraps(key)
        ]
        return (
            len(self.spans),
            sum(usage.input_tokens for usage in charged),
            sum(cost_of(usage) for usage in charged),
        )


def cost_of(usage: Usage) -> int:
    return 3 * usage.input_tokens


def shape_of(tree: CallTree) -> Shape:
    return {n.span_id: (n.parent_span_id, n.depth, n.height, n.agents) for n in tree.nodes()}


def totals_of(tree: CallTree) -> tuple[int, int, int]:
    return tree.totals.calls, tree.totals.input_tokens, tree.totals.cost


def grow(events: list[CallStarted]) -> CallTree:
    tree = CallTree("r", 1000, EngineStats())
    for event in events:
        add(tree, event)
    return tree


def add(tree: CallTree, event: CallStarted) -> None:
    if isinstance(event, CallEnded):
        cost = cost_of(event.usage) if event.usage is not None else None
        if tree.add(event, cost) is None:
            tree.reconcile(event, lambda _, usage: cost_of(usage))
    else:
        tree.add(event)


@st.composite
def forests(draw: st.DrawFn) -> list[CallEnded]:
    """Spans whose parents have smaller numbers, or never arrive (numbers over 100)."""
    size = draw(st.integers(1, 14))
    spans = []
    for number in range(1, size + 1):
        parent = draw(st.integers(0, number - 1) | st.integers(101, 103))
        kind = draw(st.sampled_from(Kind))
        tokens = draw(st.none() | st.integers(1, 9)) if kind in (*MODELS, Kind.AGENT) else None
        usage = None if tokens is None else Usage(tokens)
        spans.append(ended(number, parent, kind, name=f"a{number % 3}", usage=usage))
    return spans


@st.composite
def deliveries(draw: st.DrawFn) -> tuple[list[CallEnded], list[CallStarted]]:
    """A forest, and one way in which its spans may come: starts, repeats, any order."""
    spans = draw(forests())
    events: list[CallStarted] = [*spans, *draw(st.lists(st.sampled_from(spans), max_size=4))]
    for event in draw(st.lists(st.sampled_from(spans), max_size=4)):
        number = int.from_bytes(event.span_id, "big")
        parent = int.from_bytes(event.parent_span_id, "big")
        events.append(started(number, parent, event.kind, name=event.name))
    return spans, draw(st.permutations(events))


@given(deliveries())
@settings(max_examples=400, deadline=None)
def test_any_delivery_order_gives_the_tree_and_the_totals_of_the_twin(
    delivery: tuple[list[CallEnded], list[CallStarted]],
) -> None:
    spans, events = delivery
    twin = Twin({event.span_id: event for event in spans})

    tree = grow(events)

    assert shape_of(tree) == twin.shape()
    assert totals_of(tree) == twin.totals()
    assert tree.missing == len({e.parent_span_id for e in spans} - set(twin.spans) - {b""})


@given(deliveries(), st.data())
@settings(max_examples=200, deadline=None)
def test_two_runs_that_turn_out_to_be_one_have_the_tree_of_one(
    delivery: tuple[list[CallEnded], list[CallStarted]], data: st.DataObject
) -> None:
    spans, _ = delivery
    twin = Twin({event.span_id: event for event in spans})
    halves = [data.draw(st.booleans()) for _ in spans]
    one = grow([event for event, here in zip(spans, halves, strict=True) if here])
    other = grow([event for event, here in zip(spans, halves, strict=True) if not here])

    one.absorb(other)

    assert shape_of(one) == twin.shape()
    assert totals_of(one) == twin.totals()


@given(st.dictionaries(st.integers(1, 8), st.integers(0, 8)), st.data())
@settings(max_examples=300, deadline=None)
def test_whatever_parents_are_named_every_walk_ends_and_each_circle_is_counted_once(
    parents: dict[int, int], data: st.DataObject
) -> None:
    order = data.draw(st.permutations(sorted(parents)))
    stats = EngineStats()
    tree = CallTree("r", 1000, stats)

    for number in order:
        tree.add(ended(number, parents[number], Kind.AGENT))

    assert stats.cycles == circles(parents)
    assert all(len(node.agents) < 9 and node.height < 10 for node in tree.nodes())


def circles(parents: dict[int, int]) -> int:
    """How many circles a map of parents has: each node has one parent, so circles never share one."""
    found = set()
    for start in parents:
        seen: list[int] = []
        number = start
        while number in parents and number not in seen:
            seen.append(number)
            number = parents[number]
        if number in seen:
            found.add(frozenset(seen[seen.index(number) :]))
    return len(found)


@given(st.permutations([1, 2, 3]), st.lists(st.integers(0, 50), min_size=3, max_size=3))
def test_of_several_tellings_the_largest_counts_are_charged_in_any_order(
    order: list[int], tokens: list[int]
) -> None:
    tellings = [ended(1, 0, Kind.MODEL, usage=Usage(tokens[number - 1])) for number in order]

    tree = grow(list(tellings))

    assert totals_of(tree) == (1, max(tokens), 3 * max(tokens))


@given(st.lists(st.integers(1, 30), max_size=60), st.integers(1, 8))
def test_never_more_nodes_than_the_bound_and_never_a_call_uncounted(numbers: list[int], limit: int) -> None:
    tree = CallTree("r", limit, EngineStats())
    calls = 0

    for number in numbers:
        calls += tree.add(ended(number, number // 2)) is not None

    assert len(list(tree.nodes())) <= limit
    assert tree.totals.calls == calls
    assert len(set(numbers)) <= tree.totals.calls <= len(numbers)
