"""One destination: everything that becomes of a request is counted, and the end is bounded."""

from __future__ import annotations

import threading

from tests.forwarding.scripts import AGAIN, NEVER, QUICK, Bench, Script
from tests.waiting import until

from spanfuse_processor.config_forward import WhenFull
from spanfuse_processor.forwarding.answer import Answer, Outcome
from spanfuse_processor.forwarding.destination import Counts, Terms
from spanfuse_processor.parcel import Parcel


def test_what_is_taken_is_sent_once(bench: Bench) -> None:
    script = Script()
    there = bench.serve(script)

    for body in (b"a", b"b", b"c"):
        there.put(Parcel(body))

    until(lambda: there.letters.waiting == 0)
    assert script.sent == [b"a", b"b", b"c"]
    assert there.counts == Counts(sent=3)


def test_what_may_be_sent_again_is_until_it_is_taken(bench: Bench) -> None:
    script = Script([AGAIN, AGAIN])
    there = bench.serve(script)

    there.put(Parcel(b"a"))

    until(lambda: there.counts.sent == 1)
    assert script.sent == [b"a"] * 3
    assert there.counts == Counts(sent=1, retried=2)


def test_what_is_refused_for_good_is_not_sent_again(bench: Bench) -> None:
    script = Script([NEVER])
    there = bench.serve(script)

    for body in (b"a", b"b"):
        there.put(Parcel(body))

    until(lambda: there.letters.waiting == 0)
    assert script.sent == [b"a", b"b"]
    assert there.counts == Counts(sent=1, refused=1)


def test_what_is_rejected_of_a_request_is_counted_and_not_sent_again(bench: Bench) -> None:
    script = Script([Answer(Outcome.TAKEN, rejected=5)])
    there = bench.serve(script)

    there.put(Parcel(b"a"))

    until(lambda: there.counts.sent == 1)
    assert (script.sent, there.counts.rejected) == ([b"a"], 5)


def test_a_full_line_refuses_or_drops_as_it_is_told(bench: Bench) -> None:
    hold = threading.Event()
    refusing = bench.serve(Script(hold=hold), Terms(capacity=10))
    dropping = bench.serve(Script(hold=hold), Terms(capacity=10, when_full=WhenFull.DROP))
    for each in (refusing, dropping):
        each.put(Parcel(b"x" * 8))

    assert [refusing.refuses(3), refusing.refuses(2)] == [True, False]
    assert not dropping.refuses(3)
    dropping.put(Parcel(b"x" * 3))
    assert dropping.counts.dropped == 1
    hold.set()


def test_lost_events_are_counted_apart(bench: Bench) -> None:
    there = bench.serve(Script([NEVER]))

    there.put(Parcel(b"a", ours=True))

    until(lambda: there.counts.refused == 1)
    assert there.counts.events_lost == 1


def test_a_parcel_that_cannot_be_sent_is_refused_and_a_fault_is_told(bench: Bench) -> None:
    script = Script([ValueError("no JSON"), RuntimeError("a bug")])
    there = bench.serve(script)

    for body in (b"a", b"b", b"c"):
        there.put(Parcel(body))

    until(lambda: there.letters.waiting == 0)
    assert there.counts == Counts(sent=1, refused=2)
    assert bench.faults == ["a bug"]


def test_at_the_end_what_waits_is_sent(bench: Bench) -> None:
    hold = threading.Event()
    script = Script(hold=hold)
    there = bench.serve(script)
    for body in (b"a", b"b", b"c"):
        there.put(Parcel(body))

    there.hurry(5.0)
    hold.set()
    there.close(5.0)

    assert (script.sent, script.closed) == ([b"a", b"b", b"c"], 1)


def test_at_the_end_nobody_is_waited_for_longer_than_told_and_the_rest_is_counted(bench: Bench) -> None:
    there = bench.serve(Script(always=AGAIN), Terms(first=60.0, longest=60.0))
    for body in (b"a", b"b", b"c"):
        there.put(Parcel(body))
    until(lambda: there._quiet_until > 0.0)

    there.hurry(0.05)
    there.close(5.0)

    assert there.counts.dropped == 3
    assert there.letters.waiting == 0


def test_near_the_end_a_request_may_take_only_what_is_left(bench: Bench) -> None:
    hold = threading.Event()
    script = Script(hold=hold)
    there = bench.serve(script)
    for body in (b"a", b"b"):
        there.put(Parcel(body))
    until(lambda: script.sent)

    there.hurry(1.0)
    hold.set()
    there.close(5.0)

    first, second = script.timeouts
    assert (first, second <= 1.0) == (QUICK.timeout, True)
