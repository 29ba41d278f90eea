"""Which nodes of a tree are agents, and who they are.

Rule: few are kept in a tuple and looked through, for most runs have one or two, and a dict is four times
that; of many there is a dict. It does not know where in the tree they are.
"""

from __future__ import annotations

from typing import Final, NamedTuple

FEW: Final = 4
"""Agents that are looked through as they are."""


class Agent(NamedTuple):
    """An agent among the nodes."""

    name: str
    span_id: bytes
    node: int


Agents = tuple[Agent, ...] | dict[int, Agent]
"""All of a tree's: to be handed to the functions here, and never changed elsewhere."""
NOBODY: Final[Agents] = ()


def joined(agents: Agents, one: Agent) -> Agents:
    """With one more.

    >>> agents = joined(NOBODY, Agent("main", b"a", 7))
    >>> agent_at(agents, 7).name, [agent.node for agent in listed(agents)]
    ('main', [7])
    """
    if isinstance(agents, dict):
        agents[one.node] = one
        return agents
    more = (*agents, one)
    return more if len(more) <= FEW else {each.node: each for each in more}


def agent_at(agents: Agents, node: int) -> Agent:
    """Who the agent at a node is.

    Raises:
        LookupError: no agent is there.
    """
    if isinstance(agents, dict):
        return agents[node]
    for each in agents:
        if each.node == node:
            return each
    raise LookupError(node)


def listed(agents: Agents) -> tuple[Agent, ...]:
    """All of them, in the order in which they joined."""
    return tuple(agents.values()) if isinstance(agents, dict) else agents
