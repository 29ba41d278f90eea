"""Runs by age."""

from __future__ import annotations

from collections import OrderedDict
from typing import Final

from hypothesis import given
from hypothesis import strategies as st

from spanfuse_processor.engine.calltree import CallTree
from spanfuse_processor.engine.nouns import Identity
from spanfuse_processor.engine.runs.living import Living
from spanfuse_processor.engine.runs.record import Record
from spanfuse_processor.engine.runs.run import Run
from spanfuse_processor.engine.stats import EngineStats

NAMES: Final = ("a", "b", "c", "d")


def run(name: str) -> Run:
    tree = CallTree(name, 10, EngineStats())
    return Run(Record(name, 1, b"t", Identity(), 0), tree, (), {}, 0.0)


@given(st.lists(st.tuples(st.sampled_from(("see", "leave")), st.sampled_from(NAMES))))
def test_they_are_in_order_of_when_they_were_last_seen(steps: list[tuple[str, str]]) -> None:
    living = Living()
    twin: OrderedDict[str, Run] = OrderedDict()
    for what, name in steps:
        if what == "see" and name not in living:
            twin[name] = run(name)
            living.enter(twin[name])
        elif what == "see":
            living.touch(living[name])
            twin.move_to_end(name)
        elif name in living:
            living.leave(twin.pop(name))

        assert list(living.by_age()) == list(twin.values())
        assert living.oldest is next(iter(twin.values()), None)
        assert living == twin


def test_who_leaves_knows_nobody() -> None:
    living, runs = Living(), [run(name) for name in NAMES]
    for each in runs:
        living.enter(each)
    living.leave(runs[1])

    assert (runs[1].older, runs[1].newer) == (None, None)
