"""Policies side by side, told to a person."""

from __future__ import annotations

from tests.replaying.made import screen

from spanfuse_processor.engine import MicroUsd
from spanfuse_processor.replaying.comparison import Case, Outcome, tally
from spanfuse_processor.replaying.labels import Label
from spanfuse_processor.replaying.telling.contrast import contrast

OK = Outcome("ok")


def stop(call: int, saved: MicroUsd) -> Outcome:
    return Outcome("stop", "repeat", "stop", f"{call:016x}", call, 20 - call, saved)


def told(
    *outcomes: tuple[Outcome, Outcome], everything: bool = False, label: Label | None = None
) -> list[str]:
    """The lines of a comparison of two policies."""
    cases = [Case("a.jsonl", f"run{at}", "", label, pair) for at, pair in enumerate(outcomes)]
    seen, out = screen()
    contrast(["a.yaml", "b.yaml"], cases, [tally(cases, 0), tally(cases, 1)], seen, everything)
    return [" ".join(line.split()) for line in out.getvalue().splitlines()]


def test_policies_go_by_letters_that_are_said_once() -> None:
    assert told((OK, OK))[:2] == ["A a.yaml", "B b.yaml"]


def test_sums_stand_side_by_side() -> None:
    lines = told((stop(8, 30_000), OK), (stop(10, 1_000), stop(12, 500)))

    assert lines[3:8] == [
        "what A B",
        "runs stopped 2 of 2 1 of 2",
        "runs warned of only 0 0",
        "calls saved 22 8",
        "USD saved 0.031000 0.000500",
    ]


def test_only_runs_that_differ_are_listed() -> None:
    lines = told((stop(8, 30_000), OK), (OK, OK))

    assert "1 of 2 runs differ" in lines
    assert lines[-1] == "run0 stop repeat @8 12/0.030000 ok a.jsonl"


def test_all_runs_are_listed_when_asked_for() -> None:
    assert len(told((stop(8, 30_000), OK), (OK, OK), everything=True)) == 1 + len(
        told((stop(8, 30_000), OK), (OK, OK))
    )


def test_labels_bring_two_more_sums() -> None:
    assert "honest runs stopped, wrongly 1 of 1 0 of 1" in told((stop(8, 1), OK), label=Label("ok", True))
    assert "runaways stopped 1 of 1 0 of 1" in told((stop(8, 1), OK), label=Label("loop", False))


def test_where_nothing_differs_nothing_is_listed() -> None:
    assert told((OK, OK))[-1] == "0 of 1 run differ"
