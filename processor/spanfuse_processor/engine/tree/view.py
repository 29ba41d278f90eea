"""The shape of a tree as others look at it: for views and tests."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from spanfuse_processor.engine.tree.cells import CELLS, COUNTED, HEIGHT, KIND, META, NONE
from spanfuse_processor.engine.tree.nodes import Nodes


class Node(NamedTuple):
    """One span as the tree knows it. An awaited parent has not `arrived`."""

    trace_id: bytes
    span_id: bytes
    parent_span_id: bytes
    depth: int
    height: int
    agents: tuple[str, ...]
    arrived: bool
    counted: bool


def view(nodes: Nodes) -> Iterator[Node]:
    """Everything that is known of the shape, in order of arrival."""
    known = list(nodes.ids())
    for number, (trace, span) in enumerate(known):
        meta, parent = nodes.cells[number * CELLS + META], nodes.parent(number)
        agents = nodes.above(parent)
        yield Node(
            trace,
            span,
            b"" if parent == NONE else known[parent][1],
            max(0, len(agents) - 1),
            meta >> HEIGHT,
            agents,
            bool(meta & KIND),
            bool(meta & COUNTED),
        )
