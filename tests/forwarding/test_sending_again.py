"""What may be sent again is: later and later, never longer than it is worth, and in nobody's way."""

from __future__ import annotations

from tests.forwarding.scripts import AGAIN, QUICK, TAKEN, Bench, Script, Still
from tests.waiting import until

from spanfuse_processor.forwarding.answer import Answer, Outcome
from spanfuse_processor.forwarding.destination import Destination, Terms
from spanfuse_processor.forwarding.letters import Letter
from spanfuse_processor.parcel import Parcel


def test_it_waits_as_long_as_the_destination_asks_for(bench: Bench) -> None:
    script = Script([Answer(Outcome.AGAIN, wait=30.0)])
    there = bench.serve(script)
    there.put(Parcel(b"a"))
    until(lambda: there.counts.retried == 0 and script.sent)

    bench.clock.ahead += 29.0
    there.put(Parcel(b"b"))  # wakes whoever waits for a letter, not for the end of the quiet
    assert script.sent == [b"a"]

    bench.clock.ahead += 2.0
    there.hurry(60.0)
    until(lambda: there.counts.sent == 2)


def test_no_destination_is_waited_for_longer_than_a_minute(bench: Bench) -> None:
    script = Script([Answer(Outcome.AGAIN, wait=9_999.0)])
    there = bench.serve(script)
    there.put(Parcel(b"a"))
    until(lambda: script.sent)

    until(lambda: there._quiet_until > 0.0)
    assert there._quiet_until - bench.clock.monotonic() <= QUICK.longest_told


def test_what_is_too_old_is_let_go_and_counted(bench: Bench) -> None:
    there = bench.serve(Script(always=AGAIN), Terms(first=0.001, longest=0.001, max_age=5.0))
    there.put(Parcel(b"a"))
    there.put(Parcel(b"b"))
    until(lambda: there.counts.retried > 1)

    bench.clock.ahead += 6.0

    until(lambda: there.counts.dropped == 2)
    assert there.letters.waiting == 0


def test_the_quiet_after_a_failure_is_for_all_who_send(bench: Bench) -> None:
    script = Script([Answer(Outcome.AGAIN, wait=30.0)])
    there = bench.serve(script, threads=4)
    there.put(Parcel(b"a"))
    until(lambda: there._quiet_until > 0.0)

    there.put(Parcel(b"b"))
    there.hurry(0.05)

    assert there._next() is None
    there.close(5.0)
    assert script.sent == [b"a"]


def test_delays_double_up_to_a_limit_and_begin_anew_when_it_is_well() -> None:
    clock = Still()
    there = Destination("there", [], Terms(first=1.0, longest=5.0), clock, lambda *_: None, roll=lambda: 1.0)
    delays = []

    for answer in (AGAIN, AGAIN, AGAIN, AGAIN, AGAIN, TAKEN, AGAIN):
        there.put(Parcel(b"x"))
        letter = there._next()
        assert letter is not None
        there._deliver(Script([answer]), letter)
        there.letters.give_up()
        delays.append(there._quiet_until - clock.now)
        clock.now = max(clock.now, there._quiet_until)

    assert delays == [1.0, 2.0, 4.0, 5.0, 5.0, 0.0, 1.0]


def test_a_part_of_every_delay_is_dice_and_never_less_than_half() -> None:
    clock = Still()
    rolls = iter([0.0, 0.5])
    there = Destination("there", [], Terms(first=1.0), clock, lambda *_: None, roll=lambda: next(rolls))
    ends = []

    for _ in range(2):
        there._again(Letter(Parcel(b""), 0.0), AGAIN)
        ends.append(there._quiet_until - clock.now)
        clock.now = there._quiet_until

    assert ends == [0.5, 1.5]


def test_who_fails_while_all_are_quiet_makes_it_no_longer_but_for_what_the_destination_asks() -> None:
    clock = Still()
    there = Destination("there", [], Terms(first=1.0), clock, lambda *_: None, roll=lambda: 1.0)

    ends = []
    for answer in (AGAIN, AGAIN, Answer(Outcome.AGAIN, wait=7.0), Answer(Outcome.AGAIN, wait=3.0)):
        there._again(Letter(Parcel(b""), 0.0), answer)
        ends.append(there._quiet_until)

    assert ends == [1.0, 1.0, 7.0, 7.0]


def test_one_that_fails_while_others_get_through_goes_behind_them(bench: Bench) -> None:
    """Else a request that no destination can take would keep back all others until it is too old."""
    script = Script([AGAIN, TAKEN, AGAIN, TAKEN])
    there = Destination("there", [script], QUICK, bench.clock, lambda *_: None)
    for body in (b"poison", b"a", b"b"):
        there.put(Parcel(body))
    there.start()
    bench.made.append(there)

    until(lambda: there.letters.waiting == 0)
    assert script.sent == [b"poison", b"a", b"b", b"poison", b"b"]


def test_while_nobody_gets_through_the_oldest_is_tried_first(bench: Bench) -> None:
    script = Script([TAKEN, AGAIN, AGAIN, AGAIN])
    there = Destination("there", [script], QUICK, bench.clock, lambda *_: None)
    for body in (b"a", b"b", b"c"):
        there.put(Parcel(body))
    there.start()
    bench.made.append(there)

    until(lambda: there.letters.waiting == 0)
    assert script.sent == [b"a", b"b", b"c", b"c", b"c", b"b"]
