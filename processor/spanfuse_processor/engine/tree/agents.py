"""Which nodes of a tree are agents, and who they are.

Rule: few are kept in a tuple and looked through, for most runs have one or two, and a dict is four times
that; of many there is a dict. It does not know where in the tree they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

FEW: Final = 4
"""Agents that are looked through as they are."""


class Agent(NamedTuple):
    """An agent among the nodes."""

    name: str
    span_id: bytes
    node: int


_ITEMS: Final = len(Agent._fields)

Agents = tuple[Any, ...] | dict[int, Agent]
"""All of a tree's, the few laid end to end: for the functions here, and never changed elsewhere."""
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
    more = (*agents, *one)
    return more if len(more) <= FEW * _ITEMS else {each.node: each for each in listed(more)}


class Family:
    """Those of one tree. Attributes:

    agents: who they are.
    kids: what is right below a node and is an agent, or leads to one.
    """

    __slots__ = ("agents", "kids")

    def __init__(self) -> None:
        self.agents = NOBODY
        self.kids: dict[int, list[int]] | None = None  # and no agents in agents


def kids_of(family: Family | None) -> Mapping[int, list[int]]:
    """What is right below each node and is an agent, or leads to one; to be read."""
    return (family.kids if family is not None else None) or {}


def agent_at(agents: Agents, node: int) -> Agent:
    """Who the agent at a node is.

    Raises:
        LookupError: no agent is there.
    """
    if isinstance(agents, dict):
        return agents[node]
    at = _end(agents, node)
    return Agent(*agents[at - _ITEMS : at])


def name_at(agents: Agents, node: int) -> str:
    """The name of the agent at a node.

    Raises:
        LookupError: no agent is there.
    """
    if isinstance(agents, dict):
        return agents[node].name
    return agents[_end(agents, node) - _ITEMS]  # type: ignore[no-any-return]


def listed(agents: Agents) -> tuple[Agent, ...]:
    """All of them, in the order in which they joined."""
    if isinstance(agents, dict):
        return tuple(agents.values())
    return tuple(Agent(*agents[at : at + _ITEMS]) for at in range(0, len(agents), _ITEMS))


def _end(few: tuple[Any, ...], node: int) -> int:
    """Where what is known of the agent at a node ends."""
    for at in range(_ITEMS, len(few) + 1, _ITEMS):
        if few[at - 1] == node:
            return at
    raise LookupError(node)
