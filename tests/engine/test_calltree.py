"""The call tree: one place for each span, whatever comes in whatever order."""

from __future__ import annotations

import pytest
from tests.engine.making import agent, ended, model, span, started, trace
from tests.engine.trees import added, node, stats, tree

from spanfuse_processor.engine.nouns import Kind, Usage
from spanfuse_processor.engine.tree.nodes import STEPS


def test_calls_are_numbered_in_order_of_arrival() -> None:
    made = tree()

    calls = [added(made, ended(number)) for number in (3, 1, 2)]

    assert [call.number for call in calls] == [1, 2, 3]
    assert [call.run for call in calls] == ["r1"] * 3


def test_a_start_and_its_end_are_one_call_with_one_number() -> None:
    made = tree()

    began = added(made, started(1))
    added(made, ended(2))
    over = added(made, ended(1))

    assert (began.number, over.number, made.totals.calls) == (1, 1, 2)
    assert (began.ended, over.ended) == (False, True)


def test_a_start_that_comes_after_the_end_says_nothing_new() -> None:
    made = tree()
    added(made, ended(1))

    assert made.add(started(1)) is None
    assert stats(made).heartbeats == 1


def test_repeated_starts_are_heartbeats() -> None:
    made = tree()
    added(made, started(1))

    assert made.add(started(1)) is None
    assert (stats(made).heartbeats, stats(made).duplicates) == (1, 0)


def test_the_root_agent_is_at_depth_zero_and_so_are_its_calls() -> None:
    made = tree()

    root, call = added(made, agent(1, name="boss")), added(made, ended(2, 1))

    assert (root.depth, root.agents) == (0, ())
    assert (call.depth, call.agents) == (0, ("boss",))


def test_depth_counts_the_agents_above_apart_from_the_root() -> None:
    made = tree()
    added(made, agent(1, name="boss"))
    added(made, ended(2, 1, Kind.TOOL))
    added(made, agent(3, 2, name="scout"))

    call = added(made, ended(4, 3))

    assert (call.depth, call.agents) == (1, ("boss", "scout"))


def test_a_workflow_is_no_level_of_nesting() -> None:
    made = tree()
    added(made, ended(1, 0, Kind.WORKFLOW))
    added(made, agent(2, 1, name="boss"))

    assert added(made, ended(3, 2)).agents == ("boss",)


def test_depth_is_a_lower_bound_while_parents_are_missing() -> None:
    made = tree()

    call = added(made, ended(3, 2))
    missing = made.missing
    added(made, agent(2, 1, name="scout"))
    added(made, agent(1, name="boss"))

    assert (call.depth, missing, made.missing) == (0, 1, 0)
    assert node(made, 3).agents == ("boss", "scout")


def test_an_agent_that_arrives_late_carries_the_height_below_it() -> None:
    made = tree()
    added(made, model(4, 3))
    added(made, agent(3, 2))
    added(made, agent(2, 1))

    root = added(made, agent(1))

    assert root.height == 3


def test_what_the_emitter_stamped_wins_over_the_tree() -> None:
    made = tree()
    added(made, agent(1, name="boss"))

    call = added(made, ended(2, 1, depth=3, agents=("a", "b", "c", "d")))

    assert (call.depth, call.agents) == (3, ("a", "b", "c", "d"))


def test_stamped_names_alone_give_the_depth() -> None:
    assert added(tree(), ended(1, agents=("boss", "scout"))).depth == 1


def test_a_span_that_is_no_call_keeps_the_chain_of_parents_whole() -> None:
    made = tree()
    added(made, ended(3, 2))
    made.link(trace(1), span(2), span(1))
    added(made, agent(1, name="boss"))

    assert node(made, 3).agents == ("boss",)
    assert made.totals.calls == 2


def test_spans_of_several_traces_with_equal_ids_are_told_apart() -> None:
    made = tree()

    calls = [added(made, ended(1, of=1)), added(made, ended(1, of=2)), added(made, ended(2, 1, of=2))]

    assert [call.number for call in calls] == [1, 2, 3]
    assert [each.parent_span_id for each in made.nodes()] == [b"", b"", span(1)]


@pytest.mark.parametrize("parent", [b"", bytes(8)])
def test_an_empty_or_zero_parent_is_none(parent: bytes) -> None:
    made = tree()
    event = ended(1)
    event.parent_span_id = parent

    added(made, event)

    assert (made.missing, node(made, 1).parent_span_id) == (0, b"")


def test_a_span_that_is_its_own_parent_is_a_root_and_counted() -> None:
    made = tree()

    call = added(made, agent(1, 1))

    assert (call.depth, call.height, stats(made).cycles) == (0, 1, 1)


def test_a_circle_is_cut_where_it_closes() -> None:
    made = tree()
    added(made, agent(1, 3))
    added(made, agent(2, 1))

    call = added(made, agent(3, 2))

    assert stats(made).cycles == 1
    assert call.agents == ()
    assert node(made, 2).agents == ("helper", "helper")


def test_a_chain_of_any_length_costs_a_bounded_walk() -> None:
    made = tree(10_000)
    for number in range(1, 5 * STEPS):
        call = added(made, agent(number, number - 1))

    assert len(call.agents) == STEPS


class TestFolding:
    def test_past_the_bound_calls_are_counted_and_judged_but_not_remembered(self) -> None:
        made = tree(limit=2)
        added(made, agent(1, name="boss"))
        added(made, model(2, 1), 10)

        calls = [added(made, model(number, 1), 10) for number in (3, 4)]

        assert [call.number for call in calls] == [3, 4]
        assert [call.agents for call in calls] == [("boss",), ("boss",)]
        assert (made.folded, made.totals.cost, len(list(made.nodes()))) == (2, 30, 2)

    def test_past_the_bound_a_start_is_not_counted(self) -> None:
        made = tree(limit=1)
        added(made, ended(1))

        assert made.add(started(2)) is None
        assert made.totals.calls == 1

    def test_what_is_remembered_is_still_known_past_the_bound(self) -> None:
        made = tree(limit=1)
        added(made, ended(1))
        added(made, ended(2))

        assert made.add(ended(1)) is None

    def test_the_price_of_a_folded_call_is_settled_too(self) -> None:
        made = tree(limit=1)
        added(made, ended(1))
        added(made, model(2), None)

        made.settle(trace(1), span(2), Usage(100, 10), 110)

        assert (made.totals.unpriced, made.totals.cost) == (0, 110)


class TestUnion:
    def test_two_halves_make_the_tree_that_one_would_have(self) -> None:
        one, other = tree(), tree()
        one.add(model(3, 2), 110)
        one.add(agent(1, name="boss"))
        other.add(agent(2, 1, name="scout"))
        other.add(model(4, 2, of=1), 110)

        one.absorb(other)

        assert node(one, 3).agents == ("boss", "scout")
        assert node(one, 1).height == 2
        assert (one.totals.calls, one.totals.cost, one.missing) == (4, 220, 0)

    def test_a_wrapper_in_one_half_is_found_out_by_the_call_in_the_other(self) -> None:
        for first, second in (((1, 0), (2, 1)), ((2, 1), (1, 0))):
            one, other = tree(), tree()
            one.add(model(*first), 110)
            other.add(model(*second), 110)

            one.absorb(other)

            assert one.totals.cost == 110

    def test_a_call_begun_in_one_half_ends_with_its_number(self) -> None:
        one, other = tree(), tree()
        one.add(ended(1, of=2))
        other.add(started(7, of=3))

        one.absorb(other)
        over = one.add(ended(7, of=3))

        assert over is not None
        assert over.number == 1
        assert one.totals.calls == 2
