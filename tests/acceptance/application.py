"""An application at work while things break: one healthy run that never pauses, and loops on demand.

What it may notice of a fault is nothing: no call of the healthy run fails, none waits for a processor.
"""

from __future__ import annotations

import itertools
import statistics
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tests.waiting import until

import spanfuse
from spanfuse.board import Board
from spanfuse.host import HostState
from spanfuse.runtime import live
from spanfuse_processor.engine.nouns import BreakerKey, Level
from spanfuse_processor.engine.verdicts import Directive

GATE = 0.005  # seconds that a call may cost
WAIT = 0.5  # seconds: more than a busy machine's pauses, less than any time-out of ours
ENOUGH = 100  # calls of a loop that nobody stops


@spanfuse.tool
def search(query: str) -> str:
    """A tool that finds something new each time."""
    return f"what is known of {query}"


@spanfuse.tool
def book(city: str) -> str:
    """A tool that always fails in the same way."""
    raise ValueError(f"there is no {city}")


def board() -> Board:
    """The board of this process."""
    parts = live()
    assert parts is not None
    return parts.board


def state() -> HostState:
    """Who judges now."""
    host = spanfuse.status().host
    assert host is not None
    return host.state


def judged() -> bool:
    """Whether the processor judges."""
    return state() is HostState.CONNECTED


def unjudged() -> bool:
    """Whether the processor is gone, and known to be gone."""
    return state() in (HostState.LOST, HostState.CONNECTING)


def problem() -> str:
    """Why nobody judges."""
    host = spanfuse.status().host
    assert host is not None
    return host.problem


def holds(run: str) -> Directive | None:
    """The directive that holds for a run."""
    return board().standing([BreakerKey(Level.RUN, run)])


def loop(run: str) -> Directive:
    """Loops as `run` until it is stopped; returns by what. Fails if nothing stops it."""
    with spanfuse.run(run_id=run, name=run):
        for _ in range(ENOUGH):
            try:
                book(city="Atlantis")
            except ValueError:
                threading.Event().wait(0.01)  # time to think, as a model has
            except spanfuse.BreakerOpen as stop:
                return stop.directive
    raise AssertionError(f"{run} was never stopped")


def is_refused(run: str) -> bool:
    """Whether a run that was stopped is refused its next call."""
    try:
        with spanfuse.run(run_id=run, name=run):
            search(query="anything")
    except spanfuse.BreakerOpen:
        return True
    return False


class Healthy:
    """A run that works on and on, on a thread of its own, and keeps count of what it had to bear."""

    def __init__(self) -> None:
        self.waits: list[float] = []
        self.errors: list[BaseException] = []
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._work)

    def start(self) -> None:
        """Begins to work."""
        self._thread.start()

    def stop(self) -> None:
        """Ends."""
        self._over.set()
        self._thread.join(10.0)

    @property
    def calls(self) -> int:
        """Calls that were made so far."""
        return len(self.waits)

    def _work(self) -> None:
        try:
            with spanfuse.run(name="healthy"):
                for number in itertools.count():
                    if self._over.wait(0.005):
                        return
                    began = time.perf_counter()
                    search(query=f"question {number}")
                    self.waits.append(time.perf_counter() - began)
        except BaseException as error:
            self.errors.append(error)


@contextmanager
def at_work(endpoint: str, token: str = "") -> Iterator[Healthy]:
    """The application, watched; at its end nothing must have been noticed."""
    spanfuse.instrument(endpoint=endpoint, token=token, service="acceptance")
    healthy = Healthy()
    healthy.start()
    try:
        yield healthy
    finally:
        healthy.stop()
        faults = spanfuse.status().faults
        spanfuse.uninstrument()
    assert healthy.errors == []
    assert healthy.calls > 0
    assert statistics.median(healthy.waits) < GATE
    assert max(healthy.waits) < WAIT
    assert faults == 0


def within(seconds: float, predicate: Callable[[], object]) -> float:
    """Waits until `predicate` holds; returns how long it took."""
    began = time.monotonic()
    until(predicate, seconds, every=0.005)
    return time.monotonic() - began
