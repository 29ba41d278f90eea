"""Silence: of a call that is open, of one that has ended, and of a whole run."""

from __future__ import annotations

from math import inf
from typing import Any

import pytest
from tests.engine.making import NOON, SECOND, ended, started

from spanfuse_processor.engine.calls import Call, Open
from spanfuse_processor.engine.detector import MindsTime
from spanfuse_processor.engine.detectors.stuck import MAX_WARNED, StuckDetector, StuckLimits
from spanfuse_processor.engine.events import CallStarted
from spanfuse_processor.engine.nouns import Fingerprints, Kind, Usage
from spanfuse_processor.engine.policy import Effect, ToolRule
from spanfuse_processor.engine.verdicts import Finding

MINUTE, HOUR = 60.0, 3_600.0
Said = tuple[str, str] | None


def detector(tools: dict[str, ToolRule] | None = None, **limits: Any) -> StuckDetector:
    return StuckDetector(StuckLimits(**limits), tools or {})


def said(finding: Finding | None) -> Said:
    """What a finding comes to: how loud, and which rule."""
    return None if finding is None else (finding.severity.value, finding.rule)


def call(number: int = 1, kind: Kind = Kind.TOOL, **more: Any) -> Call:
    """A call that has begun."""
    return Call(started(number, kind=kind, **more), "run", number, 0, 0, (), False)


def asked(at: StuckDetector, quiet: float, of: Call | None = None) -> tuple[Said, float]:
    """What is said of a call that shows no life, and when to ask again."""
    finding, again = at.still_open(Open(of or call(), quiet, quiet, 0.0))
    return said(finding), again


def run_asked(
    at: StuckDetector, idle: float, beat: float | None = None, within: float = 0.0
) -> tuple[Said, float]:
    """The same of a run in which nothing but an agent is open."""
    finding, again = at.still_open(Open(call(kind=Kind.AGENT), 9 * HOUR, idle, idle, beat, within))
    return said(finding), again


def told(
    number: int = 1, took: float = 0.0, kind: Kind = Kind.TOOL, before: float = 0.0, **more: Any
) -> Call:
    """A call that began `number` seconds after noon; the one before it had ended `before` seconds after."""
    began = NOON + number * SECOND
    fields = {"started_ns": began, "ended_ns": began + int(took * SECOND), **more}
    before_ns = NOON + int(before * SECOND)
    return Call(ended(number, kind=kind, **fields), "run", number, 0, 0, (), True, before_ns=before_ns)


def over(at: StuckDetector, number: int = 1, took: float = 0.0, kind: Kind = Kind.TOOL, **more: Any) -> Said:
    """What is said of such a call."""
    return said(at.ended(told(number, took, kind, **more)))


class TestOpenCall:
    def test_it_minds_time(self) -> None:
        assert issubclass(StuckDetector, MindsTime)

    def test_after_a_quarter_of_an_hour_there_is_a_warning_and_after_half_an_hour_a_stop(self) -> None:
        at = detector()

        assert asked(at, 0.0) == (None, 900.0)
        assert asked(at, 899.0) == (None, 1.0)
        assert asked(at, 900.0) == (("warn", "near"), 900.0)
        assert asked(at, 1_800.0) == (("stop", "open"), inf)

    def test_a_model_that_thinks_for_twelve_minutes_is_left_alone(self) -> None:
        assert asked(detector(), 12 * MINUTE, call(kind=Kind.MODEL)) == (None, 180.0)

    @pytest.mark.parametrize("name", ["wait_for_build", "get_job_status", "spawn_helper", "poll"])
    def test_a_tool_that_waits_has_an_hour(self, name: str) -> None:
        at, waiting = detector(), call(name=name)

        assert asked(at, 29 * MINUTE, waiting) == (None, MINUTE)
        assert asked(at, 30 * MINUTE, waiting) == (("warn", "near"), 30 * MINUTE)
        assert asked(at, HOUR, waiting) == (("stop", "waiting"), inf)

    def test_what_a_tool_is_declared_to_do_goes_before_its_name(self) -> None:
        quick = detector({"wait_for_build": ToolRule(effect=Effect.READ)})

        assert asked(quick, 30 * MINUTE, call(name="wait_for_build"))[0] == ("stop", "open")
        assert asked(detector(), 30 * MINUTE, call(name="bash", effect="wait"))[0] == ("warn", "near")

    @pytest.mark.parametrize("name", ["ask_user", "request_human_approval", "ask_followup_question"])
    def test_a_tool_that_asks_a_person_is_warned_of_after_hours_and_never_stopped(self, name: str) -> None:
        at, asking = detector(), call(name=name)

        assert asked(at, HOUR, asking) == (None, 3 * HOUR)
        assert asked(at, 4 * HOUR, asking) == (("warn", "asking"), inf)
        assert over(detector(), took=90 * HOUR, name=name) == ("warn", "asking")

    def test_unless_policy_says_what_it_does(self) -> None:
        at = detector({"ask_user": ToolRule(effect=Effect.READ)})

        assert asked(at, HOUR, call(name="ask_user"))[0] == ("stop", "open")

    def test_a_warning_is_said_once_for_each_call(self) -> None:
        at = detector()

        assert [asked(at, 900.0, call(number))[0] for number in (1, 1, 2)] == [
            ("warn", "near"),
            None,
            ("warn", "near"),
        ]

    def test_warnings_are_bounded_and_make_room_when_calls_end(self) -> None:
        at = detector()
        heard = [asked(at, 900.0, call(number))[0] for number in range(1, MAX_WARNED + 2)]
        assert (heard.count(("warn", "near")), heard[-1]) == (MAX_WARNED, None)

        over(at, 1)

        assert asked(at, 900.0, call(MAX_WARNED + 1))[0] == ("warn", "near")

    def test_a_run_is_stopped_once(self) -> None:
        at = detector()

        assert asked(at, 1_800.0, call(1))[0] == ("stop", "open")
        assert asked(at, 1_800.0, call(2)) == (None, inf)

    def test_neither_agents_nor_what_nobody_knows_is_stuck_by_its_age(self) -> None:
        assert asked(detector(silent=0.0), 9 * HOUR, call(kind=Kind.AGENT)) == (None, inf)
        assert asked(detector(silent=0.0), 9 * HOUR, call(kind=Kind.WORKFLOW)) == (None, inf)
        assert asked(detector(), 9 * HOUR, call(kind=Kind.OTHER)) == (None, inf)

    def test_zero_switches_a_rule_off(self) -> None:
        assert asked(detector(open=0.0), 9 * HOUR) == (None, inf)
        assert asked(detector(near=0.0), 1_000.0) == (None, 800.0)
        assert asked(detector(waiting=0.0), 9 * HOUR, call(name="poll")) == (None, inf)

    def test_the_evidence_names_the_call_and_what_would_have_cleared_it(self) -> None:
        finding, _ = detector().still_open(Open(call(7, name="fetch"), 1_900.0, 1_800.0, 0.0))

        assert finding is not None
        assert finding.message == "fetch has shown no sign of life for 30 min"
        assert (finding.observed, finding.limit, finding.reason) == (1_800.0, 1_800.0, "STUCK")
        assert finding.span_id == finding.first_span_id == call(7).event.span_id
        assert "heartbeat" in finding.cleared_by


class TestEndedCall:
    """Where nobody tells of beginnings, the end is judged."""

    @pytest.mark.parametrize(
        ("more", "outcome"),
        [
            ({"prints": Fingerprints(result="digest of nothing", result_empty=True)}, "brought nothing"),
            ({"kind": Kind.MODEL, "usage": Usage(900, 0)}, "brought nothing"),
            ({"error": "TimeoutError", "prints": Fingerprints(result="x", error="e")}, "failed"),
        ],
    )
    def test_one_that_came_to_nothing_stops_its_run(self, more: dict[str, Any], outcome: str) -> None:
        event = ended(1, started_ns=NOON, ended_ns=NOON + 1_900 * SECOND, name="exec_command", **more)

        finding = detector().ended(Call(event, "run", 1, 0, 0, (), True))

        assert said(finding) == ("stop", "open")
        assert finding is not None and outcome in finding.message
        assert finding.message.startswith("exec_command took 32 min")

    @pytest.mark.parametrize(
        "more",
        [
            {"prints": Fingerprints(result="digest", result_size=9)},
            {"kind": Kind.MODEL, "usage": Usage(9, 9)},
            {"kind": Kind.MODEL, "usage": Usage(0, 0)},
            {"usage": Usage(900, 0)},
        ],
    )
    def test_one_that_brought_something_or_may_have_is_only_warned_of(self, more: dict[str, Any]) -> None:
        assert over(detector(), took=1_900.0, **more) == ("warn", "open")

    def test_shorter_ones_are_left_alone(self) -> None:
        at = detector()

        assert over(at, took=1_799.0) is None
        assert over(at, 5_000, took=3_599.0, name="wait_for_build") is None
        assert over(at, 9_000, took=3_600.0, name="wait_for_build", error="X") == ("stop", "waiting")

    def test_a_long_call_in_which_others_ended_was_not_silent(self) -> None:
        assert over(detector(), 1, took=5_400.0, before=5_340.0) is None

    def test_but_one_after_whose_last_inner_call_nothing_came_was(self) -> None:
        assert over(detector(), 1, took=1_900.0, before=60.1, error="Timeout") == ("stop", "open")

    def test_agents_may_take_as_long_as_they_like(self) -> None:
        assert over(detector(), took=9 * HOUR, kind=Kind.AGENT) is None

    def test_where_calls_are_told_of_while_they_are_open_the_end_is_not_judged_again(self) -> None:
        at = detector()
        asked(at, 0.0)

        assert over(at, took=9 * HOUR) is None

    def test_zero_switches_it_off(self) -> None:
        assert over(detector(open=0.0), took=9 * HOUR) is None

    def test_a_start_says_nothing(self) -> None:
        assert detector().started(call()) is None
        assert detector().ended(call()) is None
        assert isinstance(call().event, CallStarted)


class TestWakes:
    @pytest.mark.parametrize(
        ("of", "wakes"),
        [
            (told(took=1_799.0), False),
            (told(took=1_800.0), True),
            (told(took=1_800.0, before=2.0), False),
            (call(), True),
        ],
    )
    def test_only_what_is_open_and_what_was_open_for_long_wakes_it(self, of: Call, wakes: bool) -> None:
        assert StuckDetector.waker(StuckLimits())(of) is wakes

    def test_what_is_switched_off_wakes_nobody(self) -> None:
        limits = StuckLimits(open=0.0, waiting=0.0, asking=0.0)

        assert not StuckDetector.waker(limits)(told(took=9 * HOUR))


class TestSilentRun:
    def test_half_an_hour_in_which_nothing_happens_is_warned_of_and_no_more(self) -> None:
        at = detector()

        assert run_asked(at, 0.0) == (None, 1_800.0)
        assert run_asked(at, 1_800.0) == (("warn", "silent"), 1_800.0)
        assert run_asked(at, 90 * HOUR) == (None, 1_800.0)

    def test_another_silence_is_another_warning(self) -> None:
        at = detector()

        heard = [run_asked(at, idle)[0] for idle in (1_800.0, 3_600.0, 60.0, 1_800.0)]

        assert heard == [("warn", "silent"), None, None, ("warn", "silent")]

    def test_a_silence_is_another_one_also_where_nobody_looked_in_between(self) -> None:
        at = detector()

        assert [run_asked(at, idle)[0] for idle in (7_000.0, 2_000.0)] == [("warn", "silent")] * 2

    def test_it_can_be_switched_off(self) -> None:
        assert run_asked(detector(silent=0.0), 9 * HOUR) == (None, inf)


class TestHeartbeat:
    def test_a_missing_one_is_warned_of_within_half_a_minute_and_stops_after_a_longer_grace(self) -> None:
        at = detector()

        assert run_asked(at, 60.0, beat=5.0) == (None, 20.0)
        assert run_asked(at, 60.0, beat=25.0) == (("warn", "heartbeat"), 25.0)
        assert run_asked(at, 400.0, beat=325.0) == (("stop", "grace"), 25.0)

    def test_calls_are_as_good_as_heartbeats(self) -> None:
        assert run_asked(detector(), 3.0, beat=9 * HOUR) == (None, 22.0)

    def test_a_promise_of_less_holds(self) -> None:
        at = detector()

        assert run_asked(at, HOUR, beat=599.0, within=600.0) == (None, 1.0)
        assert run_asked(at, HOUR, beat=600.0, within=600.0) == (("warn", "heartbeat"), 300.0)
        assert run_asked(at, HOUR, beat=900.0, within=600.0)[0] == ("stop", "grace")

    def test_a_promise_of_more_is_not_held_against_anybody(self) -> None:
        assert run_asked(detector(), HOUR, beat=20.0, within=1.0) == (None, 5.0)

    def test_who_sends_heartbeats_is_not_silent(self) -> None:
        assert run_asked(detector(), 9 * HOUR, beat=1.0) == (None, 24.0)

    def test_each_missing_one_is_said_anew(self) -> None:
        at = detector()

        heard = [run_asked(at, HOUR, beat=beat)[0] for beat in (30.0, 60.0, 1.0, 30.0)]

        assert heard == [("warn", "heartbeat"), None, None, ("warn", "heartbeat")]

    def test_zero_switches_a_rule_off(self) -> None:
        assert run_asked(detector(heartbeat=0.0), 9 * HOUR, beat=9 * HOUR) == (None, inf)
        assert run_asked(detector(grace=0.0), 9 * HOUR, beat=9 * HOUR)[0] == ("warn", "heartbeat")

    def test_its_words(self) -> None:
        finding, _ = detector().still_open(Open(call(kind=Kind.AGENT), HOUR, HOUR, HOUR, beat=325.0))

        assert finding is not None
        assert finding.message == "no heartbeat for 5 min, and nothing is open"
        assert "heartbeat" in finding.cleared_by
