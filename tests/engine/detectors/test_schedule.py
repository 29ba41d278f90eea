"""Agents that run by a schedule: held to the period that was declared, and to none where nobody did."""

from __future__ import annotations

from typing import Any

from tests.engine.detectors.launching import Said, begun, heard, over, said
from tests.engine.making import Book, ended, span

from spanfuse_processor.engine.calls import Call
from spanfuse_processor.engine.detectors.schedule import KEPT, ScheduleDetector, ScheduleLimits
from spanfuse_processor.engine.engine import Engine
from spanfuse_processor.engine.events import CallStarted
from spanfuse_processor.engine.nouns import Identity
from spanfuse_processor.engine.policy import Match, Policy, PolicyRule

HOUR = 3_600.0


def schedule(events: list[CallStarted], period: float = HOUR, **limits: Any) -> Said:
    return said("schedule", events, period=period, **limits)


def ticks(count: int, gap: float, name: str = "heartbeat") -> list[CallStarted]:
    """An agent that runs again and again, and what it writes in between."""
    events: list[CallStarted] = []
    for n in range(count):
        events += [over(10 + n, 1, name, gap * n), ended(1000 + n, 1)]
    return events


def test_an_hourly_agent_that_runs_each_minute_stops_at_the_fourth_run() -> None:
    assert schedule(ticks(9, gap=60)) == [(3, "warn", "period"), (7, "stop", "period")]


def test_one_that_keeps_its_period_is_never_told_of() -> None:
    assert schedule(ticks(50, gap=HOUR)) == []
    assert schedule(ticks(50, gap=HOUR * 0.55)) == []


def test_without_a_period_there_is_no_schedule() -> None:
    assert schedule(ticks(50, gap=1), period=0) == []


def test_a_run_by_hand_is_warned_of_and_a_run_in_time_begins_anew() -> None:
    now_and_then = [0, 60, HOUR, HOUR + 60, HOUR + 120, 2 * HOUR + 200, 2 * HOUR + 260]
    events: list[CallStarted] = [over(10 + n, 1, "job", at) for n, at in enumerate(now_and_then)]

    assert [(n, grave) for n, grave, _ in schedule(events)] == [(2, "warn"), (4, "warn"), (7, "warn")]


def test_agents_of_other_names_have_clocks_of_their_own() -> None:
    events = [each for pair in zip(ticks(9, HOUR, "a"), ticks(9, HOUR, "b"), strict=True) for each in pair]
    for number, event in enumerate(events):
        event.span_id = span(5_000 + number)

    assert schedule(events) == []


def test_a_run_that_is_told_twice_or_late_is_one() -> None:
    events: list[CallStarted] = []
    for n in range(6):
        events += [begun(10 + n, 0, "job", HOUR * n), over(10 + n, 0, "job", HOUR * n)]

    assert schedule([*events, over(9, 0, "job", 10)]) == []


def test_it_is_declared_for_an_agent_by_a_rule() -> None:
    registry = {"schedule": (ScheduleDetector, ScheduleLimits)}
    rule = PolicyRule(Match(agent=("heartbeat",)), detectors={"schedule": {"period": HOUR}})
    engine = Engine(Policy(rules=(rule,)), Book(), detectors=registry)

    def stops(name: str, of: int) -> list[str]:
        events = [over(10 + n, 1, name, 60 * n, of=of, agent=name) for n in range(6)]
        said = [v.finding for event in events for v in engine.observe(event, 0.0) if v.finding]
        return [finding.severity.value for finding in said]

    assert stops("heartbeat", of=1) == ["warn", "stop"]
    assert stops("chat", of=2) == []


def test_over_the_runs_of_a_feature_it_only_warns() -> None:
    registry = {"schedule": (ScheduleDetector, ScheduleLimits)}
    engine = Engine(Policy(detectors={"schedule": {"period": HOUR}}), Book(), detectors=registry)
    who = Identity(feature="heartbeat")
    runs = [over(1, 0, "beat", 60 * n, of=n + 1, identity=who) for n in range(9)]
    said = [v.finding for event in runs for v in engine.observe(event, 0.0) if v.finding]

    assert [finding.severity.value for finding in said] == ["warn", "warn"]


def test_a_finding_says_when_it_is_due_and_when_it_came() -> None:
    _, finding = heard("schedule", ticks(4, gap=60), period=HOUR)[-1]

    assert finding.message == (
        "agent heartbeat is due every 3600 s and began 60 s after the last time, 3 times in a row"
    )
    assert (finding.observed, finding.limit, finding.reason) == (60, HOUR, "RATE")
    assert finding.spans == tuple(map(span, (10, 11, 12, 13)))


def test_zero_switches_it_off() -> None:
    assert schedule(ticks(9, gap=60), early=0) == []


def test_what_agents_start_has_no_schedule() -> None:
    wakes = ScheduleDetector.waker(ScheduleLimits(period=HOUR))

    assert not wakes(Call(over(1, 2, "x", 0), "run", 1, 1, 1, ("main", "scout"), True))
    assert wakes(Call(over(1, 2, "x", 0), "run", 1, 1, 1, ("main",), True))


def test_without_a_period_nobody_watches() -> None:
    wakes = ScheduleDetector.waker(ScheduleLimits())

    assert not wakes(Call(over(1, 2, "x", 0), "run", 1, 1, 1, ("main",), True))


def test_what_is_remembered_is_bounded() -> None:
    detector = ScheduleDetector(ScheduleLimits(period=HOUR), {})
    for n in range(4 * KEPT):
        detector.ended(Call(over(n + 1, 0, f"agent {n}", n), "run", n, 0, 1, (), True))
        detector.ended(Call(over(900 + n, 0, "same", HOUR * n), "run", n, 0, 1, (), True))

    assert len(detector._agents) == KEPT
    assert len(detector._agents["same"].spans) <= KEPT + 1
