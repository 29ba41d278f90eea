"""Replays: one reading, any number of judges, rows in order of first appearance."""

from __future__ import annotations

import gc
from dataclasses import replace
from pathlib import Path

import pytest
from tests.replaying.made import raw
from tests.replaying.recorded import lines, looping, tool

from spanfuse_processor.engine import Mode, Policy, ToolRule
from spanfuse_processor.replaying import Judge, Replay

LENIENT = Policy(tools={"search": ToolRule(repeatable=True)})


@pytest.mark.parametrize("starts", [False, True])
def test_spans_in_memory_and_in_files_are_judged_alike(tmp_path: Path, starts: bool) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text(lines(looping()))
    read, judged = Replay(), Replay()

    read.read([file], starts)
    judged.judge(raw(looping()), starts, str(file))

    assert read.rows() == judged.rows()
    assert [row["verdict"] for row in read.rows()] == ["stop"]


@pytest.mark.parametrize("starts", [False, True])
def test_every_judge_hears_of_the_same_spans(starts: bool) -> None:
    """The last two read alike."""
    shadow = replace(LENIENT, mode=Mode.SHADOW)
    replay = Replay(Judge(), Judge(LENIENT), Judge(shadow))

    replay.judge(raw(looping()), starts)

    assert [replay.rows(judge)[0]["verdict"] for judge in range(3)] == ["stop", "ok", "ok"]
    assert [replay.rows(judge)[0]["calls"] for judge in range(3)] == [18] * 3


@pytest.mark.parametrize("starts", [False, True])
def test_rows_are_in_order_of_first_appearance_in_the_files(starts: bool) -> None:
    replay = Replay()

    replay.judge(raw([tool(1, 8, trace=7), tool(2, 4, trace=3), tool(3, 0, trace=5)]), starts)

    assert [int(row["trace_id"], 16) for row in replay.rows()] == [7, 3, 5]


def test_what_is_read_in_two_goes_is_one_recording() -> None:
    replay, spans = Replay(), raw(looping())

    replay.judge(spans[:6], file="a")
    replay.judge(spans[6:], file="b")

    (row,) = replay.rows()
    assert (row["file"], row["call"]) == ("a", 10)


def test_without_a_span_nothing_was_read() -> None:
    replay = Replay()

    replay.judge([])

    assert not replay.has_read
    assert replay.rows() == []


def test_problems_are_told_and_skipped(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text("no JSON\n" + lines([tool(1, 0)]))
    replay, said = Replay(), []

    replay.read([file], report=said.append)

    assert len(said) == 1
    assert replay.has_read


def test_judging_in_time_order_tells_how_far_it_is(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text(lines(looping()))
    told = []

    Replay().read([file], starts=True, watch=lambda *progress: told.append(progress))

    assert ("judging", 0, 36) in told


def test_the_garbage_collector_is_left_as_it_was() -> None:
    outside, during, mine = gc.get_threshold(), [], (701, 11, 11)
    gc.set_threshold(*mine)
    try:
        Replay().judge(span for span in raw([tool(1, 0)]) if not during.append(gc.get_threshold()))
        after = gc.get_threshold()
    finally:
        gc.set_threshold(*outside)

    assert after == mine
    assert during != [mine]
