"""Agents: found by their node, few or many."""

from __future__ import annotations

import pytest

from spanfuse_processor.engine.tree.agents import FEW, NOBODY, Agent, agent_at, joined, listed, name_at


def agent(node: int) -> Agent:
    return Agent(f"agent {node}", bytes([node]), node)


@pytest.mark.parametrize("count", [1, FEW, FEW + 1, 3 * FEW])
def test_each_is_found_at_its_node_and_all_are_listed_in_order(count: int) -> None:
    agents, some = NOBODY, [agent(node) for node in range(count, 0, -1)]
    for each in some:
        agents = joined(agents, each)

    assert [agent_at(agents, each.node) for each in some] == some == list(listed(agents))
    assert [name_at(agents, each.node) for each in some] == [each.name for each in some]
    with pytest.raises(LookupError):
        agent_at(agents, count + 1)


def test_nobody_is_listed_where_nobody_is() -> None:
    assert listed(NOBODY) == ()
