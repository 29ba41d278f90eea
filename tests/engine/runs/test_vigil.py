"""The vigil, at work in an engine: what never ends is noticed, in host time, whoever tells of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from tests.engine.driving import KEY, RUN, look, order, tell
from tests.engine.making import NOON, Book, ended, span, started, trace

from spanfuse_processor.engine.detectors.stuck import StuckDetector, StuckLimits
from spanfuse_processor.engine.engine import Engine
from spanfuse_processor.engine.events import CallOpen, Heartbeat
from spanfuse_processor.engine.nouns import Kind
from spanfuse_processor.engine.orders import OrderKind
from spanfuse_processor.engine.policy import Bounds, Policy
from spanfuse_processor.engine.runs.open_calls import LEASE
from spanfuse_processor.engine.verdicts import BreakerState, Mode, Verdict

AGENT = Kind.AGENT
MINUTE = 60.0


def watching(bounds: Bounds | None = None, mode: Mode = Mode.ENFORCE, **limits: Any) -> Engine:
    """An engine that knows nothing but silence."""
    said: Mapping[str, Any] = {"stuck": limits}
    policy = Policy(mode=mode, detectors=said, bounds=bounds or Bounds())
    return Engine(policy, Book(), detectors={"stuck": (StuckDetector, StuckLimits)})


def goes_on(number: int, parent: int = 0, kind: Kind = Kind.TOOL, of: int = 1, **signs: float) -> CallOpen:
    """Somebody says that a call is open."""
    return CallOpen(trace(of), span(number), span(parent), NOON, kind, kind.value, **signs)


def until(engine: Engine, end: float, told: Sequence[CallOpen] = (), every: float = 10.0) -> list[Verdict]:
    """Lets time pass as a host does: it comes when it is due, and tells of what is open every 10 seconds."""
    said: list[Verdict] = []
    now, next_told = 0.0, 0.0
    while now < end:
        due = engine.next_deadline()
        now = min(end, next_told, end if due is None else max(due, now + 0.01))
        if now >= next_told:
            next_told += every
            for event in told:
                event.open_for, event.quiet_for = now, max(0.0, now)
                said += engine.observe(event, now)
        said += engine.advance(now)
    return said


def spoken(verdicts: list[Verdict]) -> list[tuple[str, str]]:
    return [(each.finding.severity.value, each.finding.rule) for each in verdicts if each.finding]


def test_a_call_that_never_ends_is_warned_of_and_then_stops_its_run() -> None:
    engine = watching()
    tell(engine, [started(1, kind=AGENT), started(2, 1)])

    assert spoken(until(engine, 29 * MINUTE)) == [("warn", "near")]
    assert look(engine).state is BreakerState.CLOSED

    (verdict,) = until(engine, 31 * MINUTE)
    finding = verdict.finding
    assert finding is not None and verdict.directive is not None
    assert (finding.rule, finding.observed, finding.span_id) == ("open", 1_800, span(2))
    assert (verdict.directive.key, verdict.directive.reason) == (KEY, "STUCK")
    assert verdict.directive.cancel_in_flight
    assert look(engine).state is BreakerState.OPEN


def test_the_deadline_of_the_next_question_is_the_engines() -> None:
    engine = watching()
    tell(engine, [started(1)])
    engine.advance(0.0)

    assert engine.next_deadline() == 900.0


def test_a_run_whose_calls_have_ended_costs_nothing() -> None:
    engine = watching()
    tell(engine, [started(1), ended(1)])
    engine.advance(0.0)

    run = engine._runs.get(RUN)
    assert run is not None and run.open is None  # type: ignore[union-attr]
    assert engine._vigil.next_deadline() is None


def test_deadlines_do_not_pile_up() -> None:
    engine = watching()
    tell(engine, [started(1, kind=AGENT)])
    for number in range(2, 500):
        tell(engine, [started(number, 1)], now=float(number))
        engine.advance(float(number))
        tell(engine, [ended(number, 1)], now=number + 0.5)

    engine.advance(10_000.0)

    assert len(engine._vigil._deadlines) == 1


def test_what_waits_is_not_put_away_as_idle() -> None:
    engine = watching(Bounds(idle=60.0))
    tell(engine, [started(1, kind=AGENT), started(2, 1)])

    assert spoken(until(engine, 31 * MINUTE)) == [("warn", "near"), ("stop", "open")]
    assert look(engine).live


def test_no_time_to_be_idle_is_no_endless_loop() -> None:
    engine = watching(Bounds(idle=0.0))
    tell(engine, [started(1)])

    engine.advance(1.0)

    assert not look(engine).live


class TestTold:
    """Open calls as hosts tell of them."""

    def test_while_it_is_told_of_a_call_is_stuck_as_any_other(self) -> None:
        engine = watching()

        said = until(engine, 31 * MINUTE, [goes_on(1, kind=AGENT), goes_on(2, 1)])

        assert spoken(said) == [("warn", "near"), ("stop", "open")]

    def test_a_process_that_has_died_leaves_nothing_stuck_behind(self) -> None:
        engine = watching(Bounds(idle=10_000.0))
        tell(engine, [goes_on(1, kind=AGENT), goes_on(2, 1)])

        assert until(engine, 120 * MINUTE) == []
        assert look(engine).verdict == "ok"

    def test_what_was_out_of_sight_is_not_held_to_have_been_silent(self) -> None:
        """A processor that starts anew, or was cut off, knows nothing of what was at work inside."""
        engine = watching(Bounds(idle=10_000.0))
        tell(engine, [goes_on(1)])
        until(engine, 45 * MINUTE)

        said: list[tuple[float, str]] = []
        for now in range(45 * 60, 76 * 60, 30):
            tell(engine, [goes_on(1, open_for=now, quiet_for=now)], now=now)
            said += [(now, rule) for _, rule in spoken(list(engine.advance(now)))]

        assert said == [(45 * 60 + 870, "near"), (45 * 60 + 1_770, "open")]

    def test_a_sign_of_life_wakes_no_run_that_was_put_away(self) -> None:
        engine = watching(Bounds(idle=60.0))
        tell(engine, [goes_on(1, kind=AGENT), ended(2, 1)])
        until(engine, 10 * MINUTE)
        assert not look(engine).live

        tell(engine, [goes_on(1, kind=AGENT, open_for=10.0)], now=601.0)

        assert not look(engine).live
        assert engine.stats().late == 1

    def test_but_a_run_that_was_only_out_of_sight_goes_on(self) -> None:
        """Its own clock says that it lives long after it was last seen."""
        engine = watching(Bounds(idle=60.0))
        tell(engine, [goes_on(1, kind=AGENT), ended(2, 1)])
        until(engine, 10 * MINUTE)

        tell(engine, [goes_on(1, kind=AGENT, open_for=600.0)], now=600.0)

        assert look(engine).live
        assert engine.stats().resumed == 1


class TestHeartbeats:
    def test_a_run_that_promised_heartbeats_is_noticed_within_half_a_minute(self) -> None:
        engine = watching()
        agent = goes_on(1, kind=AGENT)
        engine.observe(agent, 0.0)
        engine.observe(Heartbeat(RUN), 0.0)

        said = until(engine, 30.0, [agent])
        assert spoken(said) == [("warn", "heartbeat")]
        assert [each.directive for each in said] == [None]

        assert spoken(until(engine, 10 * MINUTE, [agent])) == [("stop", "grace")]

    def test_while_it_keeps_its_promise_nothing_is_said(self) -> None:
        engine = watching()
        agent = goes_on(1, kind=AGENT)
        engine.observe(agent, 0.0)

        said: list[Verdict] = []
        for second in range(0, 7_200, 20):
            agent.open_for = agent.quiet_for = float(second)
            engine.observe(agent, second)
            engine.observe(Heartbeat(RUN), second)
            said += engine.advance(second + 19.0)

        assert said == []

    def test_a_run_without_heartbeats_may_compute_for_ever(self) -> None:
        engine = watching()

        said = until(engine, 600 * MINUTE, [goes_on(1, kind=AGENT)])

        assert {severity for severity, _ in spoken(said)} == {"warn"}
        assert look(engine).state is BreakerState.CLOSED

    def test_a_heartbeat_of_nobody_is_nothing(self) -> None:
        engine = watching()

        assert engine.observe(Heartbeat("unknown"), 0.0) == ()
        assert engine.stats().runs == 0

    def test_a_run_that_was_out_of_sight_owes_none_for_that_time(self) -> None:
        engine = watching(Bounds(idle=10_000.0))
        engine.observe(goes_on(1, kind=AGENT), 0.0)
        engine.observe(Heartbeat(RUN), 0.0)
        until(engine, 20.0)

        engine.observe(goes_on(1, kind=AGENT, open_for=1_200.0, quiet_for=1_200.0), 1_200.0)

        assert engine.advance(1_200.0) == ()
        assert spoken(list(engine.advance(1_226.0))) == [("warn", "heartbeat")]

    def test_a_run_that_is_over_owes_none(self) -> None:
        engine = watching(Bounds(idle=10_000.0))
        engine.observe(goes_on(1, kind=AGENT), 0.0)
        engine.observe(Heartbeat(RUN), 0.0)
        engine.observe(ended(1, kind=AGENT), 1.0)

        assert until(engine, 60 * MINUTE) == []


def test_after_a_release_a_call_gets_its_time_again() -> None:
    engine = watching()
    tell(engine, [started(1)])
    until(engine, 31 * MINUTE)
    order(engine, OrderKind.RELEASE, now=31 * MINUTE)

    assert spoken(list(engine.advance(45 * MINUTE))) == []
    assert spoken(list(engine.advance(46 * MINUTE))) == [("warn", "near")]
    assert spoken(list(engine.advance(61 * MINUTE))) == [("stop", "open")]


def test_runs_that_turn_out_to_be_one_wait_for_what_either_waited_for() -> None:
    engine = watching()
    tell(engine, [started(1, of=1, joins=("conversation:a",))])
    tell(engine, [started(2, of=2, joins=("conversation:b",))])
    tell(engine, [ended(3, of=1, joins=("conversation:a", "conversation:b"))])

    said = engine.advance(30 * MINUTE)

    assert {each.run for each in said} == {RUN}
    assert [each.finding.rule for each in said if each.finding] == ["open"]


def test_a_policy_that_only_observes_stops_nothing() -> None:
    engine = watching(mode=Mode.SHADOW)
    tell(engine, [started(1)])

    (*_, verdict) = until(engine, 31 * MINUTE)

    assert verdict.directive is not None
    assert verdict.directive.mode is Mode.SHADOW
    assert look(engine).state is BreakerState.CLOSED


@pytest.mark.parametrize("seconds", [LEASE - 1, LEASE + 1])
def test_a_call_is_believed_to_be_open_for_three_tellings(seconds: float) -> None:
    engine = watching(open=20.0)
    tell(engine, [goes_on(1)])

    assert bool(engine.advance(seconds)) is (seconds < LEASE)
