"""Agents in agents: how many they are, which of them is within itself, and what is told twice."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from tests.engine.making import agent, ended, span, started, trace
from tests.engine.trees import added, tree

from spanfuse_processor.engine.calls import Call, Nest
from spanfuse_processor.engine.calltree import CallTree
from spanfuse_processor.engine.events import CallStarted
from spanfuse_processor.engine.nouns import Kind
from spanfuse_processor.engine.tree.lines import DEEPEST, VISITS, down, line, of_path, stamped
from spanfuse_processor.engine.tree.nodes import STEPS

TOOL, AGENT = Kind.TOOL, Kind.AGENT


def rung(*names: str) -> tuple[int, list[str]]:
    """Levels and names of a way down."""
    at = None
    for name in names:
        at = down(at, name)
    assert at is not None
    return at.levels, [each.name for each in line(at)]


def grown(events: Sequence[CallStarted], limit: int = 1000) -> tuple[CallTree, list[Call]]:
    made = tree(limit)
    return made, [added(made, event) for event in events]


def nests(events: Sequence[CallStarted]) -> list[Nest | None]:
    return [call.nest for call in grown(events)[1]]


def last(events: Sequence[CallStarted]) -> Nest:
    nest = nests(events)[-1]
    assert nest is not None
    return nest


class TestDoubles:
    @pytest.mark.parametrize(
        ("names", "levels", "way"),
        [
            ("a", 1, "a"),
            ("ab", 2, "ab"),
            ("aa", 1, "a"),
            ("aabb", 2, "ab"),
            ("aaa", 3, "aaa"),
            ("abbb", 4, "abbb"),
            ("abba", 3, "aba"),
            ("aaaab", 5, "aaaab"),
        ],
    )
    def test_two_of_a_name_are_one_and_three_are_three(self, names: str, levels: int, way: str) -> None:
        assert rung(*names) == (levels, list(way))

    def test_agents_without_a_name_are_not_one_agent(self) -> None:
        assert rung("main", "", "")[0] == 3

    def test_two_with_a_tool_between_them_are_two(self) -> None:
        nest = last([agent(1, 0, "scout"), ended(2, 1, TOOL), agent(3, 2, "scout")])

        assert (nest.levels, nest.line, nest.times, nest.double) == (2, ("scout", "scout"), 2, False)

    def test_two_right_inside_one_another_are_told_twice(self) -> None:
        outer_first = nests([agent(1, 0, "scout"), agent(2, 1, "scout")])[-1]
        inner_first = nests([agent(2, 1, "scout"), agent(1, 0, "scout")])[-1]

        assert outer_first is not None
        assert inner_first is not None
        assert (outer_first.levels, outer_first.double) == (1, True)
        assert (inner_first.levels, inner_first.double) == (1, True)

    def test_a_third_of_the_name_beside_them_shows_that_none_was_a_double(self) -> None:
        said = nests([agent(1, 0, "scout"), *(agent(n, 1, "scout") for n in (2, 3, 4, 5))])

        assert [nest and (nest.levels, nest.double, nest.own) for nest in said[1:]] == [
            (1, True, 0),
            (1, True, 0),
            (2, False, 3),
            (2, False, 1),
        ]

    def test_then_what_is_below_the_first_of_them_is_a_level_deeper_too(self) -> None:
        first = [agent(5, 4, "reader"), agent(4, 2, "critic"), agent(2, 1, "scout"), agent(3, 1, "scout")]
        said = nests([*first, agent(1, 0, "scout"), agent(9, 1, "scout")])

        assert [nest and nest.line for nest in said[-2:]] == [
            ("scout", "critic", "reader"),
            ("scout", "scout", "critic", "reader"),
        ]

    def test_so_it_does_where_ends_come_first(self) -> None:
        nest = last([*(agent(n, 1, "scout") for n in (2, 3, 4)), agent(1, 0, "scout")])

        assert (nest.levels, nest.line, nest.double) == (2, ("scout", "scout"), False)


class TestWays:
    def test_an_agent_alone_says_nothing(self) -> None:
        assert nests([agent(1, 0, "main"), ended(2, 1), ended(3, 2, Kind.MODEL)]) == [None, None, None]

    def test_the_way_goes_through_tools_workflows_and_spans_that_are_no_calls(self) -> None:
        made, _ = grown([agent(1, 0, "main"), ended(2, 1, TOOL)])
        made.link(trace(1), span(3), span(2))
        added(made, ended(4, 3, Kind.WORKFLOW))

        nest = added(made, agent(5, 4, "scout")).nest

        assert nest is not None
        assert (nest.line, nest.spans) == (("main", "scout"), (span(1), span(5)))

    def test_of_several_ways_the_longest_is_told(self) -> None:
        nest = last([agent(4, 3, "d"), agent(3, 1, "c"), agent(2, 1, "b"), agent(1, 0, "a")])

        assert nest.line == ("a", "c", "d")

    def test_the_most_of_a_name_may_be_on_another_way_than_the_longest(self) -> None:
        deep = [agent(5, 4, "y"), agent(4, 3, "x"), agent(3, 1, "w")]
        within_itself = [agent(8, 7, "a"), ended(7, 6, TOOL), agent(6, 1, "b")]

        nest = last([*deep, *within_itself, agent(1, 0, "a")])

        assert (nest.line, nest.name, nest.times) == (("a", "w", "x", "y"), "a", 2)

    def test_it_is_told_by_the_tool_that_makes_the_way_whole(self) -> None:
        events = [agent(1, 0, "a"), agent(2, 1, "b"), agent(4, 3, "c"), agent(5, 4, "d"), ended(3, 2, TOOL)]

        assert last(events).line == ("a", "b", "c", "d")

    def test_what_a_span_that_is_no_call_makes_whole_is_told_by_the_next_call(self) -> None:
        made, _ = grown([agent(1, 0, "a"), agent(3, 2, "b"), agent(4, 3, "c")])
        made.link(trace(1), span(2), span(1))

        told, next_one = added(made, ended(9, 1)).nest, added(made, ended(10, 1)).nest

        assert told is not None
        assert told.line == ("a", "b", "c")
        assert next_one is None

    def test_a_ring_of_two_agents_is_an_agent_within_itself(self) -> None:
        nest = last([started(n, n - 1, AGENT, name="ab"[n % 2]) for n in range(1, 6)])

        assert (nest.name, nest.times, nest.levels) == ("b", 3, 5)

    def test_a_circle_of_parents_ends(self) -> None:
        said = nests([agent(1, 3, "a"), agent(2, 1, "b"), agent(3, 2, "c")])

        assert said[-1] is not None
        assert said[-1].levels == 3

    def test_no_walk_is_longer_than_its_bound(self) -> None:
        _, chain = grown([agent(n, n - 1, f"a{n}") for n in range(1, 2 * STEPS)], limit=10_000)
        wide, _ = grown([agent(n, 1, "helper") for n in range(2, VISITS + 100)], limit=10_000)
        root = added(wide, agent(1, 0, "main"))

        assert chain[-1].nest is not None
        assert DEEPEST < chain[-1].nest.levels <= DEEPEST + 2  # counted no further: more is no news
        assert root.nest is not None
        assert root.nest.levels == 2


class TestStamped:
    """Our own calls say what is above them, whatever has arrived."""

    def test_the_path_and_the_depth_that_it_is_too_short_for(self) -> None:
        cut = stamped(("a", "b"), 3)

        assert cut is not None
        assert (cut.levels, [each.name for each in line(cut)]) == (4, ["", "", "a", "b"])
        assert stamped((), 0) is None

    def test_a_call_with_three_agents_around_it_says_so(self) -> None:
        assert of_path(("a", "b"), 1) is None
        said = nests([ended(1, run_id="r", depth=2, agents=("a", "b", "c"))])[-1]

        assert said is not None
        assert (said.levels, said.line) == (3, ("a", "b", "c"))

    def test_an_agent_below_a_tool_that_was_not_told_is_none_of_its_parents_doubles(self) -> None:
        own: dict[str, Any] = {"run_id": "r", "depth": 0, "agents": ("planner",), "name": "planner"}
        nest = last([started(9, 8, AGENT, **own)])

        assert (nest.levels, nest.above, nest.own, nest.double) == (2, 1, 1, False)

    def test_right_inside_an_agent_that_was_told_it_may_be(self) -> None:
        outer = started(1, 0, AGENT, run_id="r", depth=0, name="planner")
        inner = started(2, 1, AGENT, run_id="r", depth=0, agents=("planner",), name="planner")

        assert last([outer, inner]).double

    def test_what_is_below_counts_as_well(self) -> None:
        path: dict[str, Any] = {"run_id": "r", "depth": 1, "agents": ("a", "b")}
        nest = last([agent(3, 2, "d", run_id="r", depth=-1), started(2, 1, AGENT, name="c", **path)])

        assert nest.line == ("a", "b", "c", "d")

    def test_past_the_bound_of_nodes_the_path_is_enough(self) -> None:
        made = tree(limit=1)
        added(made, ended(1))

        call = added(made, agent(9, 8, "d", run_id="r", depth=2, agents=("a", "b", "c")))

        assert call.nest is not None
        assert call.nest.line == ("a", "b", "c", "d")


class TestLaunches:
    def test_what_led_to_an_agent_is_counted_without_doubles(self) -> None:
        nest = last([agent(1, 0, "main"), agent(2, 1, "main"), agent(3, 2, "a"), agent(4, 3, "b")])

        assert (nest.above, nest.levels) == (2, 3)

    def test_agents_of_another_name_are_none_of_its_own(self) -> None:
        assert last([agent(1, 0, "main"), *(agent(n, 1, "scout") for n in (2, 3, 4))]).own == 0
