"""Timelines: what repeats is folded, what is far from a verdict is counted, agents are indented."""

from __future__ import annotations

from collections.abc import Sequence

from tests.replaying.made import SECOND, model, step

from spanfuse_processor.engine import Kind
from spanfuse_processor.replaying.journal import Step
from spanfuse_processor.replaying.telling.timeline import Mark, timeline
from spanfuse_processor.terminal import Style

STOP = Mark("STOP repeat", Style.RED, "-- stopped here --")


def told(steps: Sequence[Step], marked: Sequence[int] = (), width: int = 110) -> list[str]:
    """The lines of a timeline, blanks as one; the calls with these numbers are marked."""
    marks = {number.to_bytes(8): STOP for number in marked}
    return [" ".join(line.split()) for line, _ in timeline(steps, marks, width)]


def indents(lines: Sequence[str]) -> list[int]:
    """How far what was called is indented, line by line."""
    what = lines[0].index("what")
    return [len(line[what:]) - len(line[what:].lstrip()) for line in lines[1:]]


def test_a_call_is_told_with_its_time_digests_tokens_and_money() -> None:
    assert told([model(1), step(2)]) == [
        "time call what asked came back tokens USD",
        "0.0s 1 model gpt-4o 1,000+100 0.003500",
        "1.0s 2 search a5ed ca3e 18",
    ]


def test_what_repeats_is_folded_with_its_sums() -> None:
    steps = [each for number in range(0, 24, 2) for each in (model(number), step(number + 1))]

    assert told(steps)[1:] == [
        "0.0s 0-23 x12 model gpt-4o 12,000+1,200 0.042000",
        "1.0s | search a5ed ca3e 18",
    ]


def test_other_results_are_not_folded() -> None:
    assert len(told([step(1), step(2, came="0ther", came_masked="0ther"), step(3)])) == 4


def test_what_differs_in_noise_only_is_folded_and_marked() -> None:
    assert told([step(1, asked="n1"), step(2, asked="n2")])[1:] == ["0.0s 1-2 x2 search ~a5ed ca3e 18"]


def test_models_are_folded_whatever_they_say() -> None:
    assert told([model(1, came="a"), model(2, came="b")])[1:] == [
        "0.0s 1-2 x2 model gpt-4o varies 2,000+200 0.007000"
    ]


def test_the_call_of_a_verdict_stands_for_itself() -> None:
    lines = told([step(number) for number in range(1, 10)], marked=[5])

    assert lines[1:] == [
        "0.0s 1-4 x4 search a5ed ca3e 18",
        "4.0s 5 search a5ed ca3e 18 STOP repeat",
        "-- stopped here --",
        "5.0s 6-9 x4 search a5ed ca3e 18",
    ]


def test_what_is_far_from_a_verdict_is_counted() -> None:
    steps = [step(number, f"tool{number % 7}", asked_masked=f"{number}") for number in range(1, 30)]

    lines = told([*steps, model(30), step(31)], marked=[31])

    assert lines[3] == "... 26 calls: 4 tool3, 4 tool4, 4 tool5, 14 others"
    assert len(lines) == 8


def test_money_of_what_is_left_out_is_told_and_unknown_prices_are_marked() -> None:
    named = [f"m{number}" for number in range(20)]
    steps = [model(at, name=named[at], cost=None if at == 9 else 5) for at in range(1, 20)]

    lines = told(steps, marked=[19])

    assert [line for line in lines if "..." in line] == [
        "... 14 calls: 1 model m3, 1 model m4, 1 model m5, 11 others; 0.000065? USD"
    ]


def test_a_run_without_a_verdict_is_shown_at_both_ends() -> None:
    lines = told([step(number, f"tool{number}") for number in range(100)])

    assert len(lines) == 1 + 12 + 1 + 12


def test_what_an_agent_does_is_indented_by_its_parents() -> None:
    main = step(1, "main", Kind.AGENT, ended_ns=90 * SECOND)
    helper = step(2, "helper", Kind.AGENT, ended_ns=9 * SECOND, parent_span_id=main.span_id)
    inner = step(3, parent_span_id=helper.span_id)
    beside = step(4, "beside", parent_span_id=main.span_id)

    lines = [line for line, _ in timeline([main, helper, inner, beside], {}, 110)]

    assert indents(lines) == [0, 2, 4, 2]


def test_where_parents_are_not_known_time_tells_who_is_inside() -> None:
    main = step(1, "main", Kind.AGENT, ended_ns=9 * SECOND)

    lines = [line for line, _ in timeline([main, step(2, parent_span_id=b"unknown!"), step(10)], {}, 110)]

    assert indents(lines) == [0, 2, 0]


def test_lines_fit_the_width() -> None:
    steps = [step(number, "a_tool_with_a_very_long_name", error="a very long error") for number in range(9)]

    assert max(len(line) for line, _ in timeline(steps, {}, 60)) <= 60


def test_deep_nesting_is_told_in_figures() -> None:
    agents = [
        step(at, f"a{at}", Kind.AGENT, ended_ns=(99 - at) * SECOND, asked="", came="") for at in range(1, 11)
    ]

    lines = told(agents)

    assert [line.split(" ", 2)[2] for line in lines[6:10]] == [
        "agent a6", "agent a7", "[7] agent a8", "[8] agent a9"
    ]  # fmt: skip
