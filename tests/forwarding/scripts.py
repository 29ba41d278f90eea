"""Senders that answer by a script, clocks of a test's own, and destinations that are closed at its end."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

from spanfuse_processor.clock import SystemClock
from spanfuse_processor.forwarding.answer import Answer, Outcome
from spanfuse_processor.forwarding.destination import Destination, Terms
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
