"""The time of a recording: what falls due comes at its own time, in order, and never after the last event."""

from __future__ import annotations

from spanfuse_processor.replaying.pacing import NS, Pace


class Timers:
    """Something timed: what is due when, and when it was told of the time."""

    def __init__(self, *due: float, early: float = 0.0) -> None:
        self.due = sorted(due)
        self.told: list[float] = []
        self.early = early

    def next_deadline(self) -> float | None:
        return self.due[0] if self.due else None

    def advance(self, now: float) -> None:
        self.told.append(now)
        self.due = [when for when in self.due if when + self.early > now]


def test_each_deadline_comes_at_its_own_time() -> None:
    timers = Timers(3.0, 5.0, 11.0)
    pace = Pace(timers)

    times = [pace.turn_to(seconds * NS) for seconds in (2, 10)]

    assert times == [2.0, 10.0]
    assert timers.told == [3.0, 5.0]


def test_a_deadline_at_the_moment_of_an_event_comes_before_it() -> None:
    timers = Timers(3.0)

    Pace(timers).turn_to(3 * NS)

    assert timers.told == [3.0]


def test_nothing_comes_after_the_last_event() -> None:
    timers = Timers(3.0, 3.1)
    pace = Pace(timers)

    pace.turn_to(3 * NS)

    assert timers.told == [3.0]
    assert timers.due == [3.1]


def test_a_deadline_that_makes_another_is_followed_by_it() -> None:
    class Chain(Timers):
        def advance(self, now: float) -> None:
            super().advance(now)
            if now < 6:
                self.due.append(now + 1)

    timers = Chain(3.0)

    Pace(timers).turn_to(10 * NS)

    assert timers.told == [3.0, 4.0, 5.0, 6.0]


def test_time_never_goes_back() -> None:
    timers = Timers()
    pace = Pace(timers)
    pace.turn_to(10 * NS)
    timers.due = [4.0]

    assert pace.turn_to(7 * NS) == 10.0
    assert timers.told == []
    pace.turn_to(11 * NS)
    assert timers.told == [10.0]


def test_a_deadline_that_stays_due_holds_nobody_up() -> None:
    timers = Timers(3.0, early=0.5)

    assert Pace(timers).turn_to(10 * NS) == 10.0
    assert timers.told[-1] == 10.0
