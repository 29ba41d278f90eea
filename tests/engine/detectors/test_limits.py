"""What a run may use: it is warned of once, and stopped where its owner or a policy says so."""

from __future__ import annotations

from typing import Any

import pytest
from tests.engine.making import SECOND, ended, span

from spanfuse_processor.engine.calls import Call
from spanfuse_processor.engine.detectors.limits import Limits, LimitsDetector
from spanfuse_processor.engine.nouns import Kind, Usage
from spanfuse_processor.engine.verdicts import Finding

USD = 1_000_000


class Run:
    """A run whose calls begin 10 seconds apart and take one, told to a detector."""

    def __init__(self, **limits: Any) -> None:
        self.detector = LimitsDetector(Limits(**limits), {})
        self.number = 0
        self.now = 0.0
        self.cost = self.tokens = 0
        self.said: list[tuple[int, str, str]] = []
        self.findings: list[Finding] = []

    def call(
        self,
        usd: float = 0.0,
        tokens: tuple[int, ...] = (),
        gap: float = 10.0,
        took: float = 1.0,
        late: float = 0.0,
        window: int = 0,
        kind: Kind = Kind.MODEL,
        **more: Any,
    ) -> Run:
        """One more call; `late` dollars of an earlier one have become known."""
        self.number += 1
        self.now += gap
        usage = Usage(*tokens) if tokens else None
        self.cost += round((usd + late) * USD)
        self.tokens += sum(tokens[:2]) - sum(tokens[2:3])
        start = int(self.now * SECOND)
        event = ended(
            self.number, kind=kind, name="gpt-4o", usage=usage,
            started_ns=start, ended_ns=start + int(took * SECOND), **more,
        )  # fmt: skip
        call = Call(event, "run", self.number, 0, 0, (), True, cost=round(usd * USD) or None)
        call.run_cost, call.run_tokens, call.window = self.cost, self.tokens, window
        finding = self.detector.ended(call)
        if finding is not None:
            self.findings.append(finding)
            self.said.append((self.number, finding.severity.value, finding.rule))
        return self

    def calls(self, count: int, **what: Any) -> Run:
        """Several."""
        for _ in range(count):
            self.call(**what)
        return self


class TestMarks:
    def test_two_dollars_warn_once(self) -> None:
        assert Run().calls(40, usd=0.25).said == [(8, "warn", "run_cost"), (31, "warn", "run_seconds")]

    def test_a_hundred_thousand_tokens_warn_once(self) -> None:
        assert Run().calls(20, tokens=(19_000, 1_000)).said == [(5, "warn", "run_tokens")]

    def test_tokens_from_a_cache_are_not_counted_again(self) -> None:
        assert Run().calls(25, tokens=(19_000, 1_000, 18_000)).said == []

    def test_three_dollars_within_any_minute_warn(self) -> None:
        said = Run(run_cost=0, run_seconds=0).calls(20, usd=0.6).said

        assert said == [(5, "warn", "minute_cost")]

    def test_a_cheap_beginning_does_not_hide_a_dear_minute(self) -> None:
        run = Run(run_cost=0, run_seconds=0).calls(20, usd=0.05)

        assert run.calls(9, usd=0.6).said == [(25, "warn", "minute_cost")]

    def test_what_was_spent_before_anybody_counted_is_in_the_first_minute(self) -> None:
        assert Run(run_cost=0).call(usd=0.7).call(usd=2.3).said == [(2, "warn", "minute_cost")]
        assert Run(run_cost=0).call(usd=0.7).call(usd=2.3, gap=70.0).said == []

    def test_the_same_money_over_more_time_does_not(self) -> None:
        assert Run(run_cost=0, run_seconds=0).calls(40, usd=0.4).said == []

    def test_a_price_that_comes_late_counts_when_it_comes(self) -> None:
        assert Run().call().call(late=1.9).call(usd=0.2).said == [(3, "warn", "run_cost")]

    def test_four_fifths_of_the_models_window_warn(self) -> None:
        run = Run(run_tokens=0).call(tokens=(79_999, 1), window=100_000)

        assert run.call(tokens=(80_000, 1), window=100_000).said == [(2, "warn", "window_share")]

    def test_a_window_that_is_not_known_is_not_full(self) -> None:
        assert Run(run_tokens=0).call(tokens=(900_000, 1)).said == []

    def test_all_of_them_can_be_off(self) -> None:
        off = dict.fromkeys(("run_cost", "minute_cost", "run_tokens", "run_seconds", "window_share"), 0)

        assert Run(**off).calls(90, usd=0.5, tokens=(90_000, 10), window=100_000).said == []


class TestTime:
    def test_five_minutes_at_work_warn(self) -> None:
        assert Run().calls(40).said == [(31, "warn", "run_seconds")]

    def test_a_pause_for_a_person_is_no_time_at_work(self) -> None:
        assert Run().calls(8, gap=400.0, took=20.0).said == []

    def test_one_long_call_is_all_work(self) -> None:
        assert Run().call(took=500.0).said == [(1, "warn", "run_seconds")]

    def test_calls_side_by_side_are_not_added_up(self) -> None:
        assert Run().calls(30, gap=0.0, took=250.0).said == []

    def test_a_call_inside_another_that_ends_later_is_not_counted_twice(self) -> None:
        run = Run(run_seconds=100).call(took=5.0).call(gap=5.0, took=5.0)

        assert run.call(gap=-5.0, took=60.0).said == []


class TestTwins:
    @pytest.mark.parametrize(
        ("twin", "call", "at"),
        [
            ({"run_cost_stop": 3.0}, {"usd": 0.5}, 6),
            ({"run_tokens_stop": 200_000}, {"tokens": (19_000, 1_000)}, 10),
            ({"run_seconds_stop": 600.0}, {}, 61),
            ({"minute_cost_stop": 6.0}, {"usd": 1.5}, 4),
            ({"window_share_stop": 95.0}, {"tokens": (190_000, 1), "window": 200_000}, 1),
        ],
    )
    def test_a_policy_makes_a_hard_cap_of_it(
        self, twin: dict[str, float], call: dict[str, Any], at: int
    ) -> None:
        stops = [(number, rule) for number, how, rule in Run(**twin).calls(70, **call).said if how == "stop"]

        assert stops == [(at, next(iter(twin)))]

    def test_after_a_stop_it_has_no_more_to_say(self) -> None:
        said = Run(run_cost_stop=1.0).calls(50, usd=0.5, tokens=(90_000, 0)).said

        assert said == [(2, "stop", "run_cost_stop")]


class TestOwnBudget:
    def test_a_run_is_warned_at_half_and_four_fifths_and_stopped_at_what_it_may_cost(self) -> None:
        said = Run(run_seconds=0).calls(20, usd=1.0, gap=30.0, budget=10 * USD).said

        assert said == [(5, "warn", "budget"), (8, "warn", "budget_late"), (10, "stop", "budget_stop")]

    def test_both_warnings_at_once_are_the_later_one(self) -> None:
        said = Run(minute_cost=0).call(usd=0.9, budget=USD).call(usd=0.05, budget=USD).said

        assert said == [(1, "warn", "budget"), (2, "warn", "budget_late")]

    def test_the_mark_for_runs_that_say_nothing_is_left_out(self) -> None:
        assert Run().calls(4, usd=1.0, gap=30.0, budget=100 * USD).said == []

    def test_a_policys_cap_holds_all_the_same(self) -> None:
        said = Run(run_cost_stop=3.0).calls(4, usd=1.0, gap=30.0, budget=100 * USD).said

        assert said == [(3, "stop", "run_cost_stop")]

    def test_it_is_remembered_when_other_calls_do_not_say_it(self) -> None:
        run = Run().call(usd=0.1, budget=USD).call(usd=0.1, kind=Kind.TOOL)

        assert run.call(usd=0.8).said == [(3, "stop", "budget_stop")]

    def test_of_two_the_larger_one_is_the_runs(self) -> None:
        run = Run().call(usd=0.5, budget=10 * USD).call(usd=0.6, budget=USD)

        assert run.said == []

    def test_the_message_says_how_much_of_it(self) -> None:
        finding = Run().call(usd=0.5, budget=USD).findings[0]

        assert finding.message == "the run has spent 50 percent of what it may cost"
        assert (finding.observed, finding.limit) == (50.0, 50.0)


def test_a_run_that_was_released_begins_with_a_full_allowance() -> None:
    dear, long = Run(run_cost=0, run_cost_stop=3.0), Run(run_tokens=0, run_tokens_stop=300)
    for _ in range(2):
        dear.calls(3, usd=1.0, gap=30.0)
        long.calls(3, tokens=(90, 10))
        dear.detector = LimitsDetector(Limits(run_cost=0, run_cost_stop=3.0), {})
        long.detector = LimitsDetector(Limits(run_tokens=0, run_tokens_stop=300), {})

    assert dear.said == [(3, "stop", "run_cost_stop"), (6, "stop", "run_cost_stop")]
    assert long.said == [(3, "stop", "run_tokens_stop"), (6, "stop", "run_tokens_stop")]


def test_a_finding_about_the_whole_run_goes_from_its_first_call_to_this_one() -> None:
    finding = Run().calls(3, usd=1.0, gap=30.0).findings[0]

    assert (finding.first_span_id, finding.span_id, finding.call) == (span(1), span(2), 2)
    assert (finding.observed, finding.limit) == (2.0, 2.0)
    assert "budget_usd" in finding.cleared_by


def test_more_money_than_there_is_and_a_call_of_centuries_are_more_than_any_limit() -> None:
    run = Run(minute_cost=0.0, run_cost_stop=1e18).calls(2, usd=1e13, took=1.2e10, gap=1.8e9)

    assert (1, "warn", "run_cost") in run.said
    assert (2, "warn", "run_seconds") in run.said
