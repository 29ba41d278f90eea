"""A judge of recordings: the engine's verdicts, at the recording's own times."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from tests.replaying.made import raw
from tests.replaying.recorded import looping, span, tool

from spanfuse_processor.engine import Bounds, Mode, Policy, ToolRule
from spanfuse_processor.replaying import Judge
from spanfuse_processor.replaying.ordering import in_time_order


def hear(judge: Judge, spans: Iterable[dict[str, Any]]) -> None:
    """Tells of spans as they end."""
    for each in raw(spans):
        judge.hear(each.end_ns, judge.read(each) or each)


def test_a_loop_is_stopped_by_ends_alone() -> None:
    judge = Judge()

    hear(judge, looping())

    (view,) = judge.views()
    assert view.stop is not None
    assert (view.verdict, view.stop.call) == ("stop", 10)


def test_a_loop_is_stopped_with_starts_told() -> None:
    judge = Judge()

    for moment in in_time_order(raw(looping()), judge.read):
        judge.hear(moment.at_ns, moment.told())

    (view,) = judge.views()
    assert view.stop is not None
    assert (view.verdict, view.stop.call, view.calls) == ("stop", 10, 18)


def test_no_run_is_forgotten_however_long_ago_it_was() -> None:
    judge = Judge(Policy(bounds=Bounds(idle=1.0, tombstone=1.0, tombstones=1)))

    hear(judge, (tool(number, number * 1e6, trace=number) for number in range(1, 6)))

    assert [view.calls for view in judge.views()] == [1] * 5


@pytest.mark.parametrize("journal", [False, True])
def test_calls_are_kept_where_a_journal_is_asked_for(journal: bool) -> None:
    judge = Judge(journal=journal)

    hear(judge, looping(turns=2))

    (view,) = judge.views()
    assert [step.name for step in judge.calls(view).steps] == ["gpt-4o", "search"] * 2 * journal


def test_calls_are_those_so_far() -> None:
    judge = Judge(journal=True)

    for number in (1, 2):
        hear(judge, [tool(number, 4 * number)])

        assert [len(judge.calls(view).steps) for view in judge.views()] == [number]


def test_runs_that_turn_out_to_be_one_have_their_calls_together() -> None:
    judge = Judge(journal=True)
    joined = {"gen_ai__conversation__id": "c1"}

    hear(judge, [tool(1, 0, trace=1), tool(2, 4, trace=2, **joined), tool(3, 8, trace=1, **joined)])

    (view,) = judge.views()
    assert [step.span_id[-1] for step in judge.calls(view).steps] == [1, 2, 3]


def test_names_only_is_told_from_calls_that_can_be_compared() -> None:
    judge = Judge(journal=True)
    named = {"gen_ai__operation__name": "execute_tool", "gen_ai__tool__name": "search"}

    hear(judge, [span(1, 0, 1, **named), span(2, 2, 3, **named), tool(3, 4), tool(4, 8, trace=2)])

    assert [(judge.calls(view).tools, judge.calls(view).compared) for view in judge.views()] == [
        (3, 1), (1, 1)
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        (Judge(), Judge(Policy(mode=Mode.SHADOW)), True),
        (Judge(), Judge(Policy(tools={"search": ToolRule(volatile=("id",))})), False),
        (Judge(), Judge(key=b"another"), False),
    ],
)
def test_judges_read_alike_when_their_tools_and_keys_are_the_same(
    one: Judge, other: Judge, alike: bool
) -> None:
    assert one.reads_like(other) is alike
