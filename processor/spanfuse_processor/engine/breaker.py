"""The breaker: whether calls under one key may go on.

Rule 1: every state and every move is in TRANSITIONS, in this file. Rule 2: it does not know why it is
tripped: it sees a Signal, not a detector. Rule 3: it has no clock: `now` comes in, and `deadline` is an
answer. Rule 4: each move starts a generation; evidence of an older one is dropped.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType

from spanfuse_processor.engine.nouns import BreakerKey, Instant, Level
from spanfuse_processor.engine.policy import BreakerLimits
from spanfuse_processor.engine.verdicts import BreakerState, Transition

CLOSED, OPEN, HALF_OPEN = BreakerState.CLOSED, BreakerState.OPEN, BreakerState.HALF_OPEN
FORCED_OPEN, DISABLED = BreakerState.FORCED_OPEN, BreakerState.DISABLED


class Signal(StrEnum):
    """What moves a breaker: evidence, time, or an order."""

    TRIP = "trip"
    COOLED = "cooled"
    PROBES_CLEAN = "probes_clean"
    PROBE_FAILED = "probe_failed"
    HALF_OPEN_TIMEOUT = "half_open_timeout"
    KILL = "kill"
    RELEASE = "release"
    DISABLE = "disable"


ORDERS = frozenset({Signal.KILL, Signal.RELEASE, Signal.DISABLE})

# A missing row is no move for evidence, and an OrderError for an order.
TRANSITIONS: Mapping[tuple[BreakerState, Signal], BreakerState] = MappingProxyType(
    {
        (CLOSED, Signal.TRIP): OPEN,
        (CLOSED, Signal.KILL): FORCED_OPEN,
        (CLOSED, Signal.DISABLE): DISABLED,
        (OPEN, Signal.COOLED): HALF_OPEN,
        (OPEN, Signal.KILL): FORCED_OPEN,
        (OPEN, Signal.RELEASE): CLOSED,
        (OPEN, Signal.DISABLE): DISABLED,
        (HALF_OPEN, Signal.PROBES_CLEAN): CLOSED,
        (HALF_OPEN, Signal.PROBE_FAILED): OPEN,
        (HALF_OPEN, Signal.HALF_OPEN_TIMEOUT): OPEN,
        (HALF_OPEN, Signal.TRIP): OPEN,
        (HALF_OPEN, Signal.KILL): FORCED_OPEN,
        (HALF_OPEN, Signal.RELEASE): CLOSED,
        (HALF_OPEN, Signal.DISABLE): DISABLED,
        (FORCED_OPEN, Signal.RELEASE): CLOSED,
        (FORCED_OPEN, Signal.DISABLE): DISABLED,
        (DISABLED, Signal.KILL): FORCED_OPEN,
        (DISABLED, Signal.RELEASE): CLOSED,
    }
)


class OrderError(ValueError):
    """An order that has no row in the table: what it asks for holds already, or nothing stands."""


class Breaker:
    """One machine.

    A run's breaker never half-opens: once open it stays so, until released or forgotten (`expires`).

    >>> from spanfuse_processor.engine.policy import BreakerLimits
    >>> breaker = Breaker(BreakerKey(Level.FEATURE, "chat"), BreakerLimits())
    >>> breaker.apply(Signal.TRIP, now=0.0).after.value, breaker.deadline
    ('open', 30.0)
    >>> breaker.advance(30.0).after.value
    'half_open'
    """

    __slots__ = ("_limits", "_probes", "clean", "cool_down", "expires", "generation", "key", "state", "until")

    def __init__(self, key: BreakerKey, limits: BreakerLimits) -> None:
        self.key = key
        self.state = CLOSED
        self.generation = 0
        self.cool_down = 0.0  # of the current or last trip; 0 after a return to normal
        self.until: Instant | None = None  # when OPEN has cooled
        self.expires: Instant | None = None  # when a stop that does not cool is forgotten
        self.clean = 0  # good probes in a row
        self._probes: deque[Instant] = deque()  # starts of the probes in flight
        self._limits = limits

    def apply(self, signal: Signal, now: Instant, generation: int | None = None) -> Transition | None:
        """Moves by the table. `generation` is that under which the evidence arose; None: the current.

        Returns None when nothing moves. Raises OrderError for an order without a row.
        """
        if generation is not None and generation != self.generation:
            return None
        before = self.state
        after = TRANSITIONS.get((before, signal))
        if after is None:
            if signal in ORDERS:
                raise OrderError(f"{self.key} is {before.value}: cannot {signal.value}")
            return None
        self.state = after
        self.generation += 1
        self._enter(after, now)
        return Transition(self.key, before, after, self.generation)

    def advance(self, now: Instant) -> Transition | None:
        """The move that time alone makes, if it is due."""
        if self.state is OPEN and self.until is not None and now >= self.until:
            return self.apply(Signal.COOLED, now)
        if self.state is HALF_OPEN and self._probes and now >= self._probes[0] + self._limits.probe_timeout:
            return self.apply(Signal.HALF_OPEN_TIMEOUT, now)
        return None

    @property
    def deadline(self) -> Instant | None:
        """When to call `advance` next, or when to forget it (`expires`); None: time does nothing to
        it."""
        if self.state is HALF_OPEN and self._probes:
            return self._probes[0] + self._limits.probe_timeout
        return self.until if self.state is OPEN and self.until is not None else self.expires

    def probe(self, now: Instant) -> int | None:
        """Leave for one probe: the generation to answer with, or None when no more may run at once."""
        if self.state is not HALF_OPEN or len(self._probes) >= self._limits.probes:
            return None
        self._probes.append(now)
        return self.generation

    def probed(self, good: bool, now: Instant, generation: int | None = None) -> Transition | None:
        """A probe has ended; one that nobody announced counts as well."""
        if self.state is not HALF_OPEN or (generation is not None and generation != self.generation):
            return None
        if self._probes:
            self._probes.popleft()
        if not good:
            return self.apply(Signal.PROBE_FAILED, now)
        self.clean += 1
        return self.apply(Signal.PROBES_CLEAN, now) if self.clean >= self._limits.clean_probes else None

    def _enter(self, state: BreakerState, now: Instant) -> None:
        limits = self._limits
        self._probes.clear()
        self.clean = 0
        self.until = self.expires = None
        if state is CLOSED:
            self.cool_down = 0.0
        elif state is FORCED_OPEN or (state is OPEN and self.key.level is Level.RUN):
            self.expires = now + limits.run_ttl
        elif state is OPEN:
            self.cool_down = min(max(limits.cool_down, self.cool_down * 2), limits.cool_down_max)
            self.until = now + self.cool_down


def transitions_diagram() -> str:
    """The table as a Mermaid state diagram; signals that share a move share an arrow."""
    arrows: dict[tuple[str, str], list[str]] = {}
    for (before, signal), after in TRANSITIONS.items():
        arrows.setdefault((before.name, after.name), []).append(signal.value)
    lines = [f"    {before} --> {after}: {', '.join(by)}" for (before, after), by in arrows.items()]
    return "\n".join(["stateDiagram-v2", f"    [*] --> {CLOSED.name}", *lines])
