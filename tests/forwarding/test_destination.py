"""One destination: sent again while that may help, never longer than it is worth, and counted in any case."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
from tests.waiting import until

from spanfuse_processor.clock import SystemClock
from spanfuse_processor.config import WhenFull
from spanfuse_processor.forwarding.answer import Answer, Outcome
from spanfuse_processor.forwarding.destination import Counts, Destination, Terms
from spanfuse_processor.forwarding.letters import Letter
from spanfuse_processor.parcel import Parcel

TAKEN, AGAIN, NEVER = Answer(Outcome.TAKEN), Answer(Outcome.AGAIN), Answer(Outcome.NEVER)
QUICK = Terms(first=0.001, longest=0.002)


@dataclass
class Script:
    """A sender that answers by a list, and well when that is used up."""

    answers: list[Answer | Exception] = field(default_factory=list)
    always: Answer = TAKEN
    sent: list[bytes] = field(default_factory=list)
    timeouts: list[float] = field(default_factory=list)
    hold: threading.Event | None = None
    closed: int = 0

    def send(self, parcel: Parcel, timeout: float) -> Answer:
        self.sent.append(parcel.body)
        self.timeouts.append(timeout)
        if self.hold is not None:
            self.hold.wait(10.0)
        answer = self.answers.pop(0) if self.answers else self.always
        if isinstance(answer, Exception):
            raise answer
        return answer

    def close(self) -> None:
        self.closed += 1


@dataclass
class Jumping:
    """A clock that stands where it is put, and goes on in real time from there."""

    ahead: float = 0.0

    def monotonic(self) -> float:
        return SystemClock().monotonic() + self.ahead

    def wall_ns(self) -> int:
        return 0


@dataclass
class Still:
    """A clock that stands still."""

    now: float = 0.0

    def monotonic(self) -> float:
        return self.now

    def wall_ns(self) -> int:
        return 0


class Bench:
    """Destinations of a test, closed at its end."""

    def __init__(self) -> None:
        self.made: list[Destination] = []
        self.faults: list[str] = []
        self.clock = Jumping()

    def serve(self, script: Script, terms: Terms = QUICK, threads: int = 1) -> Destination:
        """A destination that sends by a script."""
        made = Destination(
            "there",
            [script] * threads,
            terms,
            self.clock,
            lambda where, error: self.faults.append(str(error)),
        )
        made.start()
        self.made.append(made)
        return made

    def close(self) -> None:
        for each in self.made:
            each.hurry(0.0)
            each.close(5.0)


@pytest.fixture
def bench() -> Iterator[Bench]:
    made = Bench()
    yield made
    made.close()


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
