"""The contract of a host: who judges the calls of this application.

Rule 1: a host never raises into its caller and never makes it wait: what cannot be taken is dropped and
counted. Rule 2: what it decides appears on the board; it calls nobody back. Rule 3: starts and ends come from
any thread, in any order. Rule 4: of a call that has begun it asks when it wants to know, which for most calls
is never.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from spanfuse.purse import Purse
from spanfuse_processor.engine.breaker_span import BreakerSpan
from spanfuse_processor.engine.events import CallOpen, Heartbeat, RawSpan
from spanfuse_processor.engine.nouns import BreakerKey, Instant, Kind
from spanfuse_processor.engine.policy import Policy

OnPolicy = Callable[[Policy], None]
"""Goes by another policy from now on."""
Witness = Callable[[BreakerSpan], None]
"""Shows what the breaker did."""


class HostState(StrEnum):
    """Whether anyone judges. Losing the service is a state with a name."""

    IDLE = "idle"  # not started, or stopped
    JUDGING = "judging"  # embedded: always so
    CONNECTING = "connecting"  # remote: never connected yet
    CONNECTED = "connected"
    LOST = "lost"  # was connected; directives in force hold until they expire


@dataclass(slots=True)
class HostStats:
    """Counts since start; all of them only grow, but for `queued` and `state`."""

    state: HostState = HostState.IDLE
    spans: int = 0
    dropped: int = 0
    queued: int = 0
    directives: int = 0
    reconnects: int = 0
    faults: int = 0  # internal errors that were swallowed
    last_fault: str = ""
    unkept: int = 0  # attempts to keep what is spent, or what happens, that failed
    lost: int = 0  # rows of the record that were never kept
    problem: str = ""  # why nobody judges, for a person


class Underway(Protocol):
    """A call that has begun and not ended."""

    @property
    def span_id(self) -> bytes:
        """Its span."""

    @property
    def kind(self) -> Kind:
        """What it is."""

    @property
    def began(self) -> Instant:
        """When it began, on the monotonic clock."""

    @property
    def resource(self) -> Mapping[str, object]:
        """What is known of the process."""

    @property
    def resting(self) -> bool:
        """Whether nobody waits for it now, as between two pieces of its answer."""

    def told(self, now: Instant) -> CallOpen:
        """The call as an event, as it is now."""


class Host(Protocol):
    """Takes what the application does, and sees to it that the board says what to obey.

    Attributes:
        purse: what calls of strict budgets are paid from.
        followers: are told when the host goes by another policy, on a thread of its own.
        witnesses: are shown what the breaker did, on a thread of its own; by a host that judges: where a
            processor does, that tells of it.
    """

    purse: Purse
    followers: list[OnPolicy]
    witnesses: list[Witness]

    def start(self) -> None:
        """Begins. Returns at once; connecting, if any, goes on behind."""

    def stop(self, timeout: float = 2.0) -> None:
        """Ends, giving what is queued at most `timeout` seconds to leave."""

    def call_started(self, call: Underway) -> None:
        """A call of this application began."""

    def heartbeat(self, beat: Heartbeat) -> None:
        """A run of this application says that it lives."""

    def span_ended(self, span: RawSpan) -> None:
        """A call of this application ended; also spans of foreign instrumentations in this process."""

    def kill(self, key: BreakerKey, reason: str) -> bool:
        """An operator's stop from inside the application; False where only the service may do it."""

    def release(self, key: BreakerKey) -> bool:
        """Takes a stop back; False where only the service may do it."""

    def stats(self) -> HostStats:
        """What happened so far."""
