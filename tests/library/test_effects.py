"""What directives did: counted, timed, drained once."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.library.making import Clock

from spanfuse.effects import ENDS, RECORDS, Ledger
from spanfuse_processor.engine.nouns import BreakerKey, Level
from spanfuse_processor.engine.verdicts import Action, Directive, Evidence


def order(name: str = "d", revision: int = 1, spans: tuple[bytes, ...] = ()) -> Directive:
    return Directive(name, revision, BreakerKey(Level.RUN, "r"), evidence=Evidence(span_ids=spans))


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def ledger(clock: Clock) -> Ledger:
    return Ledger(clock)


def test_effects_add_up_and_the_first_is_timed(ledger: Ledger, clock: Clock) -> None:
    ledger.in_force(order())
    clock.pass_(0.5)
    ledger.add(order(), not_interruptible=1)
    ledger.add(order(), refused=1)
    clock.pass_(0.5)
    ledger.add(order(), refused=1, cancelled=2)

    record = ledger.of(order())

    assert (record.calls_refused, record.tasks_cancelled, record.not_interruptible) == (2, 2, 1)
    assert record.applied_after == pytest.approx(0.5)


def test_a_kill_is_timed_from_the_end_of_the_last_offending_span(ledger: Ledger, clock: Clock) -> None:
    ledger.ended(b"early", clock())
    clock.pass_(1.0)
    ledger.ended(b"last", clock())
    clock.pass_(0.003)

    ledger.in_force(order(spans=(b"early", b"last")))

    assert ledger.of(order()).kill_latency == pytest.approx(0.003)


def test_a_span_that_ended_elsewhere_times_nothing(ledger: Ledger) -> None:
    ledger.in_force(order(spans=(b"unknown",)))
    ledger.in_force(order("manual"))

    assert [record.kill_latency for record in ledger.drain()] == [None, None]


def test_what_was_drained_is_not_drained_again_until_it_changes(ledger: Ledger) -> None:
    ledger.add(order(), refused=1)

    first = ledger.drain()
    nothing = ledger.drain()
    ledger.add(order(), refused=1)
    second = ledger.drain()

    assert ([record.calls_refused for record in first], nothing) == ([1], [])
    assert [record.calls_refused for record in second] == [2]


def test_a_newer_revision_begins_a_new_record(ledger: Ledger) -> None:
    ledger.add(order(revision=1), refused=3)
    ledger.add(order(revision=2), refused=1)

    assert ledger.of(order(revision=2)).calls_refused == 1


def test_everything_is_bounded(ledger: Ledger) -> None:
    for number in range(max(ENDS, RECORDS) + 100):
        ledger.ended(number.to_bytes(8, "big"), 1.0)
        ledger.add(order(str(number)), refused=1)

    assert len(ledger.drain()) == RECORDS
    ledger.in_force(order("late", spans=((0).to_bytes(8, "big"),)))
    assert ledger.of(order("late")).kill_latency is None  # that end is forgotten


def test_what_is_spared_adds_up_too_and_the_first_of_it_is_timed(ledger: Ledger, clock: Clock) -> None:
    ledger.in_force(order())
    clock.pass_(0.5)
    ledger.spare(order(), not_degraded=1)
    ledger.spare(order(), throttled=1)
    clock.pass_(2.0)
    ledger.spare(order(), waited=2.0, degraded=2)
    ledger.spare(order(), not_degraded=1)

    record = ledger.of(order())

    assert (record.calls_throttled, record.throttled_for) == (1, 2.0)
    assert (record.calls_degraded, record.calls_not_degraded) == (2, 2)
    assert record.applied_after == pytest.approx(0.5)
    assert ledger.drain() == [record]


def test_what_slows_calls_is_no_kill_and_not_timed_as_one(ledger: Ledger, clock: Clock) -> None:
    ledger.ended(b"last", clock())

    ledger.in_force(replace(order(spans=(b"last",)), action=Action.THROTTLE))

    assert ledger.of(order()).kill_latency is None
