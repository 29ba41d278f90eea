"""Two runs turn out to be one: the nodes of the one are taken over by the other.

Rule 1: what had arrived in either has arrived; of a span that both know, the survivor's telling stays.
Rule 2: it tells which model calls turn out to wrap others, so that they can be taken out of the totals.
"""

from __future__ import annotations

from spanfuse_processor.engine.tree.agents import agent_at
from spanfuse_processor.engine.tree.cells import (
    AGENT,
    CELLS,
    COUNTED,
    ENDED,
    GUESSED,
    HEIGHT,
    KIND,
    META,
    NONE,
    USAGE,
    USED,
    WRAPS,
)
from spanfuse_processor.engine.tree.nodes import Nodes


def absorb(nodes: Nodes, other: Nodes) -> tuple[list[int], list[int]]:
    """Takes over another run's nodes: (their numbers here, wrappers that had been counted)."""
    moved = [_room(nodes, nodes.key(*ids)) for ids in other.ids()]
    wrappers = [_take(nodes, other, theirs, moved) for theirs in range(len(moved))]
    wrappers += [nodes.rise(node) for node in moved if node != NONE]
    return moved, [node for node in wrappers if node >= 0]


def _room(nodes: Nodes, key: bytes) -> int:
    node = nodes.enter(key)
    return NONE if node < 0 else node


def _take(nodes: Nodes, other: Nodes, theirs: int, moved: list[int]) -> int:
    """Copies one node onto an awaited one. Returns it if it had been counted and wraps, else -1."""
    node, cells = moved[theirs], nodes.cells
    source, base = theirs * CELLS, node * CELLS
    meta = other.cells[source + META]
    if node == NONE or not meta & KIND or cells[base + META] & KIND:
        return -1
    cells[base + USAGE : base + CELLS] = other.cells[source + USAGE : source + CELLS]
    kept = cells[base + META]
    cells[base + META] = kept | (meta & (KIND | ENDED | USED | COUNTED | GUESSED))
    if meta & KIND == AGENT:
        cells[base + META] += 1 << HEIGHT
        name, span_id, _ = agent_at(other.agents, theirs)
        nodes.name(node, name, span_id)
    parent = other.cells[source]
    if parent != NONE and moved[parent] != NONE and not nodes.leads(moved[parent], node):
        nodes.hang(node, moved[parent])
    return node if kept & WRAPS and nodes.uncount(node) else -1
