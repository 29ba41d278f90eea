"""One destination: what waits for it, the threads that send, and how long they wait after a failure.

Rule 1: whoever brings a parcel only leaves it: sending happens on threads of its own, so that a destination
that is slow, hangs or is gone costs nobody else anything. Rule 2: what can be sent again is, with growing,
jittered delays or when the destination says, until it is too old; what is refused for good is not. Rule 3:
everything that becomes of a request is counted. It does not know what a span is.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from spanfuse_processor.clock import Clock
from spanfuse_processor.config_forward import WhenFull
from spanfuse_processor.forwarding.answer import Answer, Outcome
from spanfuse_processor.forwarding.letters import Letter, Letters
from spanfuse_processor.forwarding.news import News
from spanfuse_processor.forwarding.sender import Sender
from spanfuse_processor.parcel import Parcel


@dataclass(frozen=True, slots=True)
class Terms:
    """How one destination is served: bytes and seconds.

    `first` and `longest` bound the delays after failures, `longest_told` one that the destination asks for.
    """

    capacity: int = 256 * 1024 * 1024
    when_full: WhenFull = WhenFull.REFUSE
    timeout: float = 10.0
    max_age: float = 300.0
    first: float = 0.5
    longest: float = 30.0
    longest_told: float = 60.0


@dataclass(slots=True)
class Counts:
    """What became of requests so far: each is in the end `sent`, `refused` (for good) or `dropped` (for want
    of room or of time). `retried` counts the times that one was sent again, `rejected` the spans that the
    destination did not take of what was sent, `events_lost` the requests of ours that were not sent."""

    sent: int = 0
    refused: int = 0
    dropped: int = 0
    retried: int = 0
    rejected: int = 0
    events_lost: int = 0


class Destination:
    """Serves one destination, from `start` to `close`.

    Args:
        name: for people and metrics.
        senders: each is served by a thread; the same one may be there several times.
        terms: how it is served.
        clock: the one that waiting goes by.
        on_fault: hears of internal errors.
        roll: gives a random number from 0 up to 1.
    """

    def __init__(
        self,
        name: str,
        senders: Sequence[Sender],
        terms: Terms,
        clock: Clock,
        on_fault: Callable[[str, BaseException], None],
        roll: Callable[[], float] = random.random,
    ) -> None:
        self.name = name
        self.counts = Counts()
        self.letters = Letters(terms.capacity)
        self._senders, self._terms, self._clock, self._roll = senders, terms, clock, roll
        self._on_fault = on_fault
        self._news = News(name, clock.monotonic)
        self._lock = self.letters.lock
        self._calm = threading.Condition(self._lock)  # rings when there is no time left to be quiet
        self._ceiling = 0.0
        self._quiet_until = float("-inf")  # after a failure nobody sends before then
        self._closing: float | None = None  # by when all has to be sent
        self._threads: list[threading.Thread] = []

    def start(self) -> None:
        """Begins to send."""
        for number, sender in enumerate(self._senders):
            name = f"spanfuse-forward-{self.name}-{number}"
            self._threads.append(threading.Thread(target=self._serve, args=(sender,), name=name, daemon=True))
        for thread in self._threads:
            thread.start()

    def refuses(self, size: int) -> bool:
        """Whether there is no room for so many bytes, and senders are to be told so."""
        return self._terms.when_full is WhenFull.REFUSE and not self.letters.has_room(size)

    def put(self, parcel: Parcel) -> None:
        """Leaves a parcel to be sent; lets it go where there is no room."""
        letter = Letter(parcel, self._clock.monotonic())
        if self.letters.has_room(letter.size):
            self.letters.put(letter)
        else:
            self._lose([letter], "too much waits")

    def hurry(self, seconds: float) -> None:
        """Has what waits sent within so many seconds; what is left then is let go."""
        with self._lock:
            self._closing = self._clock.monotonic() + seconds
            self._calm.notify_all()
            self.letters.bell.notify_all()

    def close(self, seconds: float) -> None:
        """Waits for the threads, so many seconds at most."""
        end = self._clock.monotonic() + seconds
        for thread in self._threads:
            thread.join(max(0.0, end - self._clock.monotonic()))
        for sender in self._senders:
            sender.close()
        self._lose(self.letters.give_up(), "the service stops")

    def _serve(self, sender: Sender) -> None:
        while (letter := self._next()) is not None:
            self._deliver(sender, letter)

    def _next(self) -> Letter | None:
        """Waits for a letter that may be sent now; None: it is over."""
        with self._lock:
            while True:
                now = self._clock.monotonic()
                if self._closing is not None and (now >= self._closing or not len(self.letters)):
                    return None
                quiet = self._quiet_until - now
                if not len(self.letters):
                    self.letters.bell.wait()
                elif quiet > 0:
                    self._calm.wait(self._until_closing(quiet))
                else:
                    return self.letters.take()

    def _deliver(self, sender: Sender, letter: Letter) -> None:
        if self._clock.monotonic() - letter.since > self._terms.max_age:
            return self._give_up(letter, "it is too old")
        if letter.tries:
            self._count(retried=1)
        answer = self._send(sender, letter.parcel)
        if answer.outcome is Outcome.AGAIN:
            self._again(letter, answer)
        else:
            self._over(letter, answer)

    def _send(self, sender: Sender, parcel: Parcel) -> Answer:
        try:
            return sender.send(parcel, max(0.1, self._until_closing(self._terms.timeout)))
        except ValueError as error:  # it is no export request
            return Answer(Outcome.NEVER, words=f"it cannot be sent: {error}")
        except Exception as error:
            self._on_fault("forwarding", error)
            return Answer(Outcome.NEVER, words="a fault of the processor")

    def _over(self, letter: Letter, answer: Answer) -> None:
        with self._lock:
            self._ceiling = 0.0
        if answer.outcome is Outcome.NEVER:
            self._count(refused=1, events_lost=int(letter.parcel.ours))
            self._news.refused(answer.words)
        else:
            self._count(sent=1, rejected=answer.rejected)
            self._news.well(answer.rejected, answer.words)
        self.letters.done(letter)

    def _again(self, letter: Letter, answer: Answer) -> None:
        """Puts a letter back. While others get through it goes behind them, else it keeps its place."""
        self._news.away(answer.words, self.letters.waiting)
        with self._lock:
            now = self._clock.monotonic()
            others_get_through = not self._ceiling
            self._be_quiet(answer.wait, now)
            if self._closing is None or now < self._closing:
                again = letter._replace(tries=letter.tries + 1)
                return self.letters.put_back(again, last=others_get_through)
        self._give_up(letter, "the service stops")

    def _be_quiet(self, wait: float, now: float) -> None:
        """Nobody sends for a while. Of several that fail together the first one decides for how long."""
        terms = self._terms
        told = min(wait, terms.longest_told)
        if now >= self._quiet_until:
            self._ceiling = min(terms.longest, max(terms.first, 2 * self._ceiling))
            # Half of it at least; who failed together shall not come back together.
            told = max(told, self._ceiling * (0.5 + 0.5 * self._roll()))
        self._quiet_until = max(self._quiet_until, now + told)

    def _until_closing(self, seconds: float) -> float:
        if self._closing is None:
            return seconds
        return max(0.0, min(seconds, self._closing - self._clock.monotonic()))

    def _give_up(self, letter: Letter, words: str) -> None:
        self._lose([letter], words)
        self.letters.done(letter)

    def _lose(self, letters: list[Letter], words: str) -> None:
        if letters:
            self._count(dropped=len(letters), events_lost=sum(each.parcel.ours for each in letters))
            self._news.dropped(len(letters), words)

    def _count(self, **more: int) -> None:
        with self._lock:
            for name, number in more.items():
                setattr(self.counts, name, getattr(self.counts, name) + number)
