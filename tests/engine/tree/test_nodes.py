"""The nodes: an index and one array, 28 bytes for each."""

from __future__ import annotations

import pytest
from tests.engine.making import span, trace

from spanfuse_processor.engine.nouns import Kind, Usage
from spanfuse_processor.engine.stats import EngineStats
from spanfuse_processor.engine.tree.cells import AGENT, CELLS, CODES, NONE, TOOL
from spanfuse_processor.engine.tree.nodes import Nodes


def nodes(limit: int = 10) -> Nodes:
    made = Nodes(limit, EngineStats())
    made.trace = trace(1)
    return made


def enter(made: Nodes, number: int) -> int:
    return made.enter(made.key(trace(1), span(number)))


def number_of(made: Nodes, number: int) -> int:
    found = made.number(made.key(trace(1), span(number)))
    assert found is not None
    return found


def test_every_kind_has_a_code_of_its_own() -> None:
    assert set(CODES) == set(Kind)
    assert len(set(CODES.values())) == len(Kind)


@pytest.mark.parametrize("of", [1, 2])
def test_a_key_leads_back_to_its_ids(of: int) -> None:
    made = nodes()

    made.enter(made.key(trace(of), span(6)))

    made.enter(made.key(trace(of), span(7)))

    assert list(made.ids()) == [(trace(of), span(6)), (trace(of), span(7))]


def test_a_span_of_a_trace_that_nobody_knows_is_not_known_and_leaves_nothing_behind() -> None:
    made = nodes()

    assert made.number(made.key(trace(2), span(7))) is None
    assert len(made.key(trace(2), span(7))) > len(made.key(trace(1), span(7)))


def test_spans_of_one_id_in_different_traces_are_different() -> None:
    made = nodes()
    numbers = [made.enter(made.key(trace(of), span(7))) for of in (1, 2, 3)]

    assert numbers == [made.number(made.key(trace(of), span(7))) for of in (1, 2, 3)]


def test_a_parent_that_is_named_is_awaited_in_one_node() -> None:
    made = nodes()
    for number in (2, 3):
        made.place(enter(made, number), TOOL, trace(1), span(1), fresh=True)

    assert (made.count, made.missing) == (3, 1)
    assert made.parent(0) == made.parent(2) == number_of(made, 1)


def test_without_room_a_parent_is_not_awaited() -> None:
    made = nodes(limit=1)

    made.place(enter(made, 2), TOOL, trace(1), span(1), fresh=True)

    assert made.enter(made.key(trace(1), span(3))) == -1
    assert made.parent(0) == NONE


def test_a_node_keeps_what_was_used_and_what_it_cost() -> None:
    made = nodes()
    node = enter(made, 1)

    assert made.cost(node) is None
    made.spend(node, Usage(1, 2, 3, 4), 5)

    assert (made.usage(node), made.cost(node)) == (Usage(1, 2, 3, 4), 5)
    assert len(made.cells) * made.cells.itemsize == CELLS * 4


def test_the_agents_above_are_named_outermost_first() -> None:
    made = nodes()
    for number, name in ((1, "boss"), (2, "scout")):
        made.place(enter(made, number), AGENT, trace(1), span(number - 1), fresh=True)
        made.name(number_of(made, number), name, span(number))

    assert made.above(number_of(made, 2)) == ("boss", "scout")
    assert made.above(NONE) == ()
