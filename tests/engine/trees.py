"""What the tests of the call tree share: a tree, its counts, and looking a node up in it."""

from __future__ import annotations

from tests.engine.making import span

from spanfuse_processor.engine.calls import Call
from spanfuse_processor.engine.calltree import CallTree
from spanfuse_processor.engine.events import CallStarted
from spanfuse_processor.engine.nouns import Fingerprints
from spanfuse_processor.engine.stats import EngineStats
from spanfuse_processor.engine.tree.view import Node

PRINTS = Fingerprints(arguments="a", result="r")


def tree(limit: int = 1000) -> CallTree:
    return CallTree("r1", limit, EngineStats())


def stats(of: CallTree) -> EngineStats:
    return of._spending.stats


def added(to: CallTree, event: CallStarted, cost: int | None = None) -> Call:
    call = to.add(event, cost)
    assert call is not None
    return call


def node(of: CallTree, number: int) -> Node:
    return next(each for each in of.nodes() if each.span_id == span(number))
