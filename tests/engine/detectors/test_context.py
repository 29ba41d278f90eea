"""Growing requests and summaries in vain: what warns, what stops, and the honest work that looks like it."""

from __future__ import annotations

from typing import Any

import pytest
from tests.engine.detectors.watching import PRINTS, Watch
from tests.engine.making import span

from spanfuse_processor.engine.calls import Call
from spanfuse_processor.engine.detectors.context import ContextDetector, ContextLimits
from spanfuse_processor.engine.events import CallEnded
from spanfuse_processor.engine.nouns import Kind, Usage

K = 1_000


class Agent(Watch):
    """An agent at work whose requests are watched."""

    def __init__(self, gap: float = 4.0, **limits: Any) -> None:
        super().__init__(gap=gap, only=("context",), **limits)

    def asks(self, *tokens: int, output: int = 100, **more: Any) -> Agent:
        """Its model is asked with so many tokens, request after request."""
        for each in tokens:
            self.model(tokens=(each, output), **more)
        return self

    def sums_up(self, *tokens: int, says: str = "The tests fail.", **more: Any) -> Agent:
        """Long answers to long requests."""
        return self.asks(*tokens, output=3 * K, answered=says, **more)

    @property
    def said(self) -> list[tuple[int, str, str]]:
        return [(number, each.severity.value, each.rule) for number, each in self.findings]


class TestRunaway:
    def test_four_calls_that_double_within_half_a_minute_warn(self) -> None:
        agent = Agent().asks(2_000, 2_900, 3_700, 4_000)

        assert agent.said == [(4, "warn", "runaway")]

    @pytest.mark.parametrize(
        ("tokens", "gap"),
        [
            ((2_000, 2_900, 3_700, 3_999), 4.0),  # not long enough
            ((2_001, 2_900, 3_700, 4_001), 4.0),  # not doubled
            ((2_000, 2_900, 2_900, 9_000), 4.0),  # not strictly rising
            ((2_000, 2_900, 3_700, 9_000), 10.1),  # not within half a minute
            ((2_000, 2_900, 9_000), 4.0),  # not four
        ],
    )
    def test_anything_less_does_not(self, tokens: tuple[int, ...], gap: float) -> None:
        assert Agent(gap).asks(*tokens).said == []

    def test_only_the_last_four_count(self) -> None:
        assert Agent().asks(9_000, 1_000, 2_000, 3_000, 8_000).said == [(5, "warn", "runaway")]
        assert Agent().asks(1_000, 4_000, 4_100, 4_200, 4_300, 4_400).said == [(4, "warn", "runaway")]

    def test_it_warns_once_and_never_stops(self) -> None:
        assert Agent().asks(*range(1_000, 90_000, 900)).said == [(5, "warn", "runaway")]

    def test_the_four_calls_are_the_evidence(self) -> None:
        _, finding = Agent().asks(5_000, 2_000, 2_900, 3_700, 4_400).findings[0]

        assert finding.spans == tuple(map(span, (2, 3, 4, 5)))
        assert finding.message == "requests grew from 2000 to 4400 tokens in 4 calls within 12 s"
        assert (finding.observed, finding.limit, finding.reason) == (2.2, 2.0, "CONTEXT")

    def test_more_calls_can_be_asked_for_and_it_can_be_off(self) -> None:
        rising = range(1_000, 9_000, 1_000)

        assert Agent(runaway=6, gap=1.0).asks(*rising).said == [(6, "warn", "runaway")]
        assert Agent(runaway=0).asks(*rising).said == []


class TestJump:
    def test_a_large_request_right_after_small_ones_warns(self) -> None:
        agent = Agent().asks(400, 140 * K, 140 * K)

        assert agent.said == [(2, "warn", "jump")]
        assert agent.findings[0][1].message == "a request of 140000 tokens followed one of 400"

    def test_a_question_about_a_smaller_document_does_not(self) -> None:
        assert Agent().asks(400, 99 * K, 400).said == []
        assert Agent().asks(4 * K, 140 * K).said == []

    def test_it_can_be_off(self) -> None:
        assert Agent(jump=0.0).asks(400, 140 * K).said == []


class TestEndless:
    def test_growth_that_no_window_can_hold_stops(self) -> None:
        agent = Agent(gap=20.0).asks(*range(30 * K, 1_200 * K, 30 * K))

        assert agent.said == [(34, "stop", "endless")]
        assert agent.findings[0][1].observed == 1_020 * K

    def test_a_full_window_of_a_million_does_not(self) -> None:
        assert Agent(gap=20.0).asks(*range(20 * K, 1_000 * K, 20 * K)).said == []

    def test_a_window_that_is_known_to_be_larger_has_its_say(self) -> None:
        detector = ContextDetector(ContextLimits(runaway=0), {})
        stops = []
        for number, tokens in enumerate(range(50 * K, 2_200 * K, 50 * K), 1):
            event = CallEnded(bytes(16), span(number), b"", number, Kind.MODEL, "m", usage=Usage(tokens, 1))
            finding = detector.ended(Call(event, "run", number, 0, 0, (), True, window=2_000 * K))
            stops += [tokens] if finding is not None else []

        assert stops == [2_000 * K]

    def test_large_requests_from_the_beginning_are_somebodys_wish(self) -> None:
        assert Agent(gap=20.0).asks(*range(100 * K, 1_900 * K, 50 * K)).said == []

    def test_a_few_large_steps_only_warn(self) -> None:
        assert Agent(gap=20.0).asks(1 * K, 300 * K, 800 * K, 1_500 * K).said == [(2, "warn", "jump")]

    def test_a_policy_can_stop_earlier(self) -> None:
        agent = Agent(gap=20.0, endless_tokens=500 * K).asks(*range(30 * K, 1_200 * K, 30 * K))

        assert agent.said == [(20, "stop", "endless")]


class TestInVain:
    def test_the_fourth_request_that_no_summary_has_made_shorter_stops(self) -> None:
        agent = Agent(gap=60.0).sums_up(*[200 * K] * 5)

        assert agent.said == [(3, "warn", "in_vain"), (4, "stop", "in_vain")]
        assert agent.findings[1][1].spans == tuple(map(span, (1, 2, 3)))

    def test_savings_of_less_than_a_tenth_are_none(self) -> None:
        assert Agent(gap=1_800.0).sums_up(*range(120 * K, 110 * K, -500)).stopped == 4

    def test_a_summary_that_frees_more_begins_anew(self) -> None:
        agent = Agent(gap=60.0)
        for _ in range(5):
            agent.sums_up(180 * K, 178 * K).asks(90 * K)

        assert agent.said == []

    def test_a_history_that_goes_on_growing_was_not_summed_up(self) -> None:
        assert Agent(gap=60.0).sums_up(*range(60 * K, 90 * K, 3 * K)).said == []

    def test_new_results_in_between_are_work(self) -> None:
        agent = Agent(gap=60.0)
        for number in range(8):
            agent.sums_up(160 * K)
            agent.tool("read", {"path": f"/{number}"}, f"text {number}")

        assert agent.said == []

    def test_the_same_result_again_is_not(self) -> None:
        agent = Agent(gap=30.0)
        for _ in range(5):
            agent.sums_up(160 * K)
            agent.tool("read", {"path": "/rules.md"}, "the rules")

        assert agent.said == [(5, "warn", "in_vain"), (7, "stop", "in_vain")]

    def test_calls_that_are_no_summaries_may_come_between(self) -> None:
        agent = Agent(gap=30.0)
        for _ in range(4):
            agent.sums_up(160 * K).asks(158 * K)

        assert agent.stopped == 6

    def test_a_batch_of_documents_of_one_size_only_warns(self) -> None:
        agent = Agent(gap=20.0)
        for number in range(40):
            agent.sums_up(60 * K, says=f"{'abcdefgh'[number % 8]} writes of {'stuvwxyz'[number // 8]}")

        assert agent.said == [(3, "warn", "in_vain")]

    def test_samples_of_one_answer_only_warn(self) -> None:
        agent = Agent(gap=20.0)
        for words in (
            "It rained all day.",
            "All day it rained!",
            "It rained, all day.",
            "Rained it all day?",
        ):
            agent.sums_up(60 * K, says=words, asked="how was the weather")

        assert agent.said == [(3, "warn", "in_vain")]

    def test_summaries_in_other_words_say_the_same(self) -> None:
        agent = Agent(gap=60.0)
        for step in ("first", "second", "third", "fourth"):
            words = "The build fails because the schema of the orders table changed and no migration was run"
            agent.sums_up(150 * K, says=f"{words} in the {step} try.", asked=f"sum up {step}")

        assert PRINTS.fingerprints(result="The build fails").result_sketch != 0
        assert agent.stopped == 4

    def test_where_nobody_knows_what_they_say_it_only_warns(self) -> None:
        assert Agent(gap=60.0).asks(*[200 * K] * 9, output=3 * K).said == [(3, "warn", "in_vain")]

    def test_short_answers_and_short_requests_are_no_summaries(self) -> None:
        assert Agent(gap=60.0).asks(*[200 * K] * 9, output=900, answered="x").said == []
        assert Agent(gap=60.0).sums_up(*[49 * K] * 9).said == []

    def test_it_can_be_off(self) -> None:
        assert Agent(gap=60.0, in_vain=0).sums_up(*[200 * K] * 9).said == []


def test_a_call_that_a_layer_above_tells_of_again_is_one_call() -> None:
    growing, long = Agent(gap=8.0), Agent(gap=60.0)
    for tokens in (2_000, 2_900, 3_700, 4_400):
        growing.asks(tokens, took=2.0)
        growing.asks(tokens, at=growing.now - 0.5, took=3.0)
    for at in (0.0, -0.1, -0.2, -0.3, -0.4):
        long.sums_up(200 * K, at=100.0 + at, took=30.0 - 2 * at)

    assert growing.said == [(7, "warn", "runaway")]
    assert long.said == []


def test_a_failed_call_has_no_length() -> None:
    agent = Agent().asks(2_000, 2_900, 3_700)
    agent.model(error="overloaded")

    assert agent.asks(4_400).said == [(5, "warn", "runaway")]
