"""The runs of a recording: a table, sums, and as many runs one by one as one asks for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.replaying.made import raw, screen
from tests.replaying.recorded import looping, span, tool

from spanfuse_processor.replaying import Judge, Replay
from spanfuse_processor.replaying.labels import Label
from spanfuse_processor.replaying.telling.story import Told
from spanfuse_processor.replaying.telling.summary import MOST, summarise


def told(spans: list[dict[str, Any]], labels: Mapping[int, Label] | None = None, **options: Any) -> list[str]:
    """The lines of a summary; `labels` by the numbers of traces."""
    judge = Judge(journal=True)
    Replay(judge).judge(raw(spans))
    seen, out = screen()
    known = labels or {}
    runs = [
        Told("a.jsonl", view, judge.calls(view), known.get(int.from_bytes(view.trace_id)))
        for view in judge.views()
    ]
    summarise(runs, seen, **options)
    return out.getvalue().splitlines()


def honest(number: int) -> list[dict[str, Any]]:
    return [tool(1, 0, trace=number)]


def test_stopped_runs_come_first_the_dearest_before_the_others() -> None:
    spans = [*honest(1), *looping(2, turns=4), *looping(3, turns=6), *looping(4, turns=9)]

    lines = told(spans)

    assert [line.split()[1] for line in lines[1:5]] == ["stop", "stop", "warn", "ok"]
    assert [int(line.split()[0], 16) for line in lines[1:5]] == [4, 3, 2, 1]


def test_the_sums_are_told() -> None:
    lines = told([*honest(1), *looping(2, turns=4), *looping(3)])

    assert "3 runs: 1 stopped, 1 warned; 8 calls and 0.014000 USD came after a stop" in lines


def test_where_runs_are_many_the_rest_is_counted_unless_all_are_asked_for() -> None:
    spans = [*looping(1), *(each for number in range(2, MOST + 4) for each in honest(number))]

    assert "and 3 ok (--all lists them)" in told(spans)
    assert sum(line.split()[1:2] == ["ok"] for line in told(spans)) == MOST - 1
    assert sum(line.split()[1:2] == ["ok"] for line in told(spans, everything=True, limit=0)) == MOST + 2


def test_as_many_runs_are_told_one_by_one_as_one_asks_for() -> None:
    spans = [*looping(1), *looping(2), *looping(3)]

    lines = told(spans, limit=2)

    assert sum(line.startswith("run 0") for line in lines) == 2
    assert lines[-1] == "1 timeline not shown; see --limit"


def test_runs_whose_loops_could_not_be_judged_are_marked() -> None:
    lines = told([span(1, 0, 1, gen_ai__operation__name="execute_tool", gen_ai__tool__name="search")])

    assert lines[1].split()[1] == "ok*"
    assert "* loops not judged: no arguments or results in these spans (1 run)" in lines


def test_labels_tell_what_was_stopped_wrongly() -> None:
    labels = {1: Label("ok", True), 2: Label("loop", False), 3: Label("loop", False)}

    lines = told([*looping(1), *looping(2), *honest(3)], labels)

    assert "1 of 1 honest runs stopped, wrongly" in lines
    assert "1 of 2 runaways stopped" in lines
