"""Monologues: a model that says the same over and over, and does nothing."""

from __future__ import annotations

from typing import Any

import pytest
from tests.engine.detectors.talking import ALONE, LONG, PLAN, VERBS, answered, reworded, said
from tests.engine.detectors.watching import Watch, one

from spanfuse_processor.engine.fingerprint import UNKNOWN
from spanfuse_processor.engine.verdicts import Severity


class TestTheSameMessage:
    def test_the_fifth_equal_one_stops(self) -> None:
        watch = said(Watch(), *[PLAN] * 9)

        assert watch.rules == [(3, "monologue.equal"), (5, "monologue.equal")]

    def test_an_empty_one_is_a_message(self) -> None:
        assert said(Watch(), *[""] * 9).stopped == 5

    def test_whatever_model_says_it(self) -> None:
        watch = Watch()
        for n in range(9):
            said(watch, PLAN, name=f"model-{n % 2}")

        assert watch.stopped == 6  # the second of the other's was not heard

    def test_a_long_one_counts_though_the_conversation_does_not_go_on(self) -> None:
        watch = said(Watch(**ALONE), *[LONG] * 9, tokens=120, grows=0)

        assert watch.stopped == 5

    def test_and_so_it_does_where_no_tokens_are_known(self) -> None:
        watch = Watch(**ALONE)
        for n in range(9):
            watch.model({"turn": n}, LONG)

        assert watch.stopped == 5

    def test_one_that_began_before_the_latest_was_said_beside_it(self) -> None:
        watch = Watch(**ALONE)
        for n in range(7):
            watch.model({"turn": n}, PLAN, tokens=(1_000 + 30 * n, 20), at=10.0 * n)
            if n == 2:
                watch.model({"aside": n}, "something else", tokens=(900, 20), at=15.0, took=8.0)

        assert watch.stopped == 6

    def test_failures_in_between_hide_nothing(self) -> None:
        watch = Watch(**ALONE)
        for _ in range(9):
            said(watch, PLAN)
            watch.model(error="the connection was lost")

        assert watch.stopped == 2 * 6 - 1  # it was a failure that woke the detector


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


class TestOfAFewWords:
    """A word or two is the answer to many things: however often it comes, that only warns."""

    @pytest.mark.parametrize("tokens", [1, 5, 19])
    def test_equal_ones_only_warn(self, tokens: int) -> None:
        watch = answered(Watch(), *[PLAN] * 40, tokens=tokens)

        assert watch.rules == [(3, "monologue.equal")]

    @pytest.mark.parametrize("tokens", [1, 19])
    def test_unless_nobody_brings_anything_to_answer(self, tokens: int) -> None:
        watch = said(Watch(), *["count"] * 40, tokens=tokens, grows=10)

        assert watch.rules == [(3, "monologue.equal"), (13, "monologue.stutter")]
        assert watch.findings[1][1].message == (
            "gpt-4o said the same word or two 12 times in a row and called nothing"
        )

    @pytest.mark.parametrize(
        ("answers", "more"),
        [
            (["spam", "ham"] * 20, {}),  # there is a difference
            (["count"] * 40, {"grows": 101}),  # what is brought is no mere word to go on
            (["count"] * 40, {"grows": 0}),  # no conversation
            ([UNKNOWN] * 40, {}),  # nobody knows what was said
        ],
    )
    def test_which_takes_equal_ones_of_a_conversation_that_goes_on(
        self, answers: list[Any], more: dict[str, Any]
    ) -> None:
        assert said(Watch(), *answers, tokens=3, **{"grows": 8, **more}).stopped is None

    def test_a_heartbeat_is_answered_in_one_word_each_time(self) -> None:
        assert said(Watch(gap=60.0), *["HEARTBEAT_OK"] * 60, tokens=4, grows=20).stopped is None

    def test_and_so_do_ones_in_other_words(self) -> None:
        assert said(Watch(), *reworded(12), tokens=19).rules == [(4, "monologue.alike")]

    def test_where_no_tokens_are_known_the_text_tells(self) -> None:
        watch = Watch(**ALONE)
        for n in range(40):
            watch.model({"turn": n}, "I am done with it.")

        assert watch.stopped is None

    @pytest.mark.parametrize("words", [5, 20, 50])
    def test_how_many_are_few_can_be_said(self, words: int) -> None:
        assert said(Watch(words=words), *[PLAN] * 9, tokens=words).stopped == 5
        assert said(Watch(words=words), *[PLAN] * 9, tokens=words - 1).stopped is None


class TestAConversation:
    """Each request is longer than the one before by what was said, and about as much as the last time."""

    @pytest.mark.parametrize(("tokens", "grows"), [(40, 20), (40, 80), (40, 360)])
    def test_grows_by_about_what_was_said(self, tokens: int, grows: int) -> None:
        assert said(Watch(), *[PLAN] * 9, tokens=tokens, grows=grows).stopped == 5

    @pytest.mark.parametrize(("tokens", "grows"), [(40, 19), (40, 361), (40, 0), (40, -30)])
    def test_by_less_or_more_is_none(self, tokens: int, grows: int) -> None:
        assert said(Watch(), *[PLAN] * 9, tokens=tokens, grows=grows).stopped is None

    @pytest.mark.parametrize(("more", "stopped"), [(30, 5), (60, 5), (61, None)])
    def test_that_grows_unsteadily_is_none(self, more: int, stopped: int | None) -> None:
        watch, size = Watch(), 1_000
        for n in range(40):
            watch.model({"turn": n}, PLAN, tokens=(size, 40))
            size += more if n % 2 else 30

        assert watch.stopped == stopped


class TestBlank:
    def test_six_messages_without_a_word_warn(self) -> None:
        watch = answered(Watch(**ALONE, equal=0), *[""] * 40, tokens=1)

        assert watch.rules == [(6, "monologue.blank_warn")]
        assert watch.findings[0][1].message == "gpt-4o said nothing 6 times in a row and called nothing"

    def test_a_word_is_none(self) -> None:
        answers = [VERBS[n] for n in range(9)]

        assert said(Watch(**ALONE), *answers, tokens=1).findings == []


RULES: dict[str, tuple[list[str], int]] = {
    "equal": ([PLAN] * 20, 20),
    "alike": (reworded(12) + reworded(8), 20),
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
    watch = said(Watch(), *[PLAN] * 5)

    assert watch.findings[-1][1].message == "gpt-4o said the same 5 times in a row and called nothing"
