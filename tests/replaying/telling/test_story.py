"""One run, told to a person: verdicts with their evidence, and honesty about what could not be judged."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from tests.replaying.made import raw, screen
from tests.replaying.recorded import looping, model, span, tool

from spanfuse_processor.engine import Mode, Policy
from spanfuse_processor.replaying import Judge, Replay
from spanfuse_processor.replaying.labels import Label
from spanfuse_processor.replaying.telling.story import UNJUDGED, Told, tell

NAMED = {"gen_ai__operation__name": "execute_tool", "gen_ai__tool__name": "search"}


def run_of(spans: list[dict[str, Any]], policy: Policy | None = None) -> Told:
    """The only run of some spans."""
    judge = Judge(policy, journal=True)
    Replay(judge).judge(raw(spans))
    (view,) = judge.views()
    return Told("a.jsonl", view, judge.calls(view))


def said_of(run: Told) -> str:
    """What is said of a run."""
    seen, out = screen()
    tell(run, seen)
    return out.getvalue()


def told(spans: list[dict[str, Any]], policy: Policy | None = None) -> str:
    """What is said of the only run of some spans."""
    return said_of(run_of(spans, policy))


def test_a_stop_is_told_with_its_rule_words_calls_cure_and_cost() -> None:
    lines = told(looping()).splitlines()

    at = lines.index("  STOP search was called 5 times in a row with equal arguments and equal results")
    assert lines[0] == f"run {1:032x}: stop at call 10 of 18 by repeat"
    assert lines[at + 1].startswith(
        "       rule repeat.equal (LOOP): 5, limit 5; from call 2 to call 10; digests "
    )
    assert lines[at + 2].startswith("       would have been cleared by ")
    assert lines[at + 3] == "       cost so far 0.017500 USD; after it 8 calls, 0.014000 USD"


def test_the_timeline_shows_the_first_call_the_warning_the_stop_and_what_came_after() -> None:
    lines = told(looping()).splitlines()

    marked = [line for line in lines if line.endswith(("  first", "  WARN repeat", "  STOP repeat"))]
    assert [line.split()[:2] for line in marked] == [["2.0s", "2"], ["10.0s", "6"], ["18.0s", "10"]]
    assert lines.index("  -- stopped here; after it 8 calls, 0.014000 USD --") == lines.index(marked[-1]) + 1
    assert lines[-2].split()[:4] == ["20.0s", "11-18", "x4", "model"]


def test_what_would_have_come_after_the_stop_is_counted_only() -> None:
    run = run_of(looping(turns=6))
    stop = run.view.findings[-1]
    later = [replace(stop, message=f"later {number}") for number in range(2)]
    view = replace(run.view, findings=(*run.view.findings, *later))

    text = said_of(run._replace(view=view))

    assert "later" not in text
    assert "  2 more verdicts, not shown\n" in text


def test_of_many_warnings_the_first_are_told() -> None:
    run = run_of(looping(turns=4))
    warning = run.view.findings[0]
    findings = tuple(replace(warning, message=f"no. {number}.") for number in range(20))

    text = said_of(run._replace(view=replace(run.view, findings=findings)))

    assert [f"no. {number}." in text for number in range(20)] == [True] * 6 + [False] * 14
    assert "  14 more verdicts, not shown\n" in text


def test_a_run_that_is_only_observed_says_that_it_would_go_on() -> None:
    assert "by repeat (mode shadow: it would go on)\n" in told(looping(), Policy(mode=Mode.SHADOW))


def test_a_warning_is_told_as_one() -> None:
    text = told(looping(turns=4))

    assert text.startswith(f"run {1:032x}: warning at call 6 of 8 by repeat\n")
    assert "after it" not in text


def test_a_run_without_a_verdict_is_ok() -> None:
    assert told([tool(1, 0)]).startswith(f"run {1:032x}: ok, 1 call\n")


@pytest.mark.parametrize(
    ("spans", "said"),
    [
        ([span(1, 0, 1, **NAMED), model(2, 2)], UNJUDGED),
        (
            [span(1, 0, 1, **NAMED), tool(2, 2)],
            "loops judged in part: 1 tool call of 2 came without arguments",
        ),
        ([tool(1, 0)], None),
        ([model(1, 0)], None),
    ],
)
def test_where_loops_could_not_be_judged_that_is_said(spans: list[dict[str, Any]], said: str | None) -> None:
    lines = [line.strip() for line in told(spans).splitlines()]

    assert [line for line in lines if "judged" in line] == ([] if said is None else [said])


def test_who_a_run_was_for_and_what_people_know_of_it_is_told() -> None:
    text = said_of(run_of([tool(1, 0, user__id="u-7")])._replace(label=Label("ok", True)))

    assert "  service test, user u-7\n" in text
    assert "a.jsonl, 2026-05-28 20:26:40 UTC, 0+0 tokens, 0.000000 USD, labelled ok\n" in text


def test_calls_without_a_price_are_counted() -> None:
    assert "1 call without a price" in told([model(1, 0, gen_ai__request__model="house-made")])


def test_nothing_of_what_was_said_is_told() -> None:
    assert "urls" not in told(looping())
    assert '"q"' not in told(looping())
