"""Single steps: slow ones by a moving average, dear ones, and those that are tried again and again."""

from __future__ import annotations

from typing import Any

from tests.engine.making import NOON, SECOND, ended, span

from spanfuse_processor.engine.calls import Call
from spanfuse_processor.engine.detectors.steps import MOST_NAMES, StepLimits, StepsDetector
from spanfuse_processor.engine.nouns import Fingerprints, Kind
from spanfuse_processor.engine.verdicts import Finding

USD = 1_000_000


class Steps:
    """Calls of one run, told to a detector, which is made when one of them wakes it."""

    def __init__(self, **limits: Any) -> None:
        self.limits = StepLimits(**limits)
        self.wakes = StepsDetector.waker(self.limits)
        self.detector: StepsDetector | None = None
        self.number = 0
        self.now = 0.0
        self.said: list[tuple[int, str, str]] = []
        self.findings: list[Finding] = []

    def call(
        self,
        took: float = 1.0,
        name: str = "search",
        effect: str = "",
        usd: float = 0.0,
        kind: Kind = Kind.TOOL,
        arguments: str = "",
        error: str = "",
        lane: object = None,
        at: float | None = None,
    ) -> Steps:
        """One more call, after the one before; `arguments` and `error` stand for their digests."""
        self.number += 1
        start = NOON + int((self.now if at is None else at) * SECOND)
        self.now = max(self.now, (start - NOON) / SECOND + took)
        prints = Fingerprints(arguments, arguments, error=error) if arguments else None
        end = start + int(took * SECOND)
        event = ended(self.number, kind=kind, name=name, started_ns=start, ended_ns=end, prints=prints)
        event.error = error
        call = Call(event, "run", self.number, 0, 0, (), True, cost=round(usd * USD) or None)
        call.effect, call.lane = effect, lane
        if self.detector is None and self.wakes(call):
            self.detector = StepsDetector(self.limits, {})
        finding = self.detector.ended(call) if self.detector is not None else None
        if finding is not None:
            self.findings.append(finding)
            self.said.append((self.number, finding.severity.value, finding.rule))
        return self

    def all(self, *took: float, **what: Any) -> list[tuple[int, str, str]]:
        """What is said of calls that take so long."""
        for each in took:
            self.call(each, **what)
        return self.said


class TestSlowSteps:
    def test_one_spike_however_high_is_no_slow_step(self) -> None:
        assert Steps().all(1, 1, 3_600, 1, 1, 900, 1) == []

    def test_spikes_far_apart_do_not_add_up(self) -> None:
        assert Steps().all(*[600, 1, 1, 1, 1] * 10) == []

    def test_a_step_that_is_slow_time_and_again_warns_once(self) -> None:
        assert Steps().all(60, 60, 60, 60, 60) == [(3, "warn", "seconds")]

    def test_a_little_over_the_limit_takes_longer_to_be_told(self) -> None:
        assert Steps().all(*[31] * 12) == [(11, "warn", "seconds")]

    def test_a_fast_call_in_between_is_averaged_in(self) -> None:
        assert Steps().all(50, 50, 50, 1, 50, 50, 50) == [(7, "warn", "seconds")]

    def test_just_under_the_limit_is_never_told(self) -> None:
        assert Steps().all(*[29] * 50) == []

    def test_models_are_steps_too(self) -> None:
        assert Steps().all(50, 50, 50, 50, kind=Kind.MODEL) == [(4, "warn", "seconds")]

    def test_tools_are_told_apart(self) -> None:
        steps = Steps()
        for name in "abcdefgh" * 2:
            steps.call(60, name)

        assert steps.said == []
        assert steps.call(60, "a").said == [(17, "warn", "seconds")]

    def test_commands_may_take_ten_times_as_long(self) -> None:
        assert Steps().all(*[250] * 20, effect="exec") == []
        assert Steps().all(*[600] * 5, effect="exec") == [(3, "warn", "command_seconds")]

    def test_what_waits_or_is_an_agent_takes_as_long_as_it_likes(self) -> None:
        assert Steps().all(*[3_000] * 9, effect="wait") == []
        assert Steps().all(*[3_000] * 9, effect="spawn") == []

    def test_one_slow_call_that_is_told_by_several_layers_is_one(self) -> None:
        steps = Steps()
        for layer in range(5):
            steps.call(900 + layer, at=100.0 - layer / 2)

        assert steps.said == []

    def test_slow_calls_side_by_side_are_no_trend(self) -> None:
        steps = Steps()
        for _ in range(9):
            steps.call(90, at=0.0)

        assert steps.said == []

    def test_the_average_is_the_evidence(self) -> None:
        steps = Steps()
        steps.all(60, 60, 60)

        assert (round(steps.findings[0].observed, 1), steps.findings[0].limit) == (30.6, 30.0)
        assert steps.findings[0].message == "search takes 31 s, call after call"

    def test_a_policy_can_stop_at_slow_steps(self) -> None:
        said = Steps(seconds_stop=100.0).all(*[200] * 6)

        assert said == [(2, "warn", "seconds"), (3, "stop", "seconds_stop")]

    def test_without_limits_nothing_is_remembered(self) -> None:
        steps = Steps(seconds=0.0, command_seconds=0.0)

        assert steps.all(*[3_000] * 9) == []
        assert steps.detector is None

    def test_only_so_many_slow_tools_are_remembered(self) -> None:
        steps = Steps()
        for number in range(100):
            steps.call(600, f"tool {number}")

        assert steps.detector._slow is not None
        assert len(steps.detector._slow) == MOST_NAMES


class TestDearSteps:
    def test_half_a_dollar_for_one_call_warns_once(self) -> None:
        steps = Steps().call(usd=0.49).call(usd=0.5).call(usd=0.9)

        assert steps.said == [(2, "warn", "cost")]
        assert steps.findings[0].message == "a call of search cost 0.50 USD"

    def test_a_policy_can_stop_at_it(self) -> None:
        assert Steps(cost_stop=5.0).call(usd=6.0).said == [(1, "stop", "cost_stop")]


class TestRetries:
    def test_the_third_retry_of_a_failing_step_warns_once(self) -> None:
        steps = Steps()
        for _ in range(6):
            steps.call(arguments="a", error="timeout")

        assert steps.said == [(4, "warn", "retries")]
        assert steps.findings[0].spans == tuple(map(span, (1, 2, 3, 4)))
        assert (steps.findings[0].first_span_id, steps.findings[0].prints) == (span(1), ("a",))
        assert steps.findings[0].message == "search was tried again 3 times in a row after it had failed"

    def test_a_retry_counts_even_when_it_succeeds_at_last(self) -> None:
        steps = Steps()
        for error in ("timeout", "timeout", "timeout", ""):
            steps.call(arguments="a", error=error)

        assert steps.said == [(4, "warn", "retries")]

    def test_another_call_of_the_same_tool_is_no_retry(self) -> None:
        steps = Steps()
        for arguments in "abcabcabc":
            steps.call(arguments=arguments, error="not found")

        assert steps.said == []

    def test_a_success_in_between_begins_anew(self) -> None:
        steps = Steps()
        for error in ("x", "x", "", "x", "x", "x"):
            steps.call(arguments="a", error=error)

        assert steps.said == []

    def test_without_arguments_tools_cannot_be_compared_but_models_are(self) -> None:
        tools, models = Steps(), Steps()
        for _ in range(6):
            tools.call(error="tool_error")
            models.call(kind=Kind.MODEL, error="429")

        assert (tools.said, models.said) == ([], [(4, "warn", "retries")])

    def test_a_models_turn_between_two_attempts_of_a_tool_does_not_part_them(self) -> None:
        steps = Steps()
        for _ in range(4):
            steps.call(arguments="a", error="x").call(kind=Kind.MODEL, arguments="m")

        assert steps.said == [(7, "warn", "retries")]

    def test_agents_side_by_side_do_not_retry_for_each_other(self) -> None:
        steps = Steps()
        for _ in range(3):
            for lane in ("one", "two", "three"):
                steps.call(arguments="a", error="x", lane=lane)

        assert steps.said == []

    def test_failures_side_by_side_and_those_told_twice_are_no_retries(self) -> None:
        steps = Steps()
        for layer in range(9):
            steps.call(arguments="a", error="x", at=5.0 - layer / 10, took=1.0 + layer / 5)

        assert steps.said == []

    def test_long_chains_keep_their_first_call_and_the_latest(self) -> None:
        steps = Steps(retries=30)
        for _ in range(31):
            steps.call(arguments="a", error="x")

        spans = steps.findings[0].spans
        assert (len(spans), spans[0], spans[1], spans[-1]) == (16, span(1), span(17), span(31))

    def test_a_policy_can_stop_at_it(self) -> None:
        steps = Steps(retries_stop=5)
        for _ in range(9):
            steps.call(arguments="a", error="x")

        assert steps.said == [(4, "warn", "retries"), (6, "stop", "retries_stop")]

    def test_only_so_many_agents_failing_steps_are_remembered(self) -> None:
        steps = Steps()
        for lane in range(100):
            steps.call(arguments="a", error="x", lane=lane)

        assert steps.detector._tried is not None
        assert len(steps.detector._tried) == MOST_NAMES
