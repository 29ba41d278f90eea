"""Policies side by side: what each stops, what that saves, and who was stopped wrongly."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.replaying.made import raw
from tests.replaying.recorded import looping, tool

from spanfuse_processor.engine import Policy, ToolRule
from spanfuse_processor.replaying import Judge, Replay
from spanfuse_processor.replaying.comparison import Case, compare, tally
from spanfuse_processor.replaying.labels import Labels

LENIENT = Policy(tools={"search": ToolRule(repeatable=True)})
LOOP, HONEST = f"{1:032x}", f"{2:032x}"


@pytest.fixture
def cases() -> list[Case]:
    """A loop and an honest run under the built-in policy and one that lets the loop be."""
    replay = Replay(Judge(), Judge(LENIENT))
    replay.judge([*raw(looping()), *raw([tool(100, 0, trace=2)])])
    return compare(replay, Labels())


def labelled(folder: Path, **words: str) -> list[Case]:
    file = folder / "labels"
    file.write_text(json.dumps({LOOP: words["first"], HONEST: words["second"]}))
    replay = Replay(Judge(), Judge(LENIENT))
    replay.judge([*raw(looping()), *raw([tool(100, 0, trace=2)])])
    return compare(replay, Labels.read([file]))


def test_a_case_is_one_run_under_every_policy(cases: list[Case]) -> None:
    loop, honest = cases

    assert (loop.run, honest.run) == (LOOP, HONEST)
    assert [outcome.verdict for outcome in loop.outcomes] == ["stop", "ok"]
    assert [outcome.verdict for outcome in honest.outcomes] == ["ok", "ok"]


def test_runs_differ_where_verdicts_do(cases: list[Case]) -> None:
    assert [case.differs for case in cases] == [True, False]


def test_what_a_stop_saves_is_what_came_after_it(cases: list[Case]) -> None:
    stopped, not_stopped = cases[0].outcomes

    assert (stopped.calls_saved, stopped.saved) == (8, 14_000)
    assert (not_stopped.calls_saved, not_stopped.saved) == (0, 0)


def test_a_tally_sums_up_one_policy(cases: list[Case]) -> None:
    strict, lenient = tally(cases, 0), tally(cases, 1)

    assert (strict.runs, strict.stopped, strict.calls_saved, strict.saved) == (2, 1, 8, 14_000)
    assert (lenient.runs, lenient.stopped, lenient.calls_saved, lenient.saved) == (2, 0, 0, 0)


@pytest.mark.parametrize(
    ("first", "second", "honest", "runaways"),
    [
        ("loop", "ok", (1, 0), (1, 1)),
        ("ok", "ok", (2, 1), (0, 0)),
        ("ok", "loop", (1, 1), (1, 0)),
        ("unknown", "ok", (1, 0), (0, 0)),
    ],
)
def test_labels_tell_wrong_stops_from_right_ones(
    tmp_path: Path, first: str, second: str, honest: tuple[int, int], runaways: tuple[int, int]
) -> None:
    sums = tally(labelled(tmp_path, first=first, second=second), 0)

    assert (sums.honest, sums.honest_stopped) == honest
    assert (sums.runaways, sums.runaways_stopped) == runaways


def test_a_row_names_every_policy(cases: list[Case]) -> None:
    row = cases[0].row(["a.yaml", "b.yaml"])

    assert [each["config"] for each in row["policies"]] == ["a.yaml", "b.yaml"]
    assert (row["label"], row["differs"]) == (None, True)
    assert row["policies"][0] == {
        "config": "a.yaml", "verdict": "stop", "detector": "repeat", "action": "stop",
        "span_id": f"{10:016x}", "call": 10, "calls_saved": 8, "saved_usd": 0.014,
    }  # fmt: skip
