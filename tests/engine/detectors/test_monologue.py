"""Monologues: a model that says the same over and over and does nothing, and talk that is none."""

from __future__ import annotations

from typing import Any

import pytest
from tests.engine.detectors.watching import Watch, one

from spanfuse_processor.engine.verdicts import Severity

ALONE: dict[str, Any] = {"only": ("monologue",)}
PLAN = "I will now look at the file and tell you what I find in it."
LONG = "a report of several pages, word for word the same as the one before " * 5

VERBS = "look read inspect open check examine scan view study consult review survey".split()


def said(watch: Watch, *answers: object, tokens: int = 20, grows: int = 30, **more: Any) -> Watch:
    """A conversation goes on: each request is longer than the one before, for it carries what was said."""
    for answer in answers:
        size = 1_000 + grows * watch.number
        watch.model({"turn": watch.number}, answer, tokens=(size, tokens), **more)
    return watch


def reworded(count: int) -> list[str]:
    """The same message with another word in it each time."""
    return [
        f"I will now {VERBS[n % 12]} the file main.py and tell you what I find in it." for n in range(count)
    ]


class TestTheSameMessage:
    def test_the_fourth_equal_one_stops(self) -> None:
        watch = said(Watch(), *[PLAN] * 9)

        assert watch.rules == [(3, "monologue.equal"), (4, "monologue.equal")]

    def test_an_empty_one_is_a_message(self) -> None:
        assert said(Watch(), *[""] * 9).stopped == 4

    def test_whatever_model_says_it(self) -> None:
        watch = Watch()
        for n in range(9):
            said(watch, PLAN, name=f"model-{n % 2}")

        assert watch.stopped == 5  # the second of the other's was not heard

    def test_a_long_one_counts_though_the_conversation_does_not_go_on(self) -> None:
        watch = said(Watch(**ALONE), *[LONG] * 9, tokens=120, grows=0)

        assert watch.stopped == 4

    def test_and_so_it_does_where_no_tokens_are_known(self) -> None:
        watch = Watch(**ALONE)
        for n in range(9):
            watch.model({"turn": n}, LONG)

        assert watch.stopped == 4

    def test_failures_in_between_hide_nothing(self) -> None:
        watch = Watch(**ALONE)
        for _ in range(9):
            said(watch, PLAN)
            watch.model(error="the connection was lost")

        assert watch.stopped == 2 * 5 - 1  # it was a failure that woke the detector


class TestInOtherWords:
    def test_the_sixth_stops(self) -> None:
        watch = said(Watch(), *reworded(12))

        assert watch.rules == [(4, "monologue.alike"), (6, "monologue.alike")]

    def test_two_that_go_to_and_fro_are_alike(self) -> None:
        """Two agents that share a model thank each other."""
        answers = [
            "Thank you very much for that, over to you now.",
            "You are welcome, it was a pleasure to help.",
        ]

        assert said(Watch(), *answers * 9).stopped == 8

    def test_digits_make_no_difference(self) -> None:
        answers = [f"Attempt {n} of 100: I will now look at the file." for n in range(9)]

        assert said(Watch(), *answers).stopped == 6

    def test_talk_in_ever_other_words_only_warns(self) -> None:
        words = "amber birch cedar delta ember fjord grove heath inlet jetty knoll ledge marsh nadir".split()
        watch = said(Watch(), *[" ".join(words[n % 11 : n % 11 + 4] + words[n // 11 : 2]) for n in range(40)])

        assert watch.rules == [(12, "monologue.talk_warn")]
        assert watch.findings[0][1].message == "gpt-4o said something 12 times in a row and called nothing"

    def test_messages_that_say_something_else_are_none(self) -> None:
        words = "amber birch cedar delta ember fjord grove heath inlet jetty knoll ledge marsh nadir".split()
        answers = [" ".join(words[n : n + 4]) for n in range(11)]

        assert said(Watch(), *answers).findings == []

    def test_they_count_only_when_the_conversation_goes_on(self) -> None:
        assert said(Watch(**ALONE), *reworded(30), grows=0).findings == []


class TestBlank:
    def test_six_messages_without_a_word_stop(self) -> None:
        watch = said(Watch(**ALONE, equal=0), *[""] * 9, tokens=1)

        assert watch.rules == [(4, "monologue.blank"), (6, "monologue.blank")]

    def test_a_word_is_none(self) -> None:
        answers = [VERBS[n] for n in range(9)]

        assert said(Watch(**ALONE), *answers, tokens=1).findings == []


class TestWhatIsNoMonologue:
    def test_a_tool_that_is_called_in_between(self) -> None:
        watch = Watch(**ALONE)
        for n in range(20):
            said(watch, PLAN)
            watch.tool("read", {"n": n}, f"text {n}")

        assert watch.findings == []

    def test_an_agent_that_is_started_in_between(self) -> None:
        watch = Watch(**ALONE)
        for n in range(20):
            said(watch, PLAN)
            watch.agent("helper", {"n": n})

        assert watch.findings == []

    def test_a_thought_that_is_taken_down_is_no_deed(self) -> None:
        watch = Watch(**ALONE)
        for n in range(20):
            said(watch, PLAN)
            watch.tool("think", {"thought": n}, "noted")

        assert watch.stopped == 7

    def test_answers_that_ask_for_tools_which_nobody_sees(self) -> None:
        """Only the model is instrumented: it polls, and each answer asks for the same call."""
        asked = {"content": "", "tool_calls": [["check_status", "{}"]]}

        assert said(Watch(), *[asked] * 30, asks=True).findings == []

    def test_answers_that_act_in_words(self) -> None:
        """Only the model is instrumented: it says what to do, and the next request says what came of it."""
        places = "cabinet drawer shelf table desk sofa fridge oven sink bed lamp box".split()
        answers = [f"Thought: it may be in the next one. Action: go to the {place}" for place in places]

        assert said(Watch(), *answers, handed=True).findings == []

    def test_what_others_found_meanwhile(self) -> None:
        """A planner gives part after part to a worker that is told by message."""
        watch = Watch()
        for n in range(30):
            said(watch, f"Part {n} of 100 goes to the worker.", agents=("planner",), parent=7)
            watch.tool("read", {"part": n}, f"text of part {n}", agents=("worker",), parent=8)

        assert watch.stopped is None

    def test_but_others_that_only_talk_too_are_no_excuse(self) -> None:
        watch = Watch()
        for _ in range(9):
            said(watch, "Over to you.", agents=("planner",), parent=7)
            said(watch, "And back to you.", agents=("worker",), parent=8)

        assert watch.stopped == 7

    def test_a_person_who_answers(self) -> None:
        watch = Watch()
        for _ in range(20):
            said(watch, "Is there anything else that I can help you with?", user_turn=True)

        assert watch.findings == []

    @pytest.mark.parametrize("answer", ["spam", "yes", "", "no"])
    def test_a_batch_of_mails_that_are_labelled(self, answer: str) -> None:
        watch = Watch(**ALONE)
        for n in range(60):
            watch.model({"mail": n}, answer, tokens=(1_000 + (37 * n) % 101, 1))

        assert watch.stopped is None

    def test_messages_that_nobody_knows(self) -> None:
        watch = Watch()
        for n in range(60):
            watch.model(tokens=(1_000 + 20 * n, 40))

        assert watch.rules == [(13, "monologue.talk_warn")]

    def test_helpers_that_say_the_same_side_by_side(self) -> None:
        watch = Watch()
        for n in range(20):
            said(watch, PLAN, parent=10 + n, at=1.0, took=5.0)

        assert watch.findings == []

    def test_something_new_in_between_begins_anew(self) -> None:
        watch = Watch(**ALONE)
        for n in range(6):
            said(watch, PLAN, PLAN, PLAN, f"{VERBS[n]} {n} things are left, and they are others")

        assert watch.stopped is None


RULES: dict[str, tuple[list[str], int]] = {
    "equal": ([PLAN] * 20, 20),
    "alike": (reworded(12) + reworded(8), 20),
    "blank": ([""] * 20, 1),
}


@pytest.mark.parametrize("rule", RULES)
class TestLimits:
    @pytest.mark.parametrize("limit", [3, 5, 9])
    def test_a_rule_stops_at_its_limit_and_not_before(self, rule: str, limit: int) -> None:
        others: dict[str, Any] = {other: 0 for other in RULES if other != rule}
        answers, tokens = RULES[rule]
        watch = said(Watch(**ALONE, **others, **one(rule, limit)), *answers, tokens=tokens)

        assert watch.stopped == limit
        assert [each.severity for _, each in watch.findings] == [Severity.WARN, Severity.STOP]

    def test_zero_switches_it_off(self, rule: str) -> None:
        answers, tokens = RULES[rule]
        watch = said(Watch(**ALONE, **one(rule, 0)), *answers, tokens=tokens)

        assert f"monologue.{rule}" not in [each for _, each in watch.rules]

    def test_its_finding_says_all_that_it_rests_on(self, rule: str) -> None:
        others: dict[str, Any] = {other: 0 for other in RULES if other != rule}
        answers, tokens = RULES[rule]
        watch = said(Watch(**ALONE, **others), *answers, tokens=tokens)

        number, finding = watch.findings[-1]
        assert (finding.detector, finding.rule, finding.reason) == ("monologue", rule, "MONOLOGUE")
        assert (finding.observed, finding.limit, finding.call) == (number, number, number)
        assert [int.from_bytes(span) for span in finding.spans] == list(range(1, number + 1))
        assert finding.first_span_id == (1).to_bytes(8)
        assert len(finding.prints) == 1
        assert finding.cleared_by


def test_how_much_of_a_message_comes_back_can_be_said() -> None:
    assert said(Watch(**ALONE, likeness=0.99), *reworded(12)).stopped is None


def test_the_words_say_what_was_said() -> None:
    watch = said(Watch(), *[PLAN] * 4)

    assert watch.findings[-1][1].message == "gpt-4o said the same 4 times in a row and called nothing"
