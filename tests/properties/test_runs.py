"""Whatever ties spans together, in whatever order they come: one run for each connected part, and no more."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.engine.making import SECOND, Book, detectors, ended, trace

from spanfuse_processor.engine.engine import Engine
from spanfuse_processor.engine.events import CallEnded
from spanfuse_processor.engine.policy import Bounds, Policy

TRACES = st.integers(1, 6)
JOINS = st.sampled_from(
    ["conversation:a", "conversation:b", "session:c", *(trace(n).hex() for n in range(1, 7))]
)


@st.composite
def foreign_spans(draw: st.DrawFn) -> list[CallEnded]:
    """Spans of six traces, some of which name conversations or each other."""
    size = draw(st.integers(1, 12))
    return [
        ended(n, of=draw(TRACES), joins=tuple(draw(st.lists(JOINS, max_size=2)))) for n in range(1, size + 1)
    ]


def connected(events: Iterable[CallEnded]) -> list[set[str]]:
    """The parts that hang together: the slow way."""
    parts: list[set[str]] = []
    for event in events:
        part = {event.trace_id.hex(), *event.joins}
        touched = [other for other in parts if other & part]
        parts = [other for other in parts if other not in touched] + [part.union(*touched)]
    return parts


def engine(**bounds: Any) -> Engine:
    return Engine(Policy(bounds=Bounds(**bounds)), Book(), detectors=detectors())


@given(foreign_spans(), st.data())
@settings(max_examples=300, deadline=None)
def test_traces_are_in_one_run_exactly_when_something_ties_them(
    events: list[CallEnded], data: st.DataObject
) -> None:
    made = engine()
    for event in data.draw(st.permutations(events)):
        made.observe(event, 0.0)

    runs = {event.trace_id.hex(): made.run(event.trace_id.hex()) for event in events}

    parts = connected(events)
    for one, other in combinations(runs, 2):
        together = any({one, other} <= part for part in parts)
        assert (run_id(made, one) == run_id(made, other)) == together
    assert sum(view.calls for view in made.runs()) == len(events)


def run_id(made: Engine, trace_hex: str) -> str | None:
    """The run in which a trace's spans are."""
    run = made._runs.by_trace(bytes.fromhex(trace_hex))
    return run.id if run is not None else None


@given(foreign_spans(), st.lists(st.sampled_from(["", "mine", "yours"]), min_size=12, max_size=12))
@settings(max_examples=200, deadline=None)
def test_our_own_runs_keep_their_calls_whatever_foreign_spans_say(
    events: list[CallEnded], owners: list[str]
) -> None:
    made = engine()
    for event, owner in zip(events, owners, strict=False):
        event.run_id = owner
        made.observe(event, 0.0)

    for owner in {"mine", "yours"} & set(owners[: len(events)]):
        view = made.run(owner)
        assert view is not None
        assert view.id == owner
        assert view.calls >= owners[: len(events)].count(owner)
    assert sum(view.calls for view in made.runs()) == len(events)


STEP = st.tuples(TRACES, st.lists(JOINS, max_size=1), st.sampled_from([0.0, 1.0, 5.0, 20.0]))


@given(st.lists(STEP, max_size=40))
@settings(max_examples=200, deadline=None)
def test_bounds_hold_and_a_host_that_obeys_deadlines_never_spins(
    steps: list[tuple[int, list[str], float]],
) -> None:
    made = engine(runs=3, idle=10.0, tombstone=30.0, tombstones=4, nodes_per_run=5)
    now = 0.0
    for number, (of, joins, pause) in enumerate(steps, start=1):
        now += pause
        at = int(now * SECOND)
        made.observe(ended(number, of=of, joins=tuple(joins), started_ns=at, ended_ns=at), now)
        made.advance(now)
        stats, deadline = made.stats(), made.next_deadline()
        assert stats.runs <= 3
        assert stats.tombstones <= 4
        assert deadline is None or deadline > now

    while (deadline := made.next_deadline()) is not None:
        made.advance(deadline)
    stats = made.stats()
    assert (stats.runs, stats.tombstones) == (0, 0)
    assert made._runs._keys == {}
    assert stats.calls + stats.late == len(steps)
